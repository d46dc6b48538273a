import type { Context } from '../context.ts';
import { MISMATCH_SEVERITY } from '../domain/mismatch.ts';
import { openMismatches } from '../metrics/metrics.ts';

/** Sets the gauge of open mismatches, each kind that has none included. */
export async function countOpenMismatches(context: Context): Promise<void> {
  const rows = await context.db
    .selectFrom('mismatches')
    .select(['kind', (eb) => eb.fn.countAll<number>().as('count')])
    .where('open_scope', 'is not', null)
    .groupBy('kind')
    .execute();
  const counts = new Map(rows.map((row) => [row.kind, Number(row.count)]));
  for (const kind of Object.keys(MISMATCH_SEVERITY)) openMismatches.set({ kind }, counts.get(kind) ?? 0);
}
