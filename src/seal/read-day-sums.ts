import { type Kysely, sql } from 'kysely';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import { findLateEntries } from './find-late-entries.ts';
import { readAccountNames } from './load-sealed-entries.ts';
import { readNewestSeal } from './read-seals.ts';
import { sumSpans } from './sum-postings.ts';

/** An account's balance before the first day, and the sum of its postings of each day: signed cents, debit positive. */
export type DaySums = { account: string; beforeCents: bigint; days: Map<Day, bigint> };

/**
 * Reads the sums of all accounts by day, as known now: the sealer's own sums, plus the postings of unsealed entries. It
 * reads no sealed posting.
 * @param range both days included.
 */
export async function readDaySums(db: Kysely<Database>, { from, to }: { from: Day; to: Day }): Promise<DaySums[]> {
  return await inSnapshot(db, async (snapshot) => {
    const names = await readAccountNames(snapshot);
    const before = await sumSpans(snapshot, `${from} 00:00:00`);
    const sums = new Map([...names].map(([seq, account]) => [seq, toSums(account, before.get(seq))]));
    for (const row of [...(await readSpans(snapshot, from, to)), ...(await readUnsealed(snapshot, to))]) {
      const sum = sums.get(row.account_seq) ?? toSums(`#${row.account_seq}`, 0n);
      if (row.day < from) sum.beforeCents += row.total_cents;
      else sum.days.set(row.day, (sum.days.get(row.day) ?? 0n) + row.total_cents);
      sums.set(row.account_seq, sum);
    }
    return [...sums.values()];
  });
}

/** The first day with a sealed posting; undefined while there is none. */
export async function findFirstSealedDay(db: Reader): Promise<Day | undefined> {
  const row = await db
    .selectFrom('balance_spans')
    .select('span')
    .where('grain', '=', 'day')
    .orderBy('span')
    .limit(1)
    .executeTakeFirst();
  return row?.span;
}

function toSums(account: string, beforeCents = 0n): DaySums {
  return { account, beforeCents, days: new Map() };
}

async function readSpans(db: Reader, from: Day, to: Day) {
  return await db
    .selectFrom('balance_spans')
    .select(['account_seq', 'span as day', 'amount_cents as total_cents'])
    .where('grain', '=', 'day')
    .where('span', '>=', from)
    .where('span', '<=', to)
    .execute();
}

/** Sums what the sealer has not added yet: mostly the entries of the last second. */
async function readUnsealed(db: Reader, to: Day) {
  const head = await readNewestSeal(db);
  const late = head ? await findLateEntries(db, head) : [];
  return await db
    .selectFrom('postings')
    .select(['account_seq', sql<Day>`LEFT(at_wall, 10)`.as('day')])
    .select(sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents'))
    .where((eb) =>
      eb.or([eb('entry_seq', '>', head?.entrySeq ?? 0), ...(late.length > 0 ? [eb('entry_seq', 'in', late)] : [])]),
    )
    .where('at_wall', '<', `${addDays(to, 1)} 00:00:00`)
    .groupBy(['account_seq', 'day'])
    .execute();
}
