import type { Context } from '../../context.ts';
import { webhookIdOf } from '../../domain/ids.ts';
import { append } from '../../domain/lists.ts';
import type { Observation } from '../../domain/observation.ts';
import { applyObservations, type Companion } from '../../ledger/apply/apply-observations.ts';
import { applyShownRow } from '../../ledger/apply/fetch-and-apply.ts';
import { transactionsApplied } from '../../metrics/metrics.ts';
import type { ShownRow } from '../../provider/client.ts';
import { createBatcher } from '../../runtime/batch.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { type ItemFetch, openOutcomes } from './record-outcomes.ts';

const APPLY_ITEMS_MAX = 100;
const APPLYING_MAX = 1;

/** A row that a fetch showed, and the fetch, if its outcomes can be written with the row. */
type Shown = { observation: Observation; fetch: ItemFetch | undefined };
type Applied = { error?: unknown; isRecorded: boolean };

/**
 * Applies the rows that fetches show: those that arrive together in one transaction, with the outcomes of their items.
 * @returns a function of a fetch's first item, its rows, and the fetch. It resolves with whether the outcomes are recorded
 *   too, and rejects with the error of a row; then nothing is recorded.
 */
export function createShownApplier(context: Context) {
  const applyNext = createBatcher<Shown, Applied>({
    itemsMax: APPLY_ITEMS_MAX,
    bytesMax: Number.POSITIVE_INFINITY,
    sizeOf: () => 0,
    inFlightMax: APPLYING_MAX,
    work: (shown) => applyEach(context, shown),
  });
  return async (first: ClaimedItem, rows: ShownRow[], fetch: ItemFetch): Promise<boolean> => {
    let isRecorded = false;
    const apply = async (observation: Observation): Promise<string[]> => {
      // of several rows each can fail alone: their outcomes wait for all
      const applied = await applyNext({ observation, fetch: rows.length === 1 ? fetch : undefined });
      if (applied.error) throw applied.error;
      isRecorded = applied.isRecorded;
      return [];
    };
    const webhook = { seq: first.webhookSeq, id: webhookIdOf(first.webhookHash) };
    await Promise.all(rows.map((row) => applyShownRow(context, row, { kind: 'webhook', webhook }, apply)));
    return isRecorded;
  };
}

/** Applies rows together; those that fail, each alone, and then without its outcomes: none blocks another, no outcome a payment. */
async function applyEach(context: Context, shown: Shown[]): Promise<Applied[]> {
  const recorded = new Set<ItemFetch>();
  try {
    const { changed } = await applyObservations(
      context,
      shown.map(({ observation }) => observation),
      openCompanions(context, shown, recorded),
    );
    transactionsApplied.inc({ source: 'webhook' }, changed.length);
    return shown.map(({ fetch }) => ({ isRecorded: fetch !== undefined && recorded.has(fetch) }));
  } catch (error) {
    const [only, second] = shown;
    if (only && !second)
      return only.fetch ? await applyEach(context, [{ ...only, fetch: undefined }]) : [{ error, isRecorded: false }];
    const applied: Applied[] = [];
    for (const one of shown) append(applied, await applyEach(context, [one]));
    return applied;
  }
}

/** @param recorded gets the fetches whose outcomes were committed. @returns undefined if none can be written with its row. */
function openCompanions(context: Context, shown: Shown[], recorded: Set<ItemFetch>) {
  const fetches = new Map(shown.flatMap(({ observation, fetch }) => (fetch ? [[observation, fetch]] : [])));
  if (fetches.size === 0) return undefined;
  return (observations: Observation[]): Companion => {
    const some = observations.flatMap((one) => fetches.get(one) ?? []);
    const outcomes = openOutcomes(context, some);
    return {
      ...outcomes,
      committed() {
        outcomes.committed();
        for (const fetch of some) recorded.add(fetch);
      },
    };
  };
}
