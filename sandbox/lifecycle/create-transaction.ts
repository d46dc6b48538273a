import type { Sandbox } from '../context.ts';
import { asStored, insertTransactions } from '../store/insert-transactions.ts';
import type { StoredTransaction } from '../store/tables.ts';
import { isDuplicateKey, transact } from '../store/transact.ts';
import type { Charge } from '../traffic/make-charge.ts';
import { draftTransaction } from './draft-transaction.ts';
import { planSteps } from './plan-steps.ts';

/**
 * Creates a transaction now and plans its steps; without `hasSteps` it stays pending.
 * @returns undefined if its reference is taken: the query finds earlier transactions, and the unique column `claim` decides
 * between two creates at the same moment.
 */
export async function createTransaction(
  sandbox: Sandbox,
  charge: Charge,
  hasSteps: boolean,
): Promise<StoredTransaction | undefined> {
  const { current } = sandbox.switches;
  const { lives } = current;
  const random = sandbox.random.fork(`created/${sandbox.nextCreationNumber()}`);
  const planned = hasSteps ? planSteps(random, charge.operation, lives) : [];
  const plannedSteps = planned.map(({ status, afterMs }) => ({
    status,
    afterMs: Math.max(1, Math.round(afterMs / lives.speed)),
  }));
  const nowMs = sandbox.now();
  const draft = { charge, createdMs: nowMs, nowMs, plannedSteps, claimsReference: true };
  const created = draftTransaction(random, sandbox.clock, current, draft);
  try {
    const stored = await transact(sandbox.db, async (trx) => {
      if (charge.reference !== null) {
        const taken = trx.selectFrom('transactions').select('seq').where('reference', '=', charge.reference).limit(1);
        if ((await taken.executeTakeFirst()) !== undefined) return false;
      }
      await insertTransactions(trx, [created]);
      return true;
    });
    if (!stored) return undefined;
  } catch (error) {
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
  return asStored(created);
}
