/**
 * Imports a statement of the company's bank account. A file is taken as a whole or refused with all its faults; nothing of it
 * is imported twice: the same bytes change nothing, and a line that an account had before (identify-lines.ts) stays as it is.
 * Then the lines are matched.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { formatAmount } from '../../domain/money.ts';
import type { BankStatement } from './bank-statement.ts';
import { compareWithStored, type LineFault } from './compare-with-stored.ts';
import { type BankLine, identifyLines } from './identify-lines.ts';
import { lockMatching, matchBankLines } from './match-bank-lines.ts';
import { storeBankLines } from './store-bank-lines.ts';

/** A file that was parsed without a fault. */
export type BankFile = { sha256: Buffer; statements: BankStatement[] };

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
  /** Whether the same file was imported before: then nothing changed. */
  repeated: boolean;
  statements: ImportedStatement[];
  matched: { reference: number; amount: number };
};

/** What is said of a file that changed nothing. */
export const UNCHANGED: BankImport = { repeated: true, statements: [], matched: { reference: 0, amount: 0 } };

/**
 * Stores the statements of a file and their new lines, and matches them.
 * @returns with faults, and nothing stored, where a line has the FITID of an earlier one, and another day or amount; and where
 *   a day has lines without FITID, unless the file has all lines that are stored of it.
 */
export async function importBankFile(
  context: Context,
  file: BankFile,
  actor: string,
): Promise<BankImport & { faults: LineFault[] }> {
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    if (await isImported(trx, file)) return { ...UNCHANGED, faults: [] };
    const inner = { ...context, db: trx };
    const checked = [];
    for (const statement of file.statements) checked.push(await checkStatement(inner, statement));
    const faults = checked.flatMap((one) => one.faults);
    if (faults.length > 0) return { ...UNCHANGED, faults };
    const statements = [];
    for (const [position, one] of checked.entries())
      statements.push(await storeStatement(inner, file, { ...one, position, actor }));
    const matched = await matchBankLines(inner);
    return { repeated: false, statements, matched, faults };
  });
}

async function isImported(trx: Transaction<Database>, { sha256 }: BankFile): Promise<boolean> {
  const row = await trx.selectFrom('bank_statements').select('seq').where('sha256', '=', sha256).executeTakeFirst();
  return row !== undefined;
}

type Checked = { statement: BankStatement; lines: BankLine[]; known: Set<BankLine> };

async function checkStatement(inner: Context, statement: BankStatement): Promise<Checked & { faults: LineFault[] }> {
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
