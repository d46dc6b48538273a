import type { RequestHandler } from 'express';
import type { Sandbox } from '../context.ts';
import type { Random } from '../domain/random.ts';
import { isDay } from '../domain/wall-clock.ts';
import { draftTransaction } from '../lifecycle/draft-transaction.ts';
import { planSteps } from '../lifecycle/plan-steps.ts';
import { insertTransactions } from '../store/insert-transactions.ts';
import { transact } from '../store/transact.ts';
import { makeCharge } from '../traffic/make-charge.ts';

const DAY_MS = 86_400_000;

/**
 * Changes the list before a share `list.drift` of the list requests: adds a transaction to the requested range, or applies
 * the next planned step of any transaction now.
 */
export function driftList(sandbox: Sandbox): RequestHandler {
  const random = sandbox.random.fork('drift');
  return async (request, _response, next) => {
    if (random.chance(sandbox.switches.current.list.drift)) {
      if (random.chance(0.5)) await addOne(sandbox, random, request.query.final_date);
      else await advanceOne(sandbox);
    }
    next();
  };
}

async function addOne(sandbox: Sandbox, random: Random, finalDate: unknown): Promise<void> {
  const { current } = sandbox.switches;
  const nowMs = sandbox.now();
  const hasEnd = typeof finalDate === 'string' && isDay(finalDate);
  const latestMs = hasEnd ? sandbox.clock.toInstant(`${finalDate} 00:00:00`) + DAY_MS : nowMs;
  const createdMs = Math.min(nowMs, latestMs) - random.int(1_000, DAY_MS / 2);
  const operation = random.chance(current.traffic.cashouts) ? 'cashout' : 'cashin';
  const charge = makeCharge(random, operation, current.traffic.platforms);
  const planned = planSteps(random, operation, current.lives);
  const made = draftTransaction(random, sandbox.clock, current, {
    charge,
    createdMs,
    nowMs,
    plannedSteps: planned,
    claimsReference: false,
  });
  await transact(sandbox.db, (trx) => insertTransactions(trx, [made]));
}

async function advanceOne(sandbox: Sandbox): Promise<void> {
  const next = await sandbox.db.selectFrom('steps').select('id').orderBy('due_at').orderBy('id').executeTakeFirst();
  if (next === undefined) return;
  await sandbox.db
    .updateTable('steps')
    .set({ due_at: new Date(sandbox.now()) })
    .where('id', '=', next.id)
    .execute();
  sandbox.wake.steps();
}
