/** How callbacks reached a merchant, in an hour with more of them than a sample has. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { recordAttempts } from '../../../src/callbacks/deliver/record-attempts.ts';
import { WHEN_IDLE } from '../../../src/callbacks/health/when-idle.ts';
import { readDelivery } from '../../../src/callbacks/manage/read-delivery.ts';
import { selectClaimable, toClaimed } from '../../../src/callbacks/queue/claimed-callback.ts';
import { transact } from '../../../src/database/transact.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/calendar.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { countReads } from '../../support/count-reads.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import { openEnvironment } from '../../support/open-environment.ts';

test('the last delivery, the last error and an hour’s rate are found behind a burst that waits', async () => {
  await using env = await openEnvironment();
  const { context } = env;
  const url = 'https://shop.example/pix';
  const { merchant } = await createMerchant(context, { name: 'shop', url, eventsSince: new Date(0) });
  const hour = Math.floor(context.clock.now().getTime() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const at = (minute: number) => new Date(hour + minute * MINUTE_MS);
  let made = 0;
  /** Adds callbacks that were created at a minute, with the statuses of their attempts by minute. */
  const add = async (count: number, minute: number, tries: [number, number][], source = 'webhook') => {
    const isDelivered = tries.at(-1)?.[1] === 200;
    const shared = { merchant_seq: merchant.seq, type: 'pix.cashin.paid', source, created_at: at(minute) };
    const ended = isDelivered
      ? { state: 'delivered', delivered_at: at(tries.at(-1)?.[0] ?? 0) }
      : { state: 'pending', next_attempt_at: at(minute + 60) };
    const rows = Array.from({ length: count }, () => ({ webhook_id: `msg_${++made}`, ...shared, ...ended }));
    const values = rows.map((row) => ({ ...row, attempts: tries.length }));
    await context.db.insertInto('callbacks').values(values).execute();
    const ids = rows.map((row) => row.webhook_id);
    const stored = await context.db.selectFrom('callbacks').select('seq').where('webhook_id', 'in', ids).execute();
    const attempts = stored.flatMap(({ seq }) =>
      tries.map(([started, status], index) => ({
        ...{ callback_seq: seq, number: index + 1, started_at: at(started), duration_ms: 5, request_headers: '[]' },
        ...{ response_status: status, error_class: status === 200 ? null : 'http_status' },
      })),
    );
    if (attempts.length > 0) await context.db.insertInto('callback_attempts').values(attempts).execute();
  };
  await add(60, 5, [[5, 200]]);
  await add(1, 8, [[8, 401]]);
  await add(5, 12, [
    [12, 503],
    [20, 200],
  ]);
  await add(60, 22, [[22, 200]]);
  await add(120, 45, []);
  // no test counts, as in the counts of what waits and failed
  await add(1, 1, [[30, 500]], 'test');
  const { lastSuccessAt, lastFailure, nextAttemptAt, hours, allSince } = await readDelivery(context, merchant);
  expect(nextAttemptAt).toEqual(at(68));
  expect([lastSuccessAt, lastFailure?.at, lastFailure?.status]).toEqual([at(22), at(12), 503]);
  expect(hours.find(({ start }) => start.getTime() === hour)).toMatchObject({ attempts: 131, delivered: 125 });
  expect(allSince).toEqual(at(1));
  // of more callbacks the hours are an estimate
  await add(1_000, 50, []);
  const sampled = await readDelivery(context, merchant);
  expect(sampled.allSince).toBeUndefined();
  expect(sampled.hours.find(({ start }) => start.getTime() === hour)).toMatchObject({ attempts: 131, delivered: 125 });
  // of a replay, they are the hours of its attempts
  await add(900, -120, [[55, 200]]);
  await add(100, -120, [[56, 500]]);
  const replayed = await readDelivery(context, merchant);
  const { attempts = 0, delivered = 0 } = replayed.hours.find(({ start }) => start.getTime() === hour) ?? {};
  expect(attempts).toBeGreaterThan(100);
  expect(delivered / attempts).toBeGreaterThan(0.8);
});

test('what is pending has a planned time, or it is said why it has none', async () => {
  await using env = await openEnvironment();
  const { db, clock } = env.context;
  const url = 'https://shop.example/pix';
  const { merchant } = await createMerchant(env.context, { name: 'shop', url, eventsSince: new Date(0) });
  const soon = new Date(clock.now().getTime() + MINUTE_MS);
  const shared = { merchant_seq: merchant.seq, transaction_seq: 1, type: 'pix.cashin.paid', source: 'webhook' };
  const made = { ...shared, created_at: clock.now() };
  await db
    .insertInto('callbacks')
    .values({ ...made, webhook_id: 'msg_1', sequence: 1, state: 'pending' })
    .execute();
  await db
    .insertInto('callbacks')
    .values({ ...made, webhook_id: 'msg_2', sequence: 2, state: 'pending' })
    .execute();
  const read = async (first: object, second: object) => {
    const blank = { state: 'pending', next_attempt_at: soon, lease_holder: null };
    await db
      .updateTable('callbacks')
      .set({ ...blank, ...first })
      .where('webhook_id', '=', 'msg_1')
      .execute();
    await db
      .updateTable('callbacks')
      .set({ ...blank, ...second })
      .where('webhook_id', '=', 'msg_2')
      .execute();
    const { nextAttemptAt, unplanned } = await readDelivery(env.context, merchant);
    return nextAttemptAt ?? unplanned;
  };
  const idle = { next_attempt_at: WHEN_IDLE };
  expect([
    await read({}, {}),
    await read({ lease_holder: 'another' }, {}),
    await read({ lease_holder: 'another' }, idle),
    await read(idle, idle),
    await read({ state: 'held' }, {}),
    await read({ state: 'delivered' }, { state: 'delivered' }),
  ]).toEqual([soon, 'sending', 'sending', 'backfill', 'earlier', undefined]);
});

test('of a long queue as much is read as is counted, whether or not one of it is being sent', async () => {
  await using env = await openEnvironment();
  const { db, clock } = env.context;
  const url = 'https://shop.example/pix';
  const { merchant } = await createMerchant(env.context, { name: 'shop', url, eventsSince: new Date(0) });
  const [counted, waiting] = [10_001, 30_000];
  await sql`INSERT INTO callbacks (webhook_id, merchant_seq, transaction_seq, type, source, state, next_attempt_at, created_at)
    SELECT CONCAT('msg_', seq), ${merchant.seq}, seq, 'pix.cashin.paid', 'webhook', 'pending', ${clock.now()}, ${clock.now()}
    FROM ${numbersTo(waiting)}`.execute(db);
  const reads = await countReads(db, async (one) => {
    const { counts, nextAttemptAt } = await readDelivery({ ...env.context, db: one }, merchant);
    expect([counts.pending.isMore, nextAttemptAt]).toEqual([true, expect.any(Date)]);
  });
  // each that is counted, by its index and its row
  expect(reads).toBeLessThan(2 * counted + waiting / 2);
});

test('the last failure is the last failed attempt, and a delivery just now is seen, of old callbacks that were replayed too', async () => {
  await using env = await openEnvironment();
  const { context } = env;
  const { db, clock, holder } = context;
  const { merchant } = await createMerchant(context, {
    name: 'shop',
    url: 'https://shop.example/',
    eventsSince: new Date(0),
  });
  const { merchant: other } = await createMerchant(context, { name: 'other', url: 'https://other.example/' });
  const now = clock.now();
  const ago = (minutes: number) => new Date(now.getTime() - minutes * MINUTE_MS);
  const add = (count: number, name: string, values: { merchant_seq?: number; state: string; created_at: Date }) => {
    const shared = { merchant_seq: merchant.seq, type: 'pix.cashin.paid', source: 'webhook', lease_holder: holder };
    const rows = Array.from({ length: count }, (_, at) => ({ ...shared, ...values, webhook_id: `msg_${name}_${at}` }));
    return db.insertInto('callbacks').values(rows).execute();
  };
  await add(2, 'old', { state: 'pending', created_at: ago(72 * 60) });
  await add(1, 'other', { merchant_seq: other.seq, state: 'pending', created_at: ago(1) });
  await add(1_100, 'new', { state: 'delivered', created_at: ago(10) });
  const record = async (webhookId: string, status: number, minutes: number) => {
    const row = await transact(db, (trx) =>
      selectClaimable(trx).where('webhook_id', '=', webhookId).executeTakeFirstOrThrow(),
    );
    const errorClass = status === 200 ? null : ('http_status' as const);
    const response = { status, errorClass, retryAfterMs: undefined, body: null, durationMs: 5 };
    const attempt = { callback: toClaimed(row), startedAt: ago(minutes), merchantHeaders: [], response };
    await recordAttempts(context, [attempt]);
    await db.updateTable('callbacks').set({ lease_holder: holder }).where('webhook_id', '=', webhookId).execute();
  };
  await record('msg_new_1099', 503, 9);
  await record('msg_new_1099', 200, 8);
  await record('msg_old_0', 500, 4);
  await record('msg_old_0', 200, 3);
  await record('msg_other_0', 502, 1);
  await record('msg_other_0', 200, 1);
  const read = await readDelivery(context, merchant);
  expect([read.lastFailure?.status, read.lastFailure?.at, read.lastFailure?.webhookId]).toEqual([
    500,
    ago(4),
    'msg_old_0',
  ]);
  expect(read.lastSuccessAt).toEqual(ago(3));
  const others = await readDelivery(context, other);
  expect([others.lastFailure?.status, others.lastSuccessAt]).toEqual([502, ago(1)]);
});
