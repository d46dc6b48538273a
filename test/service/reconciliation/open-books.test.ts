import { afterEach, beforeEach, expect, test } from 'vitest';
import { auditChange } from '../../../src/access/audit.ts';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { finishReposts } from '../../../src/ledger/stated/state-opening.ts';
import { openBooks } from '../../../src/reconciliation/runs/open-books.ts';
import { findRefusals } from '../../../src/reports/months/find-refusals.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { type ApiEnvironment, openApiEnvironment } from '../../support/open-api-environment.ts';
import { reverseOpening } from '../../support/open-books.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

let environment: ApiEnvironment;
let today: Day;
let day: Day;
beforeEach(async () => {
  environment = await openApiEnvironment({ SECRET_KEY });
  const { calendar, clock } = environment.context;
  today = calendar.dayOf(clock.now());
  day = addDays(today, -20);
});
afterEach(() => environment[Symbol.asyncDispose]());

const readRuns = () =>
  environment.context.db.selectFrom('runs').select(['id', 'state', 'from_day', 'to_day', 'how', 'trigger']).execute();
const open = (platform: string, on = day) =>
  openBooks(environment.context, { platform, day: on, balanceCents: 1n, actor: 'tok_1', newPlatform: true });
const wanted = () => ({
  state: 'queued',
  from_day: addDays(day, -96),
  to_day: today,
  how: 'count',
  trigger: 'opening',
});

test('an opening by API queues a run from 96 days before it, and those of other platforms share it', async () => {
  for (const platform of ['p', 'q', 'none'])
    expect(
      (await environment.call('POST', '/openings', { platform, day, balance: '1.00', new_platform: true })).status,
    ).toBe(201);
  expect(await readRuns()).toMatchObject([wanted()]);
});

test('an opening by command names its run', async () => {
  const variables = { DATABASE_URL: environment.context.config.DATABASE_URL ?? '', SECRET_KEY };
  const args = ['open', '--platform', 'p', '--day', day, '--balance', '1.00', '--new-platform', '--json'];
  const { code, out } = await runCommandInProcess(args, variables);
  const [run] = await readRuns();
  expect(run).toMatchObject(wanted());
  expect({ code, run: JSON.parse(out).run }).toEqual({ code: 0, run: run?.id });
});

test('an opening that is refused leaves no run', async () => {
  const { context } = environment;
  const described = { actor: 'a', action: 'openings.create', target: 'p' };
  const refused = auditChange(context, () => open('p', addDays(today, 1)), described);
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
  await open('p');
  await expect(open('p', addDays(day, -1))).rejects.toMatchObject({ code: 'conflict' });
  expect(await readRuns()).toHaveLength(1);
});

test('an opening that is reversed and stated for an earlier day reads the days that its run lacks', async () => {
  const first = await open('p');
  await reverseOpening(environment.context, first.id);
  const later = await open('p', addDays(day, 3));
  expect(later.run).toBe(first.run);
  await reverseOpening(environment.context, later.id);
  expect((await open('p', addDays(day, -3))).run).not.toBe(first.run);
  expect((await readRuns()).map(({ from_day }) => from_day)).toEqual([addDays(day, -96), addDays(day, -99)]);
});

test('days that were read today are not read again, those of yesterday are', async () => {
  const { context } = environment;
  await recordReadDays(context, addDays(day, -96), today, new Date(context.clock.now().getTime() - 86_400_000));
  const { id, run } = await open('p');
  expect(run).not.toBeNull();
  await reverseOpening(context, id);
  await context.db.updateTable('runs').set({ state: 'complete' }).execute();
  await recordReadDays(context, addDays(day, -96), today, context.clock.now());
  expect(await open('p')).toMatchObject({ run: null });
});

test('a month does not close before the days before its opening are read, and names them', async () => {
  const { context } = environment;
  await open('p', '2025-10-15');
  await finishReposts(context);
  const readAt = new Date('2025-12-05T12:00:00Z');
  await recordReadDays(context, '2025-10-15', '2025-11-30', readAt);
  await recordReadDays(context, '2025-08-01', '2025-08-31', readAt);
  // a reading before the day's end proves nothing
  await recordReadDays(context, '2025-10-14', '2025-10-14', new Date('2025-10-14T12:00:00-03:00'));
  expect(await findRefusals(context, '2025-10')).toEqual([
    { code: 'days_before_unread', from: '2025-07-11', to: '2025-07-31' },
    { code: 'days_before_unread', from: '2025-09-01', to: '2025-10-14' },
  ]);
  // what was created more than 96 days before November can't move in it
  expect(await findRefusals(context, '2025-11')).toEqual([
    { code: 'days_before_unread', from: '2025-07-28', to: '2025-07-31' },
    { code: 'days_before_unread', from: '2025-09-01', to: '2025-10-14' },
  ]);
  expect(await findRefusals(context, '2025-09')).toMatchObject([{ code: 'before_books' }]);
  const { json } = await environment.call('GET', '/months/2025-10');
  expect(json).toMatchObject({ refusals: [{ code: 'days_before_unread', from: '2025-07-11', to: '2025-07-31' }, {}] });
  await recordReadDays(context, '2025-07-01', '2025-10-14', readAt);
  expect(await findRefusals(context, '2025-10')).toEqual([]);
});
