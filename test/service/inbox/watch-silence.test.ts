import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import type { Context } from '../../../src/context.ts';
import { writeArrivals } from '../../../src/inbox/receive/write-arrivals.ts';
import { recordReceiverMinute } from '../../../src/inbox/silence/record-minutes.ts';
import { readSilenceMetrics } from '../../../src/inbox/silence/watch-silence.ts';
import { openTestContext } from '../../support/open-environment.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse('2026-10-10T12:00:00Z');

let context: Context;
let nowMs: number;

beforeAll(async () => {
  const environment = await openTestContext();
  context = { ...environment, clock: { now: () => new Date(nowMs), measureOffset: async () => undefined } };
});
afterAll(() => context[Symbol.asyncDispose]());

beforeEach(async () => {
  nowMs = START;
  for (const table of ['receiver_minutes', 'webhooks', 'webhook_repeats', 'runs', 'alerts'] as const)
    await context.db.deleteFrom(table).execute();
  await context.db.deleteFrom('settings').where('name', '=', 'gaps_swept').execute();
});

async function arrive(): Promise<void> {
  const body = Buffer.from(JSON.stringify({ transaction_id: randomUUID() }));
  const hash = createHash('sha256').update(body).digest();
  const given = { body, hash, address: '127.0.0.1', headers: {}, defect: undefined };
  await writeArrivals(context, [{ ...given, receivedAt: context.clock.now() }]);
}

/** Beats, with an arrival each minute or without, as they would have been written. */
async function live(ms: number, arrivals: boolean): Promise<void> {
  const endMs = nowMs + ms;
  const rows: { minute: Date; last_arrival_at: Date | null }[] = [];
  let last = (
    await context.db.selectFrom('webhooks').select('received_at').orderBy('seq', 'desc').limit(1).execute()
  )[0]?.received_at;
  for (; nowMs < endMs; nowMs += MINUTE_MS) {
    if (arrivals) last = new Date(nowMs);
    rows.push({ minute: new Date(nowMs), last_arrival_at: last ?? null });
  }
  for (let start = 0; start < rows.length; start += 1000)
    await context.db
      .insertInto('receiver_minutes')
      .values(rows.slice(start, start + 1000))
      .execute();
  if (arrivals) await arrive();
}

async function runs() {
  return await context.db
    .selectFrom('runs')
    .select(['trigger', 'state', 'from_day', 'to_day'])
    .orderBy('seq')
    .execute();
}

async function alerts() {
  return await context.db
    .selectFrom('alerts')
    .select(['name', 'severity', 'ended_at', 'summary'])
    // no worker runs: the inbox is behind
    .where('name', '=', 'inbound_silence')
    .orderBy('seq')
    .execute();
}

async function finishRuns(): Promise<void> {
  await context.db.updateTable('runs').set({ state: 'complete' }).execute();
}

describe('the watch over what comes in', () => {
  it('alerts during an outage, and has its days read once when a receiver is back', async () => {
    await live(2 * HOUR_MS, true);
    nowMs += 2 * DAY_MS;
    await watch(context);
    expect(await alerts()).toMatchObject([{ name: 'inbound_silence', severity: 'high', ended_at: null }]);
    expect(await runs()).toEqual([]);
    await recordReceiverMinute(context);
    await watch(context);
    await watch(context);
    expect(await runs()).toEqual([{ trigger: 'gap', state: 'queued', from_day: '2026-10-10', to_day: '2026-10-12' }]);
    expect((await alerts()).map((alert) => alert.ended_at !== null)).toEqual([true]);
    await finishRuns();
    await watch(context);
    expect(await runs()).toHaveLength(1);
  });

  it('waits with a second sweep until the first is done, and forgets none', async () => {
    await live(2 * HOUR_MS, true);
    nowMs += HOUR_MS;
    await live(5 * MINUTE_MS, false);
    await watch(context);
    nowMs += DAY_MS;
    await recordReceiverMinute(context);
    await watch(context);
    expect(await runs()).toHaveLength(1);
    await finishRuns();
    await watch(context);
    expect(await runs()).toMatchObject([{ to_day: '2026-10-10' }, { from_day: '2026-10-10', to_day: '2026-10-11' }]);
  });

  it('alerts on a silence far beyond the usual, reads the list at its start and end, and ends with the next webhook', async () => {
    await live(9 * DAY_MS, true);
    await live(50 * MINUTE_MS, false);
    await watch(context);
    expect(await alerts()).toEqual([]);
    await live(15 * MINUTE_MS, false);
    await watch(context);
    await watch(context);
    expect(await alerts()).toMatchObject([{ name: 'inbound_silence', severity: 'high', ended_at: null }]);
    expect(await runs()).toEqual([{ trigger: 'gap', state: 'queued', from_day: '2026-10-19', to_day: '2026-10-19' }]);
    const [, silence, limit] = (await readSilenceMetrics(context)).map(({ values }) => Number(values) / 60);
    expect(silence).toBeCloseTo(65, -1);
    expect(limit).toBe(60);
    await finishRuns();
    await live(15 * HOUR_MS, false);
    await arrive();
    await recordReceiverMinute(context);
    await watch(context);
    expect((await alerts()).map((alert) => alert.ended_at !== null)).toEqual([true]);
    expect((await runs())[1]).toMatchObject({ trigger: 'gap', from_day: '2026-10-19', to_day: '2026-10-20' });
    expect(await runs()).toHaveLength(2);
  });

  it('raises nothing on a machine where no receiver ever ran', async () => {
    await watch(context);
    expect([await alerts(), await runs()]).toEqual([[], []]);
  });
});
