import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { resolveMismatches } from '../ledger/mismatches.ts';

type Over = { kind: 'row_refused' | 'missing_at_provider' | 'list_omission'; scope: string };

/**
 * Ends what a reading of the list shows to be over. The ledger ends what a changed row shows; a row that came back just
 * as it was before changes nothing there, and is told here.
 * @param reading.readable ids that could be read. @param reading.listed ids of a complete reading; empty for another.
 */
export async function resolveSeen(
  context: Context,
  reading: { readable: Set<string>; listed: Map<string, unknown> },
): Promise<void> {
  const open = await context.db
    .selectFrom('mismatches')
    .select(['kind', 'scope'])
    .where('open_scope', 'is not', null)
    .where('kind', 'in', ['row_refused', 'missing_at_provider', 'list_omission'])
    .execute();
  const over = open
    .map((row) => row as Over)
    .filter(({ kind, scope }) => (kind === 'list_omission' ? reading.listed.has(scope) : reading.readable.has(scope)));
  if (over.length === 0) return;
  await transact(context.db, (trx) => resolveMismatches(trx, over, 'fresh_evidence', context.clock.now()));
}
