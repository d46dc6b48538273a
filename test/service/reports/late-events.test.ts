import { rmSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { readEventWindow } from '../../../src/reports/plan/read-event-window.ts';
import { ROWS_PER_SHEET_MAX } from '../../../src/reports/plan/report-plan.ts';
import { takeCut } from '../../../src/reports/plan/take-cut.ts';
import { countMismatches, MISMATCHES_MAX, readMismatches } from '../../../src/reports/read/read-mismatches.ts';
import { insertRevision } from '../../../src/reports/revisions/insert-revision.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import { applyTransactions, generateTransactions, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { addLateEvent } from './add-late-event.ts';
import { lineOf, readValues, readWorkbook, rowsOf, sheetOf } from './read-workbook.ts';

const DAY = '2026-03-11';

test('a late event that moves no money is not in the cut, and makes the next revision', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const open = transactionOf('cashin', 9_900n, [['pending', `${DAY} 10:00:00`]]);
  await applyTransactions(context, [open]);
  const commit = await addLateEvent(context, open.id, { status: 'in_analysis', atWall: `${DAY} 11:00:00` });
  await applyTransactions(context, generateTransactions(30, [DAY], 3));
  const { report: first } = await makeReport(context, DAY);
  await commit();
  const again = async () => {
    for (const { format, sha256: stored } of first.files) {
      rmSync((await openReport(context, { day: DAY, format, revision: 1 })).file);
      expect([format, (await openReport(context, { day: DAY, format, revision: 1 })).sha256]).toEqual([format, stored]);
    }
  };
  await again();
  const later = { ...context, clock: { ...context.clock, now: () => new Date('2026-03-12T12:00:00Z') } };
  expect((await makeDueReports(later)).made).toEqual([DAY]);
  const sheets = await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file);
  expect(rowsOf(sheetOf(sheets, 'Alterações'))).toMatchObject([
    {
      'Id da transação': { value: open.id },
      Antes: { value: 'Pendente' },
      Depois: { value: 'Em análise' },
      'Por quê': { value: 'soubemos depois: em análise' },
    },
  ]);
  await again();
  expect((await makeDueReports(later)).made).toEqual([]);
});

test('a late event that changes nothing of the day is checked once', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const open = transactionOf('cashin', 9_900n, [['pending', `${DAY} 10:00:00`]]);
  await applyTransactions(context, [open]);
  const commit = await addLateEvent(context, open.id, { status: 'in_analysis', atWall: '2026-03-12 11:00:00' });
  await applyTransactions(context, generateTransactions(5, [DAY], 3));
  await makeReport(context, DAY);
  await commit();
  expect(await makeReport(context, DAY)).toMatchObject({ changed: false });
  const row = await readRow(context.db, 'reports', ['checked_event_count', 'cut_event_seq']);
  const count = await context.db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('seq', '<=', row.cut_event_seq)
    .executeTakeFirstOrThrow();
  expect(row.checked_event_count).toBe(Number(count.count));
});

test('a status between two others changes the counts of Resumo and makes the next revision, which resolves the mismatch', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const paid = transactionOf('cashin', 9_900n, [
    ['pending', `${DAY} 10:00:00`],
    ['paid', `${DAY} 12:00:00`],
  ]);
  await applyTransactions(context, [paid]);
  const { report: first } = await makeReport(context, DAY);
  const [pending, end] = paid.events;
  const between = { status: 'in_analysis', atWall: `${DAY} 11:00:00` };
  await applyTransactions(context, [{ ...paid, events: [pending, between, end].flatMap((one) => one ?? []) }]);
  expect(await readStates(context)).toEqual(['open']);
  const later = { ...context, clock: { ...context.clock, now: () => new Date('2026-03-12T12:00:00Z') } };
  expect((await makeDueReports(later)).made).toEqual([DAY]);
  expect(await readStates(context)).toEqual(['resolved']);
  const { file, report } = await openReport(context, { day: DAY, format: 'xlsx' });
  expect([report.revision, report.digest]).toEqual([2, first.digest]);
  const sheets = await readWorkbook(file);
  expect(lineOf(sheetOf(sheets, 'Resumo'), 'Entrada · Em análise')?.[0]?.value).toBe(1);
  expect(rowsOf(sheetOf(sheets, 'Alterações'))).toMatchObject([
    { 'Id da transação': { value: paid.id }, 'Por quê': { value: 'soubemos depois: em análise' } },
  ]);
  expect((await makeDueReports(later)).made).toEqual([]);
  for (const revision of [1, 2]) {
    const opened = await openReport(context, { day: DAY, format: 'xlsx', revision });
    rmSync(opened.file);
    expect((await openReport(context, { day: DAY, format: 'xlsx', revision })).sha256).toBe(opened.sha256);
  }
});

test('a check that finds equal rows resolves the mismatch, also one that an older check left open', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, [transactionOf('cashin', 700n, [['paid', `${DAY} 12:00:00`]])]);
  await makeReport(context, DAY);
  const later = { ...context, clock: { ...context.clock, now: () => new Date('2026-03-12T12:00:00Z') } };
  expect((await makeDueReports(later)).made).toEqual([]);
  const found = { kind: 'closed_day_changed' as const, scope: DAY };
  await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
  expect((await makeDueReports(later)).made).toEqual([]);
  expect(await readStates(context)).toEqual(['resolved']);
});

async function readStates({ db }: Context): Promise<string[]> {
  const rows = await db.selectFrom('mismatches').select('state').where('kind', '=', 'closed_day_changed').execute();
  return rows.map((row) => row.state);
}

test.each([
  ['nothing', 'resolved', async () => undefined],
  ['an event that was committed late below it', 'open', async (_: Context, late: () => Promise<void>) => late()],
  [
    'one above it',
    'open',
    async (context: Context) =>
      applyTransactions(context, [transactionOf('cashin', 1n, [['paid', `${DAY} 23:00:00`]])]),
  ],
] as const)('where %s came after the cut, closed_day_changed ends up %s', async (_, state, act) => {
  await using books = await openEnvironment();
  const { context } = books;
  const open = transactionOf('cashin', 9_900n, [['pending', `${DAY} 10:00:00`]]);
  await applyTransactions(context, [open]);
  const late = await addLateEvent(context, open.id, { status: 'in_analysis', atWall: `${DAY} 11:00:00` });
  await applyTransactions(context, [transactionOf('cashin', 700n, [['paid', `${DAY} 12:00:00`]])]);
  const found = { kind: 'closed_day_changed' as const, scope: DAY };
  await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
  const cut = await takeCut(context);
  const eventWindow = await readEventWindow(context.db, cut.eventSeq);
  await act(context, late);
  const plan = {
    ...{
      day: DAY,
      revision: 1,
      cut,
      previous: undefined,
      state: 'provisional' as const,
      reading: undefined,
      countedAt: undefined,
    },
    ...{ madeAt: context.clock.now(), locale: 'pt-BR' as const, fullDocuments: false, masked: false },
    ...{ platform: undefined, version: '0', rowsPerSheetMax: ROWS_PER_SHEET_MAX, isRedacted: false },
    calendar: context.calendar,
  };
  const [digest, sha256] = [Buffer.alloc(32), '00'.repeat(32)];
  const files = [{ format: 'xlsx' as const, name: 'x', bytes: 1, sha256 }];
  const figures = '{"mismatches":0,"shared":0,"platforms":{}}';
  expect(
    await insertRevision(context, plan, { digest, ordersDigest: null, eventWindow, files, figures, isMailed: false }),
  ).toBe(true);
  expect(await context.db.selectFrom('mismatches').select('state').execute()).toEqual([{ state }]);
});

test('Resumo counts every open mismatch, also those beyond the limit of the sheet', async () => {
  await using books = await openEnvironment();
  const { db } = books.context;
  const count = MISMATCHES_MAX + 5;
  const rows = numbersTo(count);
  await sql`INSERT INTO mismatches (seq, id, kind, scope, severity, state, opened_at)
    SELECT seq, CONCAT('mm_', seq), IF(seq > 3, 'stuck', 'webhook_contradiction'), seq, IF(seq > 10, 'medium', 'critical'),
      'open', NOW(3) FROM ${rows}`.execute(db);
  await sql`INSERT INTO mismatch_changes (mismatch_seq, state, at, actor)
    SELECT seq, 'open', NOW(3), 'test' FROM ${rows}`.execute(db);
  // MySQL would plan by the statistics from before these rows
  for (const table of ['mismatches', 'mismatch_changes']) await sql`ANALYZE TABLE ${sql.table(table)}`.execute(db);
  const until = { changeSeq: count, eventSeq: 0, versionSeq: undefined };
  const scope = { from: new Date(0), to: new Date(0), ...until, platform: undefined };
  const days = { from: DAY, to: DAY };
  expect(await readMismatches(db, scope)).toHaveLength(MISMATCHES_MAX);
  const counts = await countMismatches(db, scope, days);
  const none = { own: 0, stakeCents: 0n, ownStakeCents: 0n };
  expect(counts.sort((a, b) => a.count - b.count)).toEqual([
    { kind: 'webhook_contradiction', severity: 'critical', count: 3, ...none },
    { kind: 'stuck', severity: 'critical', count: 7, ...none },
    { kind: 'stuck', severity: 'medium', count: count - 10, ...none },
  ]);
  expect(await countMismatches(db, { ...scope, changeSeq: 3 }, days)).toHaveLength(1);
  await makeReport(books.context, DAY);
  const { file } = await openReport(books.context, { day: DAY, format: 'xlsx' });
  const summary = await readValues(file, 'Resumo');
  expect(lineOf(summary, 'Parada')?.[0]?.value).toBe(count - 3);
  expect(summary.rows.some((row) => String(row[0]?.value).includes('mostra as 20.000 mais antigas'))).toBe(true);
});
