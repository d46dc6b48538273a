/**
 * Imports a statement of the company's bank account. A file is taken as a whole or refused with all its faults; nothing of it
 * is imported twice: the same bytes change nothing, and a line that an account had before (identify-lines.ts) stays as it is.
 * Then the lines are matched.
 */
import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { ConfereError } from '../../domain/errors.ts';
import { formatAmount } from '../../domain/money.ts';
import { compareWithStored } from './compare-with-stored.ts';
import { type BankLine, identifyLines } from './identify-lines.ts';
import { lockMatching, matchBankLines } from './match-bank-lines.ts';
import { describeOfxFault, type OfxFault } from './ofx-faults.ts';
import { type OfxStatement, parseOfx } from './parse-ofx.ts';
import { storeBankLines } from './store-bank-lines.ts';

/** A file that was parsed without a fault. */
export type BankFile = { sha256: Buffer; statements: OfxStatement[] };

export type ImportedStatement = {
  account: string;
  from: string | null;
  to: string | null;
  balance: string | null;
  balance_day: string | null;
  /** In the file: `new` and `known` before. */
  lines: number;
  new: number;
  known: number;
  /** Rows that show a balance and are no transactions. */
  balance_rows: number;
};

export type BankImport = {
  /** SHA-256 of the file, in hex. */
  sha256: string;
  /** Whether the same file was imported before: then nothing changed. */
  repeated: boolean;
  statements: ImportedStatement[];
  matched: { reference: number; amount: number };
};

/** A file that is refused: its faults by line. */
export class BankFileRefused extends ConfereError {
  readonly faults: OfxFault[];

  constructor(faults: OfxFault[]) {
    const texts = faults.map(describeOfxFault);
    super('invalid_request', texts.join(';\n'), { fields: { file: texts } });
    this.faults = faults;
  }
}

/** Reads a file. @throws BankFileRefused with all faults of its form and content. */
export function readBankFile(bytes: Uint8Array): BankFile {
  const { statements, faults } = parseOfx(bytes);
  if (faults.length > 0) throw new BankFileRefused(faults);
  return { sha256: createHash('sha256').update(bytes).digest(), statements };
}

/**
 * Stores the statements of a file and their new lines, and matches them.
 * @throws BankFileRefused for a line that has the FITID of an earlier one, and another day or amount; and for a day that has
 *   lines without FITID, unless the file has all lines that are stored of it.
 */
export async function importBankFile(context: Context, file: BankFile, actor: string): Promise<BankImport> {
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    const done = { sha256: file.sha256.toString('hex'), repeated: true };
    if (await isImported(trx, file)) return { ...done, statements: [], matched: { reference: 0, amount: 0 } };
    const inner = { ...context, db: trx };
    const checked = [];
    for (const statement of file.statements) checked.push(await checkStatement(inner, statement));
    const faults = checked.flatMap((one) => one.faults);
    if (faults.length > 0) throw new BankFileRefused(faults);
    const statements = [];
    for (const [position, one] of checked.entries())
      statements.push(await storeStatement(inner, file, { ...one, position, actor }));
    const matched = await matchBankLines(inner);
    return { ...done, repeated: false, statements, matched };
  });
}

class RolledBack extends Error {
  readonly result: BankImport;

  constructor(result: BankImport) {
    super('a dry run was rolled back');
    this.result = result;
  }
}

/** Does what `importBankFile` does, and rolls it back. @throws as that does. */
export async function previewBankImport(context: Context, file: BankFile): Promise<BankImport> {
  try {
    return await transact(context.db, async (trx) => {
      throw new RolledBack(await importBankFile({ ...context, db: trx }, file, 'preview'));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result;
    throw error;
  }
}

/** The audited action of an import, without its actor. */
export function describeBankImport({ sha256, repeated, statements, matched }: BankImport) {
  const count = (of: 'new' | 'known'): number => statements.reduce((sum, one) => sum + one[of], 0);
  const counts = { statements: statements.length, new: count('new'), known: count('known'), matched };
  return { action: 'bank.import', target: sha256, detail: repeated ? 'repeated' : JSON.stringify(counts) };
}

async function isImported(trx: Transaction<Database>, { sha256 }: BankFile): Promise<boolean> {
  const row = await trx.selectFrom('bank_statements').select('seq').where('sha256', '=', sha256).executeTakeFirst();
  return row !== undefined;
}

type Checked = { statement: OfxStatement; lines: BankLine[]; known: Set<BankLine> };

async function checkStatement(inner: Context, statement: OfxStatement): Promise<Checked & { faults: OfxFault[] }> {
  const lines = identifyLines(inner.keys, statement.lines);
  return { statement, lines, ...(await compareWithStored(inner, statement.account, lines)) };
}

async function storeStatement(
  context: Context,
  { sha256 }: BankFile,
  { position, statement, lines, known, actor }: Checked & { position: number; actor: string },
): Promise<ImportedStatement> {
  const { db, clock } = context;
  const { account, balance } = statement;
  const added = lines.filter((line) => !known.has(line));
  const { insertId } = await db
    .insertInto('bank_statements')
    .values({
      ...{ sha256, position, account, from_day: statement.from, to_day: statement.to, line_count: lines.length },
      ...{ balance_cents: balance?.cents ?? null, balance_day: balance?.day ?? null },
      ...{ created_at: clock.now(), actor },
    })
    .executeTakeFirstOrThrow();
  const seq = requireRowNumber(insertId, 'a statement of the bank');
  await storeBankLines(context, { account, statementSeq: seq }, added);
  return {
    ...{ account, from: statement.from, to: statement.to },
    ...{ balance: balance && formatAmount(balance.cents), balance_day: balance?.day ?? null },
    ...{ lines: lines.length, new: added.length, known: known.size, balance_rows: statement.balanceRows },
  };
}
