/**
 * Verifies every entry in itself: it sums to zero, its postings have its time, its references exist, and a reversal
 * negates exactly the reversed entry. Reads ranges of numbers, with a few statements by key for each.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Verification } from './check-state.ts';

const ROWS_AT_ONCE = 20_000;
/** Late entries, whose numbers are no range. */
const LATE_AT_ONCE = 2_000;

/** Restricts a column of numbers to the current range. */
type Within = (column: string) => RawBuilder<unknown>;
type Check = { says: string; find: (within: Within) => RawBuilder<{ seq: number }> };

const OF_ENTRIES: Check[] = [
  {
    says: 'its postings do not sum to zero, are of another time, or are not there',
    find: (within) => sql`SELECT e.seq FROM entries e LEFT JOIN postings p ON p.entry_seq = e.seq
      WHERE ${within('e.seq')} GROUP BY e.seq
      HAVING COUNT(p.entry_seq) = 0 OR SUM(p.amount_cents) <> 0 OR SUM(p.at_wall <> e.at_wall) > 0`,
  },
  {
    says: 'there are postings of it, and no entry',
    find: (within) => sql`SELECT DISTINCT p.entry_seq AS seq FROM postings p
      LEFT JOIN entries e ON e.seq = p.entry_seq WHERE ${within('p.entry_seq')} AND e.seq IS NULL`,
  },
  {
    says: 'a posting of it names an account that is not there',
    find: (within) => sql`SELECT DISTINCT p.entry_seq AS seq FROM postings p
      LEFT JOIN accounts a ON a.seq = p.account_seq WHERE ${within('p.entry_seq')} AND a.seq IS NULL`,
  },
  {
    says: 'its transaction or its event is not there',
    find: (within) => sql`SELECT e.seq FROM entries e
      LEFT JOIN transactions t ON t.seq = e.transaction_seq LEFT JOIN events v ON v.seq = e.event_seq
      WHERE ${within('e.seq')} AND ((e.transaction_seq IS NOT NULL AND t.seq IS NULL)
        OR (e.event_seq IS NOT NULL AND (v.seq IS NULL OR v.transaction_seq <> e.transaction_seq)))`,
  },
  {
    says: 'no transaction, opening or adjustment asks for it',
    // a reversal belongs to an opening that was reversed, or to an adjustment of its own
    find: (within) => sql`SELECT e.seq FROM entries e
      LEFT JOIN openings o ON o.entry_seq = COALESCE(e.reverses_seq, e.seq)
        AND (e.reverses_seq IS NULL OR o.in_force IS NULL)
      LEFT JOIN adjustments a ON a.entry_seq = e.seq
      WHERE ${within('e.seq')} AND e.transaction_seq IS NULL AND o.seq IS NULL AND a.seq IS NULL`,
  },
  {
    says: 'it is no reversal of an entry of the same time, platform and event',
    find: (within) => sql`SELECT r.seq FROM entries r LEFT JOIN entries o ON o.seq = r.reverses_seq
      WHERE ${within('r.seq')} AND (r.reverses_seq IS NOT NULL OR r.kind = 'reversal')
        AND (o.seq IS NULL OR r.kind <> 'reversal' OR o.reverses_seq IS NOT NULL OR o.seq > r.seq
          OR o.at_wall <> r.at_wall OR o.platform <> r.platform
          OR NOT (o.transaction_seq <=> r.transaction_seq) OR NOT (o.event_seq <=> r.event_seq))`,
  },
  {
    says: 'it does not negate the entry that it reverses',
    find: (within) => sql`SELECT DISTINCT seq FROM (
        SELECT seq, account_seq FROM (
          SELECT r.seq, p.account_seq, p.amount_cents FROM entries r JOIN postings p ON p.entry_seq = r.seq
          WHERE ${within('r.seq')} AND r.reverses_seq IS NOT NULL
          UNION ALL
          SELECT r.seq, p.account_seq, p.amount_cents FROM entries r JOIN postings p ON p.entry_seq = r.reverses_seq
          WHERE ${within('r.seq')} AND r.reverses_seq IS NOT NULL
        ) AS pairs GROUP BY seq, account_seq HAVING SUM(amount_cents) <> 0
      ) AS unpaired`,
  },
];

const OF_EVENTS: Check[] = [
  {
    says: 'its transaction is not there',
    find: (within) => sql`SELECT v.seq FROM events v LEFT JOIN transactions t ON t.seq = v.transaction_seq
      WHERE ${within('v.seq')} AND t.seq IS NULL`,
  },
];

/** Verifies the next range of events. */
export async function verifyEvents(verification: Verification): Promise<boolean> {
  return await verifyRange(verification, 'events', OF_EVENTS);
}

/** Verifies the next range of entries. After a proof, that are the entries above its numbers, sealed or not. */
export async function verifyEntries(verification: Verification): Promise<boolean> {
  return await verifyRange(verification, 'entries', OF_ENTRIES);
}

/** Verifies the late entries below a proof's numbers that were sealed after it. Without a proof they are in the ranges. */
export async function verifyLateEntries({ context, state, proof, report }: Verification): Promise<boolean> {
  if (!proof) return false;
  const rows = await context.db
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('position', '>', proof.walk.position)
    .where('entry_seq', '<=', proof.walk.entrySeq)
    .where('entry_seq', '>', state.late.after)
    .orderBy('entry_seq')
    .limit(LATE_AT_ONCE)
    .execute();
  const seqs = rows.map((row) => row.entry_seq);
  if (seqs.length === 0) return false;
  const within: Within = (column) => sql`${sql.ref(column)} IN (${sql.join(seqs)})`;
  await runChecks(context, OF_ENTRIES, within, (seq, says) => report({ scope: `entry en_${seq}`, says }));
  state.late.after = seqs.at(-1) ?? state.late.after;
  state.entries.count += seqs.length;
  return true;
}

async function verifyRange(
  { context, state, report }: Verification,
  table: 'entries' | 'events',
  checks: Check[],
): Promise<boolean> {
  const cursor = state[table];
  const from = cursor.after;
  const end = await context.db
    .selectFrom(table)
    .select('seq')
    .where('seq', '>', from)
    .orderBy('seq')
    .offset(ROWS_AT_ONCE - 1)
    .limit(1)
    .executeTakeFirst();
  // the last range is unbounded, to include numbers above the newest
  const within: Within = (column) =>
    end ? sql`${sql.ref(column)} > ${from} AND ${sql.ref(column)} <= ${end.seq}` : sql`${sql.ref(column)} > ${from}`;
  const scope = table === 'events' ? 'event ' : 'entry en_';
  await runChecks(context, checks, within, (seq, says) => report({ scope: `${scope}${seq}`, says }));
  cursor.count += end ? ROWS_AT_ONCE : await countAbove(context, table, from);
  cursor.after = end?.seq ?? cursor.after;
  return end !== undefined;
}

async function runChecks(
  { db }: Context,
  checks: Check[],
  within: Within,
  report: (seq: number, says: string) => void,
): Promise<void> {
  for (const check of checks) {
    const { rows } = await check.find(within).execute(db);
    for (const row of rows) report(row.seq, check.says);
  }
}

async function countAbove(context: Context, table: 'entries' | 'events', seq: number): Promise<number> {
  const row = await context.db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('seq', '>', seq)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}
