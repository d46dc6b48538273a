import type { RequestHandler } from 'express';
import type { Sandbox } from '../context.ts';
import { isDay } from '../domain/wall-clock.ts';
import { draftTransaction } from '../lives/draft-transaction.ts';
import { planLife } from '../lives/plan-life.ts';
import { insertTransactions } from '../store/insert-transactions.ts';
import { transact } from '../store/transact.ts';
import { makeCharge } from '../traffic/make-charge.ts';

const DAY_MS = 86_400_000;

/** Before some list requests, as the switch `list.drift` says, one more transaction comes into the range asked for. */
export function driftList(sandbox: Sandbox): RequestHandler {
  const random = sandbox.random.fork('drift');
  return async (request, _response, next) => {
    const { current } = sandbox.switches;
    if (!random.chance(current.list.drift)) return next();
    const { final_date } = request.query;
    const nowMs = sandbox.now();
    const latestMs =
      typeof final_date === 'string' && isDay(final_date)
        ? sandbox.clock.instantOf(`${final_date} 00:00:00`) + DAY_MS
        : nowMs;
    const createdMs = Math.min(nowMs, latestMs) - random.int(1_000, DAY_MS / 2);
    const operation = random.chance(current.traffic.cashouts) ? 'cashout' : 'cashin';
    const charge = makeCharge(random, operation, current.traffic.platforms);
    const life = planLife(random, operation, current.lives);
    const made = draftTransaction(random, sandbox.clock, current, { charge, createdMs, nowMs, life, claims: false });
    await transact(sandbox.db, (trx) => insertTransactions(trx, [made]));
    next();
  };
}
