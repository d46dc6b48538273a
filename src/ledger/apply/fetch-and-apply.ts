import type { Context } from '../../context.ts';
import type { Observation, Source } from '../../domain/observation.ts';
import type { ProviderClient, ShownRow } from '../../provider/client.ts';
import { currentTraceparent } from '../../tracing/in-span.ts';
import { applyObservations } from './apply-observations.ts';
import { storeRefusedRows } from './store-refused-rows.ts';

/**
 * Fetches one transaction by its id from the provider and records the answer:
 * - a readable row is applied to the ledger;
 * - an unreadable row is stored raw as `row_refused`, and nothing of it is applied;
 * - an unknown id (404) changes nothing. The caller decides what it means.
 *
 * The caller bounds how many it fetches, and checks its lease before each call. A repeated call is harmless.
 * @param triesMax HTTP tries of the request; the client's default without it.
 * @returns the row, undefined for an unknown id, and the ids of transactions that are new or changed.
 * @throws ProviderError where the provider did not answer, and errors of the database; then nothing was recorded.
 */
export async function fetchAndApply(
  context: Context,
  client: ProviderClient,
  id: string,
  source: Source,
  options: { triesMax?: number } = {},
): Promise<{ row: ShownRow | undefined; changed: string[] }> {
  const row = await client.show(id, options);
  return { row, changed: row ? await applyShownRow(context, row, source) : [] };
}

/**
 * Applies a row that the provider showed, or stores it as `row_refused`.
 * @param apply replaces applyObservations where calls are batched. @returns ids that are new or changed.
 */
export async function applyShownRow(
  context: Context,
  row: ShownRow,
  source: Source,
  apply = async (one: Observation): Promise<string[]> => (await applyObservations(context, [one])).changed,
): Promise<string[]> {
  if (row.ok) return await apply({ ...row, source: { ...source, traceparent: currentTraceparent() } });
  await storeRefusedRows(context, [{ ...row, source }]);
  return [];
}
