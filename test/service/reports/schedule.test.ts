import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startJobScheduler } from '../../../jobs/main.ts';
import { runTick } from '../../../jobs/run-tick.ts';
import { ZONE_ALERT } from '../../../src/alerts/zone-alert.ts';
import type { Context } from '../../../src/context.ts';
import { addDays, listDays } from '../../../src/domain/calendar.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { listReports } from '../../../src/reports/serve/list-reports.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { eventually } from '../../support/eventually.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { readWorkbook, rowsOf, sheetOf } from './read-workbook.ts';

const OTHERS_OFF = Object.fromEntries(
  ['WATCH', 'RECONCILE_RECENT', 'RECONCILE_WEEK', 'RECONCILE_MONTH', 'RECONCILE_COUNTS', 'RECONCILE_QUARTER']
    .concat(['RECONCILE_OPEN', 'CHECK_BOOKS', 'CHECK_ALL_BOOKS', 'MANIFEST', 'RETENTION'])
    .map((job) => [`JOB_${job}`, 'off']),
);

/** Two replicas, each with its own disk, and a clock that the test sets. */
function openReplicas({ context }: TestEnvironment, disk: string) {
  let now = new Date(0);
  const clock = { ...context.clock, now: () => now };
  const first: Context = { ...context, clock };
  const second: Context = { ...first, holder: 'second', config: { ...context.config, DATA_DIR: disk } };
  const moveTo = (instant: string): void => {
    now = new Date(instant);
  };
  return { replicas: [first, second] as const, moveTo };
}

/** Both replicas see the tick of 06:00 in São Paulo. */
async function tick(replicas: readonly Context[]): Promise<void> {
  await Promise.all(
    replicas.map((context) =>
      runTick(context, { job: 'daily_report', dueAt: context.clock.now() }, () => makeDueReports(context)),
    ),
  );
}

async function listMade({ db }: Context): Promise<string[]> {
  const rows = await db.selectFrom('reports').select(['day', 'revision']).orderBy('day').orderBy('revision').execute();
  return rows.map((row) => `${row.day} r${row.revision}`);
}

const once = (from: string, to: string): string[] => listDays(from, to).map((day) => `${day} r1`);

test('after a downtime over the end of a month, two replicas make the report of each missed day once', async () => {
  await using books = await openEnvironment();
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  await applyTransactions(replicas[0], [transactionOf('cashin', 700n, [['paid', '2026-01-29 12:00:00']])]);
  moveTo('2026-01-28T09:00:00Z');
  await tick(replicas);
  expect(await listMade(replicas[0])).toEqual(once('2026-01-27', '2026-01-27'));
  // five days of downtime
  moveTo('2026-02-02T09:00:00Z');
  await tick(replicas);
  expect(await listMade(replicas[0])).toEqual(once('2026-01-27', '2026-02-01'));
  moveTo('2026-02-03T09:00:00Z');
  await tick(replicas);
  expect(await listMade(replicas[0])).toEqual(once('2026-01-27', '2026-02-02'));
});

test('two replicas that both run the job, as after a lost lease, make each missed day once', async () => {
  await using books = await openEnvironment();
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  moveTo('2026-02-26T09:00:00Z');
  await makeDueReports(replicas[0]);
  moveTo('2026-03-03T09:00:00Z');
  const made = await Promise.all(replicas.map((context) => makeDueReports(context)));
  expect(await listMade(replicas[0])).toEqual(once('2026-02-25', '2026-03-02'));
  const days = made.flatMap((one) => one.made);
  expect([new Set(days).size, days.length]).toEqual([5, 5]);
});

test('a tick that was due during a downtime runs at the next start, once over all replicas', async () => {
  await using books = await openEnvironment(OTHERS_OFF);
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  moveTo('2026-01-30T09:00:00Z');
  await tick(replicas);
  const ticks = async (): Promise<(string | undefined)[]> => {
    const rows = await replicas[0].db.selectFrom('job_ticks').selectAll().orderBy('due_at').execute();
    return rows.map((row) => (row.finished_at === null ? undefined : row.due_at.toISOString()));
  };
  // up again before the next tick is due: no missed tick
  moveTo('2026-01-31T08:59:00Z');
  await (await start(replicas))[Symbol.asyncDispose]();
  expect(await ticks()).toEqual(['2026-01-30T09:00:00.000Z']);
  moveTo('2026-02-02T13:00:00Z');
  const timetables = await start(replicas);
  try {
    await eventually(async () => (await ticks()).length === 2 && (await ticks()).every((one) => one !== undefined));
  } finally {
    await timetables[Symbol.asyncDispose]();
  }
  expect(await ticks()).toEqual(['2026-01-30T09:00:00.000Z', '2026-02-02T09:00:00.000Z']);
  expect(await listMade(replicas[0])).toEqual(once('2026-01-29', '2026-02-01'));
});

async function start(replicas: readonly Context[]): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  for (const context of replicas) stack.use(startJobScheduler(context));
  return stack;
}

test('a day that is proven, and later closed, gets one revision for each at the next tick', async () => {
  await using books = await openEnvironment();
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  const [context] = replicas;
  const day = '2026-01-30';
  const states = async () => {
    const rows = await context.db.selectFrom('reports').select(['day', 'revision', 'state', 'proven']).execute();
    return rows.filter((row) => row.day === day).map(({ state, proven }) => [state, proven]);
  };
  const shown = async () => {
    const { reports } = await listReports(context, { limit: 10, after: undefined });
    return reports.filter((one) => one.day === day).map(({ state, proven }) => [state, proven]);
  };
  moveTo('2026-01-31T09:00:00Z');
  await tick(replicas);
  expect(await states()).toEqual([['provisional', 0]]);

  await recordReadDays(context, day, day, new Date('2026-01-31T10:00:00Z'));
  // the list shows it at once, the file after the next tick
  expect(await shown()).toEqual([['provisional', true]]);
  moveTo('2026-02-01T09:00:00Z');
  await tick(replicas);
  expect(await states()).toEqual([
    ['provisional', 0],
    ['provisional', 1],
  ]);

  // read several times, and still not all of the 95 days
  for (const hour of ['10', '11', '12']) {
    await recordReadDays(context, addDays(day, -94), day, new Date(`2026-02-01T${hour}:00:00Z`));
  }
  moveTo('2026-02-02T09:00:00Z');
  await tick(replicas);
  expect(await states()).toHaveLength(2);

  await recordReadDays(context, addDays(day, -95), addDays(day, -95), new Date('2026-02-02T10:00:00Z'));
  expect((await shown())[0]).toEqual(['closed', true]);
  for (const morning of ['2026-02-03', '2026-02-04']) {
    moveTo(`${morning}T09:00:00Z`);
    await tick(replicas);
    await recordReadDays(context, addDays(day, -95), day, new Date(`${morning}T10:00:00Z`));
  }
  expect((await states()).slice(2)).toEqual([['closed', 1]]);
  const sheets = await readWorkbook((await openReport(context, { day, format: 'xlsx' })).file);
  expect(rowsOf(sheetOf(sheets, 'Alterações'))).toMatchObject([
    { 'O que mudou': { value: 'Situação do dia' }, Antes: { value: 'provisório' }, Depois: { value: 'completo' } },
  ]);
});

test('what a tick learnt of a day whose report failed is learnt again by the next tick', async () => {
  await using books = await openEnvironment();
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  const [context] = replicas;
  const pay = (at: string) => applyTransactions(context, [transactionOf('cashin', 700n, [['paid', at]])]);
  await pay('2026-01-28 12:00:00');
  moveTo('2026-01-29T09:00:00Z');
  await makeDueReports(context);
  moveTo('2026-01-30T09:00:00Z');
  await makeDueReports(context);
  // the day after begins with another balance: nothing but its number says so
  await pay('2026-01-28 13:00:00');
  // more numbers than each tick reads again
  for (const table of ['entries', 'events'])
    await sql`ALTER TABLE ${sql.table(table)} AUTO_INCREMENT = 100000`.execute(context.db);
  await pay('2026-01-30 05:00:00');
  const broken = { ...context, config: { ...context.config, DATA_DIR: '/dev/null' } };
  await expect(makeDueReports(broken)).rejects.toThrow('reports failed for 2026-01-28, 2026-01-29');
  expect((await makeDueReports(context)).made).toEqual(['2026-01-28', '2026-01-29']);
  expect((await makeDueReports(context)).made).toEqual([]);
});

test('days without a report of the whole day are made before changed ones', async () => {
  await using books = await openEnvironment();
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  const [context] = replicas;
  moveTo('2026-01-30T09:00:00Z');
  await makeDueReports(context);
  moveTo('2026-01-31T09:00:00Z');
  await makeDueReports(context);
  await makeReport(context, '2026-01-31');
  await recordReadDays(context, '2026-01-29', '2026-01-30', new Date('2026-01-31T10:00:00Z'));
  moveTo('2026-02-02T09:00:00Z');
  expect((await makeDueReports(context)).made).toEqual(['2026-01-31', '2026-02-01', '2026-01-29', '2026-01-30']);
});

test('a doubt about the time zone lowers the state in the list while it lasts, and makes no revision', async () => {
  await using books = await openEnvironment();
  using disk = temporaryDirectory();
  const { replicas, moveTo } = openReplicas(books, disk.path);
  const [context] = replicas;
  const day = '2026-01-30';
  await recordReadDays(context, addDays(day, -95), day, new Date('2026-01-31T08:00:00Z'));
  moveTo('2026-01-31T09:00:00Z');
  await tick(replicas);
  const shown = async () => (await listReports(context, { limit: 1, after: undefined })).reports[0];
  expect(await shown()).toMatchObject({ day, state: 'closed', revision: 1 });
  const alert = { ...ZONE_ALERT, firing_scope: `${ZONE_ALERT.name} ${ZONE_ALERT.scope}` };
  await context.db
    .insertInto('alerts')
    .values({ id: 'al_zone', severity: 'critical', summary: 'doubt', raised_at: context.clock.now(), ...alert })
    .execute();
  moveTo('2026-02-01T09:00:00Z');
  await tick(replicas);
  const { reports } = await listReports(context, { limit: 10, after: undefined });
  expect(reports.map((one) => [one.day, one.revision, one.state])).toEqual([
    ['2026-01-31', 1, 'provisional'],
    [day, 1, 'provisional'],
  ]);
});
