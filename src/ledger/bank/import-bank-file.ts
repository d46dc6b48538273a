/**
 * Imports the statements of the company's bank account. A file is taken as a whole or refused with all its faults, among them what
 * a person must say first; nothing of it is imported twice: the same bytes change nothing, and a line that an account had before
 * (compare-with-stored.ts) stays as it is. Then the lines are matched.
 */

import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { append } from '../../domain/lists.ts';
import { formatAmount } from '../../domain/money.ts';
import { type Matched, matchBankLines } from './match-bank-lines.ts';
import { lockMatching } from './standing-matches.ts';
import type { BankStatement } from './statement/bank-statement.ts';
import { readKnownAccounts, resolveAccount } from './statement/resolve-account.ts';
import { type SettledStatement, settleStatement } from './statement/settle-statement.ts';
import type { BankAnswers, StatementFault } from './statement/statement-faults.ts';
import { storeBankLines } from './statement/store-bank-lines.ts';

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
  /** Known lines that have another FITID than before. */
  renumbered: number;
  /** Lines whose amount became negative, as their type says. */
  negated: number;
  /** Rows that show a balance and are no transactions. */
  balance_rows: number;
  /** Rows to come, which are left out; `later` are the first of them. */
  later_lines: number;
  later: { line: number; day: string; amount: string }[];
  /** Whether the file has a balance that is left out: it is to come, is not surely of a day's end, or a person said so. */
  balance_left_out: boolean;
};

export type BankImport = {
  /** Whether the same file was imported before: then nothing changed. */
  repeated: boolean;
  statements: ImportedStatement[];
  matched: Matched;
};

/** The result for a file that changed nothing. */
export const UNCHANGED: BankImport = {
  repeated: true,
  statements: [],
  matched: { reference: 0, amount: 0, not_pix: 0 },
};
const LATER_LISTED_MAX = 50;

type By = { actor: string; answers: BankAnswers };

/**
 * Stores the statements of a file and their new lines, and matches them. One statement follows another: two of one account may
 * have the same lines.
 * @returns with faults the transaction must be rolled back.
 */
export async function importBankFile(
  context: Context,
  file: BankFile,
  by: By,
): Promise<BankImport & { faults: StatementFault[] }> {
  return await transact(context.db, async (trx) => {
    await lockMatching(trx);
    if (await isImported(trx, file)) return { ...UNCHANGED, faults: [] };
    const inner = { ...context, db: trx };
    const accounts = await readKnownAccounts(trx);
    const [faults, statements]: [StatementFault[], ImportedStatement[]] = [[], []];
    const given = new Set<string>();
    const { newest } = await trx
      .selectFrom('bank_statements')
      .select(sql<number>`COALESCE(MAX(seq), 0)`.as('newest'))
      .executeTakeFirstOrThrow();
    for (const [position, statement] of file.statements.entries()) {
      const { account, spelled, fault } = resolveAccount(statement, accounts, by.answers);
      if (by.answers.account === account && !accounts.names.includes(statement.account)) given.add(statement.account);
      if (fault) faults.push(fault);
      else if (given.size > 1) faults.push({ line: statement.line, kind: 'many_accounts' });
      if (!accounts.names.includes(account)) accounts.names.push(account);
      const settled = await settleStatement(inner, statement, { account, answers: by.answers, newest });
      append(faults, settled.faults);
      // also after a fault: a later statement of the account is compared with its lines
      statements.push(await storeStatement(inner, file, { settled, statement, account, spelled, position, ...by }));
    }
    if (faults.length > 0) return { ...UNCHANGED, faults };
    const matched = await matchBankLines(inner);
    return { repeated: false, statements, matched, faults };
  });
}

async function isImported(trx: Transaction<Database>, { sha256 }: BankFile): Promise<boolean> {
  const row = await trx.selectFrom('bank_statements').select('seq').where('sha256', '=', sha256).executeTakeFirst();
  return row !== undefined;
}

type Stored = {
  settled: SettledStatement;
  statement: BankStatement;
  account: string;
  spelled: string | null;
  position: number;
  actor: string;
};

async function storeStatement(
  context: Context,
  { sha256 }: BankFile,
  { settled, statement: { from, to }, account, spelled, position, actor }: Stored,
): Promise<ImportedStatement> {
  const { db, clock } = context;
  const { balance, compared, lines, later } = settled;
  const { insertId } = await db
    .insertInto('bank_statements')
    .values({
      ...{ sha256, position, account, spelled, from_day: from, to_day: to, line_count: lines.length },
      ...{ balance_cents: balance?.cents ?? null, balance_day: balance?.day ?? null },
      ...{ created_at: clock.now(), actor },
    })
    .executeTakeFirstOrThrow();
  const seq = requireRowNumber(insertId, 'a statement of the bank');
  await storeBankLines(context, { account, statementSeq: seq }, compared.added);
  return {
    ...{ account, from, to },
    ...{ balance: balance && formatAmount(balance.cents), balance_day: balance?.day ?? null },
    ...{ lines: lines.length, new: compared.added.length, known: compared.known, renumbered: compared.renumbered },
    ...{ negated: settled.negated, balance_rows: settled.balanceRows, later_lines: later.length },
    later: later.slice(0, LATER_LISTED_MAX).map(({ line, day, cents }) => ({ line, day, amount: formatAmount(cents) })),
    balance_left_out: settled.isBalanceLeftOut,
  };
}
