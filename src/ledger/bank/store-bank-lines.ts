import { createHmac } from 'node:crypto';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { hasForgottenPeople, redactForgotten } from '../../privacy/redact-forgotten.ts';
import type { OfxLine } from './parse-ofx.ts';

const ROWS_AT_ONCE = 500;

/** Returns the lines that the account has already, and those among them that have another day or amount there. */
export async function findKnownLines(
  { db, keys }: Context,
  account: string,
  lines: OfxLine[],
): Promise<{ known: Set<OfxLine>; changed: OfxLine[] }> {
  const known = new Set<OfxLine>();
  const changed: OfxLine[] = [];
  for (let start = 0; start < lines.length; start += ROWS_AT_ONCE) {
    const some = new Map(
      lines.slice(start, start + ROWS_AT_ONCE).map((line) => [hashFitid(keys, line.fitid).toString('hex'), line]),
    );
    const rows = await db
      .selectFrom('bank_lines')
      .select(['fitid_hash', 'day', 'amount_cents'])
      .where('account', '=', account)
      .where(
        'fitid_hash',
        'in',
        [...some.keys()].map((hex) => Buffer.from(hex, 'hex')),
      )
      .execute();
    for (const { fitid_hash, day, amount_cents } of rows) {
      const line = some.get(fitid_hash.toString('hex'));
      if (!line) continue;
      known.add(line);
      if (line.day !== day || line.cents !== amount_cents) changed.push(line);
    }
  }
  return { known, changed: changed.sort((a, b) => a.line - b.line) };
}

/** Stores new lines, without what is known of forgotten people. */
export async function storeBankLines(
  context: Context,
  of: { account: string; statementSeq: number },
  lines: OfxLine[],
): Promise<void> {
  const redacted = await redactLines(context, lines);
  for (let start = 0; start < redacted.length; start += ROWS_AT_ONCE)
    await insertLines(context, of, redacted.slice(start, start + ROWS_AT_ONCE));
}

type Redacted = { given: OfxLine; stored: OfxLine };

/** Redacts forgotten people from the texts of lines. A text that can't be searched is left out. */
async function redactLines({ db, keys }: Context, lines: OfxLine[]): Promise<Redacted[]> {
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
  { db, keys }: Context,
  { account, statementSeq }: { account: string; statementSeq: number },
  lines: Redacted[],
): Promise<void> {
  const rows = lines.map(({ given }) => ({
    ...{ statement_seq: statementSeq, account, fitid_hash: hashFitid(keys, given.fitid) },
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
  const texts = lines.map(({ stored: { fitid, name, memo, checkNumber, referenceNumber } }, index) => ({
    line_seq: requireRowNumber(seqs.get(hashes[index]?.toString('hex') ?? ''), 'a line of the bank'),
    ...{ fitid, name, memo, check_number: checkNumber, reference_number: referenceNumber },
  }));
  await db.insertInto('bank_line_texts').values(texts).execute();
}

/** Keyed: a FITID may hold a document, and a plain hash of one could be found by trying all. */
function hashFitid(keys: Context['keys'], fitid: string): Buffer {
  return createHmac('sha256', keys.search).update('fitid ').update(fitid).digest();
}
