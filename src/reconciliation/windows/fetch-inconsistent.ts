import type { Context } from '../../context.ts';
import { applyObservations } from '../../ledger/apply/apply-observations.ts';
import { storeRefusedRows } from '../../ledger/apply/store-refused-rows.ts';
import type { ProviderClient } from '../../provider/client.ts';
import type { RunRef } from './run-ref.ts';

/** A list that changes its rows all the time is no torn one: beyond this the next run looks again. */
const SHOWS_MAX = 500;

/**
 * Transactions that one pass showed in two ways: they changed while they were read, or the list is torn between two
 * copies of the provider's. Each is shown by its id, and that is the newest look.
 * @returns ids that the shows changed.
 */
export async function fetchInconsistent(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  torn: Set<string>,
): Promise<string[]> {
  if (torn.size === 0) return [];
  context.log.info({ run: run.id, torn: torn.size }, 'rows that a pass showed in two ways are shown by their ids');
  const changed: string[] = [];
  const source = { kind: 'show' as const, run: { seq: run.seq, id: run.id } };
  for (const id of [...torn].slice(0, SHOWS_MAX)) {
    const row = await client.show(id);
    if (row?.ok) {
      changed.push(...(await applyObservations(context, [{ ...row, source }])).changed);
    } else if (row) {
      await storeRefusedRows(context, [{ ...row, source }]);
    }
  }
  return changed;
}
