import { copyFile, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected, unmatchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { readReceivables } from '../../../src/reports/orders/read-receivables.ts';
import { takeCut } from '../../../src/reports/plan/take-cut.ts';
import { takeOrdersCut } from '../../../src/reports/plan/take-orders-cut.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { exportRange } from '../../../src/reports/serve/export-range.ts';
import { findReportDays } from '../../../src/reports/serve/find-report-days.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { useReport } from '../../../src/reports/serve/use-report.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { readMismatchRows } from '../../support/read-ledger-state.ts';
import {
  centsOf,
  compareFormulas,
  lineOf,
  type ReadSheet,
  readWorkbook,
  recalculate,
  rowsOf,
  sheetOf,
  sumCents,
} from './read-workbook.ts';

const PT_BR = textsOf('pt-BR');

const DAY = '2026-03-11';
const by = { actor: 'test', note: 'visto no extrato' };
const LINES = ['de pedidos', 'não identificados', 'de onde não havia pedidos'].map((line) => `Recebimentos ${line}`);
let books: TestEnvironment;

/** Expects a payment of a platform; by default it was issued on the day before and is due on the day. */
async function put(number: string, amount: string, facts: object = {}): Promise<string> {
  const given = { operation: 'cashin', amount, due_day: DAY, issued_day: '2026-03-10', platform: PLATFORM_A, ...facts };
  const arrivals = [{ source: 'loja', number, facts: expectedFactsSchema.parse(given) }];
  const [outcome] = await putExpected(books.context, { arrivals, actor: 'test' });
  return outcome?.id ?? '';
}

async function read(wanted: object = {}): Promise<ReadSheet[]> {
  return await readWorkbook((await openReport(books.context, { day: DAY, format: 'xlsx', ...wanted })).file);
}

/** The lines of Resumo, in cents, each with a column a platform and the total. */
function linesOf(sheets: ReadSheet[], sheet = 'Resumo'): bigint[][] {
  const cells = (label: string) => lineOf(sheetOf(sheets, sheet), label)?.filter(Boolean).map(centsOf) ?? [];
  return [cells('+ Recebimentos'), ...LINES.map(cells)];
}

function expectAddedUp(sheets: ReadSheet[], sheet?: string): void {
  const [receipts = [], ...parts] = linesOf(sheets, sheet);
  expect(receipts.length).toBeGreaterThan(0);
  expect(receipts.map((_, index) => parts.reduce((sum, part) => sum + (part[index] ?? 0n), 0n))).toEqual(receipts);
}

const paid = transactionOf('cashin', 10_000n, [['paid', '2026-03-11 09:00:00']], { reference: 'a-1' });
const less = transactionOf('cashin', 2_500n, [['paid', '2026-03-11 10:00:00']], { reference: 'a-2' });
const shared = transactionOf('cashin', 9_000n, [['paid', '2026-03-11 11:00:00']], { name: 'Ana Souza' });
const elsewhere = transactionOf('cashin', 700n, [['paid', '2026-03-11 12:00:00']], {
  platform: PLATFORM_B,
  reference: 'b-1',
});
const refunded = transactionOf(
  'cashin',
  3_000n,
  [
    ['paid', '2026-03-11 13:00:00'],
    ['refund', '2026-03-11 14:00:00'],
  ],
  { reference: 'a-5' },
);
const numbers: Record<string, string> = {};

beforeAll(async () => {
  books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, generateTransactions(60, ['2026-03-10', DAY, '2026-03-12'], 5));
  await makeReport(context, '2026-03-10');
  await makeReport(context, DAY);
  await applyTransactions(context, [paid, less, shared, elsewhere, refunded]);
  for (const [number, amount, facts] of [
    ['pedido-1', '100.00', { references: ['a-1'], name: 'Maria da Silva', document: '529.982.247-25' }],
    ['pedido-2', '30.00', { references: ['a-2'] }],
    ['pedido-3', '40.00', { due_day: '2026-03-20' }],
    ['pedido-5', '30.00', { references: ['a-5'], due_day: '2026-04-20' }],
    ['vencido', '12.00', { due_day: '2026-02-10', issued_day: '2026-02-10' }],
    ['muito-vencido', '12.00', { due_day: '2025-11-10', issued_day: '2025-11-10' }],
    ['a-vencer', '12.00', { due_day: '2999-01-01' }],
    ['a-pagar', '12.00', { operation: 'cashout' }],
  ] as const)
    numbers[number] = await put(number, amount, facts);
  await matchExpected(context, { ...by, id: numbers['pedido-3'] ?? '', transactionId: shared.id, amountCents: 4_000n });
  await makeReport(context, DAY);
}, 120_000);
afterAll(() => books[Symbol.asyncDispose]());

test('a day without orders has the sheets and lines that it always had, and keeps them', async () => {
  const sheets = await read({ revision: 1 });
  expect(sheets.map(({ title }) => title).filter((title) => /receber|identificados/.test(title))).toEqual([]);
  expect(JSON.stringify(sheetOf(sheets, 'Resumo').rows)).not.toContain('pedidos');
  const before = await openReport(books.context, { day: DAY, format: 'xlsx', revision: 1 });
  await rm(before.file);
  expect((await openReport(books.context, { day: DAY, format: 'xlsx', revision: 1 })).sha256).toBe(before.sha256);
  // orders came, and no row of the day before changed
  expect(await makeReport(books.context, '2026-03-10')).toMatchObject({ changed: false, report: { revision: 1 } });
});

test('Resumo adds up to the cent for each platform, in LibreOffice too', async () => {
  const sheets = await read({ revision: 2 });
  const [receipts = [], ofOrders, unidentified = [], notExpected] = linesOf(sheets);
  expectAddedUp(sheets);
  expect(ofOrders).toEqual([10_000n + 2_500n + 4_000n + 3_000n, 0n, 19_500n]);
  const [ofA = 0n, ofB = 0n] = receipts;
  expect(unidentified).toEqual([ofA - 19_500n, 0n, ofA - 19_500n]);
  expect(notExpected).toEqual([0n, ofB, ofB]);
  const again = await recalculate((await openReport(books.context, { day: DAY, format: 'xlsx', revision: 2 })).file);
  expect(compareFormulas(sheets, again)).toBeGreaterThan(40);
  const differences = sheetOf(again, 'Resumo').rows.filter((row) => String(row[0]?.value).startsWith('Diferença'));
  const cells = differences.flatMap((row) => row.filter((cell) => cell?.kind === 'number'));
  expect(cells).toHaveLength(9);
  expect(cells.map(centsOf).filter((cents) => cents !== 0n)).toEqual([]);
});

test('Não identificados lists the receipts that are not, or not wholly, of orders', async () => {
  const sheets = await read({ revision: 2 });
  const rows = rowsOf(sheetOf(sheets, 'Não identificados'));
  const head = JSON.stringify(sheetOf(sheets, 'Não identificados').rows.slice(0, 3));
  expect(head).toMatch(/Desde a emissão do primeiro pedido da plataforma, (?:em|entre) \d\d\/\d\d\/\d{4}/);
  const part = rows.find((row) => row['Id da transação']?.value === shared.id);
  expect([part?.Valor, part?.['De pedidos'], part?.['Não identificado']].map(centsOf)).toEqual([
    9_000n,
    4_000n,
    5_000n,
  ]);
  const ids = rows.map((row) => row['Id da transação']?.value);
  expect(ids).not.toContain(paid.id);
  expect(ids).not.toContain(elsewhere.id);
  expect(sumCents(rows.map((row) => row['Não identificado']))).toBe(linesOf(sheets)[2]?.at(-1));
});

test('A receber lists what was due, paid or changed that day, and what is overdue within 95 days', async () => {
  const rows = rowsOf(sheetOf(await read({ revision: 2 }), 'A receber'));
  const found = new Map(rows.map((row) => [row.Número?.value, row]));
  expect(new Set(found.keys())).toEqual(new Set(['pedido-1', 'pedido-2', 'pedido-3', 'pedido-5', 'vencido']));
  const states = [...found.values()].map((row) => [
    row.Número?.value,
    row.Situação?.value,
    centsOf(row['Falta receber']),
    centsOf(row['Pago a mais']),
    centsOf(row['Não mais devido']),
  ]);
  expect(states).toEqual([
    ['pedido-1', 'Pago', 0n, 0n, 0n],
    ['pedido-2', 'Pago a menos', 500n, 0n, 0n],
    ['pedido-3', 'Pago', 0n, 0n, 0n],
    // it owes nothing
    ['pedido-5', 'Devolvido', 0n, 0n, 3_000n],
    ['vencido', 'Ainda não provado', 1_200n, 0n, 0n],
  ]);
  for (const row of rows)
    expect(centsOf(row.Valor)).toBe(
      centsOf(row.Pago) - centsOf(row['Pago a mais']) + centsOf(row['Falta receber']) + centsOf(row['Não mais devido']),
    );
  expect(found.get('pedido-1')).toMatchObject({
    Vencimento: { kind: 'date' },
    Nome: { value: 'Maria da Silva' },
    Documento: { value: '***.982.247-**' },
    'Id do pedido': { value: numbers['pedido-1'] },
  });
  const masked = rowsOf(sheetOf(await read({ revision: 2, masked: true }), 'A receber'));
  expect(masked[0]?.Nome?.value).toBe('M*** d*** S***');
});

test('a file of one platform, in English, and one of a range are read back too', async () => {
  const sheets = await read({ revision: 2, platform: PLATFORM_A, locale: 'en' });
  expect(sheets.map(({ title }) => title)).toEqual(expect.arrayContaining(['Receivable', 'Not identified']));
  const file = path.join(books.dataDir, 'range.xlsx');
  await exportRange(books.context, { from: '2026-03-09', to: '2026-03-12', format: 'xlsx' }, (made) =>
    copyFile(made.file, file),
  );
  const range = await readWorkbook(file);
  expectAddedUp(range, 'Resumo do período');
  expect(rowsOf(sheetOf(range, 'A receber')).length).toBeGreaterThan(4);
});

test('both sheets are formats too, with the rows of the workbook', async () => {
  const sheets = await read({ revision: 2 });
  for (const [format, title] of [
    ['a-receber', 'A receber'],
    ['nao-identificados', 'Não identificados'],
  ] as const) {
    let lines: string[] = [];
    await useReport(books.context, { day: DAY, revision: 2, format }, async ({ file, name }) => {
      expect(name).toBe(`confere-${DAY}-r2.${format}.csv`);
      lines = (await readFile(file, 'utf8')).slice(1).trimEnd().split('\r\n');
    });
    const { rows } = sheetOf(sheets, title);
    expect(lines[0]).toBe([...(rows[2] ?? []).map((cell) => cell?.value), 'Nome da plataforma'].join(';'));
    expect(lines).toHaveLength(1 + rowsOf(sheetOf(sheets, title)).length);
  }
});

test('the days whose files may name the person of an order are found', async () => {
  const { context } = books;
  const { seq } = await context.db
    .selectFrom('expected_versions')
    .select('seq')
    .where('expected_id', '=', numbers.vencido ?? '')
    .executeTakeFirstOrThrow();
  // the day before has a report too, which shows no orders
  expect(await findReportDays(context, { transactions: [], changes: [], orders: [seq] })).toEqual(new Set([DAY]));
});

test('a match makes a new revision with its reason; the older one is rebuilt as it was', async () => {
  const { context } = books;
  const second = await openReport(context, { day: DAY, format: 'xlsx', revision: 2 });
  expect(await makeReport(context, DAY)).toMatchObject({ changed: false });
  // an order of another day changes nothing of this one
  await applyTransactions(context, [
    transactionOf('cashin', 1_200n, [['paid', '2026-03-20 09:00:00']], { reference: 'atrasado' }),
  ]);
  await put('vencido', '12.00', { due_day: '2026-02-10', issued_day: '2026-02-10', references: ['atrasado'] });
  expect(await makeReport(context, DAY)).toMatchObject({ changed: false });
  await unmatchExpected(context, { ...by, id: numbers['pedido-3'] ?? '', transactionId: shared.id });
  await put('pedido-2', '25.00', { references: ['a-2'], due_day: '2026-05-01' });
  expect(await makeReport(context, DAY)).toMatchObject({ changed: true, report: { revision: 3 } });
  const sheets = await read();
  expectAddedUp(sheets);
  expect(linesOf(sheets)[1]?.at(-1)).toBe(15_500n);
  expect(rowsOf(sheetOf(sheets, 'Alterações'))).toMatchObject([
    { 'O que mudou': { value: 'Recebimentos e pedidos' }, 'Por quê': { value: expect.stringContaining('revisão 2') } },
  ]);
  expect(await makeReport(context, DAY)).toMatchObject({ changed: false });
  // a payment that is refunded later was received all the same
  await applyTransactions(context, [withLaterEvents(paid, [['refund', '2026-03-15 09:00:00']])]);
  await decideAll(context);
  await rm(second.file);
  expect((await openReport(context, { day: DAY, format: 'xlsx', revision: 2 })).sha256).toBe(second.sha256);
  await rm((await openReport(context, { day: DAY, format: 'xlsx', revision: 2 })).file);
  expectAddedUp(await read({ revision: 2 }));
});

test('a correction cuts what people matched: the sheets still add up, and older ones show what counted then', async () => {
  const { context } = books;
  const split = transactionOf('cashin', 10_000n, [['paid', '2026-03-11 15:00:00']], { reference: 'dividido' });
  await applyTransactions(context, [split]);
  for (const [number, amountCents] of [['parte-1', 4_000n] as const, ['parte-2', 6_000n] as const]) {
    const id = await put(number, `${amountCents / 100n}.00`);
    await matchExpected(context, { ...by, id, transactionId: split.id, amountCents });
  }
  const sums = async (): Promise<bigint[]> => {
    const sheets = await read();
    expectAddedUp(sheets);
    const rows = rowsOf(sheetOf(sheets, 'A receber'));
    const own = rows.filter((row) => String(row.Número?.value).startsWith('parte-'));
    const open = rowsOf(sheetOf(sheets, 'Não identificados')).filter(
      (row) => row['Id da transação']?.value === split.id,
    );
    return [...own.map((row) => centsOf(row.Pago)), linesOf(sheets)[1]?.at(-1) ?? 0n, BigInt(open.length)];
  };
  const { report } = await makeReport(context, DAY);
  const [first, second, before = 0n, open] = await sums();
  expect([first, second, open]).toEqual([4_000n, 6_000n, 0n]);
  const old = await openReport(context, { day: DAY, format: 'xlsx' });
  await applyTransactions(context, [{ ...split, amountCents: 7_000n }]);
  const [found] = await readMismatchRows(context, 'amount_differs');
  await acceptMismatch(context, found?.id ?? '', by);
  await makeReport(context, DAY);
  expect(await sums()).toEqual([4_000n, 3_000n, before - 3_000n, 0n]);
  await rm(old.file);
  const again = await openReport(context, { day: DAY, format: 'xlsx', revision: report.revision });
  expect(again.sha256).toBe(old.sha256);
});

test('a day that shows an order only because it was paid is found too', async () => {
  const { context } = books;
  await applyTransactions(context, [
    transactionOf('cashin', 800n, [['paid', '2026-03-11 15:30:00']], { reference: 'cedo', name: null, document: null }),
  ]);
  const given = { references: ['cedo'], issued_day: '2026-03-15', due_day: '2026-03-20' };
  const id = await put('cedo', '8.00', { ...given, name: 'Bruna Lima', document: '529.982.247-25' });
  await makeReport(context, DAY);
  expect(JSON.stringify(sheetOf(await read(), 'A receber').rows)).toContain('Bruna Lima');
  const versions = context.db.selectFrom('expected_versions').select('seq').where('expected_id', '=', id);
  const orders = [(await versions.executeTakeFirstOrThrow()).seq];
  expect(await findReportDays(context, { transactions: [], changes: [], orders })).toContain(DAY);
});

test('a file of one platform has the mismatches of its orders alone, and of those that name none', async () => {
  const { context } = books;
  const pay = (reference: string, platform: string) =>
    transactionOf('cashin', 100n, [['paid', '2026-03-11 16:30:00']], { reference, platform });
  await applyTransactions(context, [pay('so-a', PLATFORM_A), pay('so-b', PLATFORM_B)]);
  const ids = [
    await put('so-a', '5.00', { references: ['so-a'] }),
    await put('so-b', '5.00', { references: ['so-b'], platform: PLATFORM_B }),
  ];
  await decideAll(context);
  const list = async (platform: string): Promise<(string | null)[]> => {
    const found = await listMismatches(context, { platform, kind: 'amount_not_expected', limit: 200 });
    return found.map((one) => one.expected_payment_id).filter((id) => ids.includes(id ?? ''));
  };
  expect([await list(PLATFORM_A), await list(PLATFORM_B)]).toEqual([[ids[0]], [ids[1]]]);
});

test('Divergências names an order, and begins with what is worst', async () => {
  const { context } = books;
  const paid = transactionOf('cashin', 2_500n, [['paid', '2026-03-11 16:45:00']], { reference: 'ref-77' });
  await applyTransactions(context, [paid]);
  await put('pedido-77', '30.00', { references: ['ref-77'] });
  await decideAll(context);
  await makeReport(context, DAY);
  const rows = rowsOf(sheetOf(await read(), 'Divergências'));
  const own = rows.find((row) => row.Número?.value === 'pedido-77');
  expect(own?.Referência?.value).toBe('ref-77');
  expect(centsOf(own?.['Valor em questão'])).toBe(3_000n);
  expect(centsOf(own?.['Em jogo'])).toBe(500n);
  // the file has earlier ones too, and says so
  expect(own?.['Deste período']?.value).toBe('sim');
  const next = addDays(DAY, 1);
  await makeReport(context, next);
  const later = rowsOf(sheetOf(await read({ day: next }), 'Divergências'));
  expect(later.find((row) => row.Número?.value === 'pedido-77')?.['Deste período']?.value).toBe('não');
  const kinds = rows.filter((row) => row.Estado?.value !== 'resolvida').map((row) => row.Tipo?.value);
  const first = kinds.indexOf(PT_BR.mismatchTitles.receipt_unidentified);
  expect(first).toBeGreaterThan(0);
  expect(new Set(kinds.slice(first))).toEqual(new Set([PT_BR.mismatchTitles.receipt_unidentified]));
});

test('a version that comes while the cut is taken is shown with the state that was decided by it', async () => {
  const { context } = books;
  await applyTransactions(context, [
    transactionOf('cashin', 1_000n, [['paid', '2026-03-11 17:00:00']], { reference: 'revisto' }),
  ]);
  const id = await put('revisto', '20.00', { references: ['revisto'] });
  await decideAll(context);
  const cut = await takeOrdersCut(context);
  await put('revisto', '10.00', { references: ['revisto'] });
  const later = await takeOrdersCut(context);
  if (!cut || !later) throw new Error('orders are expected');
  const scope = {
    ...{ from: DAY, to: DAY, start: `${DAY} 00:00:00`, end: '2026-03-12 00:00:00', platform: undefined },
    ...{ calendar: context.calendar, cut: await takeCut(context), factsAtCut: { outOfForce: [] } },
    orders: { ...later, versionSeq: cut.versionSeq },
  };
  const rows = (await Array.fromAsync(readReceivables(context.db, scope))).flat();
  expect(rows.find((row) => row.id === id)).toMatchObject({
    ...{ state: 'paid', amountCents: 1_000n, settledCents: 1_000n },
  });
});

test('a report waits for what was committed before, and says since when the follower is behind', async () => {
  const { context } = books;
  const late = transactionOf('cashin', 4_400n, [['paid', '2026-03-11 15:00:00']], { reference: 'tarde' });
  await put('tarde', '44.00', { references: ['tarde'] });
  await applyTransactions(context, [late]);
  await makeReport(context, DAY);
  expect(JSON.stringify(sheetOf(await read(), 'Não identificados').rows)).not.toContain(late.id);
  // another process follows, and is stuck
  const [now, since] = [context.clock.now(), new Date(context.clock.now().getTime() - 3_600_000)];
  const lease_until = new Date(now.getTime() + 3_600_000);
  await context.db.updateTable('expected_following').set({ holder: 'other', lease_until }).execute();
  const other = transactionOf('cashin', 5_500n, [['paid', '2026-03-11 16:00:00']], { reference: 'tarde' });
  await applyTransactions(context, [other]);
  await context.db.updateTable('expected_work').set({ created_at: since }).execute();
  await makeReport(context, DAY);
  const sheets = await read();
  expectAddedUp(sheets);
  expect(lineOf(sheetOf(sheets, 'Resumo'), 'Pedidos: com o que se sabia até')?.[0]).toMatchObject({ kind: 'date' });
  expect(JSON.stringify(sheetOf(sheets, 'Não identificados').rows)).toContain(other.id);
});

test('a receipt that was reported as nobody’s is not identified in later files, also where no order speaks of its shop', async () => {
  const { context } = books;
  const lone = transactionOf('cashin', 700n, [['paid', `${DAY} 15:00:00`]], { platform: 'a-shop-without-orders' });
  await applyTransactions(context, [lone]);
  const readRange = async (): Promise<ReadSheet[]> => {
    const file = path.join(books.dataDir, 'reported.xlsx');
    await exportRange(context, { from: DAY, to: DAY, format: 'xlsx' }, (made) => copyFile(made.file, file));
    return await readWorkbook(file);
  };
  const lines = (sheets: ReadSheet[]) => linesOf(sheets, 'Resumo do período').map((cells) => cells.at(-1) ?? 0n);
  const earlier = await readRange();
  const [, , unidentified = 0n, notExpected = 0n] = lines(earlier);
  const rowIn = (of: ReadSheet[], label: string) =>
    sheetOf(of, 'Resumo do período').rows.find((row) => String(row[0]?.value).startsWith(label));
  // of the receipts that are not identified, those of which no mismatch is open
  const unreported = rowIn(earlier, 'Não identificados sem divergência em aberto: ');
  const left = centsOf(unreported?.findLast(Boolean));
  expect([left > 0n, left < unidentified]).toEqual([true, true]);
  const { seq } = await context.db
    .selectFrom('transactions')
    .select('seq')
    .where('id', '=', lone.id)
    .executeTakeFirstOrThrow();
  const mismatch = {
    ...{ kind: 'receipt_unidentified' as const, scope: lone.id },
    ...{ transactionId: lone.id, transactionSeq: seq, amountCents: 700n },
  };
  await transact(context.db, (trx) => raiseMismatches(trx, [mismatch], context.clock.now()));
  const sheets = await readRange();
  expectAddedUp(sheets, 'Resumo do período');
  expect(lines(sheets).slice(2)).toEqual([unidentified + 700n, notExpected - 700n]);
  const [label, ...cells] = rowIn(sheets, 'Não identificados sem divergência em aberto: ') ?? [];
  expect([label?.value, centsOf(cells.findLast(Boolean))]).toEqual([unreported?.[0]?.value, left]);
  // by type and of all: how many, what is at stake, and both of the period
  const numbers = (of: ReadSheet[], line: string) => (rowIn(of, line) ?? []).map((cell) => Number(cell?.value));
  const grown = (line: string) => {
    const before = numbers(earlier, line);
    return numbers(sheets, line).map((one, index) => Math.round((one - (before[index] ?? 0)) * 100));
  };
  expect(grown(PT_BR.mismatchTitles.receipt_unidentified ?? '').slice(1, 5)).toEqual([100, 700, 100, 700]);
  expect(grown('Deste período, de todos os tipos').slice(1, 3)).toEqual([100, 700]);
});
