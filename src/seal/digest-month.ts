/**
 * The balances that a closed month fixes: each account at the month's start and at its end, as known at a sealed position.
 * Their digest is in the audit, which the chain seals, and in the manifest.
 */
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Database } from '../database/tables.ts';
import { addDays, boundsOfMonth, type Month } from '../domain/calendar.ts';
import { type AsOf, readBalances } from './read-balances.ts';

/** Signed cents, debit positive. An account's name ends in its platform. */
export type MonthBalance = { account: string; openingCents: bigint; closingCents: bigint };

/** Accounts that are zero at both ends are left out. @throws ConfereError `invalid_request` for an unknown position. */
export async function readMonthBalances(
  db: Kysely<Database>,
  month: Month,
  known: AsOf,
  now: Date,
): Promise<MonthBalance[]> {
  const { from, to } = boundsOfMonth(month);
  const { balances: opening } = await readBalances(db, `${from} 00:00:00`, known, now);
  const { balances: closing } = await readBalances(db, `${addDays(to, 1)} 00:00:00`, known, now);
  const opened = new Map(opening.map(({ account, cents }) => [account, cents]));
  const closed = new Map(closing.map(({ account, cents }) => [account, cents]));
  return [...new Set([...opened.keys(), ...closed.keys()])]
    .sort()
    .map((account) => ({
      account,
      openingCents: opened.get(account) ?? 0n,
      closingCents: closed.get(account) ?? 0n,
    }))
    .filter(({ openingCents, closingCents }) => openingCents !== 0n || closingCents !== 0n);
}

/** SHA-256 over the month and its balances: a line of JSON each, without spaces, ended by a line feed. */
export function digestMonth(month: Month, balances: MonthBalance[]): Buffer {
  const hash = createHash('sha256').update(`${JSON.stringify(['month', month])}\n`);
  for (const { account, openingCents, closingCents } of balances)
    hash.update(`${JSON.stringify([account, String(openingCents), String(closingCents)])}\n`);
  return hash.digest();
}

/** As `month_closes.balances` stores them. */
export function formatMonthBalances(balances: MonthBalance[]): string {
  return JSON.stringify(balances.map((one) => [one.account, String(one.openingCents), String(one.closingCents)]));
}

export function parseMonthBalances(text: string): MonthBalance[] {
  const rows = JSON.parse(text) as [string, string, string][];
  return rows.map(([account, opening, closing]) => ({
    account,
    openingCents: BigInt(opening),
    closingCents: BigInt(closing),
  }));
}
