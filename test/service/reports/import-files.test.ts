/** Files for other programs, each read by the program that it is for, against the workbook of the same days. */
import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { listDays } from '../../../src/domain/calendar.ts';
import { setAccountMap } from '../../../src/ledger/stated/account-map.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { setBankAccount } from '../../../src/ledger/stated/bank-accounts.ts';
import type { MappedAccount } from '../../../src/ledger/stated/check-accounts.ts';
import { readEntryAccounts } from '../../../src/reports/render/formats/read-entry-accounts.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { exportRange, type WantedRange } from '../../../src/reports/serve/export-range.ts';
import { useReport } from '../../../src/reports/serve/use-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openBooks } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { BOOKING_FORMATS, BOOKING_MAP, readBookings } from './read-bookings.ts';
import { centsOf, lineOf, type ReadSheet, readWorkbook, rowsOf, sheetOf } from './read-workbook.ts';
import { readOfx, runReader } from './run-reader.ts';

const RANGE = { from: '2026-03-08', to: '2026-03-12' };
const MIDDLE = '2026-03-10';
/** Characters that account names of several formats lack. */
const ODD_PLATFORM = 'loja_ção; "x"';
const odd = transactionOf('cashin', 12_345_678n, [['paid', `${MIDDLE} 23:59:59`]], {
  reference: '=1+1;"x" & <b>',
  name: 'José “Zé” & <Filhos> Ő \u{1F600}\r\n Comércio de Alimentos e Bebidas Ltda',
  platform: ODD_PLATFORM,
});
const books = closeAfterAll(await openEnvironment());

beforeAll(async () => {
  const { context } = books;
  await applyTransactions(context, [...generateTransactions(300, listDays('2026-03-07', '2026-03-13'), 21), odd]);
  const by = { platform: PLATFORM_A, actor: 'test' };
  await openBooks(context, { ...by, day: MIDDLE, balanceCents: 900_000n });
  await adjustBooks(context, { ...by, day: MIDDLE, kind: 'fee', amountCents: -1_234n, note: 'tarifa' });
}, 120_000);

async function write(wanted: Partial<WantedRange> & Pick<WantedRange, 'format'>): Promise<string> {
  let file = '';
  await exportRange(books.context, { ...RANGE, ...wanted }, async (made) => {
    file = path.join(books.dataDir, made.name);
    await copyFile(made.file, file);
  });
  return file;
}

/** A line of Resumo by platform, in cents; the last is the total. */
function readLine(sheets: ReadSheet[], label: string): Map<string, bigint> {
  const summary = sheetOf(sheets, sheets[0]?.title ?? '');
  const names = lineOf(summary, 'Linha') ?? [];
  const values = lineOf(summary, label);
  if (!values) throw new Error(`Resumo has no line ${label}`);
  return new Map(names.flatMap((name, index) => (name ? [[String(name.value), centsOf(values[index])]] : [])));
}

async function readBook(wanted: Partial<WantedRange> = {}) {
  const sheets = await readWorkbook(await write({ format: 'xlsx', ...wanted }));
  const [opening, closing] = [readLine(sheets, 'Saldo inicial'), readLine(sheets, 'Saldo final')];
  return { sheets, opening, closing, held: readLine(sheets, 'do qual retido') };
}

const cents = (text: string): bigint => BigInt(Math.round(Number(text) * 100));
const sum = (values: bigint[]): bigint => values.reduce((total, one) => total + one, 0n);

test("an OFX has a statement a platform, whose balances are Resumo's and whose transactions are what moved them", async () => {
  const { opening, closing, held, sheets } = await readBook();
  const statements = await readOfx(await write({ format: 'ofx' }));
  expect(statements).toHaveLength(3);
  const columns = [...closing.keys()].filter((name) => name !== 'Total');
  const byPlatform = new Map(
    columns.map((name) => [name, statements.find((one) => one.id.slice(0, 5) === name.slice(0, 5))]),
  );
  for (const [name, statement] of byPlatform) {
    const moved = sum((statement?.transactions ?? []).map((one) => cents(one.amount)));
    expect([name, cents(statement?.balance ?? ''), moved]).toEqual([
      name,
      closing.get(name),
      (closing.get(name) ?? 0n) - (opening.get(name) ?? 0n),
    ]);
    expect(cents(statement?.available ?? '')).toBe((closing.get(name) ?? 0n) - (held.get(name) ?? 0n));
    expect(statement?.asOf).toBe(`${RANGE.to}T00:00:00`);
  }
  const transactions = statements.flatMap((one) => one.transactions);
  const moving = rowsOf(sheetOf(sheets, 'Extrato')).filter((row) => centsOf(row.Líquido) !== 0n);
  expect(transactions).toHaveLength(moving.length);
  expect(new Set(transactions.map((one) => one.id)).size).toBe(transactions.length);
  expect(transactions.map((one) => one.day).sort()).toEqual(
    moving.map((row) => String(row['Data e hora']?.value).slice(0, 10)).sort(),
  );
  expect(transactions.every((one) => one.type === (one.amount.startsWith('-') ? 'debit' : 'credit'))).toBe(true);
});

test("an OFX of a day is its revision's, and has the ids of the same movements in the range's", async () => {
  await makeReport(books.context, MIDDLE);
  let day = '';
  await useReport(books.context, { day: MIDDLE, format: 'ofx' }, async ({ file, name }) => {
    expect(name).toBe(`confere-${MIDDLE}-r1.ofx`);
    day = path.join(books.dataDir, name);
    await copyFile(file, day);
  });
  const idsOf = async (file: string) =>
    (await readOfx(file))
      .flatMap((one) => one.transactions)
      // the day's opening balance holds what was stated for its start
      .filter((one) => one.day === MIDDLE && !one.memo.startsWith('Saldo inicial'))
      .map((one) => `${one.id} ${one.amount}`)
      .sort();
  const ids = await idsOf(day);
  expect(ids.length).toBeGreaterThan(10);
  expect(ids).toEqual(await idsOf(await write({ format: 'ofx' })));
});

test('ofxdump, of the library that GnuCash imports with, reads each transaction of an OFX and its texts', async () => {
  const file = await write({ format: 'ofx' });
  const dump = await runReader('ofxdump', [file]);
  const statements = await readOfx(file);
  const ids = [...dump.matchAll(/^\s*Financial institution's ID for this transaction: (\d+)/gm)].map(
    ([, id = '']) => id,
  );
  expect(ids.sort()).toEqual(statements.flatMap((one) => one.transactions.map(({ id }) => id)).sort());
  const balances = [...dump.matchAll(/^\s*Ledger balance: (-?[\d.]+)/gm)].map(([, text]) => text);
  expect(new Set(balances)).toEqual(new Set(statements.map((one) => one.balance)));
  expect(dump).toContain('José “Zé” & <Filhos> O ?  Com...');
  const bytes = readFileSync(file);
  expect(bytes.includes(Buffer.from('Jos\xe9 \x93Z\xe9\x94 &amp; &lt;Filhos&gt; O ?', 'latin1'))).toBe(true);
  expect(bytes.includes(Buffer.from('&lt;b&gt;'))).toBe(true);
  // the limits of the format, which strict readers enforce
  for (const [name, charsMax] of [
    ['ACCTID', 22],
    ['NAME', 32],
    ['MEMO', 255],
    ['TRNUID', 36],
    ['FITID', 255],
  ] as const) {
    const values = [...bytes.toString('latin1').matchAll(new RegExp(`^<${name}>(.*)\\r$`, 'gm'))].map(
      ([, value]) => value ?? '',
    );
    expect(values.length).toBeGreaterThan(2);
    expect(values.filter((value) => value.replace(/&\w+;/g, '&').length > charsMax)).toEqual([]);
  }
});

test('a masked OFX shows no name, and one of a platform has its statement alone', async () => {
  const masked = readFileSync(await write({ format: 'ofx', masked: true }), 'latin1');
  expect(masked).toContain('<NAME>M*** ');
  for (const personal of ['Maria', 'Conce', 'Filhos']) expect(masked).not.toContain(personal);
  const one = await readOfx(await write({ format: 'ofx', platform: PLATFORM_B }));
  expect(one.map((statement) => statement.id.slice(0, 8))).toEqual([PLATFORM_B.slice(0, 8)]);
});

const row = (account: string, more: Partial<MappedAccount>): MappedAccount => ({
  ...{ account, platform: null, code: null, category: null, cost_center: null, history: null },
  ...more,
});
const PROVIDER = row('Assets:Provider:Available', { code: '1.1.2.01', category: 'Conta PIX' });
const MAP = [
  PROVIDER,
  { ...PROVIDER, account: 'Assets:Provider:Held' },
  row('Liabilities:Receipts', { code: '2.1.3.01', category: 'Recebimentos', history: '12' }),
  row('Liabilities:Receipts', { platform: PLATFORM_B, code: '2.1.3.02', category: 'Recebimentos da B' }),
  row('Liabilities:Payables', { code: '2.1.3.09', category: 'Repasses' }),
  row('Expenses:Commission:Cashin', { code: '3.1.1', category: 'Tarifas', cost_center: 'Vendas' }),
  row('Expenses:Commission:Cashout', { code: '3.1.2', category: 'Tarifas', cost_center: 'Repasses' }),
  row('Expenses:Fees', { code: '3.1.3', category: 'Tarifas' }),
  row('Equity:Opening', { code: '9.9', category: 'Implantação' }),
];
const giveMap = (accounts: MappedAccount[]) => setAccountMap(books.context, { accounts, actor: 'test' });

/** The rows of a CSV with `;`, by the names of the header. Quoted fields hold no line ends here. */
function parseCsv(text: string): Record<string, string>[] {
  const [head = [], ...rows] = text
    .replace(/^\uFEFF/, '')
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) =>
      [...`;${line}`.matchAll(/;(?:"((?:[^"]|"")*)"|([^;]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
  return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ''])));
}

const reais = (text: string | undefined): bigint => {
  expect(text).toMatch(/^-?\d+,\d\d$/);
  return BigInt((text ?? '').replace(',', ''));
};

test.each([
  ['lancamentos', 'data;conta débito;conta crédito;valor;histórico;documento;centro de custo;lote'],
  [
    'calima',
    'Data;Valor;Conta Débito;Conta Crédito;Nº Histórico;Histórico Variável;Centro de Custo Débito;Centro de Custo Crédito;Nº Lote',
  ],
] as const)(
  "the debits and credits of %s are what moved Resumo's balance, and no value is negative",
  async (format, header) => {
    await giveMap(MAP);
    const bytes = readFileSync(await write({ format }));
    const isUtf8 = format === 'lancamentos';
    expect(bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))).toBe(isUtf8);
    const text = new TextDecoder(isUtf8 ? 'utf-8' : 'windows-1252', { fatal: true }).decode(bytes);
    expect(text.replace(/^\uFEFF/, '').split('\r\n')[0]).toBe(header);
    const rows = parseCsv(text).map((one) =>
      Object.fromEntries(Object.entries(one).map(([k, v]) => [k.toLowerCase(), v])),
    );
    const { opening, closing, sheets } = await readBook();
    const moved = sum(
      rows.map((one) => {
        const value = reais(one.valor);
        expect(value > 0n).toBe(true);
        expect(one['conta débito']).not.toBe(one['conta crédito']);
        return (one['conta débito'] === '1.1.2.01' ? value : 0n) - (one['conta crédito'] === '1.1.2.01' ? value : 0n);
      }),
    );
    expect(moved).toBe((closing.get('Total') ?? 0n) - (opening.get('Total') ?? 0n));
    const commissions = sum(
      rows.map((one) =>
        one['conta débito'] === '3.1.1' ? reais(one.valor) : one['conta crédito'] === '3.1.1' ? -reais(one.valor) : 0n,
      ),
    );
    expect(commissions).toBe(-(readLine(sheets, '− Tarifas sobre recebimentos').get('Total') ?? 0n));
    const ofB = rows.filter((one) => one['conta crédito'] === '2.1.3.02');
    expect(ofB.length).toBeGreaterThan(5);
    // a hold is no movement between accounts of the chart where both are one
    expect(rows.some((one) => /Retenção/.test(one.histórico ?? one['histórico variável'] ?? ''))).toBe(false);
    const entries = rowsOf(sheetOf(sheets, 'Extrato')).filter((one) => centsOf(one.Líquido) !== 0n);
    const lots = new Set(rows.map((one) => one[isUtf8 ? 'lote' : 'nº lote']));
    expect(lots.size).toBe(entries.length);
    expect(text).toContain('Recebimento =1+1');
  },
);

test('Conta Azul gets a row a category, whose signed values add up to what moved the balance', async () => {
  await giveMap(MAP);
  const text = readFileSync(await write({ format: 'conta-azul' }), 'utf8');
  expect(text.split('\r\n')[0]?.slice(1)).toBe(
    // the model of the program
    'Data de Pagamento;Data de Vencimento;Data de Competência;Descrição;Categoria;Valor;Centro de Custo;Cliente/Fornecedor;CNPJ/CPF Cliente/Fornecedor;Observações',
  );
  const rows = parseCsv(text);
  const { opening, closing, sheets } = await readBook();
  expect(sum(rows.map((one) => reais(one.Valor)))).toBe((closing.get('Total') ?? 0n) - (opening.get('Total') ?? 0n));
  const fees = sum(rows.filter((one) => one.Categoria === 'Tarifas').map((one) => reais(one.Valor)));
  const lines = ['− Tarifas sobre recebimentos', '− Tarifas sobre pagamentos', '± Ajustes'];
  expect(fees).toBe(sum(lines.map((label) => readLine(sheets, label).get('Total') ?? 0n)));
  const dates = ['Data de Pagamento', 'Data de Vencimento', 'Data de Competência'];
  for (const one of rows) expect(new Set(dates.map((name) => one[name])).size).toBe(1);
  expect(rows.every((one) => /^\d\d\/03\/2026$/.test(one['Data de Vencimento'] ?? ''))).toBe(true);
  expect(rows.every((one) => one.Categoria !== '' && /^lançamento \d+/.test(one.Observações ?? ''))).toBe(true);
  expect(new Set(rows.map((one) => one['CNPJ/CPF Cliente/Fornecedor']))).toEqual(new Set(['']));
  expect(rows.some((one) => one['Cliente/Fornecedor'] === 'Maria da Conceição')).toBe(true);
});

test('an account without a row in the map is an error that names it, and no file is written', async () => {
  await giveMap(MAP.filter(({ account }) => account !== 'Expenses:Fees' && account !== 'Liabilities:Payables'));
  const refused = await write({ format: 'calima' }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('no code for Expenses:Fees, Liabilities:Payables'),
    fields: { accounts: ['Expenses:Fees', 'Liabilities:Payables'] },
  });
  // rows of one platform alone: the others are named
  const ofB = MAP.filter(({ account, platform }) => account !== 'Liabilities:Receipts' || platform !== null);
  await giveMap(ofB);
  const partly = await write({ format: 'lancamentos' }).catch((error: unknown) => error);
  expect(partly).toMatchObject({ message: expect.stringContaining(`Liabilities:Receipts:${PLATFORM_A}`) });
  await giveMap(MAP.map((one) => ({ ...one, category: one.account === 'Expenses:Fees' ? null : one.category })));
  await expect(write({ format: 'conta-azul' })).rejects.toThrow('no category for Expenses:Fees');
});

test('a code of the map that the charset would turn into another one is an error that names it', async () => {
  const codes = new Map([
    ['Liabilities:Payables', '２.1.3.09'],
    ['Expenses:Fees', 'Ж1'],
  ]);
  await giveMap(MAP.map((one) => ({ ...one, code: codes.get(one.account) ?? one.code })));
  const refused = await write({ format: 'calima' }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('of Ж1, ２.1.3.09:') });
  expect(readFileSync(await write({ format: 'lancamentos' }), 'utf8')).toContain(';２.1.3.09;');
});

/** Sums of each day for each account of the chart, or category, in cents; and the rows. */
async function readSums(format: (typeof BOOKING_FORMATS)[number], wanted: Partial<WantedRange>) {
  const bytes = readFileSync(await write({ format, ...wanted }));
  const rows = parseCsv(new TextDecoder(format === 'calima' ? 'windows-1252' : 'utf-8').decode(bytes)).map(
    (one) => new Map(Object.entries(one).map(([name, value]) => [name.toLowerCase(), value])),
  );
  const sums = new Map<string, bigint>();
  for (const one of rows) {
    const value = reais(one.get('valor'));
    const legs = [
      [one.get('conta débito'), value],
      [one.get('conta crédito'), -value],
      [one.get('categoria'), value],
    ] as const;
    for (const [account, cents] of legs) {
      const key = `${one.get('data') ?? one.get('data de pagamento')} ${account}`;
      if (account !== undefined) sums.set(key, (sums.get(key) ?? 0n) + cents);
    }
  }
  return { rows, sums: [...sums].filter(([, cents]) => cents !== 0n).sort(([one], [other]) => (one < other ? -1 : 1)) };
}

test.each(BOOKING_FORMATS)(
  'a %s file by day has one posting a day, platform and account, which come to what the single ones come to',
  async (format) => {
    await giveMap([
      ...MAP,
      row('Assets:Provider:Held', { platform: PLATFORM_A, code: '1.1.2.02', category: 'Retido' }),
    ]);
    for (const platform of [undefined, PLATFORM_A, PLATFORM_B]) {
      const [single, byDay] = [
        await readSums(format, { platform }),
        await readSums(format, { platform, group: 'day' }),
      ];
      expect(byDay.sums).toEqual(single.sums);
      expect(byDay.rows.length).toBeLessThan(single.rows.length / 2);
      const texts = byDay.rows.map((one) =>
        [
          one.get('data') ?? one.get('data de pagamento'),
          one.get('histórico') ?? one.get('descrição') ?? one.get('histórico variável'),
        ].join(' '),
      );
      expect(new Set(texts).size).toBe(texts.length);
      expect(texts.some((one) => /Recebimentos, .+; lançamentos somados: \d+/.test(one))).toBe(true);
      // a row counts the entries of its own account alone
      const counts = texts.map((one) => Number(/somados: (\d+)/.exec(one)?.[1]));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(single.rows.length);
    }
    expect(await write({ format, group: 'day' })).toContain('by-day');
    await expect(write({ format: 'ofx', group: 'day' })).rejects.toMatchObject({
      fields: { group: [expect.any(String)] },
    });
  },
);

test.each(BOOKING_FORMATS)(
  'refunds have accounts of their own in a %s file where the map has rows for them, and else those of today',
  async (format) => {
    const isRefund = (one: Map<string, string>) =>
      /devoluç/i.test(one.get('histórico') ?? one.get('descrição') ?? one.get('histórico variável') ?? '');
    const accountsOf = (rows: Map<string, string>[]) =>
      new Set(rows.flatMap((one) => ['conta débito', 'conta crédito', 'categoria'].map((name) => one.get(name))));
    const { sheets } = await readBook();
    const [made, received] = ['− Devoluções feitas', '+ Devoluções recebidas'].map(
      (label) => readLine(sheets, label).get('Total') ?? 0n,
    );
    for (const group of [undefined, 'day'] as const) {
      await giveMap(MAP);
      const before = await readSums(format, { group });
      const name = format === 'conta-azul' ? 'category' : 'code';
      // a row without what the format needs counts as none
      const other = name === 'code' ? { category: 'x' } : { code: 'x' };
      await giveMap([...MAP, row('Liabilities:RefundsMade', other)]);
      expect(await readSums(format, { group })).toEqual(before);
      await giveMap([
        ...MAP,
        row('Liabilities:RefundsMade', { [name]: 'Devoluções de vendas' }),
        row('Liabilities:RefundsReceived', { [name]: 'Devoluções de compras' }),
      ]);
      const after = await readSums(format, { group });
      const totals = (sums: [string, bigint][], wanted: RegExp) =>
        sum(sums.filter(([key]) => wanted.test(key)).map(([, value]) => value));
      const sign = format === 'conta-azul' ? 1n : -1n;
      expect(totals(after.sums, /Devoluções de vendas/)).toBe(sign * (made ?? 0n));
      expect(totals(after.sums, /Devoluções de compras/)).toBe(sign * (received ?? 0n));
      expect([made, received]).not.toContain(0n);
      // what the two have is what today's accounts no longer have
      const own = format === 'conta-azul' ? /Recebimentos|Repasses|Devoluções/ : /2\.1\.3|Devoluções/;
      expect(totals(after.sums, own)).toBe(totals(before.sums, own));
      expect(totals(after.sums, /./)).toBe(totals(before.sums, /./));
      expect(after.rows.length).toBe(before.rows.length);
      const others = after.rows.filter((one) => !isRefund(one));
      expect(others).toEqual(before.rows.filter((one) => !isRefund(one)));
      const refunds = accountsOf(after.rows.filter(isRefund));
      for (const today of ['2.1.3.01', '2.1.3.02', '2.1.3.09', 'Recebimentos', 'Recebimentos da B', 'Repasses'])
        expect(refunds).not.toContain(today);
    }
  },
);

test('each file of one platform moves what its column of Resumo moves', async () => {
  await setAccountMap(books.context, { accounts: BOOKING_MAP, actor: 'test' });
  const platform = PLATFORM_B;
  const { opening, closing } = await readBook({ platform });
  expect([...closing.keys()]).toEqual([platform, 'Total']);
  const end = closing.get(platform) ?? 0n;
  const moved = end - (opening.get(platform) ?? 0n);
  expect(moved).not.toBe(0n);
  const [statement, ...others] = await readOfx(await write({ format: 'ofx', platform }));
  expect([others, cents(statement?.balance ?? '')]).toEqual([[], end]);
  expect(sum((statement?.transactions ?? []).map((one) => cents(one.amount)))).toBe(moved);
  for (const format of BOOKING_FORMATS) {
    const bookings = await readBookings(await write({ format, platform }), format);
    expect([format, bookings.moved]).toEqual([format, moved]);
  }
  const journal = await write({ format: 'journal', platform });
  await runReader('hledger', ['-f', journal, 'check', '--strict', 'ordereddates']);
  const accounts = `^Assets:Provider:(Available|Held):${platform}`;
  const balance = await runReader('hledger', ['-f', journal, 'balance', '--format', '%(total)', '-E', accounts]);
  expect(cents(balance.trim().split('\n').at(-1)?.replace(' BRL', '') ?? '')).toBe(end);
});

test('a file of a revision stays the same after later payments, and the next revision has them', async () => {
  await using other = await openEnvironment({ REPORT_FULL_DOCUMENTS: 'true' });
  const { context } = other;
  await setAccountMap(context, { accounts: MAP.filter((one) => one.platform === null), actor: 'test' });
  const read = async (format: 'ofx' | 'conta-azul', revision: number): Promise<string> => {
    let text = '';
    await useReport(context, { day: MIDDLE, format, revision }, async ({ file }) => {
      text = readFileSync(file, 'latin1');
    });
    return text;
  };
  const pay = (second: string) => transactionOf('cashin', 1_000n, [['paid', `${MIDDLE} 10:00:${second}`]]);
  await applyTransactions(context, [pay('01')]);
  await makeReport(context, MIDDLE);
  const before = await read('ofx', 1);
  await applyTransactions(context, [pay('02')]);
  await makeReport(context, MIDDLE);
  expect(await read('ofx', 1)).toBe(before);
  expect((await read('ofx', 2)).match(/<STMTTRN>/g)).toHaveLength(2);
  // documents are in full where the operator says so
  expect(parseCsv(await read('conta-azul', 2)).map((one) => one['CNPJ/CPF Cliente/Fornecedor'])).toEqual(
    Array(4).fill('12345678909'),
  );
});

test('no file of a viewer shows a person, or a platform that is a document', async () => {
  await using other = await openEnvironment({ REPORT_FULL_DOCUMENTS: 'true' });
  const { context } = other;
  const platform = '123.456.789-09';
  const personal = { platform, reference: 'CPF 12345678909', name: 'Maria da Conceição' };
  await applyTransactions(context, [transactionOf('cashin', 1_000n, [['paid', `${MIDDLE} 10:00:00`]], personal)]);
  await setAccountMap(context, { accounts: MAP.filter((one) => one.platform === null), actor: 'test' });
  const texts: string[] = [];
  for (const format of ['ofx', 'lancamentos', 'conta-azul', 'calima', 'journal', 'journal-continued'] as const) {
    const wanted = { from: MIDDLE, to: MIDDLE, format, masked: true };
    await exportRange(context, wanted, async ({ file, name }) => {
      expect(name).toContain('-masked');
      texts.push(readFileSync(file, 'latin1'));
    });
  }
  expect(texts.join('\n')).toContain('***');
  for (const text of texts)
    for (const one of ['123.456', '789-09', '12345678909', 'Maria']) expect(text).not.toContain(one);
});

test('a posting of the bank names its bank account, and has the code of that account', async () => {
  const { context } = books;
  const account = '077/0001/123456';
  await setBankAccount(context, { account, name: 'Banco Inter', isNew: true, actor: 'test' });
  const withdrawn = { platform: PLATFORM_A, day: RANGE.to, kind: 'bank', note: 'saque', actor: 'test' } as const;
  await adjustBooks(context, { ...withdrawn, amountCents: -5_000n, bankAccount: account });
  await adjustBooks(context, { ...withdrawn, amountCents: -7_000n });
  const own = { account: 'Assets:Bank', platform: account, code: '1.1.1.07' };
  await giveMap([...BOOKING_MAP, { ...own, category: null, cost_center: null, history: null }]);
  for (const group of [undefined, 'day'] as const) {
    const text = readFileSync(await write({ format: 'lancamentos', ...(group && { group }) }), 'utf8');
    const rows = text.split('\r\n').map((row) => row.split(';'));
    const other = BOOKING_MAP.find((row) => row.account === 'Assets:Bank')?.code;
    const found = rows.filter((row) => row[1] === own.code || row[1] === other);
    expect(found.map((row) => [row[1], row[3], row.slice(4).join(';').includes('Banco Inter')])).toEqual([
      [own.code, '50,00', true],
      [other, '70,00', false],
    ]);
  }
  await expect(readEntryAccounts(context.db, `${RANGE.to} 23:59:59`, 0)).rejects.toThrow('more than 0 entries');
});
