/**
 * Settles which rows of a statement are lines, and the day of its balance. Pure.
 *
 * Rows of later days than the statement ends are to come: the bank posts them later, under another FITID. It ends on the day of
 * its balance, on DTEND, or today. A balance of a later day is that of the last day that the statement shows: some banks write the
 * end of the month. With lines to come it is left out, since it may hold them.
 */

import { boundsOfMonth, type Day, monthOf } from '../../../domain/calendar.ts';
import { append } from '../../../domain/lists.ts';
import type { BankStatement, StatementLine } from './bank-statement.ts';
import type { BankAnswers, StatementFault } from './statement-faults.ts';

export type SettledRows = {
  lines: StatementLine[];
  /** Rows to come, which are left out. */
  later: StatementLine[];
  balance: BankStatement['balance'];
  isBalanceLeftOut: boolean;
  balanceRows: number;
  faults: StatementFault[];
};

export function settleRows(statement: BankStatement, answers: BankAnswers, today: Day): SettledRows {
  const { openRows, balanceRows, hasCurrency, line } = statement;
  const faults: StatementFault[] = hasCurrency || answers.currency ? [] : [{ line, kind: 'no_currency' }];
  if (answers.balance_rows === undefined)
    append(
      faults,
      openRows.map((row): StatementFault => ({ line: row.line, kind: 'balance_text' })),
    );
  const meant = answers.balance_rows === 'lines' ? openRows : [];
  const all = [...statement.lines, ...meant].sort((a, b) => a.line - b.line);
  const last = findLastDay(statement, all, answers.later_lines ? null : today);
  const [limit = today] = [last, today].sort();
  const later = all.filter(({ day }) => day > limit);
  return {
    lines: all.filter(({ day }) => day <= limit),
    later,
    ...settleBalance(statement, later, { last, today }),
    balanceRows: balanceRows.length + openRows.length - meant.length,
    faults,
  };
}

/** A balance of a month's last day, in a statement that ends before it, may be of its end. */
function isOfMonthEnd({ balance, to }: BankStatement): boolean {
  return balance !== null && to !== null && balance.day > to && boundsOfMonth(monthOf(balance.day)).to === balance.day;
}

/** The last day whose lines are posted. @param today null: a person says that all are. */
function findLastDay(statement: BankStatement, lines: StatementLine[], today: Day | null): Day {
  const { balance, to, source } = statement;
  if (today === null || source === 'table') return LAST;
  const asOf = balance === null || balance.day > today || isOfMonthEnd(statement) ? LAST : balance.day;
  // an end before all lines is none
  const end = to !== null && lines.some(({ day }) => day <= to) ? to : LAST;
  return [asOf, end].sort()[0] ?? LAST;
}

const LAST: Day = '9999-12-31';

function settleBalance(
  statement: BankStatement,
  later: StatementLine[],
  { last, today }: { last: Day; today: Day },
): Pick<SettledRows, 'balance' | 'isBalanceLeftOut'> {
  const { balance, lines, to, isBalanceUnclear = false } = statement;
  const isToCome = balance !== null && (balance.day > today || isOfMonthEnd(statement));
  if (balance === null || !isToCome) return { balance, isBalanceLeftOut: isBalanceUnclear };
  const days = [
    ...lines.map(({ day }) => day).filter((day) => day <= last && day <= today),
    ...(to === null ? [] : [to]),
  ];
  const shown = days
    .filter((day) => day <= today)
    .sort()
    .at(-1);
  if (later.length > 0 || shown === undefined) return { balance: null, isBalanceLeftOut: true };
  return { balance: { ...balance, day: shown }, isBalanceLeftOut: false };
}
