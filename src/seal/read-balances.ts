/**
 * The balance of every account at an instant, as known now, at a seal, or before another instant: signed cents, debit
 * positive.
 *
 * As known now: the sealer's sums of past months, days and hours, plus the postings of the current hour and of unsealed
 * entries. As known earlier: that minus later entries, or the sum of earlier entries, whichever are fewer; so at most
 * half of the journal is read.
 */
import type { Kysely } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { WallTime } from '../domain/calendar.ts';
import { compareText } from '../domain/lists.ts';
import { refuseField } from '../texts/refuse.ts';
import { findLateEntries } from './find-late-entries.ts';
import { readAccountNames } from './load-sealed-entries.ts';
import { readNewestSeal, readSeal, readSealBefore, type Seal } from './read-seals.ts';
import {
  type AccountSums,
  addSums,
  sumBetween,
  sumEntries,
  sumEntryRange,
  sumRecorded,
  sumSpans,
} from './sum-postings.ts';

export type Balance = { account: string; cents: bigint };

/** Which entries to count: all, those up to a seal, or those recorded before an instant. */
export type AsOf = 'now' | { position: number } | { before: Date };

/** The entries up to a number, without those that came late below it. */
export type EntryCut = { entrySeq: number; lateEntries: readonly number[] };

/**
 * Maximum clock difference between replicas: a seal made longer before an instant contains only entries recorded before
 * it.
 */
const CLOCKS_APART_MS = 60_000;
/** Maximum distance between the order of entry numbers and of recording times: no transaction of ours takes longer. */
const COMMITTED_MS = 10 * 60_000;

type View = { db: Reader; at: WallTime; head: Seal | undefined; unsealed: number[]; accounts: number[] };

/** The wall time that reads the balances of now: the wall clock has whole seconds, and the current one counts too. */
export function endOfNow({ calendar, clock }: Pick<Context, 'calendar' | 'clock'>): WallTime {
  return calendar.toWallTimeRoundedUp(new Date(clock.now().getTime() + 1));
}

/**
 * Reads the balances of all accounts.
 * @param at the provider's wall clock; entries before it count.
 * @param now the database's clock.
 * @returns the balances, without accounts that never moved (as known earlier: without zero balances), and the newest
 *   seal of that time.
 * @throws ConfereError `invalid_request` for a seal that does not exist.
 */
export async function readBalances(
  db: Kysely<Database>,
  at: WallTime,
  known: AsOf,
  now: Date,
): Promise<{ balances: Balance[]; sealed: Seal | undefined }> {
  return await inSnapshot(db, async (snapshot) => {
    const names = await readAccountNames(snapshot);
    const { sums, sealed } = await sumAsKnown(await openView(snapshot, at, [...names.keys()]), known, now);
    const balances = [...sums]
      // later entries were subtracted: an account unknown at that time has zero and is omitted
      .filter(([, cents]) => known === 'now' || cents !== 0n)
      .map(([seq, cents]) => ({ account: names.get(seq) ?? `#${seq}`, cents }));
    return { balances: balances.sort((a, b) => compareText(a.account, b.account)), sealed };
  });
}

/**
 * Sums the postings before `at` of a cut's entries by account number: signed cents, debit positive. Reads the sealer's sums
 * and the entries after the cut, or the entries of the cut, whichever are fewer.
 * @param snapshot sees one instant: the sums and the head belong together.
 * @param accounts all of them, or those that the caller wants.
 */
export async function sumAtCut(
  snapshot: Reader,
  cut: EntryCut,
  { at, accounts }: { at: WallTime; accounts: number[] },
): Promise<AccountSums> {
  return await sumCut(await openView(snapshot, at, accounts), cut);
}

async function openView(db: Reader, at: WallTime, accounts: number[]): Promise<View> {
  const head = await readNewestSeal(db);
  return { db, at, head, unsealed: head ? await findLateEntries(db, head) : [], accounts };
}

async function sumAsKnown(
  view: View,
  known: AsOf,
  now: Date,
): Promise<{ sums: AccountSums; sealed: Seal | undefined }> {
  if (known === 'now' || ('before' in known && known.before > now)) {
    return { sums: await sumNow(view), sealed: view.head };
  }
  if ('before' in known) {
    return { sums: await sumBefore(view, known.before), sealed: await readSealBefore(view.db, known.before) };
  }
  const seal = await readSeal(view.db, known.position);
  if (!seal) {
    throw refuseField('known', 'known_unsealed', { newest: view.head?.position ?? 0 });
  }
  return { sums: await sumAtSeal(view, seal), sealed: seal };
}

async function sumNow({ db, at, head, unsealed, accounts }: View): Promise<AccountSums> {
  const hour = `${at.slice(0, 13)}:00:00`;
  const sums = await sumSpans(db, at);
  addSums(sums, await sumBetween(db, accounts, hour, at));
  addSums(sums, await sumEntryRange(db, { after: head?.entrySeq ?? 0 }, hour));
  return addSums(sums, await sumEntries(db, unsealed, hour));
}

async function sumAtSeal(view: View, seal: Seal): Promise<AccountSums> {
  const rows = await view.db
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('position', '>', seal.position)
    .where('entry_seq', '<=', seal.entrySeq)
    .execute();
  const lateEntries = [...rows.map((row) => row.entry_seq), ...view.unsealed.filter((seq) => seq <= seal.entrySeq)];
  return await sumCut(view, { entrySeq: seal.entrySeq, lateEntries });
}

async function sumCut(view: View, { entrySeq, lateEntries }: EntryCut): Promise<AccountSums> {
  const { db, at } = view;
  const since = (view.head?.entrySeq ?? 0) - entrySeq;
  const sums =
    since <= entrySeq
      ? addSums(await sumNow(view), await sumEntryRange(db, { after: entrySeq }, at), -1n)
      : await sumEntryRange(db, { after: 0, to: entrySeq }, at);
  return addSums(sums, await sumEntries(db, lateEntries, at), -1n);
}

/**
 * Sums by recording time. Entries up to a seal made well before the instant were all recorded before it; only the
 * following ones are compared one by one.
 */
async function sumBefore(view: View, before: Date): Promise<AccountSums> {
  const { db, at } = view;
  const seal = await readSealBefore(db, new Date(before.getTime() - CLOCKS_APART_MS));
  const after = seal?.entrySeq ?? 0;
  const since = (view.head?.entrySeq ?? 0) - after;
  if (since <= after) return addSums(await sumNow(view), await sumRecorded(db, { after }, { from: before }, at), -1n);
  const sums = await sumEntryRange(db, { after: 0, to: after }, at);
  const to = await findRecordedFrom(db, after, new Date(before.getTime() + COMMITTED_MS));
  return addSums(sums, await sumRecorded(db, { after, to }, { before }, at));
}

/**
 * Finds, above a number, an entry close to the first that was recorded at an instant or later. Bisects the entries: the
 * time of a seal does not say when the entries of a backlog were recorded.
 * @returns its number; undefined when there is none.
 */
async function findRecordedFrom(db: Reader, after: number, instant: Date): Promise<number | undefined> {
  const newest = await db.selectFrom('entries').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  let [low, high] = [after, newest?.seq ?? 0];
  let found: number | undefined;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await db
      .selectFrom('entries')
      .select(['seq', 'recorded_at'])
      .where('seq', '>', middle)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    if (!entry || entry.recorded_at >= instant) {
      found = entry?.seq ?? found;
      high = middle;
    } else low = entry.seq;
  }
  return found;
}
