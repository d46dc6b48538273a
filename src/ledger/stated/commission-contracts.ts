import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { createId } from '../../domain/ids.ts';
import { formatAmount } from '../../domain/money.ts';
import { refuse } from '../../texts/refuse.ts';
import type { CommissionContract } from '../journal/read-contracts.ts';

/** States a contract. It overrides earlier ones for the days it covers. @returns its id. */
export async function stateContract(
  context: Context,
  stated: Omit<CommissionContract, 'id'> & { actor: string },
): Promise<string> {
  const id = createId('cc');
  const row = {
    id,
    platform: stated.platform,
    operation: stated.operation,
    fixed_cents: stated.fixedCents,
    basis_points: stated.basisPoints,
    from_day: stated.from,
    to_day: stated.to,
    created_at: context.clock.now(),
    actor: stated.actor,
  };
  await context.db.insertInto('commission_contracts').values(row).execute();
  return id;
}

/** Withdraws a contract; it stays listed and no longer applies. @throws ConfereError `not_found`, `conflict`. */
export async function withdrawContract(context: Context, id: string): Promise<void> {
  const { numUpdatedRows } = await context.db
    .updateTable('commission_contracts')
    .set({ withdrawn_at: context.clock.now() })
    .where('id', '=', id)
    .where('withdrawn_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) return;
  const [known] = await listContracts(context.db, 1, undefined, id);
  throw known ? refuse('contract_withdrawn') : refuse('contract_unknown');
}

/**
 * Lists contracts as the API shows them, newest first, withdrawn ones included. @param before list below this row
 * number.
 */
export async function listContracts(db: Reader, limit: number, before: number | undefined, id?: string) {
  let query = db.selectFrom('commission_contracts').selectAll().orderBy('seq', 'desc').limit(limit);
  if (before !== undefined) query = query.where('seq', '<', before);
  if (id !== undefined) query = query.where('id', '=', id);
  return (await query.execute()).map((row) => ({
    seq: row.seq,
    id: row.id,
    platform: row.platform,
    operation: row.operation,
    fixed: formatAmount(row.fixed_cents),
    basis_points: row.basis_points,
    from: row.from_day,
    to: row.to_day,
    withdrawn: row.withdrawn_at !== null,
    created_at: row.created_at.toISOString(),
    created_by: row.actor,
  }));
}
