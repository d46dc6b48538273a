import { sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { append, seqsOf } from '../../domain/lists.ts';
import { MANIFEST_SOURCE, TEST_SOURCE } from '../health/callback-sources.ts';
import { PROBE_EVERY_MS } from '../health/merchant-health.ts';
import { WHEN_IDLE } from '../health/when-idle.ts';
import { claimSuccessors } from './claim-successors.ts';
import { type ClaimedCallback, selectClaimable, toClaimed } from './claimed-callback.ts';
import { limitRates, lockRates } from './limit-rates.ts';
import type { DeliveryMerchant } from './read-delivery-merchants.ts';
import { type OpenCallback, readOpenCallbacks } from './read-open-callbacks.ts';
import type { LeasedSet } from './slots.ts';
import { deferBlocked, splitByOrder } from './split-by-order.ts';

/** Longer than any attempt may last: a callback in flight is never claimed again while its process runs. */
export const LEASE_MS = 60_000;
const SELECTS_MAX = 50;

/** A merchant, how many free slots it has now, and how many of these the callbacks of a backfill may use. */
export type ClaimRequest = { merchant: DeliveryMerchant; slots: number; idleSlots?: number };

export type ClaimResult = {
  claimed: ClaimedCallback[];
  /** Merchants with at least as many due callbacks as free slots: there may be more. Also if a slot was taken meanwhile. */
  saturated: Set<number>;
};

/**
 * Claims due callbacks: leases them in one short transaction, so that no row is locked over the network. A callback whose
 * transaction has an older undelivered one is deferred instead.
 * @param busy callbacks that this process has leased and not recorded yet.
 * @param reserve takes a slot of a merchant for a due callback; false where new callbacks have taken all since.
 */
export async function claimCallbacks(
  context: Context,
  wants: ClaimRequest[],
  busy: LeasedSet,
  reserve: (merchantSeq: number) => boolean = () => true,
): Promise<ClaimResult> {
  const now = context.clock.now();
  const due = await findCandidates(context, wants, now);
  const dueOf = Map.groupBy(due, (one) => one.merchant_seq);
  const saturated = new Set(
    wants.flatMap(({ merchant, slots, idleSlots = 0 }) => {
      const { live = [], idle = [] } = Object.groupBy(dueOf.get(merchant.seq) ?? [], kindOf);
      return live.length < slots && (idle.length === 0 || idle.length < idleSlots) ? [] : [merchant.seq];
    }),
  );
  const candidates = chooseCandidates(wants, dueOf).flatMap(({ seq, merchant_seq: merchantSeq }) => {
    if (busy.has(seq)) return [];
    if (reserve(merchantSeq)) return [seq];
    saturated.add(merchantSeq);
    return [];
  });
  if (candidates.length === 0) return { claimed: [], saturated };
  const merchants = new Map(wants.map(({ merchant }) => [merchant.seq, merchant]));
  const claimed = await transact(context.db, async (trx) => {
    const limited = [...merchants.values()].filter((merchant) => merchant.rate !== null).map(({ seq }) => seq);
    const rates = await lockRates(trx, limited);
    const rows = await lockDue(trx, candidates, now);
    // read while the rows are locked. The recorder needs the same lock to wake a newer callback: so either its commit is
    // visible here, or it wakes what is deferred here
    const open = await readOpenOf(trx, rows);
    const { ready, blocked } = splitByOrder(rows, open, now);
    // a rate serves callbacks of a backfill last
    const order = new Map(candidates.map((seq, index) => [seq, index]));
    ready.sort((a, b) => (order.get(a.seq) ?? 0) - (order.get(b.seq) ?? 0));
    const granted = await limitRates(trx, ready, rates, now);
    await deferBlocked(trx, blocked, now);
    const claimed = await claimSuccessors(trx, granted, open, { limited: new Set(limited), busy });
    await lease(
      context,
      trx,
      claimed.flatMap((one) => [one, ...one.successors]),
      now,
    );
    return claimed;
  });
  return { claimed, saturated };
}

/**
 * Claims the oldest held callback of a failing merchant as a probe of whether it has recovered: one in 5 minutes over all
 * processes.
 */
export async function claimProbe(
  context: Context,
  merchant: DeliveryMerchant,
  busy: LeasedSet,
): Promise<ClaimedCallback[]> {
  const now = context.clock.now();
  const held = await context.db
    .selectFrom('callbacks')
    .select('seq')
    .where('merchant_seq', '=', merchant.seq)
    .where('state', '=', 'held')
    .limit(1)
    .executeTakeFirst();
  return transact(context.db, async (trx) => {
    const selectHeld = selectClaimable(trx)
      .where('merchant_seq', '=', merchant.seq)
      .where('state', '=', 'held')
      .orderBy('next_attempt_at')
      .limit(1)
      .forUpdate()
      .skipLocked();
    // a manifest last: an address that refuses this type alone would never recover
    const oldest =
      (await selectHeld.where('source', '<>', MANIFEST_SOURCE).executeTakeFirst()) ??
      (await selectHeld.executeTakeFirst());
    // another transaction has it locked: retry in the next round, not in 5 minutes
    if (held && !oldest) return [];
    const probeAt = new Date(now.getTime() + PROBE_EVERY_MS);
    const taken = await trx
      .updateTable('merchants')
      .set({ probe_at: probeAt })
      .where('seq', '=', merchant.seq)
      .where((eb) => eb.or([eb('probe_at', 'is', null), eb('probe_at', '<=', now)]))
      .executeTakeFirst();
    if (!oldest || busy.has(oldest.seq) || taken.numUpdatedRows === 0n) return [];
    const claimed = { ...toClaimed(oldest), isProbe: true };
    await lease(context, trx, [claimed], now);
    return [claimed];
  });
}

type Candidate = { seq: number; merchant_seq: number; is_idle: number };

function kindOf(one: Candidate): 'live' | 'idle' {
  return Number(one.is_idle) === 1 ? 'idle' : 'live';
}

/** Returns due callbacks by their row number, then those of backfills, as far as slots are left for these. */
function chooseCandidates(wants: ClaimRequest[], dueOf: Map<number, Candidate[]>): Candidate[] {
  const chosen = wants.map(({ merchant, slots, idleSlots = 0 }) => {
    const { live = [], idle = [] } = Object.groupBy(dueOf.get(merchant.seq) ?? [], kindOf);
    return { live, idle: idle.slice(0, Math.min(idleSlots, Math.max(0, slots - live.length))) };
  });
  const bySeq = (a: Candidate, b: Candidate): number => a.seq - b.seq;
  return [...chosen.flatMap((one) => one.live).sort(bySeq), ...chosen.flatMap((one) => one.idle).sort(bySeq)];
}

// one round trip for all merchants, each with its own LIMIT: a long queue of one does not hide another's
async function findCandidates(context: Context, wants: ClaimRequest[], now: Date): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (let from = 0; from < wants.length; from += SELECTS_MAX) {
    const selects = wants.slice(from, from + SELECTS_MAX).flatMap(({ merchant, slots, idleSlots = 0 }) => {
      const testsOnly = merchant.holdsBack ? sql`AND source = ${TEST_SOURCE}` : sql``;
      const live = sql`(SELECT seq, merchant_seq, 0 AS is_idle FROM callbacks WHERE merchant_seq = ${merchant.seq}
        AND state = 'pending' AND next_attempt_at <= ${now} ${testsOnly}
        ORDER BY next_attempt_at LIMIT ${sql.lit(slots)})`;
      if (merchant.holdsBack || idleSlots === 0) return [live];
      return [
        live,
        sql`(SELECT seq, merchant_seq, 1 AS is_idle FROM callbacks WHERE merchant_seq = ${merchant.seq}
        AND state = 'pending' AND next_attempt_at = ${WHEN_IDLE} ORDER BY seq LIMIT ${sql.lit(idleSlots)})`,
      ];
    });
    const { rows } = await sql<Candidate>`${sql.join(selects, sql` UNION ALL `)}`.execute(context.db);
    append(found, rows);
  }
  return found;
}

async function readOpenOf(trx: Transaction<Database>, rows: ClaimedCallback[]): Promise<OpenCallback[]> {
  const transactionSeqs = new Set(rows.map((row) => row.transactionSeq).filter((seq) => seq !== null));
  if (transactionSeqs.size === 0) return [];
  return await readOpenCallbacks(trx, [...transactionSeqs], [...new Set(rows.map((row) => row.merchantSeq))]);
}

async function lockDue(trx: Transaction<Database>, seqs: number[], now: Date): Promise<ClaimedCallback[]> {
  const rows = await selectClaimable(trx)
    .where('seq', 'in', seqs)
    .where('state', '=', 'pending')
    .where((eb) => eb.or([eb('next_attempt_at', '<=', now), eb('next_attempt_at', '=', WHEN_IDLE)]))
    // for the next version, which leases a callback without moving its time (docs/decisions/0104)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]))
    .orderBy('seq')
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map(toClaimed);
}

async function lease(
  context: Context,
  trx: Transaction<Database>,
  callbacks: ClaimedCallback[],
  now: Date,
): Promise<void> {
  if (callbacks.length === 0) return;
  const until = new Date(now.getTime() + LEASE_MS);
  await trx
    .updateTable('callbacks')
    // when the lease runs out, the callback is due again by the same index
    .set({ state: 'pending', lease_holder: context.holder, lease_until: until, next_attempt_at: until })
    .where('seq', 'in', seqsOf(callbacks))
    .execute();
}
