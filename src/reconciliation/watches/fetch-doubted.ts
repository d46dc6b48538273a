import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { largest } from '../../domain/lists.ts';
import { fetchAndApply } from '../../ledger/apply/fetch-and-apply.ts';
import { deferDoubts, listDoubtTimes, lockDueDoubts, selectDueDoubts } from '../../ledger/apply/write-doubts.ts';
import { describeError } from '../../log.ts';
import type { ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { blocksAllRequests } from '../../provider/schedule-requests.ts';
import { createWakeSignal, runWorkerLoop } from '../../runtime/wake-signal.ts';

const IDLE_MS = 5_000;
const CLAIMED_MAX = 20;
/** Retry after this, where the claiming process died or the provider did not answer. */
export const LEASE_MS = 60_000;
/**
 * An unknown id or an unreadable row says nothing about the events. The next fetch waits for as long as the transaction
 * has been doubted, within these limits.
 */
const NO_EVIDENCE_PAUSE_MS = { least: 3_600_000, most: 86_400_000 };
/** A fetch is repeated after LEASE_MS: a few failing ones must not outlast the lease of the claimed others. */
const TRIES_MAX = 2;

/** The worker loop. Fetches by id the transactions whose last observation lacked an event or contradicted itself. */
export async function fetchDoubted(context: Context, client: ProviderClient): Promise<void> {
  const work = async (): Promise<boolean> => (await fetchDueDoubted(context, client)) === CLAIMED_MAX;
  await runWorkerLoop({
    name: 'doubted events',
    wakeUp: createWakeSignal(context.timers),
    idleMs: IDLE_MS,
    context,
    hasWork: () => context.poll(() => selectDueDoubts(context.db, context.clock.now())),
    work,
  });
}

/** @returns how many were due. */
export async function fetchDueDoubted(context: Context, client: ProviderClient): Promise<number> {
  const ids = await claimDue(context);
  for (const id of ids) {
    context.signal.throwIfAborted();
    try {
      await fetchDoubt(context, client, id);
    } catch (error) {
      if (!(error instanceof ProviderError) || blocksAllRequests(error)) throw error;
      // one failing transaction must not delay the others
      await deferDoubt(context, id, LEASE_MS);
      context.log.warn(
        { error: describeError(error), transaction: id },
        'fetching a doubted transaction failed; retrying later',
      );
    }
  }
  return ids.length;
}

async function fetchDoubt(context: Context, client: ProviderClient, id: string): Promise<void> {
  const { row } = await fetchAndApply(context, client, id, { kind: 'show' }, { triesMax: TRIES_MAX });
  if (row?.ok) return;
  const { least, most } = NO_EVIDENCE_PAUSE_MS;
  await deferDoubt(context, id, Math.min(Math.max(await readDoubtedMs(context, id), least), most));
}

/** For how long a transaction has been doubted. */
async function readDoubtedMs(context: Context, id: string): Promise<number> {
  const noticed = await listDoubtTimes(context.db, id);
  const now = context.clock.now().getTime();
  return Math.max(0, largest(noticed.map((at) => now - at.getTime())));
}

async function deferDoubt(context: Context, id: string, ms: number): Promise<void> {
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
