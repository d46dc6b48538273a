import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { sampleAttempts, sampleSizeOf } from '../../../src/callbacks/manage/sample-attempts.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { countReads } from '../../support/count-reads.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import { openEnvironment } from '../../support/open-environment.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-20T00:00:00Z');
/** One attempt in eight seconds and a half over two days. */
const ROWS = 20_000;
const STEP_MS = (48 * HOUR_MS) / ROWS;

const env = closeAfterAll(await openEnvironment());
beforeAll(async () => {
  // the hour from 10:00 on is quiet: 5 attempts; in hour 20 each attempt takes 900 ms
  const { db } = env.context;
  const [start, step, hour] = [START, STEP_MS, HOUR_MS].map((ms) => sql.lit(ms));
  await sql`INSERT INTO callback_attempts (callback_seq, number, started_at, duration_ms, response_status, error_class, request_headers)
    SELECT seq, 1, FROM_UNIXTIME((${start} + seq * ${step}) / 1000), IF(FLOOR(seq * ${step} / ${hour}) = 20, 900, seq % 100),
      IF(seq % 10 = 0, NULL, 200), IF(seq % 10 = 0, 'timeout', NULL), '{}' FROM ${numbersTo(ROWS - 1)}
    WHERE FLOOR(seq * ${step} / ${hour}) <> 10 OR seq % 83 = 0 ORDER BY seq`.execute(db);
  await sql`INSERT INTO callbacks (seq, webhook_id, merchant_seq, transaction_seq, type, source, state, created_at)
    SELECT callback_seq, CONCAT('msg_', callback_seq), 1, callback_seq, 'pix.cashin.paid', 'webhook', 'delivered', started_at
    FROM callback_attempts`.execute(db);
});

const hours = (from: number, count: number): Date[] =>
  Array.from({ length: count }, (_, index) => new Date(START + (from + index) * HOUR_MS));

test('each hour of a day has its sample, a quiet hour all of its attempts', async () => {
  const slots = await sampleAttempts(env.context.db, hours(0, 24), new Date(START + 24 * HOUR_MS));
  const wanted = sampleSizeOf(24);
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM callback_attempts
    WHERE started_at >= ${new Date(START + 10 * HOUR_MS)} AND started_at < ${new Date(START + 11 * HOUR_MS)}`.execute(
    env.context.db,
  );
  const quiet = slots[10];
  expect(rows[0]?.count).toBeGreaterThan(3);
  expect(quiet?.attempts).toBe(rows[0]?.count);
  for (const slot of slots.filter((one) => one !== quiet)) {
    expect(slot.attempts).toBeGreaterThanOrEqual(wanted * 0.9);
    expect(slot.attempts).toBeLessThanOrEqual(wanted);
    expect(slot.delivered / slot.attempts).toBeGreaterThan(0.8);
  }
  expect(slots[20]).toMatchObject({ p50: 900, p95: 900 });
  // evenly from 0 to 99 ms
  expect(slots[5]?.p50).toBeGreaterThan(35);
  expect(slots[5]?.p50).toBeLessThan(65);
  expect(slots[5]?.p95).toBeGreaterThan(85);
});

test('slots without attempts, before and after all of them, are empty', async () => {
  const [before] = await sampleAttempts(env.context.db, hours(-5, 1), new Date(START - 4 * HOUR_MS));
  const [after] = await sampleAttempts(env.context.db, hours(60, 1), new Date(START + 61 * HOUR_MS));
  expect([before, after]).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
  await using empty = await openEnvironment();
  expect(await sampleAttempts(empty.context.db, hours(0, 2), new Date(START + 2 * HOUR_MS))).toMatchObject([
    { attempts: 0, delivered: 0 },
    { attempts: 0, delivered: 0 },
  ]);
});

test.each([
  ['of all', undefined, 1],
  ['of a merchant, with their callbacks', 1, 2],
])('a sample reads single rows by their numbers, a few %s', async (_of, merchant, perAttempt) => {
  // one hour: the least part of all rows
  const read = await countReads(env.context.db, async (db) => {
    const [slot] = await sampleAttempts(db, hours(30, 1), new Date(START + 31 * HOUR_MS), merchant);
    expect(slot?.attempts).toBeGreaterThan(100);
  });
  expect(read).toBeLessThan((perAttempt * ROWS) / 4);
});
