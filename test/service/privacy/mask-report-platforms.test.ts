import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, PLATFORM_A, transactionOf } from '../../support/make-report-transactions.ts';
import { openBooks, stateBalance } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { readWorkbook, rowsOf, runHledger, sheetOf } from '../reports/read-workbook.ts';

const DAY = '2026-03-11';
const CPF = '12345678909';
const PUNCTUATED = '111.444.777-35';
const CNPJ = '11.222.333/0001-81';
/** As an account's name spells it. */
const CNPJ_ESCAPED = '11.222.333~2f~0001-81';
const SPELLINGS = [CPF, PUNCTUATED, CNPJ, CNPJ_ESCAPED];

const books = closeAfterAll(await openEnvironment());

beforeAll(async () => {
  const { context } = books;
  const paid = (platform: string) => transactionOf('cashin', 1_000n, [['paid', `${DAY} 10:00:00`]], { platform });
  await applyTransactions(context, [...[CPF, PUNCTUATED, CNPJ, PLATFORM_A].map(paid)]);
  await applyTransactions(context, [
    transactionOf('cashout', 300n, [['pending', `${DAY} 11:00:00`]], { platform: CPF }),
  ]);
  await makeReport(context, DAY);
  // the second revision lists a new opening balance and a new statement in Alterações
  for (const platform of [CPF, CNPJ]) {
    await openBooks(context, { platform, day: DAY, balanceCents: 5_000n, actor: 'test' });
    const at = new Date(`${DAY}T22:00:00-03:00`);
    await stateBalance(context, { platform, at, balanceCents: 1n, actor: 'test' });
  }
  await makeReport(context, DAY);
});

async function open(format: 'xlsx' | 'csv' | 'journal', wanted: { platform?: string; masked: boolean }) {
  return await openReport(books.context, { day: DAY, format, ...wanted });
}

test.each([undefined, CPF, CNPJ])(
  'no file of a viewer shows a platform that is a document (of platform %s)',
  async (platform) => {
    const of = { ...(platform ? { platform } : {}), masked: true };
    const workbook = await open('xlsx', of);
    const texts = [
      JSON.stringify((await readWorkbook(workbook.file)).map((sheet) => sheet.rows)),
      readFileSync((await open('csv', of)).file, 'utf8'),
      readFileSync((await open('journal', of)).file, 'utf8'),
      workbook.name,
    ];
    expect(
      texts.flatMap((text, index) => SPELLINGS.filter((one) => text.includes(one)).map((one) => [index, one])),
    ).toEqual([]);
  },
);

test('the same files show an operator each platform', async () => {
  const { file } = await open('xlsx', { masked: false });
  const changes = rowsOf(sheetOf(await readWorkbook(file), 'Alterações')).map((row) => row.Plataforma?.value);
  expect(changes).toEqual(expect.arrayContaining([CPF, CNPJ]));
  const journal = readFileSync((await open('journal', { masked: false })).file, 'utf8');
  for (const spelling of [CPF, PUNCTUATED, CNPJ_ESCAPED]) expect(journal).toContain(spelling);
});

test('hledger accepts the masked journal, in which masked platforms add up', async () => {
  const [full, masked] = [await open('journal', { masked: false }), await open('journal', { masked: true })];
  await runHledger(['-f', masked.file, 'check', '--strict', 'ordereddates']);
  const balance = ['bal', '-N', '--depth', '3', 'Assets:Provider'];
  expect(await runHledger(['-f', masked.file, ...balance])).toBe(await runHledger(['-f', full.file, ...balance]));
  expect(readFileSync(masked.file, 'utf8')).toContain(PLATFORM_A);
});

test('files of two masked platforms have one download name and stay two files', async () => {
  const [one, other] = [
    await open('csv', { platform: CPF, masked: true }),
    await open('csv', { platform: CNPJ, masked: true }),
  ];
  expect([one.name, other.name]).toEqual(Array(2).fill(`confere-${DAY}-r2-masked-platform-masked.csv`));
  expect(one.sha256).not.toBe(other.sha256);
  expect(readdirSync(path.dirname(one.file))).toContain(path.basename(one.file));
});
