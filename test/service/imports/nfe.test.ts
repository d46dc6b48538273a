import { beforeAll, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { listExpected } from '../../../src/expected/read/list-expected.ts';
import { importFile, previewImport } from '../../../src/imports/import-file.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { keyOfInvoice, type MadeInvoice, makeCancellation, makeInvoice } from '../../support/make-invoice.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { packZip } from '../../support/pack-zip.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const environment = closeAfterAll(await openEnvironment());
let context: Context;
beforeAll(async () => {
  ({ context } = environment);
});

const BY = { actor: 'tk_accountant', allowEqual: false };
const importXml = (...files: string[]) => {
  const [only = '', ...others] = files;
  const bytes =
    others.length === 0 ? Buffer.from(only) : packZip(files.map((content, at) => ({ name: `${at}.xml`, content })));
  return importFile(context, { kind: 'nfe', bytes }, BY);
};

let number = 0;
const next = (made: MadeInvoice = {}): MadeInvoice => ({ number: ++number, ...made });

async function find(wanted: { source?: string; number: string }) {
  const rows = await listExpected(context, 10, undefined, { source: 'nfe', ...wanted });
  return rows[0];
}

async function putOrder(name: string, more: object = {}) {
  const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '199.90', due_day: '2026-11-30', ...more });
  await putExpected(context, { arrivals: [{ source: 'loja', number: name, facts }], actor: 'test' });
}

async function pay(more: object): Promise<string> {
  const row = makeShownTransaction(['pending@1', 'paid@2'], { amount: '199.90', ...more });
  await applyObservations(context, [observeNow(context, row)]);
  await decideAll(context);
  return row.id;
}

test('an invoice is expected once; its cancellation cancels it, also from the same file', async () => {
  const made = next();
  const key = keyOfInvoice(made);
  const preview = await previewImport(context, { kind: 'nfe', bytes: Buffer.from(makeInvoice(made)) }, BY);
  expect([preview.rows, preview.changed]).toEqual([1, 1]);
  expect(await importXml(makeInvoice(made))).toMatchObject({ rows: 1, changed: 1, leftOut: [] });
  expect(await importXml(makeInvoice(made))).toMatchObject({ rows: 1, changed: 0 });
  // other bytes of the same invoice
  expect(await importXml(`${makeInvoice(made)}\n`)).toMatchObject({ rows: 1, changed: 0 });
  expect(await find({ number: key })).toMatchObject({ amount: '199.90', invoice_key: key, version: 1, state: 'open' });
  expect(await importXml(makeCancellation(made))).toMatchObject({ changed: 1 });
  await decideAll(context);
  expect(await find({ number: key })).toMatchObject({ state: 'cancelled' });
  expect(await importXml(`${makeInvoice(made)}\n\n`)).toMatchObject({ changed: 0 });
  const together = next();
  expect(await importXml(makeCancellation(together), makeInvoice(together))).toMatchObject({ rows: 2, changed: 2 });
});

test('the cancellation of an invoice that is not expected is left out by its name', async () => {
  const made = next({ payments: [{ tag: '01', amount: '1.00' }] });
  expect(await importXml(makeInvoice(made), makeCancellation(made))).toMatchObject({
    changed: 0,
    leftOut: [
      { file: '0.xml', why: 'not_pix' },
      { file: '1.xml', why: 'unknown_invoice' },
    ],
  });
});

test('an invoice joins the one order that it names, by number or reference, and makes none of its own', async () => {
  await putOrder('PED-10');
  await putOrder('PED-11', { references: ['SITE-11'], name: 'Loja parceira', document: '11144477735' });
  const [ten, eleven] = [next({ order: 'PED-10' }), next({ order: 'SITE-11' })];
  expect(await importXml(makeInvoice(ten), makeInvoice(eleven))).toMatchObject({ rows: 2, changed: 2 });
  expect(await find({ source: 'loja', number: 'PED-10' })).toMatchObject({
    ...{ invoice_key: keyOfInvoice(ten), document: '52998224725', name: 'MARIA SOUZA', due_day: '2026-11-30' },
    version: 2,
  });
  expect(await find({ source: 'loja', number: 'PED-11' })).toMatchObject({
    ...{ invoice_key: keyOfInvoice(eleven), document: '11144477735', name: 'Loja parceira', references: ['SITE-11'] },
  });
  expect(await find({ number: keyOfInvoice(ten) })).toBeUndefined();
  expect(await importXml(`${makeInvoice(ten)}\n`), 'known again by its key').toMatchObject({ changed: 0 });
  expect(await importXml(makeCancellation(ten))).toMatchObject({ changed: 1 });
});

test('one that names two orders, or a cancelled one, stands by itself', async () => {
  for (const name of ['PED-20', 'PED-21']) await putOrder(name, { references: ['TWO'] });
  await putOrder('PED-22');
  const cancelled = await find({ source: 'loja', number: 'PED-22' });
  await cancelExpected(context, { id: cancelled?.id ?? '', actor: 'test' });
  const [two, gone] = [next({ order: 'TWO' }), next({ order: 'PED-22' })];
  await importXml(makeInvoice(two), makeInvoice(gone));
  for (const made of [two, gone]) expect(await find({ number: keyOfInvoice(made) })).toBeDefined();
});

test('a payment is matched by the code of the invoice, also through its order', async () => {
  const code = (n: number) => `E1234567820261121103${n}abcdefghijk`;
  const payment = (n: number) => [{ tag: '17', amount: '199.90', authorization: code(n) }];
  await putOrder('PED-30');
  const [own, joined] = [next({ payments: payment(1) }), next({ payments: payment(2), order: 'PED-30' })];
  await importXml(makeInvoice(own), makeInvoice(joined));
  const paid = [await pay({ e2e_id: code(1) }), await pay({ reference: code(2) })];
  expect(await find({ number: keyOfInvoice(own) })).toMatchObject({
    state: 'paid',
    matches: [{ transaction_id: paid[0], rule: 'invoice' }],
  });
  expect(await find({ source: 'loja', number: 'PED-30' })).toMatchObject({
    state: 'paid',
    matches: [{ transaction_id: paid[1], rule: 'invoice' }],
  });
});

test('an order keeps its invoice, whichever comes again: the files, or what its source stated', async () => {
  const code = (n: number) => `E1234567820261121104${n}abcdefghijk`;
  const payment = (n: number) => [{ tag: '17', amount: '199.90', authorization: code(n) }];
  const show = async (name: string) => {
    await decideAll(context);
    const row = await find({ source: 'loja', number: name });
    return [row?.state, row?.version, row?.invoice_key, row?.matches.length];
  };
  // the order is cancelled by its file, and paid all the same
  await putOrder('PED-40');
  const gone = next({ order: 'PED-40', payments: payment(1) });
  const files = [makeInvoice(gone), makeCancellation(gone)];
  await importXml(...files);
  await pay({ e2e_id: code(1) });
  const late = ['paid_after_cancel', 2, keyOfInvoice(gone), 1];
  expect(await show('PED-40')).toEqual(late);
  expect(await importXml(...files.map((file) => `${file}\n`))).toMatchObject({ changed: 0, leftOut: [] });
  expect(await show('PED-40')).toEqual(late);
  expect(await find({ number: keyOfInvoice(gone) })).toBeUndefined();
  // two invoices of one order
  await putOrder('PED-41');
  const two = [2, 3].map((n) => next({ order: 'PED-41', payments: payment(n) }));
  expect(await importXml(...two.map(makeInvoice))).toMatchObject({ changed: 2 });
  expect(await importXml(...two.map((made) => `${makeInvoice(made)}\n`))).toMatchObject({ changed: 0 });
  await pay({ reference: code(3) });
  await putOrder('PED-41');
  expect(await show('PED-41')).toEqual(['paid', 3, keyOfInvoice(two[0] ?? {}), 1]);
  // other facts of the source replace all
  await putOrder('PED-41', { amount: '180.00' });
  expect(await show('PED-41')).toEqual(['open', 4, null, 0]);
});

test('all files or none: a broken one and one that is there twice refuse the whole ZIP, each by its name', async () => {
  const made = next();
  await expect(importXml(makeInvoice(made), 'broken', makeInvoice(made))).rejects.toThrow(
    /0\.xml: another file has the same invoice;\n1\.xml: .*cannot be read;\n2\.xml: another/s,
  );
  expect(await find({ number: keyOfInvoice(made) })).toBeUndefined();
});
