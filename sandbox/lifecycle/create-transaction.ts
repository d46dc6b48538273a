import type { Sandbox } from '../context.ts';
import { insertTransactions } from '../store/insert-transactions.ts';
import type { StoredTransaction } from '../store/tables.ts';
import { isDuplicateKey, transact } from '../store/transact.ts';
import type { Charge } from '../traffic/make-charge.ts';
import { draftTransaction } from './draft-transaction.ts';
import { planSteps } from './plan-steps.ts';

/**
 * Creates a transaction as of now and plans its life. Undefined where its reference is taken: the look finds what was
 * there before, the unique claim decides between creates at the same moment. Unless `lively` it stays pending.
 */
export async function createTransaction(
  sandbox: Sandbox,
  charge: Charge,
  lively: boolean,
): Promise<StoredTransaction | undefined> {
  const { current } = sandbox.switches;
  const { lives } = current;
  const random = sandbox.random.fork(`created/${sandbox.nextCreationNumber()}`);
  const life = lively ? planSteps(random, charge.operation, lives) : [];
  const hurried = life.map(({ status, afterMs }) => ({
    status,
    afterMs: Math.max(1, Math.round(afterMs / lives.speed)),
  }));
  const nowMs = sandbox.now();
  const draft = { charge, createdMs: nowMs, nowMs, plannedSteps: hurried, claimsReference: true };
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
  return knownOf(created.row);
}

function knownOf(row: Awaited<ReturnType<typeof draftTransaction>>['row']): StoredTransaction {
  const events = [{ date_created: row.created_wall, status: 'pending' }];
  return {
    shown: null,
    reference: null,
    claim: null,
    extra: null,
    pix_key: null,
    ...row,
    seq: 0,
    listed: 1,
    visible: 1,
    events,
  };
}
