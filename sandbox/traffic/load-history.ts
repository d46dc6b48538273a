import type { Sandbox } from '../context.ts';
import { dayAfter } from '../domain/wall-clock.ts';
import { draftTransaction } from '../lives/draft-transaction.ts';
import { planLife } from '../lives/plan-life.ts';
import { insertTransactions, type NewTransaction } from '../store/insert-transactions.ts';
import { transact } from '../store/transact.ts';
import { drawSecond } from './draw-second.ts';
import { makeCharge } from './make-charge.ts';

const ROWS_PER_COMMIT_MAX = 5_000;

/**
 * Makes up the past: so many transactions on each of the `days` before today and, in proportion, today up to now.
 * Their lives lie in the past and sent no webhooks; what of a life is still to come, comes. Each day has a stream of
 * chance of its own, so a day is the same for a seed whenever it is made; a day made before is left alone.
 * Answers how many transactions it made.
 */
export async function loadHistory(
  sandbox: Sandbox,
  { days, perDay, progress }: { days: number; perDay: number; progress: (made: number, wanted: number) => void },
): Promise<number> {
  const today = sandbox.clock.wallOf(sandbox.now()).slice(0, 10);
  let total = 0;
  for (let back = days; back >= 0; back--) {
    const day = dayAfter(today, -back);
    const known = sandbox.db.selectFrom('history_days').select('day').where('day', '=', day);
    if ((await known.executeTakeFirst()) !== undefined) continue;
    total += await loadDay(sandbox, day, perDay);
    progress(days - back + 1, days + 1);
  }
  return total;
}

async function loadDay(sandbox: Sandbox, day: string, perDay: number): Promise<number> {
  const made = makeDay(sandbox, day, perDay);
  for (let at = 0; at < made.length; at += ROWS_PER_COMMIT_MAX) {
    await transact(sandbox.db, (trx) => insertTransactions(trx, made.slice(at, at + ROWS_PER_COMMIT_MAX)));
  }
  const row = { day, seed: sandbox.settings.seed, transactions: made.length };
  await sandbox.db.insertInto('history_days').values(row).execute();
  return made.length;
}

/** A day's transactions in the order of their creation. */
function makeDay(sandbox: Sandbox, day: string, perDay: number): NewTransaction[] {
  const random = sandbox.random.fork(`history/${day}`);
  const { current } = sandbox.switches;
  const nowMs = sandbox.now();
  const startMs = sandbox.clock.instantOf(`${day} 00:00:00`);
  const seconds = Array.from({ length: perDay }, () => drawSecond(random)).sort((a, b) => a - b);
  const made: NewTransaction[] = [];
  for (const second of seconds) {
    const createdMs = startMs + second * 1_000;
    if (createdMs > nowMs) break;
    const operation = random.chance(current.traffic.cashouts) ? 'cashout' : 'cashin';
    const charge = makeCharge(random, operation, current.traffic.platforms);
    const life = planLife(random, operation, current.lives);
    made.push(draftTransaction(random, sandbox.clock, current, { charge, createdMs, nowMs, life, claims: false }));
  }
  return made;
}
