import type { Sandbox } from '../context.ts';
import { isOpen, isTransitionAllowed } from '../domain/statuses.ts';
import { runLoop } from '../run-loop.ts';
import { lockTransaction } from '../store/read-transactions.ts';
import { transact } from '../store/transact.ts';
import { applyStatusChange } from './apply-status-change.ts';

const BATCH = 100;
const IN_PARALLEL = 8;
const POLL_MS = 250;

/** Applies planned steps when they are due, until the sandbox ends. Resolves when the last one is stored. */
export function runSteps(sandbox: Sandbox): Promise<void> {
  return runLoop(
    sandbox,
    POLL_MS,
    (wake) => {
      sandbox.wake.steps = wake;
    },
    async () => takeDueSteps(sandbox),
  );
}

/** Applies a batch of due steps. @returns true if there may be more. */
async function takeDueSteps(sandbox: Sandbox): Promise<boolean> {
  const due = await sandbox.db
    .selectFrom('steps')
    .innerJoin('transactions', 'transactions.seq', 'steps.transaction_seq')
    .select(['steps.id as step', 'steps.status', 'steps.due_at', 'transactions.id'])
    .where('due_at', '<=', new Date(sandbox.now()))
    .orderBy('due_at')
    .orderBy('steps.id')
    .limit(BATCH)
    .execute();
  // steps of one transaction run in order; different transactions run in parallel
  const byTransaction = Map.groupBy(due, (step) => step.id);
  const queue = [...byTransaction.values()];
  await Promise.all(
    Array.from({ length: IN_PARALLEL }, async () => {
      for (let steps = queue.pop(); steps !== undefined; steps = queue.pop()) {
        for (const step of steps) await takeStep(sandbox, step);
      }
    }),
  );
  if (due.length > 0) sandbox.wake.webhooks();
  return due.length === BATCH;
}

async function takeStep(
  sandbox: Sandbox,
  step: { step: number; id: string; status: string; due_at: Date },
): Promise<void> {
  await transact(sandbox.db, async (trx) => {
    const transaction = await lockTransaction(trx, step.id);
    await trx.deleteFrom('steps').where('id', '=', step.step).execute();
    // a person may have paid or cancelled meanwhile: then this step is dropped
    if (transaction === undefined || !follows(transaction.status, step.status)) return;
    const atWall = sandbox.clock.toWall(step.due_at.getTime());
    await applyStatusChange(sandbox, trx, transaction, { status: step.status, atWall, announcement: 'auto' });
  });
}

/** A scenario's steps may name statuses outside the model: these follow any open status. */
function follows(from: string, to: string): boolean {
  return isTransitionAllowed(from, to) || (isOpen(from) && isOpen(to) && from !== to);
}
