/**
 * The sealer. What was committed since the last sealed position becomes the next one: a link of the hash chain over the
 * journal and the audit, and the folded balances, in one transaction. Appliers share no row with it and never wait for it.
 *
 * One process seals at a time: the loop works under a lease, and each position is written under the lock of one row
 * and by its own primary key, so that two that seal at once (a report asks without the lease) never make two chains.
 */
import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { createWakeSignal, runWorkerLoop } from '../runtime/wake-signal.ts';
import { awaitWatermark, readWatermark, type Watermark } from './await-watermark.ts';
import { deriveBalances } from './derive-balances.ts';
import { findLateEntries, LATE_MS_MAX, type LookBack, SEAL_ENTRIES_MAX } from './find-late-entries.ts';
import { formatMembers } from './format-members.ts';
import { GENESIS_HASH, hashSeal, type SealHeader } from './hash-seal.ts';
import { loadSealedEntries } from './load-sealed-entries.ts';
import { readNewestSeal, type Seal } from './read-seals.ts';
import { findLateAuditRows, selectAuditRows } from './select-audit-rows.ts';

/** How long what was committed may wait, so that a busy second makes one position and not a hundred. */
const SEAL_EVERY_MS = 1_000;
export const SEALER_LEASE_MS = 15_000;
/** How often all of the ten minutes before the head is looked through for entries that came late. */
const LOOK_FAR_EVERY_MS = 60_000;
const NOTHING: Seal = {
  position: 0,
  entrySeq: 0,
  eventSeq: 0,
  mismatchChangeSeq: 0,
  auditSeq: 0,
  hash: GENESIS_HASH,
  sealedAt: new Date(0),
};

/** Seals what is committed, until the signal. Any number of processes may run it: the lease lets one work. */
export async function sealLedger(context: Context): Promise<void> {
  let lookedFarAt: Date | undefined;
  await runWorkerLoop({
    name: 'sealer',
    work: async () => {
      const head = await readNewestSeal(context.db);
      const now = context.clock.now();
      const lookBack = head && isFarDue(head, lookedFarAt, now) ? 'far' : 'near';
      if (await isBehind(context, head, lookBack)) {
        if (!(await claimSealerLease(context))) return false;
        await sealNow(context, lookBack);
      }
      if (lookBack === 'far') lookedFarAt = now;
      return false;
    },
    wakeUp: createWakeSignal(context.timers),
    idleMs: SEAL_EVERY_MS,
    context,
  });
}

/** After a start, then each minute, for as long as an entry may come late to what is sealed. */
function isFarDue(head: Seal, lookedAt: Date | undefined, now: Date): boolean {
  if (!lookedAt) return true;
  const stillLate = lookedAt.getTime() <= head.sealedAt.getTime() + LATE_MS_MAX;
  return stillLate && now.getTime() - lookedAt.getTime() >= LOOK_FAR_EVERY_MS;
}

/**
 * Seals everything that was committed when it is called.
 * @param lookBack how far back it looks for entries that came late.
 * @returns the newest position: a cut of the ledger that stays as it is, and the hash that proves it. On an empty
 * ledger that is the first position, without entries.
 */
export async function sealNow(context: Context, lookBack: LookBack = 'near'): Promise<Seal> {
  const tops = await readWatermark(context.db);
  let head = await readNewestSeal(context.db);
  let late = head ? await hasLate(context.db, head, lookBack) : false;
  if (head && !late && reaches(head, tops)) return head;
  await awaitWatermark(context.db, head ?? NOTHING, tops);
  do {
    context.signal.throwIfAborted();
    // to look far is for the first position alone, and where something was found
    const look = late ? lookBack : 'near';
    head = await transact(context.db, (trx) => sealNext(context, trx, { tops, lookBack: look }), {
      retryDuplicates: true,
    });
    late = await hasLate(context.db, head, look);
  } while (late || !reaches(head, tops));
  return head;
}

/** Whether something at or below the head's numbers is in no position yet. */
async function hasLate(db: Reader, head: Seal, lookBack: LookBack): Promise<boolean> {
  if ((await findLateEntries(db, head, lookBack)).length > 0) return true;
  return lookBack === 'far' && (await findLateAuditRows(db, head)).length > 0;
}

async function isBehind(context: Context, head: Seal | undefined, lookBack: LookBack): Promise<boolean> {
  if (!head || !reaches(head, await readWatermark(context.db))) return true;
  return await hasLate(context.db, head, lookBack);
}

function reaches(head: Seal, tops: Watermark): boolean {
  return (
    head.entrySeq >= tops.entrySeq &&
    head.eventSeq >= tops.eventSeq &&
    head.mismatchChangeSeq >= tops.mismatchChangeSeq &&
    head.auditSeq >= tops.auditSeq
  );
}

/** Whether the loop of this process may seal now; one that died lets another in when its lease has run out. */
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

/** @param tops settled numbers, up to which to seal; a long backlog takes several positions. */
async function sealNext(
  context: Context,
  trx: Transaction<Database>,
  { tops, lookBack }: { tops: Watermark; lookBack: LookBack },
): Promise<Seal> {
  await trx.selectFrom('sealing').select('id').where('id', '=', 1).forUpdate().execute();
  // read under the lock: READ COMMITTED sees what another sealer has just written
  const last = await readNewestSeal(trx);
  const head = last ?? NOTHING;
  const now = context.clock.now();
  const late = last ? (await findLateEntries(trx, last, lookBack)).slice(0, SEAL_ENTRIES_MAX / 2) : [];
  const audit = await selectAuditRows(trx, head, { to: tops.auditSeq, lookBack });
  if (last && late.length === 0 && audit.rows.length === 0 && reaches(last, tops)) return last;
  const limit = SEAL_ENTRIES_MAX - late.length;
  const range = { after: head.entrySeq, to: tops.entrySeq, limit };
  const entries = [
    ...(await loadSealedEntries(trx, { seqs: late }, 'error')),
    ...(await loadSealedEntries(trx, range, 'error')),
  ];
  const filled = entries.length === SEAL_ENTRIES_MAX;
  const header = {
    position: head.position + 1,
    entrySeq: filled ? (entries.at(-1)?.seq ?? head.entrySeq) : Math.max(head.entrySeq, tops.entrySeq),
    eventSeq: Math.max(head.eventSeq, tops.eventSeq),
    mismatchChangeSeq: Math.max(head.mismatchChangeSeq, tops.mismatchChangeSeq),
    members: formatMembers(entries.map((entry) => entry.seq)),
    // never before the position before it, though another machine's clock may be a little behind
    sealedAt: new Date(Math.max(now.getTime(), head.sealedAt.getTime())),
    audit: { seq: audit.seq, members: formatMembers(audit.rows.map((row) => row.seq)) },
  };
  const hash = hashSeal(head.hash, header, entries, audit.rows);
  await insertSeal(trx, { header, hash, previous: head.hash, entries: entries.length, late });
  await deriveBalances(trx, entries);
  const { members: _, audit: __, ...seal } = header;
  return { ...seal, auditSeq: audit.seq, hash };
}

type Drawn = { header: SealHeader; hash: Buffer; previous: Buffer; entries: number; late: number[] };

async function insertSeal(trx: Transaction<Database>, { header, hash, previous, entries, late }: Drawn): Promise<void> {
  await trx
    .insertInto('seals')
    .values({
      position: header.position,
      entry_seq: header.entrySeq,
      event_seq: header.eventSeq,
      mismatch_change_seq: header.mismatchChangeSeq,
      members: header.members,
      audit_seq: header.audit?.seq ?? null,
      audit_members: header.audit?.members ?? null,
      entries,
      stragglers: late.length,
      previous_hash: previous,
      hash,
      sealed_at: header.sealedAt,
    })
    .execute();
  if (late.length === 0) return;
  await trx
    .insertInto('seal_stragglers')
    .values(late.map((seq) => ({ entry_seq: seq, position: header.position })))
    .execute();
}
