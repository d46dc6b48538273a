import type { Context } from '../../../context.ts';
import { requireRowNumber } from '../../../database/require-row-number.ts';
import { splitList } from '../../../domain/lists.ts';
import { hasForgottenPeople, redactForgotten } from '../../../privacy/redact-forgotten.ts';
import type { BankLine } from './identify-lines.ts';

const ROWS_AT_ONCE = 500;

/** Stores new lines, without what is known of forgotten people. */
export async function storeBankLines(
  context: Context,
  of: { account: string; statementSeq: number },
  lines: BankLine[],
): Promise<void> {
  const redacted = await redactLines(context, lines);
  for (const some of splitList(redacted, ROWS_AT_ONCE)) await insertLines(context, of, some);
}

type Redacted = { given: BankLine; stored: BankLine };

/** Redacts forgotten people from the texts of lines. A text that can't be searched is left out. */
async function redactLines({ db, keys }: Context, lines: BankLine[]): Promise<Redacted[]> {
  if (lines.length === 0 || !(await hasForgottenPeople(db)))
    return lines.map((line) => ({ given: line, stored: line }));
  const fields = ['fitid', 'name', 'memo', 'checkNumber', 'referenceNumber'] as const;
  const raws = lines.flatMap((line) => fields.map((field) => ({ text: line[field] })));
  const results = await redactForgotten(keys, db, raws);
  return lines.map((line, row) => {
    const texts = fields.map((field, column) => {
      const { text, error } = results[row * fields.length + column] ?? {};
      return [field, error === undefined ? (text ?? line[field]).slice(0, line[field].length) : ''] as const;
    });
    return { given: line, stored: { ...line, ...Object.fromEntries(texts) } };
  });
}

async function insertLines(
  { db }: Context,
  { account, statementSeq }: { account: string; statementSeq: number },
  lines: Redacted[],
): Promise<void> {
  const rows = lines.map(({ given }) => ({
    ...{ statement_seq: statementSeq, account, fitid_hash: given.hash, occurrence: given.occurrence },
    ...{ day: given.day, amount_cents: given.cents, type: given.type },
  }));
  await db.insertInto('bank_lines').values(rows).execute();
  const hashes = rows.map((row) => row.fitid_hash);
  const written = await db
    .selectFrom('bank_lines')
    .select(['seq', 'fitid_hash'])
    .where('account', '=', account)
    .where('fitid_hash', 'in', hashes)
    .execute();
  const seqs = new Map(written.map(({ seq, fitid_hash }) => [fitid_hash.toString('hex'), seq]));
  const texts = lines.map(({ given, stored: { fitid, name, memo, checkNumber, referenceNumber } }, index) => ({
    line_seq: requireRowNumber(seqs.get(hashes[index]?.toString('hex') ?? ''), 'a line of the bank'),
    ...{ fitid, name, memo, check_number: checkNumber, reference_number: referenceNumber },
    content_hash: given.content,
  }));
  await db.insertInto('bank_line_texts').values(texts).execute();
}
