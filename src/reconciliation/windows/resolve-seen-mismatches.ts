import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { resolveMismatches } from '../../mismatches/resolve-mismatches.ts';

type Ids = { has(id: string): boolean };
type Over = { kind: 'row_refused' | 'missing_at_provider' | 'list_omission'; scope: string };

/**
 * Resolves mismatches that a reading of the list shows to be over, also those that a person kept. The ledger resolves
 * those of changed rows. An unchanged row changes nothing there, so its mismatches are resolved here.
 * @param reading.readable ids with a readable row. @param reading.listed ids of a complete reading; empty for another.
 * @param reading.askedAt when it began: mismatches found since stay open.
 */
export async function resolveSeenMismatches(
  context: Context,
  reading: { readable: Ids; listed: Ids; askedAt: Date },
): Promise<void> {
  const find = (column: 'open_scope' | 'kept_scope') =>
    context.db
      .selectFrom('mismatches')
      .select(['kind', 'scope'])
      .where(column, 'is not', null)
      .where('kind', 'in', ['row_refused', 'missing_at_provider', 'list_omission']);
  const open = await find('open_scope').unionAll(find('kept_scope')).execute();
  const over = open
    // the query selects these kinds only
    .map((row) => row as Over)
    .filter(({ kind, scope }) => (kind === 'list_omission' ? reading.listed.has(scope) : reading.readable.has(scope)))
    .map((one) => ({ ...one, askedAt: reading.askedAt }));
  if (over.length === 0) return;
  await transact(context.db, (trx) => resolveMismatches(trx, over, 'fresh_evidence', context.clock.now()));
}
