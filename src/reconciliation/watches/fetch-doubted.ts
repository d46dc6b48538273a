import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { applyObservations } from '../../ledger/apply/apply-observations.ts';
import { storeRefusedRows } from '../../ledger/apply/store-refused-rows.ts';
import { deferDoubts, listDoubtTimes, lockDueDoubts } from '../../ledger/apply/write-doubts.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { blocksAllRequests } from '../../provider/schedule-requests.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';

const IDLE_MS = 5_000;
const CLAIMED_MAX = 20;
/** A process that claimed one and died, or a provider that is away, is waited for so long. */
const LEASE_MS = 60_000;
/**
 * What the provider does not know by its id, or shows unreadably, says nothing of its events. It is asked again after as
 * long as it has been doubted, within these.
 */
const SILENT_MS = { least: 3_600_000, most: 86_400_000 };
/** It comes again by itself: a few that fail may not outlast the lease of those behind them. */
const TRIES_MAX = 2;

/** The worker's loop: asks by id for what a look lacked an event of, and for rows that contradicted themselves. */
export async function fetchDoubted(context: Context, client: ProviderClient): Promise<void> {
  const work = async (): Promise<boolean> => (await fetchDueDoubted(context, client)) === CLAIMED_MAX;
  await runWorkerLoop({
    name: 'doubted events',
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
    work,
  });
}

/** @returns how many were due. */
export async function fetchDueDoubted(context: Context, client: ProviderClient): Promise<number> {
  const ids = await claimDue(context);
  for (const id of ids) {
    context.signal.throwIfAborted();
    try {
      await lookAt(context, client, id);
    } catch (error) {
      if (!(error instanceof ProviderError) || blocksAllRequests(error)) throw error;
      // one that can't be shown may not keep the others waiting
      await putOff(context, id, LEASE_MS);
      context.log.warn({ error: describeError(error), transaction: id }, 'a doubted transaction could not be shown');
    }
  }
  return ids.length;
}

async function lookAt(context: Context, client: ProviderClient, id: string): Promise<void> {
  const row = await client.show(id, { triesMax: TRIES_MAX });
  const source = { kind: 'show' as const };
  if (row?.ok) {
    await applyObservations(context, [{ ...row, source }]);
    return;
  }
  if (row) await storeRefusedRows(context, [{ ...row, source }]);
  await putOff(context, id, Math.min(Math.max(await readDoubtedMs(context, id), SILENT_MS.least), SILENT_MS.most));
}

/** For how long a transaction has been doubted. */
async function readDoubtedMs(context: Context, id: string): Promise<number> {
  const noticed = await listDoubtTimes(context.db, id);
  const now = context.clock.now().getTime();
  return Math.max(0, ...noticed.map((at) => now - at.getTime()));
}

async function putOff(context: Context, id: string, ms: number): Promise<void> {
  const until = new Date(context.clock.now().getTime() + ms);
  await transact(context.db, (trx) => deferDoubts(trx, [id], until));
}

async function claimDue(context: Context): Promise<string[]> {
  const now = context.clock.now();
  return await transact(context.db, async (trx) => {
    const ids = await lockDueDoubts(trx, now, CLAIMED_MAX);
    await deferDoubts(trx, ids, new Date(now.getTime() + LEASE_MS));
    return ids;
  });
}
