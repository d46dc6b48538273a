import { beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import {
  centsOf,
  checkChart,
  compareFormulas,
  lineOf,
  printWorkbook,
  type ReadSheet,
  readWorkbook,
  recalculateEach,
  rowsOf,
  sheetOf,
  sumCents,
} from './read-workbook.ts';

const DAY = '2026-03-11';
const books = closeAfterAll(await openEnvironment());
let file: string;
let sheets: ReadSheet[];
const invented = generateTransactions(300, ['2026-03-10', DAY, '2026-03-12'], 7);
const edges = [
  transactionOf('cashin', 1_000n, [['paid', '2026-03-10 23:59:59']]),
  transactionOf('cashin', 2_000n, [['paid', '2026-03-11 00:00:00']]),
  transactionOf('cashin', 3_000n, [['paid', '2026-03-11 23:30:00']]),
  transactionOf('cashin', 4_000n, [['paid', '2026-03-11 23:59:59']]),
  transactionOf('cashin', 5_000n, [['paid', '2026-03-12 00:00:00']]),
  transactionOf('cashin', 777n, [['paid', '2026-03-11 10:00:00']], {
    reference: '=HYPERLINK("http://x.example","y")',
    name: '@SUM(A1)\u0001 <b>&amp;"',
    extra: '+1',
    document: '12ABC34501DE35',
  }),
];
const all = [...invented, ...edges];

beforeAll(async () => {
  await applyTransactions(books.context, all);
  const { id = '' } = edges[0] ?? {};
  const found = { kind: 'webhook_lost' as const, scope: id, transactionId: id };
  await transact(books.context.db, (trx) => raiseMismatches(trx, [found], books.context.clock.now()));
  await makeReport(books.context, DAY);
  ({ file } = await openReport(books.context, { day: DAY, format: 'xlsx' }));
  sheets = await readWorkbook(file);
}, 120_000);

let recalculated: Promise<ReadSheet[][]> | undefined;

/** The receipts of the statement, by their numbers among its rows. */
const listReceipts = () =>
  rowsOf(sheetOf(sheets, 'Extrato')).flatMap((row, index) => (row.Movimento?.value === 'Recebimento' ? [index] : []));

/** What LibreOffice computes for the workbook, and for one that hides the receipts of the statement. */
async function compute(): Promise<ReadSheet[][]> {
  recalculated ??= recalculateEach(file, [
    undefined,
    { title: 'Extrato', rows: listReceipts().map((index) => index + 4) },
  ]);
  return await recalculated;
}

let printed: Promise<string[]> | undefined;

/** Printing takes seconds: the tests share the pages. */
async function print(): Promise<string[]> {
  printed ??= printWorkbook(file);
  return await printed;
}

test('on paper, the line below a title is whole on the first page of its rows, and not on the second', async () => {
  const pages = await print();
  expect(pages.some((page) => page.includes('O que estava em aberto no fim do dia'))).toBe(true);
  const cut = pages.filter(
    (page) =>
      /valores|relógio/.test(page) &&
      !/Revisão 1 · [^·]+ · valores em reais · relógio do provedor \([^)]+\)/.test(page),
  );
  expect(cut).toEqual([]);
});

test('on paper, Resumo says whole what an open mismatch means', async () => {
  const meaning = textsOf('pt-BR').mismatchKinds.webhook_lost;
  const pages = (await print()).filter((page) => page.includes(meaning) && page.includes('Gravidade'));
  expect(pages.some((page) => page.includes('quando foi feito'))).toBe(true);
});

test('the first page of a movement shows its values and balance, and the charts are drawn', async () => {
  const pages = await print();
  const first = pages.find((page) => page.includes('Extrato') && page.includes('Movimento')) ?? '';
  for (const head of ['Data e hora', 'Nome', 'Valor', 'Tarifa', 'Líquido', 'Saldo da plataforma']) {
    expect(first).toContain(head);
  }
  expect(first).not.toContain('Id E2E');
  const charts = pages.filter((page) => page.includes('Recebimentos e pagamentos por hora'));
  expect(charts).toHaveLength(1);
  expect(charts[0]).toContain('Transações por situação alcançada');
  // the legend names the bars, and the axis has amounts in R$
  expect(charts[0]).toContain('Pagamentos (R$)');
  expect(charts[0]).toMatch(/R\$ [\d.,]+/);
});

/** The events of the day by the provider's own histories. */
function happened(operation: string, status: string) {
  return all.flatMap((one) =>
    one.operation === operation
      ? one.events.filter((event) => event.status === status && event.atWall.startsWith(DAY)).map(() => one)
      : [],
  );
}

const sum = (list: { amountCents: bigint }[]): bigint => list.reduce((total, one) => total + one.amountCents, 0n);
const commission = (list: { commissionCents: bigint | null }[]): bigint =>
  list.reduce((total, one) => total + (one.commissionCents ?? 0n), 0n);

describe('the workbook of a day', () => {
  test('has the sheets of the contract, in order', () => {
    expect(sheets.map((sheet) => sheet.title)).toEqual([
      'Resumo',
      'Extrato',
      'Recebimentos',
      'Pagamentos',
      'Devoluções',
      'Pendentes',
      'Divergências',
      'Alterações',
    ]);
  });

  test.each([
    ['Recebimentos', () => happened('cashin', 'paid')],
    ['Pagamentos', () => happened('cashout', 'paid')],
    ['Devoluções', () => [...happened('cashin', 'refund'), ...happened('cashout', 'refund')]],
  ])('%s lists what the provider shows for that day, to the cent', (title, expected) => {
    const rows = rowsOf(sheetOf(sheets, title));
    expect(rows.map((row) => String(row['Id da transação']?.value)).sort()).toEqual(
      expected()
        .map((one) => one.id)
        .sort(),
    );
    expect(sumCents(rows.map((row) => row.Valor))).toBe(sum(expected()));
  });

  test('Resumo shows the flows of the day, and its differences are 0.00', () => {
    const summary = sheetOf(sheets, 'Resumo');
    const total = (label: string): bigint => centsOf(lineOf(summary, label)?.filter(Boolean).at(-1));
    expect(total('+ Recebimentos')).toBe(sum(happened('cashin', 'paid')));
    expect(total('− Tarifas sobre recebimentos')).toBe(-commission(happened('cashin', 'paid')));
    expect(total('− Pagamentos')).toBe(-sum(happened('cashout', 'paid')));
    expect(total('− Tarifas sobre pagamentos')).toBe(-commission(happened('cashout', 'paid')));
    expect(total('− Devoluções feitas')).toBe(-sum(happened('cashin', 'refund')));
    expect(total('+ Devoluções recebidas')).toBe(sum(happened('cashout', 'refund')));
    const differences = summary.rows.filter((row) => String(row[0]?.value).startsWith('Diferença'));
    expect(differences).toHaveLength(3);
    for (const row of differences) {
      const numbers = row.filter((cell) => cell?.kind === 'number');
      expect(numbers.length).toBeGreaterThan(0);
      expect(numbers.every((cell) => cell?.value === 0)).toBe(true);
    }
    const header = lineOf(summary, 'Linha')?.map((cell) => cell?.value);
    expect(header?.filter(Boolean)).toEqual([PLATFORM_A, PLATFORM_B, 'Total']);
  });

  test('Resumo has the balance first, then charts of its own cells, and the hashes last', () => {
    const summary = sheetOf(sheets, 'Resumo');
    const at = (label: string): number => summary.rows.findIndex((row) => row[0]?.value === label);
    const order = [
      'Situação do dia',
      'Saldo final',
      'Gráficos',
      'Movimento por hora',
      'Resumo criptográfico (SHA-256 das linhas)',
    ];
    expect(order.map(at)).toEqual(order.map(at).toSorted((a, b) => a - b));
    expect(at('Situação do dia')).toBeGreaterThan(0);
    const drawn = summary.charts.map((chart) => [chart.title, checkChart(sheets, summary, chart)]);
    expect(drawn).toEqual([
      ['Recebimentos e pagamentos por hora', ['Recebimentos (R$)', 'Pagamentos (R$)']],
      ['Transações por situação alcançada', ['Quantidade']],
    ]);
    const [receipts, payments] = summary.charts[0]?.series ?? [];
    const total = (cells: (string | number)[] = []): bigint =>
      cells.reduce<bigint>((all, one) => all + BigInt(Math.round(Number(one) * 100)), 0n);
    expect(total(receipts?.values.values)).toBe(sum(happened('cashin', 'paid')));
    expect(total(payments?.values.values)).toBe(sum(happened('cashout', 'paid')));
  });

  test('Resumo says which personal data its file has, also in one for viewers', async () => {
    const said = (all: ReadSheet[]) => lineOf(sheetOf(all, 'Resumo'), 'Dados pessoais')?.filter(Boolean)[0]?.value;
    expect(said(sheets)).toBe('Nomes e textos por extenso; documentos mascarados (o arquivo circula), não no console');
    const masked = await openReport(books.context, { day: DAY, format: 'xlsx', masked: true });
    expect(said(await readWorkbook(masked.file))).toBe('Nomes e documentos mascarados, também em textos livres');
  });

  test('Resumo shows an opening that nobody stated in amber', () => {
    const cells = lineOf(sheetOf(sheets, 'Resumo'), 'Saldo de abertura informado') ?? [];
    expect(cells.slice(0, 2)).toMatchObject([
      { value: 'não informado', fill: 'FFFFF2CC' },
      { value: 'não informado', fill: 'FFFFF2CC' },
    ]);
  });

  test('the row above a header adds up the rows that a filter shows', async () => {
    const extrato = sheetOf(sheets, 'Extrato');
    const column = extrato.rows[2]?.findIndex((cell) => cell?.value === 'Valor') ?? -1;
    const rows = rowsOf(extrato);
    expect(extrato.rows[1]?.[0]?.value).toBe('Linhas visíveis');
    expect(extrato.rows[1]?.[1]?.value).toBe(rows.length);
    expect(centsOf(extrato.rows[1]?.[column])).toBe(sumCents(rows.map((row) => row.Valor)));
    const shown = rows.filter((row) => row.Movimento?.value !== 'Recebimento');
    expect(listReceipts().length).toBeGreaterThan(0);
    expect(shown.length).toBeGreaterThan(0);
    const [, filtered = []] = await compute();
    const [, subtotals] = sheetOf(filtered, 'Extrato').rows;
    expect(subtotals?.[1]?.value).toBe(shown.length);
    expect(centsOf(subtotals?.[column])).toBe(sumCents(shown.map((row) => row.Valor)));
    // the total of the day stays
    expect(sheetOf(filtered, 'Extrato').rows.at(-1)?.[column]?.value).toBe(extrato.rows.at(-1)?.[column]?.value);
    const titles = (all: ReadSheet[]) => sheetOf(all, 'Resumo').charts.map((chart) => chart.title);
    expect(titles(filtered)).toEqual(titles(sheets));
  });

  test('Pendentes lists the transactions open at the end of the day; its cashouts add up to the held balance', () => {
    const rows = rowsOf(sheetOf(sheets, 'Pendentes'));
    const open = all.filter((one) => {
      const known = one.events.filter((event) => event.atWall.slice(0, 10) <= DAY);
      const status = known.at(-1)?.status;
      const isOpen = status !== undefined && ['pending', 'in_process', 'in_analysis'].includes(status);
      return isOpen && (one.operation === 'cashout' || one.createdWall.startsWith(DAY));
    });
    expect(rows.map((row) => String(row['Id da transação']?.value)).sort()).toEqual(open.map((one) => one.id).sort());
    const held = open.filter((one) => one.operation === 'cashout');
    expect(sumCents(rows.map((row) => row.Retido))).toBe(sum(held));
    expect(centsOf(lineOf(sheetOf(sheets, 'Resumo'), 'do qual retido')?.filter(Boolean).at(-1))).toBe(sum(held));
  });

  test('a payment stands on its own day up to its last second, at the time on the clock in São Paulo', () => {
    const rows = rowsOf(sheetOf(sheets, 'Recebimentos'));
    const at = (id: string | undefined) => rows.find((row) => row['Id da transação']?.value === id)?.['Pago em'];
    expect(at(edges[0]?.id)).toBeUndefined();
    expect(at(edges[1]?.id)).toMatchObject({ kind: 'date', value: '2026-03-11 00:00:00' });
    expect(at(edges[2]?.id)).toMatchObject({ kind: 'date', value: '2026-03-11 23:30:00' });
    expect(at(edges[3]?.id)).toMatchObject({
      kind: 'date',
      value: '2026-03-11 23:59:59',
      format: 'dd/mm/yyyy hh:mm:ss',
    });
    expect(at(edges[4]?.id)).toBeUndefined();
  });

  test('the statement runs from the opening to the closing balance', () => {
    const rows = rowsOf(sheetOf(sheets, 'Extrato'));
    const summary = sheetOf(sheets, 'Resumo');
    const total = (label: string): bigint => centsOf(lineOf(summary, label)?.filter(Boolean).at(-1));
    expect(sumCents(rows.map((row) => row.Líquido))).toBe(total('Saldo final') - total('Saldo inicial'));
    expect(centsOf(rows.at(-1)?.Saldo)).toBe(total('Saldo final'));
    for (const row of rows) {
      expect(centsOf(row.Valor) - centsOf(row.Tarifa)).toBe(centsOf(row.Líquido));
      expect(row.Valor?.format).toBe('#,##0.00;[Red]-#,##0.00');
    }
  });

  test("a stranger's text stays text: no formula comes from data", () => {
    const row = rowsOf(sheetOf(sheets, 'Recebimentos')).find((one) => one['Id da transação']?.value === edges[5]?.id);
    expect(row?.Referência).toMatchObject({ kind: 'text', formula: null });
    expect(row?.Referência?.value).toBe('=HYPERLINK("http://x.example","y")');
    expect(row?.Extra).toMatchObject({ kind: 'text', value: '+1', formula: null });
    expect(row?.Nome?.formula).toBeNull();
    expect(row?.Documento?.value).toBe('**.***.345/****-**');
    const formulas = sheets.flatMap((sheet) => sheet.rows.flat()).flatMap((cell) => cell?.formula ?? []);
    expect(formulas.filter((formula) => /HYPERLINK|@|http/.test(formula))).toEqual([]);
  });

  test('every sheet has print settings, a frozen header and a filter', () => {
    for (const sheet of sheets.slice(1)) {
      expect(sheet).toMatchObject({ freeze: 'B4', landscape: true });
      expect(sheet.filter).toMatch(/^A3:/);
      expect(sheet.printTitles).toContain('$1:$3');
    }
  });

  test('LibreOffice computes every formula to its cached value', async () => {
    const [again = []] = await compute();
    expect(compareFormulas(sheets, again)).toBeGreaterThan(30);
  });
});
