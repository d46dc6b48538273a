import type { Context } from '../../context.ts';
import { boundsOfMonth, type Month } from '../../domain/calendar.ts';
import { compareText } from '../../domain/lists.ts';
import { type MonthBalance, parseMonthBalances, readMonthBalances } from '../../seal/digest-month.ts';
import { readAccountNames } from '../../seal/load-sealed-entries.ts';
import { readMonthClose } from '../../seal/read-month-closes.ts';
import { readOpened } from '../read/read-accounts.ts';
import { readCutEntries } from '../read/read-cut-entries.ts';

/** As known now. */
const ALL_ENTRIES = { entrySeq: Number.MAX_SAFE_INTEGER, lateEntries: [] };

/**
 * Reads the balances of a month as its files show them: those that its close fixes, or those of now. An opening that was stated
 * for the month's first day is in the opening balance; the fixed balances are those before that day's first second.
 */
export async function readShownBalances(
  { db, clock }: Context,
  month: Month,
  closeSeq: number | undefined,
): Promise<MonthBalance[]> {
  const close = closeSeq === undefined ? undefined : await readMonthClose(db, closeSeq);
  const balances = close ? parseMonthBalances(close.balances) : await readMonthBalances(db, month, 'now', clock.now());
  const cut = close ? await readCutEntries(db, close) : ALL_ENTRIES;
  const opened = await readOpened(db, { start: `${boundsOfMonth(month).from} 00:00:00`, ...cut });
  if (opened.size === 0) return balances;
  const names = await readAccountNames(db);
  const byAccount = new Map(balances.map((one) => [one.account, one]));
  for (const [seq, cents] of opened) {
    const account = names.get(seq) ?? `#${seq}`;
    const { openingCents = 0n, closingCents = 0n } = byAccount.get(account) ?? {};
    byAccount.set(account, { account, openingCents: openingCents + cents, closingCents });
  }
  return [...byAccount.values()].sort((a, b) => compareText(a.account, b.account));
}
