/**
 * The sealer: it appends to the hash chain. Start reading seal/ here.
 *
 * In: entries, audit rows, events and mismatch changes committed since the last seal. Out: one more seal, the hash of
 * the previous one and of the new rows, and the balances with the new postings added, in one transaction.
 *
 * How it works: read the watermark (the highest row numbers); wait until no transaction can still commit below it
 * (await-watermark.ts); include entries that came late below the last seal (find-late-entries.ts); hash and insert
 * (write-seal.ts, hash-seal.ts, derive-balances.ts, derive-refunds.ts). Appliers share no row with the sealer and never wait
 * for it.
 *
 * One process seals at a time: the loop holds a lease. A report may also seal, without the lease; each seal is written
 * under one row's lock and has the position as its primary key, so two concurrent sealers never fork the chain.
 */
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import { createHeartbeat } from '../runtime/heartbeat.ts';
import { createWakeSignal, runWorkerLoop } from '../runtime/wake-signal.ts';
import { appendToLog, selectUnlogged } from '../tlog/append.ts';
import { createCheckpointer } from '../tlog/checkpoints.ts';
import { awaitWatermark, readAwaitedFacts, readWatermark, type Watermark } from './await-watermark.ts';
import { catchUpRefunds, lockSealing } from './derive-refunds.ts';
import { LATE_MS_MAX, type LateSearch, searchLate } from './find-late-entries.ts';
import { readNewestSeal, type Seal } from './read-seals.ts';
import { findLateAuditRows } from './select-audit-rows.ts';
import { isCut, NOTHING, reaches, reachesRows, type SealedCut, sealNext } from './write-seal.ts';

/** Interval between seals, so that a busy second makes one seal and not a hundred. */
const SEAL_EVERY_MS = 1_000;
export const SEALER_LEASE_MS = 15_000;
/** Interval between searches of the ten minutes before the head for late entries. */
const FAR_SEARCH_EVERY_MS = 60_000;
/** Interval between near searches from ten minutes after the head on, without end: a node may stall for longer. */
const LATER_SEARCH_EVERY_MS = 60_000;
/** The head at which the last round found nothing to seal. `hasRoom`: an entry may still come late below it. */
type Rest = { head: Seal; hasRoom: boolean; at: Date };

/** Seals committed rows until the signal. Any number of processes may run it; the lease admits one. */
export async function sealLedger(context: Context): Promise<void> {
  let searchedFarAt: Date | undefined;
  let rest: Rest | undefined;
  /** The seal up to which this process knows the refunds to be counted. */
  let countedTo: number | undefined;
  let refundsAreBehind = true;
  const recordCheckpoint = createCheckpointer(context);
  await runWorkerLoop({
    name: 'sealer',
    hasWork: async () => {
      if (!rest || refundsAreBehind) return true;
      await recordCheckpoint();
      const { head } = rest;
      const now = context.clock.now();
      if (isNearSearchDue(rest, now) || isFarSearchDue(head, searchedFarAt, now)) return true;
      return await context.poll(() => selectUnsealed(context.db, head));
    },
    work: async () => {
      const head = await readNewestSeal(context.db);
      await recordCheckpoint();
      const now = context.clock.now();
      const lateSearch = head && isFarSearchDue(head, searchedFarAt, now) ? 'far' : 'near';
      rest = head && (await findRest(context, head, { lateSearch, now }));
      // another process has sealed: one of the version before counts no refunds
      refundsAreBehind ||= head?.position !== countedTo;
      if ((!rest || refundsAreBehind) && !(await claimSealerLease(context))) return false;
      const sealed = rest?.head ?? (await sealNow(context, lateSearch));
      if (lateSearch === 'far') searchedFarAt = now;
      if (refundsAreBehind) refundsAreBehind = await catchUpRefunds(context);
      const hasAppended = rest !== undefined && (await appendWaiting(context, rest.head.position));
      if (!refundsAreBehind) countedTo = sealed.position;
      return refundsAreBehind || hasAppended;
    },
    wakeUp: createWakeSignal(context.timers),
    idleMs: SEAL_EVERY_MS,
    heartbeat: createHeartbeat(context, 'sealer'),
    context,
  });
}

/** Appends leaves that wait to the log, where no seal does. @returns whether there were any: more may wait. */
async function appendWaiting({ db, poll }: Context, position: number): Promise<boolean> {
  if (!(await poll(() => selectUnlogged(db, position)))) return false;
  await transact(db, async (trx) => {
    await lockSealing(trx);
    await appendToLog(trx, position);
  });
  return true;
}

/** Whether a near search is due: each round while an entry may still come late, then each minute. */
function isNearSearchDue({ head, hasRoom, at }: Rest, now: Date): boolean {
  return hasRoom && (isStillLate(head, at) || now.getTime() - at.getTime() >= LATER_SEARCH_EVERY_MS);
}

/** Whether a far search is due: after a start, then each minute while an entry may still come late. */
function isFarSearchDue(head: Seal, searchedAt: Date | undefined, now: Date): boolean {
  if (!searchedAt) return true;
  return isStillLate(head, searchedAt) && now.getTime() - searchedAt.getTime() >= FAR_SEARCH_EVERY_MS;
}

/** Whether an entry could still come late below the head after this search. */
function isStillLate(head: Seal, searchedAt: Date): boolean {
  return searchedAt.getTime() <= head.sealedAt.getTime() + LATE_MS_MAX;
}

/** Rows above the head; or the head itself is gone, as on a database that lost its last commits. */
function selectUnsealed(db: Reader, head: Seal) {
  const own = db.selectFrom('seals').select('position').where('position', '=', head.position);
  return [
    db.selectFrom('seals').select('position').where('position', '>', head.position),
    db.selectFrom('entries').select('seq').where('seq', '>', head.entrySeq),
    db.selectFrom('events').select('seq').where('seq', '>', head.eventSeq),
    db.selectFrom('mismatch_changes').select('seq').where('seq', '>', head.mismatchChangeSeq),
    db.selectFrom('audit').select('seq').where('seq', '>', head.auditSeq),
    ...selectUnlogged(db, head.position),
    db
      .selectFrom('fact_changes')
      .select('seq')
      .where('seq', '>', head.factChangeSeq ?? 0),
    db
      .selectFrom('sealing')
      .select('id')
      .where((eb) => eb.not(eb.exists(own.where('hash', '=', head.hash)))),
  ];
}

/**
 * Seals everything committed before the call.
 * @param lateSearch how far to search for late entries.
 * @returns the newest seal that is a cut: immutable, with the hash that proves it. On an empty ledger that is the first
 *   position, without entries.
 */
export async function sealNow(context: Context, lateSearch: LateSearch = 'near'): Promise<SealedCut> {
  for (;;) {
    const sealed = await sealUpTo(context, await readWatermark(context.db), lateSearch);
    if (isCut(sealed)) return sealed;
    // another process is sealing a backlog that is newer than this watermark
    context.signal.throwIfAborted();
  }
}

async function sealUpTo(context: Context, watermark: Watermark, lateSearch: LateSearch): Promise<Seal> {
  let head = await readNewestSeal(context.db);
  let late = head ? await hasLate(context.db, head, lateSearch) : false;
  if (head && !late && reaches(head, watermark)) return head;
  const factChangeSeq = await readAwaitedFacts(context.db, head);
  await awaitWatermark(context.db, { ...(head ?? NOTHING), factChangeSeq }, watermark);
  do {
    context.signal.throwIfAborted();
    // search far for the first seal only, or again where late entries were found
    const search = late ? lateSearch : 'near';
    head = await transact(context.db, (trx) => sealNext(context, trx, { watermark, lateSearch: search }), {
      retryDuplicates: true,
    });
    late = await hasLate(context.db, head, search);
  } while (late || !reachesRows(head, watermark));
  return head;
}

/** Whether rows at or below the head's numbers are in no seal. */
async function hasLate(db: Reader, head: Seal, lateSearch: LateSearch): Promise<boolean> {
  return (await searchBelow(db, head, lateSearch)).hasLate;
}

async function searchBelow(db: Reader, head: Seal, lateSearch: LateSearch) {
  const { found, hasRoom } = await searchLate(db, head, lateSearch);
  const isAuditLate = lateSearch === 'far' && found.length === 0 && (await findLateAuditRows(db, head)).length > 0;
  return { hasLate: found.length > 0 || isAuditLate, hasRoom };
}

/** @returns undefined if there is something to seal. */
async function findRest(
  { db }: Context,
  head: Seal,
  { lateSearch, now }: { lateSearch: LateSearch; now: Date },
): Promise<Rest | undefined> {
  if (!reaches(head, await readWatermark(db))) return undefined;
  const { hasLate, hasRoom } = await searchBelow(db, head, lateSearch);
  return hasLate ? undefined : { head, hasRoom, at: now };
}

/**
 * Claims or renews the sealer's lease. The lease of a process that died expires. @returns whether this process may
 * seal.
 */
export async function claimSealerLease(context: Context): Promise<boolean> {
  const now = context.clock.now();
  const result = await context.db
    .updateTable('sealing')
    .set({ holder: context.holder, lease_until: new Date(now.getTime() + SEALER_LEASE_MS) })
    .where('id', '=', 1)
    .where((eb) =>
      eb.or([eb('holder', '=', context.holder), eb('lease_until', 'is', null), eb('lease_until', '<', now)]),
    )
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}
