import { afterEach, beforeEach, expect, test } from 'vitest';
import { compareStatements, listStatements } from '../../../src/ledger/stated/state-balance.ts';
import { type ApiEnvironment, openApiEnvironment } from '../../support/open-api-environment.ts';
import { readMismatchRows } from '../../support/read-ledger-state.ts';

let environment: ApiEnvironment;
beforeEach(async () => {
  environment = await openApiEnvironment();
});
afterEach(() => environment[Symbol.asyncDispose]());

const DAYS = { from_day: '2026-11-01', to_day: '2026-11-03' };

/** A reading of all platforms that was asked after everything that is stated here. */
async function readDays(): Promise<void> {
  const run = { id: 'run_1', state: 'complete', ...DAYS, trigger: 'test', created_at: new Date(0), created_by: 'test' };
  const { insertId } = await environment.context.db.insertInto('runs').values(run).executeTakeFirstOrThrow();
  const window = { run_seq: Number(insertId), ...DAYS, state: 'complete', asked_at: new Date('2026-11-05T00:00:00Z') };
  await environment.context.db.insertInto('run_windows').values(window).execute();
}

let count = 0;
function statementOf(platform: string, wall: string, balanceCents: bigint) {
  const at = environment.context.calendar.toInstant(wall);
  const made = { created_at: new Date('2026-11-04T00:00:00Z'), actor: 'a' };
  return { id: `st_${++count}`, platform, at, at_wall: wall, balance_cents: balanceCents, ...made };
}

async function compared(): Promise<string[]> {
  const { db } = environment.context;
  const rows = await db.selectFrom('statements').select('id').where('compared_at', 'is not', null).execute();
  return rows.map((row) => row.id);
}

test("each platform's newest statement is compared, however many another one has", async () => {
  const { context } = environment;
  await readDays();
  const [old, newest] = [statementOf('q', '2026-11-01 10:00:00', 1n), statementOf('q', '2026-11-02 10:00:00', 500n)];
  const many = Array.from({ length: 600 }, (_, minute) =>
    statementOf(
      'p',
      `2026-11-03 ${String(10 + Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00`,
      0n,
    ),
  );
  await context.db
    .insertInto('statements')
    .values([old, newest, ...many])
    .execute();
  await compareStatements(context);
  const found = await readMismatchRows(context, 'balance_differs');
  expect(found).toMatchObject([{ actual: { difference: '5.00' }, state: 'open' }]);
  expect((await compared()).sort()).toEqual([newest.id, many.at(-1)?.id ?? ''].sort());
});

test('of two for one moment the one that was stated last counts, and one whose day was not read past it waits', async () => {
  const { context } = environment;
  await readDays();
  const moment = '2026-11-02 10:00:00';
  const [first, last] = [statementOf('p', moment, 500n), statementOf('p', moment, 0n)];
  const isReplaced = async () =>
    (await listStatements(context, 5, undefined)).map(({ id, replaced }) => [id, replaced]);
  const unread = statementOf('p', '2026-11-04 10:00:00', 7n);
  await context.db.insertInto('statements').values([first, last, unread]).execute();
  expect(await isReplaced()).toEqual(
    expect.arrayContaining([
      [first.id, true],
      [last.id, false],
    ]),
  );
  await compareStatements(context);
  expect(await readMismatchRows(context, 'balance_differs')).toEqual([]);
  expect(await compared()).toEqual([last.id]);
});

test('the API takes a statement of a day that was read past it, compares it at once, and names its platform', async () => {
  await readDays();
  const stated = { platform: 'p', at: '2026-11-02T10:00:00-03:00', balance: '5.00' };
  const { status, json } = await environment.call('POST', '/statements', stated);
  expect({ status, json }).toMatchObject({ status: 201, json: { difference: '5.00', ledger: '0.00' } });
  expect(await readMismatchRows(environment.context, 'balance_differs')).toMatchObject([
    { state: 'open', expected: { platform: 'p', balance: '5.00' }, actual: { difference: '5.00' } },
  ]);
});
