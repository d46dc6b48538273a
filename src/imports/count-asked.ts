/** Counts the receipts that must be of an order once a file of orders is imported: those without one open a mismatch. */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { inForce } from '../database/shared/in-force.ts';
import { DAY_MAX, type Day, issuedDayOf } from '../domain/calendar.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import type { Operation } from '../domain/statuses.ts';

/** Receipts of a platform that are read: beyond them the count is a lower bound. */
const RECEIPTS_READ_MAX = 20_000;

/** `platform` null: orders that name none speak of all. `receipts`: paid from the day on, of no order so far. */
export type AskedReceipts = { platform: string | null; from: Day; receipts: number };

type Order = { operation: Operation; platform: string | null; issued_day: Day | null; due_day: Day };

/** @param orders of the file. @returns platforms whose receipts are asked for from an earlier day than so far, the most first. */
export async function countAsked(
  { db, calendar, clock }: Pick<Context, 'db' | 'calendar' | 'clock'>,
  orders: readonly Order[],
): Promise<AskedReceipts[]> {
  const createdDay = calendar.dayOf(clock.now());
  const receipts = orders.filter(({ operation }) => operation === 'cashin');
  const rows = await db.selectFrom('expected_starts').select(['platform', 'since_day']).execute();
  const before = new Map(rows.map((row) => [row.platform, row.since_day]));
  const given = Map.groupBy(receipts, ({ platform }) => platform ?? NO_PLATFORM);
  const isNamed = [...before.keys(), ...given.keys()].some((platform) => platform !== NO_PLATFORM);
  const asked: AskedReceipts[] = [];
  for (const [platform, own] of given) {
    if (isNamed && platform === NO_PLATFORM) continue;
    const days = own.map((one) => issuedDayOf(one.issued_day, { dueDay: one.due_day, createdDay }));
    const [from = createdDay] = days.sort();
    const until = before.get(platform) ?? DAY_MAX;
    const named = platform === NO_PLATFORM ? null : platform;
    if (from < until) asked.push({ platform: named, from, receipts: await countReceipts(db, { named, from, until }) });
  }
  return asked.filter((one) => one.receipts > 0).sort((a, b) => b.receipts - a.receipts);
}

async function countReceipts(
  db: Reader,
  { named, from, until }: { named: string | null; from: Day; until: Day },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM (
      SELECT transaction_seq FROM events WHERE status = 'paid' AND ${inForce('events')} = 1 AND at_wall >= ${`${from} 00:00:00`} AND at_wall < ${`${until} 00:00:00`}
      ORDER BY at_wall DESC LIMIT ${sql.lit(RECEIPTS_READ_MAX)}
    ) AS paid
    INNER JOIN transactions ON transactions.seq = paid.transaction_seq
    WHERE transactions.operation = 'cashin' AND transactions.status = 'paid'
      AND ${named === null ? sql`TRUE` : sql`transactions.platform = ${named}`}
      AND NOT EXISTS (SELECT 1 FROM expected_matches AS made
        LEFT JOIN expected_matches AS undone ON undone.undoes_seq = made.seq
        WHERE made.transaction_seq = transactions.seq AND made.part IS NOT NULL AND undone.seq IS NULL)`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
