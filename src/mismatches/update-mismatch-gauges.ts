import type { Context } from '../context.ts';
import { MISMATCH_SEVERITY } from '../domain/mismatch.ts';
import { mismatchStakeCents, openMismatches } from '../metrics/metrics.ts';
import { readOpenMismatches } from './read-open-mismatches.ts';

/** Sets the gauges of unresolved mismatches, zero for kinds without any. */
export async function updateMismatchGauges(context: Context): Promise<void> {
  const groups = Map.groupBy(await readOpenMismatches(context.db), (row) => row.kind);
  for (const kind of Object.keys(MISMATCH_SEVERITY)) {
    const rows = groups.get(kind) ?? [];
    openMismatches.set(
      { kind },
      rows.reduce((sum, row) => sum + row.count, 0),
    );
    mismatchStakeCents.set({ kind }, Number(rows.reduce((sum, row) => sum + row.stakeCents, 0n)));
  }
}
