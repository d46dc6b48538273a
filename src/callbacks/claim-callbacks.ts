import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { PROBE_EVERY_MS } from './merchant-health.ts';
import { blockedUntil } from './order.ts';
import type { DeliveryMerchant } from './read-delivery-merchants.ts';
import { readOpenCallbacks } from './read-open-callbacks.ts';
import { takeFromRate } from './take-from-rate.ts';

/** Longer than any attempt may last, so that nothing in flight is ever taken over from a process that lives. */
export const LEASE_MS = 60_000;
const SELECTS_MAX = 50;

export type ClaimedCallback = {
  seq: number;
  webhookId: string;
  merchantSeq: number;
  transactionSeq: number | null;
  eventSeq: number | null;
  sequence: number;
  type: string;
  previousStatus: string | null;
  source: string;
  attempts: number;
  step: number;
  firstFailedAt: Date | null;
  createdAt: Date;
  isProbe: boolean;
};

/** How many of a merchant's callbacks there is a place for now. */
export type Want = { merchant: DeliveryMerchant; places: number };

/**
 * Takes due callbacks for sending: leases them in one short transaction, so that no row is locked while the network is
 * waited for. One whose transaction has an older one still to be delivered is put off instead.
 * @param busy callbacks that this process holds and has not recorded yet.
 */
export async function claimCallbacks(context: Context, wants: Want[], busy: Set<number>): Promise<ClaimedCallback[]> {
  const now = context.clock.now();
  const candidates = (await findCandidates(context, wants, now)).filter((seq) => !busy.has(seq));
  if (candidates.length === 0) return [];
  const merchants = new Map(wants.map(({ merchant }) => [merchant.seq, merchant]));
  return transact(context.db, async (trx) => {
    const limited = [...merchants.values()].filter((merchant) => merchant.rate !== null).map(({ seq }) => seq);
    const rates = await lockRates(trx, limited);
    const rows = await lockDue(trx, candidates, now);
    const { ready, blocked } = await splitByOrder(trx, rows, now);
    const granted = await keepToRates(trx, ready, rates, now);
    await putOff(trx, blocked);
    await lease(context, trx, granted, now);
    return granted;
  });
}

/**
 * Takes the oldest held callback of a merchant that fails, to see whether it is well again: one in 5 minutes, over all
 * processes.
 */
export async function claimProbe(
  context: Context,
  merchant: DeliveryMerchant,
  busy: Set<number>,
): Promise<ClaimedCallback[]> {
  const now = context.clock.now();
  return transact(context.db, async (trx) => {
    const oldest = await selectClaimable(trx)
      .where('merchant_seq', '=', merchant.seq)
      .where('state', '=', 'held')
      .orderBy('next_attempt_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
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

// one round trip for all merchants, each by its own limit: a long queue of one does not hide another's
async function findCandidates(context: Context, wants: Want[], now: Date): Promise<number[]> {
  const found: number[] = [];
  for (let from = 0; from < wants.length; from += SELECTS_MAX) {
    const selects = wants.slice(from, from + SELECTS_MAX).map(({ merchant, places }) => {
      const testsOnly = merchant.holds ? sql`AND transaction_seq IS NULL` : sql``;
      return sql`(SELECT seq FROM callbacks WHERE merchant_seq = ${merchant.seq} AND state = 'pending'
        AND next_attempt_at <= ${now} ${testsOnly} ORDER BY next_attempt_at LIMIT ${sql.lit(places)})`;
    });
    const { rows } = await sql<{ seq: number }>`${sql.join(selects, sql` UNION ALL `)}`.execute(context.db);
    found.push(...rows.map((row) => row.seq));
  }
  return found;
}

async function lockRates(trx: Transaction<Database>, seqs: number[]): Promise<Map<number, RateRow>> {
  if (seqs.length === 0) return new Map();
  const rows = await trx
    .selectFrom('merchants')
    .select(['seq', 'rate', 'rate_next_at'])
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.seq, row]));
}

type RateRow = { seq: number; rate: number | null; rate_next_at: Date | null };

async function lockDue(trx: Transaction<Database>, seqs: number[], now: Date): Promise<ClaimedCallback[]> {
  const rows = await selectClaimable(trx)
    .where('seq', 'in', seqs)
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<=', now)
    .orderBy('seq')
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map(toClaimed);
}

function selectClaimable(trx: Transaction<Database>) {
  return trx
    .selectFrom('callbacks')
    .select(['seq', 'webhook_id', 'merchant_seq', 'transaction_seq', 'event_seq', 'sequence', 'type'])
    .select(['previous_status', 'source', 'attempts', 'step', 'first_failed_at', 'created_at']);
}

type ClaimableRow = Awaited<ReturnType<ReturnType<typeof selectClaimable>['execute']>>[number];

function toClaimed(row: ClaimableRow): ClaimedCallback {
  return {
    seq: row.seq,
    webhookId: row.webhook_id,
    merchantSeq: row.merchant_seq,
    transactionSeq: row.transaction_seq,
    eventSeq: row.event_seq,
    sequence: row.sequence,
    type: row.type,
    previousStatus: row.previous_status,
    source: row.source,
    attempts: row.attempts,
    step: row.step,
    firstFailedAt: row.first_failed_at,
    createdAt: row.created_at,
    isProbe: false,
  };
}

type Blocked = { seq: number; until: Date };

/**
 * Reads what is older under the lock of the newer: the recorder, which wakes the newer one after it recorded the older,
 * needs that lock too, so it either is seen here or wakes what is put off here.
 */
async function splitByOrder(
  trx: Transaction<Database>,
  rows: ClaimedCallback[],
  now: Date,
): Promise<{ ready: ClaimedCallback[]; blocked: Blocked[] }> {
  const later = rows.filter((row) => row.transactionSeq !== null && row.sequence > 1);
  if (later.length === 0) return { ready: rows, blocked: [] };
  const transactionSeqs = new Set(later.map((row) => row.transactionSeq).filter((seq) => seq !== null));
  const merchantSeqs = new Set(later.map((row) => row.merchantSeq));
  const open = await readOpenCallbacks(trx, [...transactionSeqs], [...merchantSeqs]);
  const openByKey = Map.groupBy(open, (one) => `${one.merchant_seq}:${one.transaction_seq}`);
  const blocked: Blocked[] = [];
  const ready = rows.filter((row) => {
    const same = openByKey.get(`${row.merchantSeq}:${row.transactionSeq}`) ?? [];
    const older = same.filter((one) => one.sequence < row.sequence);
    const until = blockedUntil(
      older.map((one) => ({ firstFailedAt: one.first_failed_at })),
      now,
    );
    if (until) blocked.push({ seq: row.seq, until });
    return until === undefined;
  });
  return { ready, blocked };
}

async function keepToRates(
  trx: Transaction<Database>,
  ready: ClaimedCallback[],
  rates: Map<number, RateRow>,
  now: Date,
): Promise<ClaimedCallback[]> {
  if (rates.size === 0) return ready;
  const granted: ClaimedCallback[] = [];
  for (const [merchantSeq, rows] of Map.groupBy(ready, (row) => row.merchantSeq)) {
    const limit = rates.get(merchantSeq);
    if (!limit?.rate) {
      granted.push(...rows);
      continue;
    }
    const { count, nextAt } = takeFromRate(limit.rate, limit.rate_next_at, now, rows.length);
    granted.push(...rows.slice(0, count));
    if (count > 0) {
      await trx.updateTable('merchants').set({ rate_next_at: nextAt }).where('seq', '=', merchantSeq).execute();
    }
  }
  return granted;
}

async function putOff(trx: Transaction<Database>, blocked: Blocked[]): Promise<void> {
  if (blocked.length === 0) return;
  const until: RawBuilder<Date> = sql`CASE seq ${sql.join(
    blocked.map((one) => sql`WHEN ${one.seq} THEN ${one.until}`),
    sql` `,
  )} END`;
  const seqs = blocked.map((one) => one.seq);
  await trx.updateTable('callbacks').set({ next_attempt_at: until }).where('seq', 'in', seqs).execute();
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
    // a lease that ran out makes the callback due again by the same index
    .set({ state: 'pending', lease_holder: context.holder, lease_until: until, next_attempt_at: until })
    .where(
      'seq',
      'in',
      callbacks.map((one) => one.seq),
    )
    .execute();
}
