import type { Context } from '../../context.ts';
import { fetchAndApply } from '../../ledger/apply/fetch-and-apply.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { RunRef } from './run-ref.ts';

/** A list that changes its rows all the time would have no end: the next run fetches the others. */
const SHOWS_MAX = 500;

/**
 * Fetches by id the transactions that one pass showed in two versions. They changed while they were read, or the list
 * mixes two copies of the provider's data. The fetched row is the newest observation.
 * @param checkLease throws if another process has taken the run: called before each request.
 * @returns ids of transactions that changed.
 */
export async function fetchInconsistent(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  ids: string[],
  checkLease: () => void,
): Promise<string[]> {
  if (ids.length === 0) return [];
  context.log.info(
    { run: run.id, inconsistent: ids.length, fetched: Math.min(ids.length, SHOWS_MAX) },
    'one pass showed rows in two versions; fetching them by id',
  );
  const changed: string[] = [];
  const source = { kind: 'show' as const, run: { seq: run.seq, id: run.id } };
  for (const id of ids.slice(0, SHOWS_MAX)) {
    checkLease();
    changed.push(...(await fetchAndApply(context, client, id, source)).changed);
  }
  return changed;
}
