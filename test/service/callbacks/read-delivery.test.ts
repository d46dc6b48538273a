/** How callbacks reached a merchant, in an hour with more of them than a sample has. */
import { expect, test } from 'vitest';
import { readDelivery } from '../../../src/callbacks/manage/read-delivery.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/calendar.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
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
  const { attempts = 0, delivered = 0 } = sampled.hours.find(({ start }) => start.getTime() === hour) ?? {};
  expect(attempts).toBeLessThan(131);
  expect(delivered).toBeGreaterThan(attempts / 2);
});
