/** The figures of a day that has everything, asked at every place that says them. */
import { rmSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays, type Day, listDays } from '../../../src/domain/calendar.ts';
import { formatAmount, parseSum } from '../../../src/domain/money.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { exportRange } from '../../../src/reports/serve/export-range.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { callApi } from '../../support/call-api.ts';
import {
  applyTransactions,
  PLATFORM_A,
  PLATFORM_B,
  recordReadDays,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openBooks } from '../../support/open-books.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';
import { centsOf, lineOf, type ReadSheet, readWorkbook, runHledger, sheetOf } from '../reports/read-workbook.ts';

/** What happened, counted by hand, in cents; each positive. */
const FIGURES = {
  // 100.00 + 80.00 (refunded the same day) + 33.00 (corrected from 30.00) + 7.00 (without a platform) + 20.00 (of B)
  receipts: 24_000n,
  receiptRows: 5,
  // 44.00 + 9.00
  payments: 5_300n,
  paymentRows: 2,
  // 80.00 of the day itself, 50.00 of the day before
  refundsMade: 13_000n,
  // 25.00, paid the day before
  refundsReceived: 2_500n,
  // 0.50 each of five receipts and two payments, one learnt later
  commissions: 350n,
  // a fee
  adjustments: -321n,
};
const NET =
  FIGURES.receipts -
  FIGURES.commissions -
  FIGURES.payments -
  FIGURES.refundsMade +
  FIGURES.refundsReceived +
  FIGURES.adjustments;

let env: TestEnvironment & { url: string };
let today: Day;
let sheets: ReadSheet[];

beforeAll(async () => {
  const environment = await openEnvironment();
  const { context } = environment;
  const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  env = { ...environment, url: `http://127.0.0.1:${server.port}` };
  today = context.calendar.dayOf(context.clock.now());
  await addDayWithEverything();
  // half of it is in the sealer's sums, the rest in no seal yet
  await makeReport(context, today);
  sheets = await readDay();
}, 60_000);
afterAll(() => env[Symbol.asyncDispose]());

async function readDay(): Promise<ReadSheet[]> {
  return await readWorkbook((await openReport(env.context, { day: today, format: 'xlsx' })).file);
}

async function addDayWithEverything(): Promise<void> {
  const { context } = env;
  // always in the past, also in the first minute of the day
  const at = `${today} 00:00:00`;
  const before = `${addDays(today, -1)} 12:00:00`;
  await openBooks(context, { platform: PLATFORM_A, day: addDays(today, -1), balanceCents: 90_000n, actor: 'test' });
  await openBooks(context, { platform: PLATFORM_B, day: today, balanceCents: 40_000n, actor: 'test' });
  const refundedIn = transactionOf('cashin', 5_000n, [['paid', before]]);
  const refundedOut = transactionOf('cashout', 2_500n, [['paid', before]]);
  const late = transactionOf('cashin', 10_000n, [['paid', at]], { commissionCents: null });
  const corrected = transactionOf('cashin', 3_000n, [['paid', at]]);
  await applyTransactions(context, [refundedIn, refundedOut, late, corrected]);
  await sealNow(context);
  await applyTransactions(context, [
    withLaterEvents(refundedIn, [['refund', at]]),
    withLaterEvents(refundedOut, [['refund', at]]),
    { ...late, commissionCents: 50n },
    { ...corrected, amountCents: 3_300n },
    transactionOf('cashin', 8_000n, [
      ['paid', at],
      ['refund', at],
    ]),
    transactionOf('cashin', 700n, [['paid', at]], { platform: null }),
    transactionOf('cashin', 2_000n, [['paid', at]], { platform: PLATFORM_B }),
    transactionOf('cashout', 4_400n, [
      ['pending', at],
      ['paid', at],
    ]),
    transactionOf('cashout', 900n, [['paid', at]], { platform: PLATFORM_B }),
    // none of these was paid
    transactionOf('cashin', 6_100n, [['pending', at]]),
    transactionOf('cashin', 6_200n, [
      ['pending', at],
      ['expired', at],
    ]),
    transactionOf('cashout', 1_100n, [['in_process', at]]),
    transactionOf('cashout', 1_200n, [
      ['pending', at],
      ['denied', at],
    ]),
  ]);
  await adjustBooks(context, {
    ...{ platform: PLATFORM_A, day: today, kind: 'fee', amountCents: FIGURES.adjustments, note: 'tarifa mensal' },
    actor: 'test',
  });
  const mismatch = await readRow(context.db, 'mismatches', ['id', 'actual'], { kind: 'amount_differs' });
  const accepted = await call('POST', `/mismatches/${mismatch.id}/accept`, {
    actual: JSON.parse(mismatch.actual ?? 'null') as unknown,
    note: 'o provedor mostra 33,00',
  });
  expect(accepted.status).toBe(200);
}

const call = <T>(method: string, address: string, body?: object) =>
  callApi<T>({ url: `${env.url}/api/v1`, token: ADMIN_TOKEN }, method, address, body);

async function openPage() {
  const { token } = await createToken(env.context, { name: 'page', role: 'operator' });
  const tokens = { viewer: token, accountant: token, operator: token, admin: token };
  return await openConsoleSession({ ...env, tokens } as never, 'operator');
}

const spell = (cents: bigint): string =>
  `${cents < 0n ? '-' : ''}R$ ${formatAmount(cents < 0n ? -cents : cents)
    .replace('.', ',')
    .replace(/\B(?=(\d{3})+,)/g, '.')}`;
const amounts = (of: Record<string, bigint>): Record<string, string> =>
  Object.fromEntries(Object.entries(of).map(([name, cents]) => [name, formatAmount(cents)]));

test('Resumo, and the total of each sheet, have the figures of the day', () => {
  const line = (label: string): bigint => centsOf(lineOf(sheetOf(sheets, 'Resumo'), label)?.filter(Boolean).at(-1));
  expect({
    receipts: line('+ Recebimentos'),
    payments: line('− Pagamentos'),
    refundsMade: line('− Devoluções feitas'),
    refundsReceived: line('+ Devoluções recebidas'),
    commissions: line('− Tarifas sobre recebimentos') + line('− Tarifas sobre pagamentos'),
    adjustments: line('± Ajustes'),
    net: line('Saldo final') - line('Saldo inicial'),
  }).toEqual({
    receipts: FIGURES.receipts,
    payments: -FIGURES.payments,
    refundsMade: -FIGURES.refundsMade,
    refundsReceived: FIGURES.refundsReceived,
    commissions: -FIGURES.commissions,
    adjustments: FIGURES.adjustments,
    net: NET,
  });
  const total = (title: string, column: string): bigint => {
    const sheet = sheetOf(sheets, title);
    const index = sheet.rows[2]?.findIndex((cell) => cell?.value === column) ?? -1;
    const row = sheet.rows.findLast(([first]) => String(first?.value ?? '').startsWith('Total'));
    expect([title, column, index >= 0, row?.[index]?.kind]).toEqual([title, column, true, 'number']);
    return centsOf(row?.[index]);
  };
  expect(total('Recebimentos', 'Valor')).toBe(FIGURES.receipts);
  expect(total('Pagamentos', 'Valor')).toBe(FIGURES.payments);
  expect(total('Devoluções', 'Devolução feita')).toBe(FIGURES.refundsMade);
  expect(total('Devoluções', 'Devolução recebida')).toBe(FIGURES.refundsReceived);
  expect(total('Extrato', 'Líquido')).toBe(NET);
  // what is open has a total for each direction, and none over both
  expect([total('Pendentes', 'A receber'), total('Pendentes', 'A pagar')]).toEqual([6_100n, 1_100n]);
});

test('the API has them in the report and in the series, by day, by hour and of all platforms together', async () => {
  const { reports } = (await call<{ reports: { figures: object }[] }>('GET', '/reports')).json;
  const { receipts, payments, refundsMade, refundsReceived, commissions, adjustments } = FIGURES;
  expect(reports[0]?.figures).toMatchObject(
    amounts({
      ...{ receipts, adjustments, payments: -payments, commissions: -commissions },
      ...{ refunds_made: -refundsMade, refunds_received: refundsReceived },
    }),
  );
  const expected = amounts({
    ...{ receipts, payments, commissions, net: NET },
    ...{ refunds_made: refundsMade, refunds_received: refundsReceived },
  });
  const sum = async (query: string): Promise<Record<string, string>> => {
    const { points } = (await call<{ points: Record<string, string | null>[] }>('GET', `/series/money?${query}`)).json;
    const add = (name: string): bigint => points.reduce((all, one) => all + (parseSum(one[name] ?? '0.00') ?? 0n), 0n);
    return amounts(Object.fromEntries(Object.keys(expected).map((name) => [name, add(name)])));
  };
  const day = `from=${today}&to=${today}`;
  expect(await sum(day)).toEqual(expected);
  expect(await sum(`day=${today}`)).toEqual(expected);
  const each = await Promise.all(
    [PLATFORM_A, PLATFORM_B, 'none'].map((platform) => sum(`${day}&platform=${platform}`)),
  );
  for (const [name, amount] of Object.entries(expected)) {
    const platforms = each.reduce((all, one) => all + (parseSum(one[name] ?? '') ?? 0n), 0n);
    expect([name, formatAmount(platforms)]).toEqual([name, amount]);
  }
});

test('the first page, the charts and the page of the day have them by the same names', async () => {
  const { get } = await openPage();
  const first = await get('/');
  const { receipts, payments, refundsMade, refundsReceived, commissions } = FIGURES;
  expect(first.text).toContain(`Recebimentos de hoje ${spell(receipts)} ${FIGURES.receiptRows} recebimentos`);
  expect(first.text).toContain(`Pagamentos de hoje ${spell(payments)} ${FIGURES.paymentRows} pagamentos`);
  expect(first.text).toContain(`${spell(refundsMade)} de devoluções feitas`);
  expect(first.text).toContain(`${spell(refundsReceived)} de devoluções recebidas`);
  expect(first.text).toContain(`${spell(commissions)} de tarifas`);
  const drawn = `Recebimentos ${spell(receipts)}, Pagamentos ${spell(payments)}`;
  const cells = [receipts, payments, commissions, refundsMade, refundsReceived, NET].map(spell);
  for (const address of ['/', `/charts?from=${today}&to=${today}`, `/charts/hours?day=${today}`]) {
    const { html, text } = await get(address);
    expect([address, html.includes(drawn)]).toEqual([address, true]);
    expect(text.replaceAll('–', '')).toContain(cells.join(' '));
  }
  const page = await get(`/reports/${today}`);
  expect(page.text).toContain(` Recebimentos ${spell(receipts)}`);
  expect(page.text).toContain(` Devoluções feitas ${spell(-refundsMade)}`);
  const month = await get(`/reports?month=${today.slice(0, 7)}`);
  const row = [receipts, -commissions, -payments, -refundsMade, refundsReceived, FIGURES.adjustments];
  expect(month.text).toContain(row.map((cents) => spell(cents).replace('R$ ', '')).join(' '));
});

test('a range has them on its row of the day, and hledger in the period of the day alone', async () => {
  const { context, dataDir } = env;
  const range = { from: addDays(today, -1), to: today };
  const file = path.join(dataDir, 'range.xlsx');
  await exportRange(context, { ...range, format: 'xlsx' }, (made) => copyFile(made.file, file));
  const summary = sheetOf(await readWorkbook(file), 'Resumo do período');
  const days = summary.rows.filter((row) => row[0]?.kind === 'date' && row.length > 8);
  expect(days.at(-1)?.slice(2, 8).map(centsOf)).toEqual([
    ...[FIGURES.receipts, -FIGURES.commissions, -FIGURES.payments],
    ...[-FIGURES.refundsMade, FIGURES.refundsReceived, FIGURES.adjustments],
  ]);

  const { file: journal } = await openReport(context, { day: today, format: 'journal' });
  await runHledger(['-f', journal, 'check', '--strict', 'ordereddates']);
  const period = ['-b', today, '-e', addDays(today, 1)];
  const balance = async (...query: string[]): Promise<bigint> => {
    const text = await runHledger(['-f', journal, 'bal', '-N', '--depth', '1', '-O', 'csv', ...period, ...query]);
    return parseSum(/"(-?[\d.]+) BRL"/.exec(text)?.[1] ?? '0.00') ?? 0n;
  };
  expect(await balance('Liabilities:Receipts', 'desc:receipt')).toBe(-FIGURES.receipts);
  expect(await balance('Liabilities:Receipts', 'desc:refund made')).toBe(FIGURES.refundsMade);
  expect(await balance('Liabilities:Payables', 'desc:payment')).toBe(FIGURES.payments);
  expect(await balance('Liabilities:Payables', 'desc:refund received')).toBe(-FIGURES.refundsReceived);
  // the balances before the day hold commissions of the day before
  const statement = await runHledger(['-f', journal, 'is', ...period, '-O', 'csv', '--depth', '1']);
  expect(statement).toContain(`"Expenses","${formatAmount(FIGURES.commissions - FIGURES.adjustments)} BRL"`);
  expect(NET).toBe(await balance('Assets:Provider', 'not:desc:opening'));
});

test('a search has sums for each direction and outcome, and none over unlike ones', async () => {
  const { get } = await openPage();
  for (const address of [`/transactions?from=${today}&to=${today}&by=status`, '/transactions?limit=5']) {
    const { text } = await get(address);
    for (const [name, cents] of [
      ['Entradas pagas', 16_000n],
      ['Entradas devolvidas', 13_000n],
      ['Entradas não pagas', 12_300n],
      ['Saídas pagas', 5_300n],
      ['Saídas devolvidas', 2_500n],
      ['Saídas não pagas', 2_300n],
    ] as const)
      expect([address, text]).toEqual([address, expect.stringContaining(`${name} ${spell(cents)}`)]);
  }
  const { html } = await get(`/transactions?from=${today}&to=${today}`);
  expect(html).toContain(`href="/reports/${today}"`);
});

test('the page of a day names the open mismatches of all days apart from its own', async () => {
  const { context } = env;
  const yesterday = addDays(today, -1);
  const stuck = { kind: 'stuck', scope: 'some transaction' } as const;
  await transact(context.db, (trx) => raiseMismatches(trx, [stuck], context.clock.now()));
  await makeReport(context, yesterday);
  const { get } = await openPage();
  const { text } = await get(`/reports/${yesterday}`);
  expect(text).toContain('Divergências em aberto, de todos os dias, quando foi feito 1 ');
  expect(text).toContain('Divergências deste dia Nenhuma está em aberto neste dia.');
  expect(text).toContain('Em aberto, de todos os dias');
  // of a day it would say nothing: it was the same on each
  expect((await get(`/reports?month=${yesterday.slice(0, 7)}`)).html).not.toContain('data-label="Em aberto"');
});

test('everything is the same once it is sealed', async () => {
  const read = async () => (await call('GET', `/series/money?from=${addDays(today, -1)}&to=${today}`)).json;
  const before = await read();
  await sealNow(env.context);
  expect(await read()).toEqual(before);
});

test('a day that was only counted is proven on the first page, in the month and in its own Resumo alike', async () => {
  const { context, dataDir } = env;
  const counted = addDays(today, -1);
  const at = context.clock.now();
  const read = addDays(today, -2);
  for (const day of listDays(addDays(today, -96), read)) await recordReadDays(context, day, day, at);
  const run = await recordReadDays(context, counted, counted, at);
  const { seq } = await readRow(context.db, 'runs', ['seq'], { id: run });
  await context.db.updateTable('run_windows').set({ state: 'counted' }).where('run_seq', '=', seq).execute();
  const { get } = await openPage();
  expect((await get('/')).text).toMatch(/96 de 96 dias terminados desde [\d/]+ lidos ou contados por inteiro/);

  const file = path.join(dataDir, 'proven.xlsx');
  await exportRange(context, { from: read, to: today, format: 'xlsx' }, (made) => copyFile(made.file, file));
  const period = sheetOf(await readWorkbook(file), 'Resumo do período');
  const proven = '2 de 2 dias terminados, 1 deles por contagem';
  expect(lineOf(period, 'Dias provados com o provedor')?.[0]?.value).toBe(proven);
  const days = period.rows.filter((row) => row[0]?.kind === 'date' && row.length > 8);
  expect(days.map((row) => row.at(-2)?.value)).toEqual(['lido', 'contado', 'em curso']);

  const { report } = await makeReport(context, counted);
  expect(report.proven).toBe(true);
  const own = (wanted: object) => openReport(context, { day: counted, format: 'xlsx', ...wanted });
  const opened = await own({});
  const summary = sheetOf(await readWorkbook(opened.file), 'Resumo');
  expect(lineOf(summary, 'Provado com o provedor')?.[0]?.value).toMatch(/^Sim: contado em /);
  // a file that is made again says the same
  rmSync(opened.file);
  expect((await own({})).sha256).toBe(opened.sha256);
});
