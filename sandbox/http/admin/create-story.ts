import type { Sandbox } from '../../context.ts';
import type { Random } from '../../domain/random.ts';
import type { Operation } from '../../domain/statuses.ts';
import { addDays } from '../../domain/wall-clock.ts';
import { isAnnounced } from '../../faults/switches.ts';
import { draftTransaction } from '../../lifecycle/draft-transaction.ts';
import { type PlannedStep, planSteps } from '../../lifecycle/plan-steps.ts';
import { asStored, insertTransactions, type NewTransaction } from '../../store/insert-transactions.ts';
import type { DatabaseTransaction, Fate, NewWebhookRow, StoredTransaction } from '../../store/tables.ts';
import { transact } from '../../store/transact.ts';
import { drawSecond } from '../../traffic/draw-second.ts';
import { makeCharge } from '../../traffic/make-charge.ts';
import { makeForgedWebhook, makeWebhookRows } from '../../webhooks/enqueue-webhook.ts';
import { parseInput, type Story, storySchema } from './admin-schemas.ts';

const ROWS_PER_COMMIT_MAX = 2_000;
/** Webhooks of different transactions are mixed within this time. */
const SPREAD_MS = 500;

export type StoryCounts = {
  from: string;
  to: string;
  transactions: number;
  by_operation_and_status: Record<string, number>;
  /** changes that the provider must announce */
  changes_owed: number;
  transactions_announced: number;
  webhooks: Record<Fate, number> & { to_send: number };
};

/**
 * Generates past days: finished transactions, some of them at 23:30 and across midnight, and their webhooks, some of which
 * are lost, repeated, late, out of order or forged. The webhooks are sent from now on; `POST /sandbox/webhooks/flush` waits
 * for the last. Answers the counts.
 */
export async function createStory(sandbox: Sandbox, body: unknown): Promise<StoryCounts> {
  const story = parseInput(storySchema, body ?? {});
  const random =
    story.seed === undefined
      ? sandbox.random.fork(`story/${sandbox.now()}`)
      : sandbox.random.fork(`story/${story.seed}`);
  const made = Array.from({ length: story.count }, (_, i) => draftOne(sandbox, random, story, i));
  made.sort((a, b) => (a.row.created_wall < b.row.created_wall ? -1 : 1));
  const counts = emptyCounts(sandbox, story);
  for (let at = 0; at < made.length; at += ROWS_PER_COMMIT_MAX) {
    await transact(sandbox.db, (trx) =>
      store(sandbox, trx, random, story, counts, made.slice(at, at + ROWS_PER_COMMIT_MAX)),
    );
  }
  sandbox.wake.steps();
  sandbox.wake.webhooks();
  return counts;
}

/** The first transactions of each day are edge cases: 23:30, and paid on the other side of midnight. */
const EDGES: ReadonlyArray<{ second: number; operation: Operation; steps: PlannedStep[] }> = [
  { second: 84_480, operation: 'cashin', steps: [{ status: 'paid', afterMs: 120_000 }] },
  { second: 86_390, operation: 'cashin', steps: [{ status: 'paid', afterMs: 15_000 }] },
  { second: 86_398, operation: 'cashout', steps: [{ status: 'paid', afterMs: 4_000 }] },
  {
    second: 43_200,
    operation: 'cashin',
    steps: [
      { status: 'paid', afterMs: 60_000 },
      { status: 'refund', afterMs: 3_600_000 },
    ],
  },
];

function draftOne(sandbox: Sandbox, random: Random, story: Story, i: number): NewTransaction {
  const { clock, switches } = sandbox;
  const nowMs = sandbox.now();
  const day = addDays(clock.toWall(nowMs).slice(0, 10), -(i % story.days));
  const edge = EDGES[Math.floor(i / story.days)];
  const operation = edge?.operation ?? (random.chance(story.cashouts) ? 'cashout' : 'cashin');
  const planned = edge?.steps ?? planSteps(random, operation, switches.current.lives);
  const wishedMs = clock.toInstant(`${day} 00:00:00`) + (edge?.second ?? drawSecond(random)) * 1_000;
  // today is not over: later times are moved into the hours that have passed
  const createdMs =
    wishedMs < nowMs
      ? wishedMs
      : clock.toInstant(`${day} 00:00:00`) + Math.floor(random.next() * (nowMs - clock.toInstant(`${day} 00:00:00`)));
  const plannedSteps = story.settled
    ? planned.filter(({ status, afterMs }) => status !== 'refund' || createdMs + afterMs < nowMs)
    : planned;
  const endsMs = createdMs + (plannedSteps.at(-1)?.afterMs ?? 0);
  const earlierMs = story.settled ? Math.max(0, endsMs - nowMs + 1_000) : 0;
  const charge = makeCharge(random, operation, switches.current.traffic.platforms);
  const draft = { charge, createdMs: createdMs - earlierMs, nowMs, plannedSteps, claimsReference: false };
  return draftTransaction(random, clock, switches.current, draft);
}

async function store(
  sandbox: Sandbox,
  trx: DatabaseTransaction,
  random: Random,
  story: Story,
  counts: StoryCounts,
  batch: readonly NewTransaction[],
): Promise<void> {
  await insertTransactions(trx, batch);
  const webhooks: NewWebhookRow[] = [];
  for (const made of batch) {
    const known = asStored(made);
    const key = `${known.operation}.${known.status}`;
    counts.by_operation_and_status[key] = (counts.by_operation_and_status[key] ?? 0) + 1;
    webhooks.push(...webhooksOf(sandbox, random, story, counts, known));
  }
  for (const { fate, state } of webhooks) {
    counts.webhooks[fate] += 1;
    if (state === 'due') counts.webhooks.to_send += 1;
  }
  if (webhooks.length > 0) await trx.insertInto('webhooks').values(webhooks).execute();
}

function webhooksOf(
  sandbox: Sandbox,
  random: Random,
  story: Story,
  counts: StoryCounts,
  transaction: StoredTransaction,
): NewWebhookRow[] {
  if (sandbox.settings.webhookUrl === undefined) return [];
  const baseMs = sandbox.now() + random.int(0, SPREAD_MS);
  const owed = transaction.events
    .toReversed()
    .filter(({ status }) => isAnnounced(sandbox.switches.current, transaction.operation, status));
  counts.changes_owed += owed.length;
  const fate = drawFate(random, story);
  const rows = owed.flatMap(({ status, date_created }, i) => {
    const order = fate === 'reordered' ? owed.length - i : i;
    const dueMs = baseMs + order * 10 + (fate === 'late' ? story.late_by_ms : 0);
    return makeWebhookRows(sandbox, transaction, { status, atWall: date_created }, fate, dueMs);
  });
  if (rows.some(({ state }) => state === 'due')) counts.transactions_announced += 1;
  return random.chance(story.forge) ? [...rows, makeForgedWebhook(sandbox, transaction, baseMs)] : rows;
}

function drawFate(random: Random, story: Story): Fate {
  if (!random.chance(story.announce)) return 'lost';
  let left = random.next();
  for (const [fate, share] of [
    ['repeated', story.repeat],
    ['late', story.late],
    ['reordered', story.reorder],
  ] as const) {
    left -= share;
    if (left < 0) return fate;
  }
  return 'sent';
}

function emptyCounts(sandbox: Sandbox, { count, days }: Story): StoryCounts {
  const today = sandbox.clock.toWall(sandbox.now()).slice(0, 10);
  const fates = { sent: 0, lost: 0, repeated: 0, repeat: 0, late: 0, reordered: 0, forged: 0 };
  return {
    from: addDays(today, 1 - days),
    to: today,
    transactions: count,
    by_operation_and_status: {},
    changes_owed: 0,
    transactions_announced: 0,
    webhooks: { ...fates, to_send: 0 },
  };
}
