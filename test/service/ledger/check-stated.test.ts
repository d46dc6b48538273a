import { afterEach, beforeEach, expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { checkFutureDates, watchFutureOpenings } from '../../../src/ledger/stated/watch-future-openings.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { describeSaid } from '../../../src/texts/messages.ts';
import { PLATFORM } from '../../support/make-provider-rows.ts';
import { type ApiEnvironment, balancesOf, openApiEnvironment } from '../../support/open-api-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const OTHER = 'a3bb189e-8bf9-4888-9912-ace4e6543002';
let environment: ApiEnvironment;
let today: string;
beforeEach(async () => {
  environment = await openApiEnvironment();
  today = environment.context.calendar.dayOf(environment.context.clock.now());
});
afterEach(() => environment[Symbol.asyncDispose]());

const inSeconds = (seconds: number): string =>
  new Date(environment.context.clock.now().getTime() + seconds * 1000).toISOString();
const openingOf = (day: string, platform = PLATFORM) => ({ platform, day, balance: '5.00' });
const feeOf = (day: string, platform = PLATFORM) => ({ platform, day, kind: 'fee', amount: '-1.00', note: 'tariff' });
const statementOf = (at: string, platform = PLATFORM) => ({ platform, at, balance: '5.00' });

test('nothing of a day or instant to come can be stated, and nothing is written', async () => {
  const [far, tomorrow] = ['2062-01-01', addDays(today, 1)];
  for (const [route, body, field] of [
    ['/openings', openingOf(far), 'day'],
    ['/openings', openingOf(tomorrow), 'day'],
    ['/openings', { ...openingOf(tomorrow), new_platform: true }, 'day'],
    ['/adjustments', feeOf(far), 'day'],
    ['/adjustments', feeOf(tomorrow), 'day'],
    ['/statements', statementOf('2062-01-01T00:00:00-03:00'), 'at'],
    ['/statements', statementOf(inSeconds(60)), 'at'],
  ] as const) {
    const { status, json } = await environment.call('POST', route, body);
    expect([route, status, json.errors], JSON.stringify(body)).toEqual([
      route,
      422,
      { [field]: [expect.stringContaining('to come')] },
    ]);
  }
  for (const table of ['openings', 'adjustments', 'statements', 'entries'] as const)
    expect(await environment.context.db.selectFrom(table).select('seq').execute(), table).toEqual([]);
});

test('a platform or an instant that the database cannot keep is refused by its field', async () => {
  const long = 'é'.repeat(33);
  for (const [route, body, field] of [
    ['/openings', { ...openingOf(today, long), new_platform: true }, 'platform'],
    ['/adjustments', { ...feeOf(today, long), new_platform: true }, 'platform'],
    ['/statements', { ...statementOf(inSeconds(-60), long), new_platform: true }, 'platform'],
    ['/reconciliations', { from: today, to: today, platform: long }, 'platform'],
    ['/tokens', { role: 'viewer', expires_at: '9999-12-31T23:59:59-03:00' }, 'expires_at'],
    ['/merchants', { name: 'a', url: 'http://127.0.0.1:9/', events_since: '0000-01-01T00:00:00Z' }, 'events_since'],
  ] as const) {
    const { status, json } = await environment.call('POST', route, body);
    expect([route, status, Object.keys(json.errors ?? {})]).toEqual([route, 422, [field]]);
  }
});

// a year mistyped as 0026 made 700,000 days that nobody had proven, and each page of the console counted them
test('nothing can be stated of a day before PIX', async () => {
  for (const [route, body, field] of [
    ['/openings', openingOf('2019-12-31'), 'day'],
    ['/openings', openingOf('0026-11-01'), 'day'],
    ['/adjustments', feeOf('2019-12-31'), 'day'],
    ['/statements', statementOf('2019-12-31T23:59:59-03:00'), 'at'],
  ] as const) {
    const { status, json } = await environment.call('POST', route, body);
    expect([route, status, Object.keys(json.errors as object)], JSON.stringify(body)).toEqual([route, 422, [field]]);
  }
  for (const table of ['openings', 'adjustments', 'statements', 'entries'] as const)
    expect(await environment.context.db.selectFrom(table).select('seq').execute(), table).toEqual([]);
  await expect(makeReport(environment.context, '2019-12-31')).rejects.toMatchObject({ code: 'invalid_request' });
});

test('today and this moment can be stated', async () => {
  for (const [route, body] of [
    ['/openings', openingOf(today)],
    ['/adjustments', feeOf(today)],
    ['/statements', statementOf(inSeconds(0))],
  ] as const)
    expect((await environment.call('POST', route, body)).status, route).toBe(201);
});

test('an opening of a day to come empties no platform', async () => {
  await applyObservations(environment.context, [
    observeNow(environment.context, makeShownTransaction(['paid'], { platform: PLATFORM })),
  ]);
  const before = await balancesOf(environment);
  expect(before[`Assets:Provider:Available:${PLATFORM}`]).toBe('10.00');
  expect((await environment.call('POST', '/openings', openingOf('2062-01-01'))).status).toBe(422);
  expect(await balancesOf(environment)).toEqual(before);
});

test('a platform that no transaction shows is refused once there are transactions, unless it is said to be new', async () => {
  await applyObservations(environment.context, [
    observeNow(environment.context, makeShownTransaction(['paid'], { platform: PLATFORM })),
  ]);
  for (const [route, bodyOf] of [
    ['/openings', (platform: string) => openingOf(today, platform)],
    ['/adjustments', (platform: string) => feeOf(today, platform)],
    ['/statements', (platform: string) => statementOf(inSeconds(0), platform)],
  ] as const) {
    const refused = await environment.call('POST', route, bodyOf(OTHER));
    expect([route, refused.status, refused.json.errors]).toEqual([
      route,
      422,
      { platform: [expect.stringContaining('new_platform')] },
    ]);
    const wrong = await environment.call('POST', route, { ...bodyOf(OTHER), new_platform: 'yes' });
    expect([wrong.status, wrong.json.errors]).toEqual([422, { new_platform: ['must be true or false'] }]);
    expect((await environment.call('POST', route, { ...bodyOf(OTHER), new_platform: true })).status, route).toBe(201);
    expect((await environment.call('POST', route, bodyOf(PLATFORM))).status, route).toBe(201);
  }
});

test('before the first transaction any platform can be opened', async () => {
  expect((await environment.call('POST', '/openings', openingOf(today, OTHER))).status).toBe(201);
});

test('none is the platform of what has none', async () => {
  const { context } = environment;
  await applyObservations(context, [observeNow(context, makeShownTransaction(['paid'], { platform: PLATFORM }))]);
  expect((await environment.call('POST', '/openings', openingOf(today, 'none'))).status).toBe(422);
  await applyObservations(context, [observeNow(context, makeShownTransaction(['paid'], { platform: '' }))]);
  expect((await environment.call('POST', '/openings', openingOf(today, 'none'))).status).toBe(201);
});

test('a future opening from an earlier version is alerted until it is reversed', async () => {
  const { context } = environment;
  const { json } = await environment.call('POST', '/openings', openingOf(today));
  await watchFutureOpenings(context);
  expect(describeSaid(await checkFutureDates(context))).toContain('no opening');
  await context.db.updateTable('openings').set({ day: '2062-01-01' }).execute();
  for (let minute = 0; minute < 2; minute++) await watchFutureOpenings(context);
  const readAlerts = () =>
    context.db.selectFrom('alerts').select(['name', 'severity', 'summary', 'ended_at']).execute();
  const reported = `opening balance ${String(json.id)} is of 2062-01-01, a day to come: nothing of platform ${PLATFORM} is posted`;
  expect(await readAlerts()).toEqual([
    { name: 'opening_to_come', severity: 'critical', summary: expect.stringContaining(reported), ended_at: null },
  ]);
  await expect(checkFutureDates(context)).rejects.toThrow(reported);
  await environment.call('POST', '/openings', { reverses: json.id });
  await watchFutureOpenings(context);
  expect(await readAlerts()).toMatchObject([{ name: 'opening_to_come', ended_at: expect.any(Date) }]);
  expect(describeSaid(await checkFutureDates(context))).toContain('no opening');
});

test('doctor names adjustments and statements of a time to come, unless they are reversed', async () => {
  const { context } = environment;
  const { json } = await environment.call('POST', '/adjustments', feeOf(today));
  await environment.call('POST', '/statements', statementOf(inSeconds(0)));
  await context.db.updateTable('adjustments').set({ day: '2062-01-01' }).execute();
  await expect(checkFutureDates(context)).rejects.toThrow(`adjustment ${String(json.id)} is of 2062-01-01`);
  await environment.call('POST', '/adjustments', { reverses: json.id, note: 'typo' });
  expect(describeSaid(await checkFutureDates(context))).toContain('no opening');
  await context.db
    .updateTable('statements')
    .set({ at: new Date('2062-01-01T00:00:00Z') })
    .execute();
  await expect(checkFutureDates(context)).rejects.toThrow('is of 2062-01-01T00:00:00.000Z, an instant to come');
});

test('an opening of a day to come that stands from before can be taken back', async () => {
  const { json } = await environment.call('POST', '/openings', openingOf(today));
  await environment.context.db.updateTable('openings').set({ day: '2062-01-01' }).execute();
  expect((await environment.call('POST', '/openings', { reverses: json.id })).status).toBe(201);
});

const PAID_AT = '2026-11-20T23:59:59';

test('instants are compared to the millisecond: 23:59:59.999 holds a payment of 23:59:59', async () => {
  const row = makeShownTransaction(['paid'], { platform: PLATFORM });
  const at = '2026-11-20 23:59:59';
  await applyObservations(environment.context, [
    observeNow(environment.context, { ...row, date_created: at, events: [{ status: 'paid', date_created: at }] }),
  ]);
  const available = async (instant: string): Promise<string | undefined> =>
    (await balancesOf(environment, `?at=${encodeURIComponent(instant)}`))[`Assets:Provider:Available:${PLATFORM}`];
  expect(await available(`${PAID_AT}.999-03:00`)).toBe('10.00');
  expect(await available(`${PAID_AT}.001-03:00`)).toBe('10.00');
  expect(await available(`${PAID_AT}.000-03:00`)).toBeUndefined();
  expect(await available(`${PAID_AT}-03:00`)).toBeUndefined();
  expect(await available('2026-11-20T23:59:58.999-03:00')).toBeUndefined();
  expect(await available('2026-11-21T00:00:00-03:00')).toBe('10.00');
});

test('a statement agrees where it equals the ledger just before or just after its second', async () => {
  const at = '2026-11-20 23:59:59';
  await applyObservations(environment.context, [
    observeNow(environment.context, {
      ...makeShownTransaction(['paid'], { platform: PLATFORM }),
      date_created: at,
      events: [{ status: 'paid', date_created: at }],
    }),
  ]);
  const state = async (time: string, balance: string): Promise<unknown[]> => {
    const body = { platform: PLATFORM, at: time, balance };
    const { json } = await environment.call('POST', '/statements', body);
    return [json.ledger, json.difference];
  };
  for (const time of [`${PAID_AT}-03:00`, `${PAID_AT}.500-03:00`, `${PAID_AT}.999-03:00`]) {
    expect(await state(time, '0.00'), time).toEqual(['0.00', '0.00']);
    expect(await state(time, '10.00'), time).toEqual(['10.00', '0.00']);
  }
  expect(await state(`${PAID_AT}-03:00`, '9.00')).toEqual(['0.00', '9.00']);
  expect(await state(`${PAID_AT}.500-03:00`, '9.00')).toEqual(['10.00', '-1.00']);
  expect(await state('2026-11-20T23:59:58.999-03:00', '10.00')).toEqual(['0.00', '10.00']);
  expect(await state('2026-11-21T00:00:00-03:00', '0.00')).toEqual(['10.00', '-10.00']);
});
