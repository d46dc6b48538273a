import type { Sandbox } from '../context.ts';
import { addDays } from '../domain/wall-clock.ts';
import { draftTransaction } from '../lifecycle/draft-transaction.ts';
import { planSteps } from '../lifecycle/plan-steps.ts';
import { insertTransactions, type NewTransaction } from '../store/insert-transactions.ts';
import type { Database, HistoryDaysTable } from '../store/tables.ts';
import { transact } from '../store/transact.ts';
import { drawSecond } from './draw-second.ts';
import { makeCharge } from './make-charge.ts';

const ROWS_PER_COMMIT_MAX = 5_000;
/** Days generated at the same time: while the server stores one, the other is computed. */
const DAYS_IN_PARALLEL = 2;

/**
 * Generates the past: `perDay` transactions on each of the `days` before today and, in proportion, today up to now. Past
 * events send no webhooks; later steps stay planned. Each day has its own random stream, so a seed gives the same day
 * whenever it is generated. A finished day is skipped.
 * @returns the number of new transactions.
 */
export async function loadHistory(
  sandbox: Sandbox,
  { days, perDay, progress }: { days: number; perDay: number; progress: (made: number, wanted: number) => void },
): Promise<number> {
  const today = sandbox.clock.toWall(sandbox.now()).slice(0, 10);
  let total = 0;
  const remaining = Array.from({ length: days + 1 }, (_, back) => addDays(today, -back));
  const loadDays = async (): Promise<void> => {
    for (let day = remaining.pop(); day !== undefined; day = remaining.pop()) {
      const made = await loadDay(sandbox, day, perDay);
      total += made;
      progress(days + 1 - remaining.length, days + 1);
    }
  };
  await Promise.all(Array.from({ length: DAYS_IN_PARALLEL }, loadDays));
  return total;
}

/** Rows and progress of a day are committed together: a killed load continues where it stopped. */
async function loadDay(sandbox: Sandbox, day: string, perDay: number): Promise<number> {
  const known = await sandbox.db.selectFrom('history_days').selectAll().where('day', '=', day).executeTakeFirst();
  if (known?.finished === 1) return 0;
  const made = makeDay(sandbox, day, perDay);
  const from = known?.transactions ?? 0;
  for (let at = from; at < made.length; at += ROWS_PER_COMMIT_MAX) {
    const batch = made.slice(at, at + ROWS_PER_COMMIT_MAX);
    await transact(sandbox.db, async (trx) => {
      await insertTransactions(trx, batch);
      await recordDay(trx, { day, seed: sandbox.settings.seed, transactions: at + batch.length, finished: 0 });
    });
  }
  await recordDay(sandbox.db, { day, seed: sandbox.settings.seed, transactions: made.length, finished: 1 });
  return Math.max(0, made.length - from);
}

async function recordDay(db: Database, row: HistoryDaysTable): Promise<void> {
  await db.insertInto('history_days').values(row).onDuplicateKeyUpdate(row).execute();
}

/** Generates a day's transactions in the order of their creation. */
function makeDay(sandbox: Sandbox, day: string, perDay: number): NewTransaction[] {
  const random = sandbox.random.fork(`history/${day}`);
  const { current } = sandbox.switches;
  const nowMs = sandbox.now();
  const startMs = sandbox.clock.toInstant(`${day} 00:00:00`);
  const seconds = Array.from({ length: perDay }, () => drawSecond(random)).sort((a, b) => a - b);
  const made: NewTransaction[] = [];
  for (const second of seconds) {
    const createdMs = startMs + second * 1_000;
    if (createdMs > nowMs) break;
    const operation = random.chance(current.traffic.cashouts) ? 'cashout' : 'cashin';
    const charge = makeCharge(random, operation, current.traffic.platforms);
    const planned = planSteps(random, operation, current.lives);
    made.push(
      draftTransaction(random, sandbox.clock, current, {
        charge,
        createdMs,
        nowMs,
        plannedSteps: planned,
        claimsReference: false,
      }),
    );
  }
  return made;
}
