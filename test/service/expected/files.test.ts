/** Expected payments as files: imported as XLSX and CSV, and exported as CSV, which sqlite3 joins with the payments. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ADMIN_CALLER } from '../../../src/access/tokens.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { TEXT_BYTES_MAX } from '../../../src/domain/field-limits.ts';
import { expectedFactsSchema, KEYS_MAX } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { joinInvoice } from '../../../src/expected/join-invoice.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { readStateReason } from '../../../src/expected/read/describe-state.ts';
import { listExpected } from '../../../src/expected/read/list-expected.ts';
import { importFile, previewImport } from '../../../src/imports/import-file.ts';
import { ImportRefusedError } from '../../../src/imports/import-kind.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { renderExpectedCsv, writeExpectedWorkbook } from '../../../src/operations/expected/export-expected.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { dayOver, makeOrders } from '../../support/make-expected.ts';
import { keyOfInvoice } from '../../support/make-invoice.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { packWorkbook } from '../../support/pack-zip.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const run = promisify(execFile);
const environment = closeAfterAll(await openEnvironment());

const TITLES = ['origem', 'número', 'operação', 'valor', 'vencimento', 'referências', 'documento', 'nome'];
const ROWS = [
  ['loja', 'p-1', 'a receber', '1.234,56', '30/11/2026', 'r-1 | r-2', '529.982.247-25', 'Ana Souza'],
  ['loja', 'p-2', 'a pagar', '10,00', '30/11/2026', '', '', ''],
];
const INVOICE = keyOfInvoice();
const csvOf = (rows: string[][]): Buffer => Buffer.from([TITLES, ...rows].map((row) => row.join(';')).join('\r\n'));
const load = async (bytes: Buffer) =>
  await importFile(environment.context, { kind: 'expected', bytes }, { actor: 'test', allowEqual: false });
const refusalOf = async (bytes: Buffer) => {
  const error = await load(bytes).catch((one: unknown) => one);
  return error instanceof ImportRefusedError ? error.faults : error;
};
const shown = async () =>
  (await listExpected(environment.context, 10, undefined)).map(
    ({ number, operation, amount, references, document, version }) => ({
      ...{ number, operation, amount, references, document, version },
    }),
  );

/** A workbook as other programs write it: texts, a number and a day. */
function workbookOf(rows: string[][]): Buffer {
  const cell = (text: string, column: number, row: number): string => {
    const at = `${String.fromCharCode(65 + column)}${row}`;
    if (row > 1 && column === 3) return `<c r="${at}"><v>${text.replace('.', '').replace(',', '.')}</v></c>`;
    return text === '' ? '' : `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
  };
  const lines = [TITLES, ...rows].map(
    (row, index) => `<row r="${index + 1}">${row.map((text, column) => cell(text, column, index + 1)).join('')}</row>`,
  );
  return packWorkbook(`<sheetData>${lines.join('')}</sheetData>`);
}

test('a CSV and an XLSX say the same; equal rows change nothing; other facts are a version', async () => {
  expect(await load(csvOf(ROWS))).toMatchObject({ rows: 2, changed: 2 });
  const first = await shown();
  expect(first).toEqual([
    { number: 'p-2', operation: 'cashout', amount: '10.00', references: [], document: null, version: 1 },
    {
      ...{ number: 'p-1', operation: 'cashin', amount: '1234.56', references: ['r-1', 'r-2'] },
      ...{ document: '52998224725', version: 1 },
    },
  ]);
  expect(await load(workbookOf(ROWS))).toMatchObject({ rows: 2, changed: 0 });
  expect(await load(csvOf(ROWS))).toMatchObject({ changed: 0, repeats: { by: 'test' } });
  expect(await shown()).toEqual(first);
  const changed = ROWS.map((row) => row.with(7, 'Bia'));
  expect(await load(workbookOf(changed))).toMatchObject({ rows: 2, changed: 2 });
  expect((await shown()).map(({ version }) => version)).toEqual([2, 2]);
});

test('bad rows are named by row and column, and nothing is imported; so is a row beyond 20,000', async () => {
  const before = await shown();
  const [good = []] = ROWS;
  const bad = [
    good.with(1, 'q-1'),
    good.with(1, 'q-2').with(3, '10,005'),
    good.with(1, 'q-3').with(6, '529.982.247-26'),
    good.with(0, 'Loja'),
    good.with(1, 'q-4').with(2, 'talvez'),
    // all that is wrong with a row at once: cells that cannot be read, and rules of fields
    good.with(0, 'Loja').with(3, 'dez').with(6, '529.982.247-26'),
  ];
  expect(await refusalOf(csvOf(bad))).toMatchObject([
    { row: 3, column: 'amount' },
    { row: 4, column: 'document', said: [{ name: 'field.document' }] },
    { row: 5, column: 'source' },
    { row: 6, column: 'operation' },
    { row: 7, column: 'amount' },
    { row: 7, column: 'source' },
    { row: 7, column: 'document', said: [{ name: 'field.document' }] },
  ]);
  expect(await refusalOf(csvOf([good.with(1, 'q-5'), good.with(1, 'q-5')]))).toMatchObject([
    { row: 2, kind: 'number_repeated' },
    { row: 3, kind: 'number_repeated' },
  ]);
  const many = Array.from({ length: 20_001 }, (_, index) => [
    'loja',
    `m-${index}`,
    'a receber',
    '1,00',
    '30/11/2026',
    '',
    '',
    '',
  ]);
  expect(await refusalOf(csvOf(many))).toMatchObject([{ kind: 'too_many_rows', value: 20_000 }]);
  expect(await shown()).toEqual(before);
});

test('a store by its name is its platform; one that no transaction has is taken, and named with its rows and at its orders', async () => {
  await using own = await openEnvironment();
  const { context } = own;
  const platform = randomUUID();
  const pay = (facts: object) =>
    applyObservations(context, [
      observeNow(
        context,
        makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), amount: '10.00', platform, ...facts }),
      ),
    ]);
  await pay({ reference: 'r-1' });
  await setPlatformName(context, { platform, name: 'Loja Norte', actor: 'test' });
  const orders = async (rows: string[][]) => {
    const titles = ['origem', 'número', 'operação', 'valor', 'vencimento', 'plataforma', 'referências'];
    const lines = [titles, ...rows].map((row) => row.join(';'));
    const file = { kind: 'expected', bytes: Buffer.from(lines.join('\r\n')) } as const;
    const preview = await previewImport(context, file, { allowEqual: false });
    await importFile(context, file, { actor: 'test', allowEqual: false });
    await decideAll(context);
    const listed = await listExpected(context, 10, undefined);
    return { preview, shown: new Map(listed.map((row) => [row.number, row])) };
  };
  const row = (number: string, store: string, reference: string) => [
    ...['loja', number, 'a receber', '10,00', '30/11/2031', store, reference],
  ];
  const { preview, shown: first } = await orders([
    row('p-1', ' loja NORTE ', 'r-1'),
    row('p-2', 'Loja Sul', 'r-2'),
    row('p-3', 'Loja Sul', 'r-3'),
    row('p-4', '', ''),
  ]);
  expect(first.get('p-1')).toMatchObject({ platform, state: 'paid' });
  expect(first.get('p-2')).toMatchObject({ platform: 'Loja Sul', state: 'open' });
  expect(preview.orders).toMatchObject({
    ...{ unfindable: 1, unseen: [{ platform: 'Loja Sul', rows: 2 }] },
    sums: [{ operation: 'cashin', rows: 4, cents: 4_000n }],
    first: [{ row: 2, number: 'p-1', platform, cents: 1_000n, due_day: '2031-11-30' }, {}, {}, {}],
  });
  const reasonOf = async (number: string) => {
    const order = first.get(number) ?? { id: '', state: '', reason_code: null, unfindable: false };
    return (await readStateReason(context.db, order)).map(({ name }) => name);
  };
  expect(await reasonOf('p-1')).toEqual([]);
  expect(await reasonOf('p-2')).toEqual(['expected.platform_unseen']);
  expect(await reasonOf('p-4')).toEqual(['expected.unfindable']);
  // what is an id itself is no name
  await pay({ reference: 'r-5', platform: 'LOJA NORTE' });
  const { shown } = await orders([row('p-5', 'LOJA NORTE', 'r-5'), row('p-6', 'Loja Norte', 'r-6')]);
  expect(['p-5', 'p-6'].map((number) => shown.get(number)?.platform)).toEqual(['LOJA NORTE', platform]);
});

test('the exported CSV comes back as it was: nothing of it changes, with any signs in its texts', async () => {
  const { context } = environment;
  const signs = fc.constantFrom(...'=+-@\'|[]";,\\ aé1\u00a0\u200b\u2028');
  const text = fc.array(signs, { minLength: 1, maxLength: 8 }).map((all) => all.join(''));
  // a text keeps its blanks, and is not blank
  const own = text.filter((one) => one.trim() !== '');
  const order = fc.record({
    ...{ number: own, name: own, description: own, extra: own.map((one) => `${one}\n`) },
    ...{ references: fc.uniqueArray(own, { maxLength: 3 }), issued_day: fc.constantFrom(null, '2026-11-05') },
  });
  // one that passes for a number, and one as long as its column, of signs that are written in six
  await putExpected(context, {
    arrivals: ['1E+5', 'long'].map((number) => ({
      ...{ source: 'trip-0', number },
      facts: expectedFactsSchema.parse({
        ...{ operation: 'cashin', amount: '1.00', due_day: '2026-11-30', extra: '\u0001'.repeat(TEXT_BYTES_MAX.extra) },
        references: Array.from({ length: KEYS_MAX }, (_, key) => `${key}`.padStart(TEXT_BYTES_MAX.reference, 'x')),
      }),
    })),
    actor: 'test',
  });
  const odd = await Array.fromAsync(renderExpectedCsv(context, { filter: { source: 'trip-0' }, caller: ADMIN_CALLER }));
  expect(await load(Buffer.from(odd.join('')))).toMatchObject({ rows: 2, changed: 0 });
  const orders = fc.uniqueArray(order, { minLength: 1, maxLength: 6, selector: ({ number }) => number });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(orders, async (given) => {
      const source = `trip-${++runs}`;
      const arrivals = given.map(({ number, ...facts }) => ({
        ...{ source, number },
        facts: expectedFactsSchema.parse({ operation: 'cashin', amount: '1234.56', due_day: '2026-11-30', ...facts }),
      }));
      await putExpected(context, { arrivals, actor: 'test' });
      const exported = renderExpectedCsv(context, { filter: { source }, caller: ADMIN_CALLER });
      const csv = (await Array.fromAsync(exported)).join('');
      expect([csv, await load(Buffer.from(csv))]).toMatchObject([csv, { rows: given.length, changed: 0 }]);
      // a file of an earlier version too
      const older = csv.replace(';com o que se sabia até;', ';decidido até;');
      expect(older).not.toBe(csv);
      expect(await load(Buffer.from(older))).toMatchObject({ rows: given.length, changed: 0 });
    }),
    { numRuns: 12 },
  );
});

test('the exported workbook comes back, and changes nothing', async () => {
  const { context } = environment;
  await load(csvOf([1, 2].map((n) => ['book', `b-${n}`, 'a receber', '10,00', '30/11/2026', 'r | s', '', 'Ana'])));
  const odd = ["'=1+1", '=1+1', ' x ', '"a"', '1E+5', 'a\u200bb', "'x", '1.10'].map((name, index) => ({
    ...{ source: 'book', number: `odd-${index}` },
    facts: expectedFactsSchema.parse({
      operation: 'cashin',
      amount: '1.00',
      due_day: '2026-11-30',
      description: name,
      references: [name, 'b'],
    }),
  }));
  await putExpected(context, { arrivals: odd, actor: 'test' });
  const wanted = { filter: { source: 'book' }, caller: ADMIN_CALLER, signal: AbortSignal.timeout(60_000) };
  for (const via of ['portal', 'console', undefined] as const) {
    let bytes = Buffer.from('');
    await writeExpectedWorkbook(context, { ...wanted, ...(via && { via }) }, async (file) => {
      bytes = await readFile(file);
    });
    expect(await load(bytes)).toMatchObject({ rows: 2 + odd.length, changed: 0 });
  }
});

test('the exported CSV has each issued day, which is the same fact when it returns; what an invoice added stays, and so does a forgotten person', async () => {
  const { context } = environment;
  const today = context.calendar.dayOf(context.clock.now());
  const due = addDays(today, 10);
  const put = async (number: string, more: object = {}) => {
    const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '10.00', due_day: due, ...more });
    return (await putExpected(context, { arrivals: [{ source: 'days', number, facts }], actor: 'test' }))[0];
  };
  const order = (await put('derived'))?.id ?? '';
  await put('given', { issued_day: today });
  await put('forgotten', { document: '52998224725', name: 'Ana', extra: 'x-1' });
  const invoice = { key: INVOICE, facts: { document: '11144477735', name: 'Bia' }, authorizations: ['E1'] };
  await joinInvoice(context, { order, invoice, actor: 'test' });
  const erased = context.db.selectFrom('expected_versions').select('seq').where('document_hash', 'is not', null);
  await context.db
    .updateTable('expected_texts')
    .set({ document: null, name: null })
    .where('name', '=', 'Ana')
    .where('version_seq', 'in', erased)
    .execute();
  const read = async () =>
    (await listExpected(context, 10, undefined, { source: 'days' })).map(({ number, issued_day, version, ...row }) => ({
      ...{ number, issued_day, version, invoice_key: row.invoice_key, name: row.name },
    }));
  const before = await read();
  expect(before).toEqual([
    { number: 'forgotten', issued_day: today, version: 1, invoice_key: null, name: null },
    { number: 'given', issued_day: today, version: 1, invoice_key: null, name: null },
    { number: 'derived', issued_day: today, version: 2, invoice_key: INVOICE, name: 'Bia' },
  ]);
  for (const via of ['portal', 'console', undefined] as const) {
    const wanted = { filter: { source: 'days' }, caller: ADMIN_CALLER, ...(via ? { via } : {}) };
    const csv = (await Array.fromAsync(renderExpectedCsv(context, wanted))).join('');
    expect(csv.split('\r\n').map((line) => line.split(';')[5])).toEqual([
      ...['emissão', ...Array(3).fill(today.split('-').reverse().join('/')), undefined],
    ]);
    expect([csv, await load(Buffer.from(csv))]).toMatchObject([csv, { rows: 3, changed: 0 }]);
  }
  expect(await put('derived', { issued_day: today })).toMatchObject({ status: 'unchanged', version: 2 });
  expect(await put('given')).toMatchObject({ status: 'unchanged', version: 1 });
  expect(await read()).toEqual(before);
  const codes = context.db.selectFrom('expected_keys').select('version_seq').where('kind', '=', 'invoice');
  expect(await codes.where('value', '=', 'E1').execute()).toHaveLength(1);
  expect(await put('given', { issued_day: addDays(today, -1) })).toMatchObject({ status: 'changed', version: 2 });
});

test('sqlite3 joins the exported CSV with the payments by their references, and says the same of each order', async () => {
  using home = temporaryDirectory();
  await using own = await openEnvironment();
  const { context } = own;
  const day = dayOver(context.calendar.dayOf(context.clock.now()));
  const orders = makeOrders(120, { seed: 7, day });
  const payments = orders.flatMap((order) => order.payments);
  await applyObservations(
    context,
    payments.map((row) => observeNow(context, row)),
  );
  const [year, month, date] = day.split('-');
  const rows = orders.map(({ number, facts }) => [
    ...['shop', number, 'a receber', String(facts.amount).replace('.', ','), `${date}/${month}/${year}`],
    ...[(facts.references as string[]).join(), '', ''],
  ]);
  await importFile(context, { kind: 'expected', bytes: csvOf(rows) }, { actor: 'test', allowEqual: false });
  await decideAll(context);
  const file = (name: string, text: string): string => {
    const to = path.join(home.path, name);
    writeFileSync(to, text);
    return to;
  };
  const csv = (await Array.fromAsync(renderExpectedCsv(context, { filter: {}, caller: ADMIN_CALLER }))).join('');
  const cashins = payments.filter(({ operation }) => operation === 'cashin');
  const paid = cashins.map((row) => [row.id, row.status, row.reference ?? '', row.amount.replace('.', '')].join(';'));
  const query = `SELECT number, "transações" AS matched, replace("pago", ',', '') + 0 AS said,
      (SELECT group_concat(id, ' | ') FROM paid WHERE reference = refs AND status IN ('paid', 'refund')) AS joined,
      (SELECT TOTAL(cents) FROM paid WHERE reference = refs AND status = 'paid') AS sum
    FROM (SELECT "número" AS number, "referências" AS refs, * FROM orders);`;
  const commands = [
    ...['.mode csv', '.separator ;', `.import '${file('orders.csv', csv.slice(1))}' orders`],
    ...[`.import '${file('paid.csv', ['id;status;reference;cents', ...paid].join('\n'))}' paid`, '.mode json', query],
  ];
  const { stdout: out } = await run('sqlite3', [':memory:', ...commands]);
  const joined = JSON.parse(out) as {
    number: string;
    matched: string;
    said: number;
    joined: string | null;
    sum: number;
  }[];
  expect(joined).toHaveLength(orders.length);
  const sorted = (ids: string | null): string[] => (ids ? ids.split(' | ').sort() : []);
  expect(joined.map((row) => [row.number, sorted(row.matched), row.said])).toEqual(
    joined.map((row) => [row.number, sorted(row.joined), row.sum]),
  );
  expect(joined.filter(({ sum }) => sum > 0).length).toBeGreaterThan(orders.length / 3);
});
