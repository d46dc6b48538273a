import { readFileSync, rmSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { listPlatformNames } from '../../../src/database/shared/list-platform-names.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, PLATFORM_A, PLATFORM_B, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { lineOf, readWorkbook, rowsOf, sheetOf } from './read-workbook.ts';

const DAY = '2026-03-11';
const books = closeAfterAll(await openEnvironment());

beforeAll(async () => {
  await applyTransactions(books.context, [
    transactionOf('cashin', 1_000n, [['paid', `${DAY} 10:00:00`]]),
    transactionOf('cashin', 2_000n, [['paid', `${DAY} 11:00:00`]], { platform: PLATFORM_B }),
    transactionOf('cashout', 500n, [['pending', `${DAY} 12:00:00`]]),
  ]);
});

const give = (name: string | null, platform = PLATFORM_A): Promise<boolean> =>
  setPlatformName(books.context, { platform, name, actor: 'test' });

test('a report shows the name of a platform, and its id once beside it on Resumo; the CSV has the id, and the name in its last column', async () => {
  await give('Loja Centro');
  await makeReport(books.context, DAY);
  const { file } = await openReport(books.context, { day: DAY, format: 'xlsx' });
  const sheets = await readWorkbook(file);
  const head = lineOf(sheetOf(sheets, 'Resumo'), 'Linha')?.map((cell) => cell?.value);
  expect(head?.slice(0, 2)).toEqual([`Loja Centro\n${PLATFORM_A}`, PLATFORM_B]);
  const named = (title: string) => rowsOf(sheetOf(sheets, title)).map((row) => row.Plataforma?.value);
  expect(named('Recebimentos')).toEqual(['Loja Centro', PLATFORM_B]);
  expect(named('Pendentes')).toEqual(['Loja Centro']);
  const csv = readFileSync((await openReport(books.context, { day: DAY, format: 'csv' })).file, 'utf8');
  const own = csv.split('\r\n').filter((line) => line.includes(`;${PLATFORM_A};`));
  expect(own.length).toBeGreaterThan(0);
  expect(own.every((line) => line.endsWith(';Loja Centro'))).toBe(true);
  // another name later changes nothing in a revision that is made again
  const before = readFileSync(file);
  await give('Loja Norte');
  rmSync(file);
  expect(readFileSync((await openReport(books.context, { day: DAY, format: 'xlsx' })).file).equals(before)).toBe(true);
});

test('a name is unique, and can be taken back', async () => {
  await give('Loja Sul');
  await expect(give('LOJA SUL', PLATFORM_B)).rejects.toMatchObject({ code: 'conflict' });
  await give('Outra', PLATFORM_B);
  await give(null);
  expect((await listPlatformNames(books.context.db)).map(({ platform, name }) => [platform, name])).toEqual([
    [PLATFORM_B, 'Outra'],
  ]);
});

test.each(['', ' ', 'x'.repeat(61), 'Maria 123.456.789-09', 'loja@exemplo.com', 'tel 11987654321', 'a\nb', 'a\u202eb'])(
  'the name %j is refused',
  async (name) => {
    await expect(give(name)).rejects.toMatchObject({ code: 'invalid_request', fields: { name: [expect.any(String)] } });
  },
);

test('a platform that no transaction shows gets no name', async () => {
  await expect(give('Loja', 'nobody')).rejects.toMatchObject({ code: 'invalid_request' });
});
