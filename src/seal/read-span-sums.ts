/**
 * Sums of groups of accounts by day or hour, as known now: the sealer's sums, plus the postings of entries that no seal
 * contains yet. However many entries a day has, a span has one row for each account that moved in it.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { WallTime } from '../domain/calendar.ts';
import type { GRAINS } from './derive-balances.ts';
import { findUncountedRefunds, type UncountedEntries } from './derive-refunds.ts';
import { findLateEntries } from './find-late-entries.ts';
import { readNewestSeal } from './read-seals.ts';
import { addSums, sumEntries, sumEntryRange, sumSpans } from './sum-postings.ts';

export type SpanGrain = Exclude<(typeof GRAINS)[number]['grain'], 'month'>;

/** Groups of accounts by name: the numbers of their accounts. An account is in one group at most. */
export type AccountGroups<Name extends string> = Record<Name, readonly number[]>;

export type SpanSums<Name extends string, Refund extends string = never> = {
  /** The sums of all postings before the first span. */
  before: Record<Name, bigint>;
  /** By span, such as `2026-11-21` or `2026-11-21 08`. A span in which nothing moved is missing. */
  spans: Map<string, Record<Name, bigint>>;
  /** Likewise, of the postings of refunds alone. */
  refunds: Map<string, Record<Refund, bigint>>;
};

const CHARS: Record<SpanGrain, number> = { day: 10, hour: 13 };

/**
 * Sums the postings of each group: before `from`, and in each span until `to`. Signed cents, debit positive.
 * @param range wall times: `from` begins an hour or a day and counts, `to` does not.
 * @param refunded groups of which the refunds are summed too.
 */
export async function readSpanSums<Name extends string, Refund extends string = never>(
  db: Kysely<Database>,
  groups: AccountGroups<Name>,
  range: { grain: SpanGrain; from: WallTime; to: WallTime },
  refunded: AccountGroups<Refund> = {} as AccountGroups<Refund>,
): Promise<SpanSums<Name, Refund>> {
  const names = Object.keys(groups) as Name[];
  const accounts = new Map(names.flatMap((name) => groups[name].map((seq) => [seq, name] as const)));
  const sums: SpanSums<Name, Refund> = { before: zeros(names), spans: new Map(), refunds: new Map() };
  if (accounts.size === 0) return sums;
  return await inSnapshot(db, async (snapshot) => {
    const head = await readNewestSeal(snapshot);
    const unsealed = head ? await findLateEntries(snapshot, head) : [];
    const tail = { after: head?.entrySeq ?? 0 };
    const before = await sumSpans(snapshot, range.from);
    addSums(before, await sumEntryRange(snapshot, tail, range.from));
    addSums(before, await sumEntries(snapshot, unsealed, range.from));
    for (const [seq, cents] of before) {
      const name = accounts.get(seq);
      if (name !== undefined) sums.before[name] += cents;
    }
    const rows = [
      ...(await readSealed(snapshot, 'balance_spans', groups, range)),
      ...(await readTail(snapshot, groups, range, { ...tail, unsealed })),
    ];
    sums.spans = addBySpan(rows, names);
    if (Object.values<readonly number[]>(refunded).every((seqs) => seqs.length === 0)) return sums;
    const uncounted = await findUncountedRefunds(snapshot, head, unsealed);
    const refunds = [
      ...(await readSealed(snapshot, 'refund_spans', refunded, range)),
      ...(await readRefundTail(snapshot, refunded, range, uncounted)),
    ];
    sums.refunds = addBySpan(refunds, Object.keys(refunded) as Refund[]);
    return sums;
  });
}

function zeros<Name extends string>(names: Name[]): Record<Name, bigint> {
  return Object.fromEntries(names.map((name) => [name, 0n])) as Record<Name, bigint>; // one value for each name
}

function addBySpan<Name extends string>(rows: Row[], names: Name[]): Map<string, Record<Name, bigint>> {
  const spans = new Map<string, Record<Name, bigint>>();
  for (const { span, place, total_cents: cents } of rows) {
    const name = names[Number(place)];
    if (name === undefined) continue;
    const own = spans.get(span) ?? zeros(names);
    own[name] += cents;
    spans.set(span, own);
  }
  return spans;
}

type Row = { span: string; place: number; total_cents: bigint };
type Range = { grain: SpanGrain; from: WallTime; to: WallTime };

async function readSealed(
  db: Reader,
  table: 'balance_spans' | 'refund_spans',
  groups: AccountGroups<string>,
  { grain, from, to }: Range,
): Promise<Row[]> {
  return await db
    .selectFrom(table)
    .select('span')
    .select([placeOf(groups).as('place'), sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents')])
    .where('grain', '=', grain)
    .where('span', '>=', from.slice(0, CHARS[grain]))
    .where('span', '<', to.slice(0, CHARS[grain]))
    .where('account_seq', 'in', Object.values(groups).flat())
    .groupBy(['span', 'place'])
    .execute();
}

/** Entries above the newest seal, a second's worth while the sealer runs, and the few that came late. */
async function readTail(
  db: Reader,
  groups: AccountGroups<string>,
  { grain, from, to }: Range,
  tail: { after: number; unsealed: number[] },
): Promise<Row[]> {
  const late = tail.unsealed.length === 0 ? sql`` : sql`OR entry_seq IN (${sql.join(tail.unsealed)})`;
  const isTail = sql`(entry_seq > ${tail.after} ${late})` as RawBuilder<SqlBool>;
  return await db
    .selectFrom('postings')
    .select(sql<string>`LEFT(at_wall, ${sql.lit(CHARS[grain])})`.as('span'))
    .select([placeOf(groups).as('place'), sql<bigint>`CAST(SUM(amount_cents) AS SIGNED)`.as('total_cents')])
    .where(isTail)
    .where('at_wall', '>=', from)
    .where('at_wall', '<', to)
    .where('account_seq', 'in', Object.values(groups).flat())
    .groupBy(['span', 'place'])
    .execute();
}

/** The postings of refunds in these entries, as `refund_spans` would count them: few beside the entries. */
async function readRefundTail(
  db: Reader,
  groups: AccountGroups<string>,
  { grain, from, to }: Range,
  { after, late }: UncountedEntries,
): Promise<Row[]> {
  const isLate = late.length === 0 ? sql`` : sql`OR entries.seq IN (${sql.join(late)})`;
  return await db
    .selectFrom('entries')
    .innerJoin('events', 'events.seq', 'entries.event_seq')
    .innerJoin('postings', 'postings.entry_seq', 'entries.seq')
    .modifyFront(sql`STRAIGHT_JOIN`)
    .select(sql<string>`LEFT(postings.at_wall, ${sql.lit(CHARS[grain])})`.as('span'))
    .select([placeOf(groups).as('place'), sql<bigint>`CAST(SUM(postings.amount_cents) AS SIGNED)`.as('total_cents')])
    .where(sql<SqlBool>`(entries.seq > ${after} ${isLate})`)
    .where('events.status', '!=', 'paid')
    .where('postings.at_wall', '>=', from)
    .where('postings.at_wall', '<', to)
    .where('postings.account_seq', 'in', Object.values(groups).flat())
    .groupBy(['span', 'place'])
    .execute();
}

/** The place of an account's group in their order. */
function placeOf(groups: AccountGroups<string>): RawBuilder<number> {
  const cases = Object.values(groups).flatMap((seqs, place) =>
    seqs.length === 0 ? [] : [sql`WHEN account_seq IN (${sql.join(seqs)}) THEN ${sql.lit(place)}`],
  );
  return sql<number>`CASE ${sql.join(cases, sql` `)} END`;
}
