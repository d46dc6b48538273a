import { readFileSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createApi } from '../../../demo/start-programs.ts';
import type { Context } from '../../../src/context.ts';
import { addDays, type Day, listDays } from '../../../src/domain/calendar.ts';
import { parseSignedAmount } from '../../../src/domain/money.ts';
import { setAccountMap } from '../../../src/ledger/stated/account-map.ts';
import type { FileFormat } from '../../../src/reports/plan/report-plan.ts';
import { exportRange } from '../../../src/reports/serve/export-range.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { API_KEY, temporaryDirectory } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';
import { compareRange } from './compare-range.ts';
import { BOOKING_FORMATS, BOOKING_MAP, readBookings } from './read-bookings.ts';
import {
  centsOf,
  lineOf,
  type ReadSheet,
  readWorkbook,
  rowsOf,
  runHledger,
  sheetOf,
  sumCents,
} from './read-workbook.ts';
import { readOfx, runReader } from './run-reader.ts';

const PT_BR = textsOf('pt-BR');

/** A week, and a whole month in `npm run test:deep`. */
const DAYS_BEFORE = numRuns(5, 30);
const PER_DAY = numRuns(10, 40);
const READERS = 2;

type BooksDay = Record<'receipts' | 'receipt_commissions' | 'payments' | 'payment_commissions', string> &
  Record<'refunds_made' | 'refunds_received' | 'net' | 'day' | 'platform', string>;
type Books = { days: BooksDay[]; events: { day: string; operation: string; status: string; count: number }[] };

const cents = (text: string | undefined): bigint => parseSignedAmount(text ?? '0.00') ?? 0n;

/** Resumo's lines, each with its name in the sandbox's books and its sign. */
const LINES = [
  ['+ Recebimentos', 'receipts', 1n],
  ['− Tarifas sobre recebimentos', 'receipt_commissions', -1n],
  ['− Pagamentos', 'payments', -1n],
  ['− Tarifas sobre pagamentos', 'payment_commissions', -1n],
  ['− Devoluções feitas', 'refunds_made', -1n],
  ['+ Devoluções recebidas', 'refunds_received', 1n],
] as const;

/** Each platform's column and the total, by the platform's name or `all`. */
function columnsOf(summary: ReadSheet): Map<string, number> {
  const names = lineOf(summary, 'Linha')?.map((cell) => cell?.value) ?? [];
  return new Map(names.flatMap((name, index) => (name ? [[name === 'Total' ? 'all' : String(name), index]] : [])));
}

/** @returns the closing balance of all platforms. */
function compareDay(sheets: ReadSheet[], books: Books, of: { day: Day; isFirst: boolean; opening: bigint }): bigint {
  const { day, opening } = of;
  const summary = sheetOf(sheets, 'Resumo');
  const columns = columnsOf(summary);
  const at = (label: string, platform: string): bigint =>
    centsOf(lineOf(summary, label)?.[columns.get(platform) ?? -1]);
  const ofDay = books.days.filter((one) => one.day === day);
  for (const platform of columns.keys()) {
    const book = ofDay.find((one) => one.platform === platform);
    for (const [label, name, sign] of LINES) {
      expect([day, platform, label, at(label, platform)]).toEqual([day, platform, label, sign * cents(book?.[name])]);
    }
  }
  // each movement of the provider is on this day, on one platform; a platform may have none on a day
  const hasMoved = (one: BooksDay): boolean => LINES.some(([, name]) => cents(one[name]) !== 0n);
  expect(ofDay.filter((one) => hasMoved(one) && !columns.has(one.platform))).toEqual([]);
  const all = ofDay.find((one) => one.platform === 'all');
  expect([day, at('Saldo inicial', 'all')]).toEqual([day, opening]);
  expect([day, at('Saldo final', 'all')]).toEqual([day, opening + cents(all?.net)]);
  const valores = (title: string): bigint => sumCents(rowsOf(sheetOf(sheets, title)).map((row) => row.Valor));
  expect([day, valores('Recebimentos'), valores('Pagamentos')]).toEqual([
    day,
    cents(all?.receipts),
    cents(all?.payments),
  ]);
  expect([day, valores('Devoluções')]).toEqual([day, cents(all?.refunds_made) + cents(all?.refunds_received)]);
  const paidAt = rowsOf(sheetOf(sheets, 'Recebimentos')).map((row) => row['Pago em']?.value);
  // a transaction created ten seconds before midnight is paid on the next day
  const edges = [`${day} 23:30:00`, ...(of.isFirst ? [] : [`${day} 00:00:05`])];
  expect(paidAt).toEqual(expect.arrayContaining(edges));
  const changes = books.events.filter((one) => one.day === day).reduce((sum, one) => sum + one.count, 0);
  const from = summary.rows.findIndex((row) => row[0]?.value === 'Mudanças de situação no dia');
  const to = summary.rows.findIndex((row) => row[0]?.value === PT_BR.summary.openMismatches);
  const counted = summary.rows.slice(from + 2, to).reduce((sum, row) => sum + Number(row[1]?.value ?? 0), 0);
  expect([day, counted]).toEqual([day, changes]);
  return at('Saldo final', 'all');
}

test("a month's spreadsheets are the sandbox's own books to the cent, day by day and in one workbook", async () => {
  using home = temporaryDirectory();
  await using sandbox = await startTestSandbox();
  const sandboxApi = createApi(sandbox.url, '', API_KEY);
  const story = await sandboxApi.call<{ from: Day; to: Day }>('POST', '/sandbox/stories', {
    days: DAYS_BEFORE + 1,
    count: (DAYS_BEFORE + 1) * PER_DAY,
    announce: 0,
  });
  const days = listDays(story.from, addDays(story.to, -1));
  expect(days).toHaveLength(DAYS_BEFORE);
  await using served = await openServedEnvironment({ providerUrl: sandbox.url });
  const { id } = await served.api.call<{ id: string }>('POST', '/reconciliations', { from: story.from, to: story.to });
  await eventually(
    async () => (await served.api.call<{ state: string }>('GET', `/reconciliations/${id}`)).state === 'complete',
  );
  const files: string[] = [];
  for (const day of days) {
    expect(await served.api.call('POST', '/reports', { day })).toMatchObject({ day, revision: 1, proven: true });
    const file = path.join(home.path, `${day}.xlsx`);
    writeFileSync(file, await served.api.fetch(`/reports/${day}.xlsx`));
    files.push(file);
  }
  const books = await sandboxApi.call<Books>('GET', `/sandbox/books?from=${story.from}&to=${story.to}`);
  const daily = new Map<Day, ReadSheet[]>();
  let balance = 0n;
  for (let start = 0; start < files.length; start += READERS) {
    const read = await Promise.all(files.slice(start, start + READERS).map(readWorkbook));
    for (const [index, sheets] of read.entries()) {
      const day = days[start + index] ?? '';
      daily.set(day, sheets);
      balance = compareDay(sheets, books, { day, isFirst: day === story.from, opening: balance });
    }
  }
  const moved = books.days.filter((one) => one.platform === 'all' && one.day < story.to);
  expect(balance).toBe(moved.reduce((sum, one) => sum + cents(one.net), 0n));
  expect(balance).not.toBe(0n);
  const month = path.join(home.path, 'month.xlsx');
  writeFileSync(month, await served.api.fetch(`/reports/${story.from}..${days.at(-1)}.xlsx`));
  compareRange(await readWorkbook(month), daily);
  const range = { from: story.from, to: days.at(-1) ?? '' };
  await checkMonth(served.context, home.path, range);
  await checkFiles(served.context, home.path, { ...range, moved: balance });
}, 180_000);

/** Checks the month's journal as `export --from --to` writes it, then a copy with a cent changed. */
async function checkMonth(context: Context, directory: string, range: { from: Day; to: Day }): Promise<void> {
  const file = path.join(directory, 'month.journal');
  await exportRange(context, { ...range, format: 'journal' }, (made) => copyFile(made.file, file));
  await runHledger(['-f', file, 'check', '--strict', 'ordereddates']);

  const text = readFileSync(file, 'utf8');
  const amounts = [...text.matchAll(/^ {2,}\S.* {2,}-?\d+\.\d\d BRL$/gm)];
  expect(amounts.length).toBeGreaterThan(DAYS_BEFORE * PER_DAY);
  // change one posting in the middle of the month by a cent
  const { 0: line = '', index } = amounts[amounts.length >> 1] ?? { index: 0 };
  const digit = line.lastIndexOf(' BRL') - 1;
  const changed = `${line.slice(0, digit)}${line[digit] === '9' ? '8' : Number(line[digit]) + 1}${line.slice(digit + 1)}`;
  writeFileSync(file, text.slice(0, index) + changed + text.slice(index + line.length));
  await expect(runHledger(['-f', file, 'check', '--strict', 'ordereddates'])).rejects.toThrow();
}

/** Checks the month's files for other programs: each adds up to what the month moved, from a balance of zero. */
async function checkFiles(
  context: Context,
  directory: string,
  { moved, ...range }: { from: Day; to: Day; moved: bigint },
): Promise<void> {
  const write = async (format: FileFormat): Promise<string> => {
    const file = path.join(directory, `month.${format}`);
    await exportRange(context, { ...range, format }, (made) => copyFile(made.file, file));
    return file;
  };
  const statements = await readOfx(await write('ofx'));
  const sums = [
    statements.map((one) => one.balance),
    statements.flatMap((one) => one.transactions.map((t) => t.amount)),
  ];
  for (const amounts of sums) expect(amounts.reduce((sum, text) => sum + cents(text), 0n)).toBe(moved);
  const read = await runReader('ofxdump', [path.join(directory, 'month.ofx')]);
  expect(read.match(/^\s*Financial institution's ID for this transaction: /gm)).toHaveLength(
    statements.reduce((count, one) => count + one.transactions.length, 0),
  );
  await setAccountMap(context, { accounts: BOOKING_MAP, actor: 'test' });
  for (const format of BOOKING_FORMATS) {
    const bookings = await readBookings(await write(format), format);
    expect([format, bookings.moved]).toEqual([format, moved]);
  }
}
