import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays, type Day, listDays } from '../../../src/domain/calendar.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { parseFigures, presentFigures } from '../../../src/reports/read/report-figures.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { listReportDays } from '../../../src/reports/serve/list-report-days.ts';
import { listReports } from '../../../src/reports/serve/list-reports.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { countReads } from '../../support/count-reads.ts';
import { numbersTo } from '../../support/create-test-database.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  recordReadDays,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openBooks as openLedger } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { centsOf, lineOf, type ReadSheet, readWorkbook, sheetOf } from './read-workbook.ts';

const PT_BR = textsOf('pt-BR');

const DAYS = listDays('2026-03-09', '2026-03-12');
const [FIRST = '', , MIDDLE = '', LAST = ''] = DAYS;
const ENTRIES = 10_000;
const PLATFORMS = [undefined, PLATFORM_A, PLATFORM_B, 'none'] as const;
const books = closeAfterAll(await openEnvironment());
let context: Context;

beforeAll(async () => {
  ({ context } = books);
  const nameless = transactionOf('cashin', 12_345n, [['paid', `${MIDDLE} 10:00:00`]], { platform: null });
  await applyTransactions(context, [...generateTransactions(300, [addDays(FIRST, -1), ...DAYS], 5), nameless]);
  const by = { platform: PLATFORM_A, actor: 'test' };
  await openLedger(context, { ...by, day: MIDDLE, balanceCents: 900_000n });
  await adjustBooks(context, { ...by, day: MIDDLE, kind: 'fee', amountCents: -1_234n, note: 'tarifa' });
  await adjustBooks(context, { ...by, day: MIDDLE, kind: 'bank', amountCents: -50_000n, note: 'saque' });
  await raise('stuck', nameless.id);
  await raise('list_unstable', `${MIDDLE} ${PLATFORM_B}`);
  await raise('list_unstable', MIDDLE);
  await raise('balance_differs', PLATFORM_A);
  for (const day of DAYS) await makeReport(context, day);
}, 120_000);

async function raise(kind: 'stuck' | 'list_unstable' | 'balance_differs', scope: string): Promise<void> {
  const row = await context.db.selectFrom('transactions').select('seq').where('id', '=', scope).executeTakeFirst();
  const of = row ? { transactionSeq: row.seq, transactionId: scope } : {};
  await transact(context.db, (trx) => raiseMismatches(trx, [{ kind, scope, ...of }], context.clock.now()));
}

async function readDay(day: Day, platform: string | undefined): Promise<ReadSheet[]> {
  const { file } = await openReport(context, { day, format: 'xlsx', ...(platform ? { platform } : {}) });
  return await readWorkbook(file);
}

/** The lines of Resumo that each figure adds up. */
const RESUMO: Record<string, (keyof typeof PT_BR.summary)[]> = {
  opening: ['opening'],
  receipts: ['receipts'],
  commissions: ['commissionIn', 'commissionOut'],
  payments: ['payments'],
  refunds_made: ['refundsMade'],
  refunds_received: ['refundsReceived'],
  refunds: ['refundsMade', 'refundsReceived'],
  adjustments: ['adjustments'],
  closing: ['closing'],
  held: ['held'],
  bank: ['bank'],
  fees: ['fees'],
};

/** The figures as the workbook's Resumo has them, all platforms of that file together. */
function figuresOf(sheets: ReadSheet[]): Record<string, unknown> {
  const summary = sheetOf(sheets, 'Resumo');
  const at = (line: keyof typeof PT_BR.summary): bigint => {
    const cells = lineOf(summary, PT_BR.summary[line]);
    expect([line, cells]).toEqual([line, expect.any(Array)]);
    return centsOf(cells?.filter(Boolean).at(-1));
  };
  const lines = Object.entries(RESUMO).map(([name, labels]) => [
    name,
    labels.reduce((sum, line) => sum + at(line), 0n),
  ]);
  const from = summary.rows.findIndex((row) => row[0]?.value === PT_BR.summary.openMismatches);
  const to = summary.rows.findIndex((row, index) => index > from && row[0] === null);
  // the last line says how many are of the day
  const counts = summary.rows.slice(from + 2, to - 1).map((row) => Number(row[1]?.value ?? 0));
  return { ...Object.fromEntries(lines), open_mismatches: counts.reduce((sum, one) => sum + one, 0) };
}

function inCents(figures: ReturnType<typeof presentFigures>): Record<string, unknown> {
  const entries = Object.entries(figures ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? BigInt(value.replace('.', '')) : value,
  ]);
  return Object.fromEntries(entries);
}

test.each(PLATFORMS)('the figures of each day are those of its Resumo to the cent (platform %s)', async (platform) => {
  const { reports } = await listReports(context, { limit: 10, after: undefined }, platform);
  expect(reports.map(({ day }) => day)).toEqual(DAYS.toReversed());
  for (const { day, figures } of reports) {
    expect([day, inCents(figures)]).toEqual([day, figuresOf(await readDay(day, platform))]);
  }
  const middle = reports.find(({ day }) => day === MIDDLE)?.figures;
  expect(middle?.receipts).not.toBe('0.00');
  const isAdjusted = platform === undefined || platform === PLATFORM_A;
  expect([middle?.adjustments, middle?.bank, middle?.fees]).toEqual(
    isAdjusted ? ['-512.34', '-500.00', '-12.34'] : ['0.00', '0.00', '0.00'],
  );
  expect(middle?.open_mismatches).toBeGreaterThan(1);
});

test('a list of an unknown platform is refused: it must not show zeros', async () => {
  await expect(listReports(context, { limit: 1, after: undefined }, 'no-such')).rejects.toMatchObject({
    code: 'invalid_request',
    fields: { platform: [expect.stringContaining('no-such')] },
  });
});

test.each(PLATFORMS)('a day shows the balance of the ledger beside its figures (platform %s)', async (platform) => {
  await sealNow(context);
  const sealed = await listReportDays(context, { from: FIRST, to: addDays(LAST, 1), platform });
  for (const day of sealed.slice(0, -1)) {
    const { closing, held } = day.figures ?? {};
    expect([day.day, day.ledger]).toEqual([day.day, { closing, held }]);
  }
  // no report of it was made
  expect(sealed.at(-1)).toMatchObject({ revisions: [], figures: undefined });
});

test('the ledger of a day counts entries that no seal has yet', async () => {
  const day = addDays(LAST, 2);
  await sealNow(context);
  const [before] = await listReportDays(context, { from: day, to: day });
  await applyTransactions(context, [
    transactionOf('cashin', 5_000n, [['paid', `${day} 10:00:00`]], { commissionCents: 100n }),
    transactionOf('cashout', 700n, [['pending', `${day} 11:00:00`]], { commissionCents: null }),
  ]);
  const [after] = await listReportDays(context, { from: day, to: day });
  expect(after?.ledger).toEqual({
    closing: (before?.ledger.closing ?? 0n) + 4_900n,
    held: (before?.ledger.held ?? 0n) + 700n,
  });
});

test('revisions of an earlier version get the same figures from the daily job', async () => {
  const { db } = context;
  const read = () => db.selectFrom('reports').select(['seq', 'figures']).orderBy('seq').execute();
  const before = await read();
  expect(before.filter(({ figures }) => figures === null)).toEqual([]);
  await db.updateTable('reports').set({ figures: null }).execute();
  const [without] = (await listReports(context, { limit: 1, after: undefined })).reports;
  expect(without?.figures).toBeNull();
  // days of this test are long ended: only the missing days between them and today would be made
  await makeDueReports({
    ...context,
    clock: { ...context.clock, now: () => context.calendar.startOfDay(addDays(LAST, 1)) },
  });
  expect(await read()).toEqual(before);
});

test('the state of a day follows its readings and revisions', async () => {
  await using other = await openEnvironment();
  const { context: own } = other;
  const day = '2026-02-10';
  const paid = transactionOf('cashin', 9_900n, [['pending', `${day} 10:00:00`]]);
  await applyTransactions(own, [paid]);
  await applyTransactions(own, [transactionOf('cashin', 100n, [['paid', `${addDays(day, -1)} 10:00:00`]])]);
  await sealNow(own);
  const stateOf = async () => {
    const [one] = await listReportDays(own, { from: day, to: day });
    return { state: one?.state, unread: one?.unread, isReadWhole: one?.isReadWhole, revisedBy: one?.revisedBy };
  };
  expect(await stateOf()).toMatchObject({ state: 'missing' });
  await makeReport(own, day);
  const all = { count: 96, from: addDays(day, -95), to: day, hasDay: true };
  expect(await stateOf()).toMatchObject({ state: 'provisional', unread: all, isReadWhole: false });
  const after = new Date(`${addDays(day, 1)}T12:00:00Z`);
  await recordReadDays(own, day, day, after);
  const others = { count: 95, from: addDays(day, -95), to: addDays(day, -1), hasDay: false };
  expect(await stateOf()).toMatchObject({ state: 'provisional', unread: others, isReadWhole: true });
  await recordReadDays(own, addDays(day, -95), addDays(day, -1), new Date(`${day}T12:00:00Z`));
  expect(await stateOf()).toMatchObject({ state: 'provisional', unread: others });
  await recordReadDays(own, addDays(day, -95), addDays(day, -1), after);
  expect(await stateOf()).toMatchObject({ state: 'closed', unread: undefined, revisedBy: undefined });
  await makeReport(own, day);
  expect(await stateOf()).toMatchObject({ state: 'closed' });
  await applyTransactions(own, [withLaterEvents(paid, [['paid', `${day} 11:00:00`]])]);
  expect(await stateOf()).toMatchObject({ state: 'changed' });
  await makeReport(own, day);
  expect(await stateOf()).toMatchObject({ state: 'revised', revisedBy: 3 });
  const [before, today, future] = [
    addDays(day, -2),
    own.calendar.dayOf(own.clock.now()),
    addDays(own.calendar.dayOf(own.clock.now()), 1),
  ];
  const states = await Promise.all([before, today, future].map((one) => listReportDays(own, { from: one, to: one })));
  expect(states.map(([one]) => one?.state)).toEqual(['before', 'running', 'future']);
});

test('a month of 10,000 entries is listed without reading them', async () => {
  await using other = await openEnvironment();
  const { db } = other.context;
  await applyTransactions(other.context, [transactionOf('cashin', 9_900n, [['paid', '2026-02-10 10:00:00']])]);
  const { last } = await db
    .selectFrom('entries')
    .select((eb) => eb.fn.max<number>('seq').as('last'))
    .executeTakeFirstOrThrow();
  const numbers = numbersTo(ENTRIES);
  const wall = sql`DATE_FORMAT('2026-02-01' + INTERVAL seq * 4 MINUTE, '%Y-%m-%d %H:%i:%s')`;
  await sql`INSERT INTO entries (seq, kind, platform, at_wall, recorded_at, source_kind)
    SELECT ${last} + seq, 'event', 'p', ${wall}, NOW(3), 'show' FROM ${numbers}`.execute(db);
  for (const [position, cents] of [
    [1, 1],
    [2, -1],
  ])
    await sql`INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
      SELECT ${last} + seq, ${position}, ${position}, ${wall}, ${cents} FROM ${numbers}`.execute(db);
  await sql`ANALYZE TABLE entries, postings, reports, run_windows`.execute(db);
  await sealNow(other.context);
  const reads = await countReads(db, (one) =>
    listReportDays({ ...other.context, db: one }, { from: '2026-02-01', to: '2026-02-28' }),
  );
  expect(reads).toBeLessThan(1_000);
});

test('figures of all platforms are the sums of those of each', () => {
  const one = Object.fromEntries(
    ['opening', 'receipts', 'commissionIn', 'payments', 'commissionOut', 'refundsMade', 'refundsReceived'].map(
      (name) => [name, '100'],
    ),
  );
  const cents = { ...one, adjustments: '-5', closing: '9007199254740993', held: '0' };
  const platforms = { a: { ...cents, mismatches: 1 }, b: { ...cents, mismatches: 0 } };
  const text = JSON.stringify({ mismatches: 4, shared: 3, platforms });
  expect(presentFigures(parseFigures(text, undefined))).toMatchObject({
    ...{ opening: '2.00', commissions: '4.00', refunds: '4.00', adjustments: '-0.10' },
    ...{ closing: '180143985094819.86', open_mismatches: 4 },
  });
  expect(presentFigures(parseFigures(text, 'b'))).toMatchObject({ commissions: '2.00', open_mismatches: 3 });
  expect(presentFigures(parseFigures(text, 'c'))).toMatchObject({ closing: '0.00', open_mismatches: 3 });
  expect(presentFigures(parseFigures(null, 'a'))).toBeNull();
});
