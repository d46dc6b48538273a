import type { Sandbox } from '../../context.ts';
import { parseCents } from '../../domain/money.ts';
import { lockTransaction, readTransaction } from '../../store/read-transactions.ts';
import { setListed, setVisible } from '../../store/set-visibility.ts';
import type { DatabaseTransaction, StoredTransaction } from '../../store/tables.ts';
import { transact } from '../../store/transact.ts';
import { ApiError } from '../handle-error.ts';
import { presentTransaction } from '../present-transaction.ts';
import { adminChangeSchema, parseInput } from './admin-schemas.ts';

/**
 * Changes facts of a transaction, its overrides (`shown`: merged field by field, `{"$missing": true}` removes a field, null
 * removes all overrides), and whether the list and `GET /transaction/<id>` show it.
 */
export async function changeTransaction(
  sandbox: Sandbox,
  id: string,
  body: unknown,
): Promise<{ transaction: unknown[] }> {
  const wish = parseInput(adminChangeSchema, body);
  await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, id);
    if (transaction === undefined) throw new ApiError(404, 404, 'Transaction not found.');
    await change(trx, transaction, wish);
  });
  const changed = await readTransaction(sandbox.db, id);
  if (changed === undefined) throw new ApiError(404, 404, 'Transaction not found.');
  const context = { settings: sandbox.settings, switches: sandbox.switches.current };
  return { transaction: [presentTransaction(changed, 'show', context)] };
}

async function change(
  trx: DatabaseTransaction,
  transaction: StoredTransaction,
  wish: ReturnType<typeof adminChangeSchema.parse>,
): Promise<void> {
  const { amount, commission, shown, listed, visible, ...facts } = wish;
  const set = {
    ...facts,
    ...(amount === undefined ? {} : { amount_cents: parseCents(amount) ?? 0n }),
    ...(commission === undefined ? {} : { commission_cents: parseCents(commission) ?? 0n }),
    ...(shown === undefined ? {} : { shown: mergeShown(transaction.shown, shown) }),
  };
  if (listed !== undefined) await setListed(trx, transaction, listed);
  if (visible !== undefined) await setVisible(trx, transaction, visible);
  const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) return;
  await trx.updateTable('transactions').set(given).where('seq', '=', transaction.seq).execute();
}

function mergeShown(before: string | null, patch: Record<string, unknown> | null): string | null {
  if (patch === null) return null;
  const known: Record<string, unknown> = before === null ? {} : JSON.parse(before);
  return JSON.stringify({ ...known, ...patch });
}
