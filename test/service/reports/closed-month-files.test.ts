import { createHash } from 'node:crypto';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import type { Context } from '../../../src/context.ts';
import { transact } from '../../../src/database/transact.ts';
import { boundsOfMonth, listDays, type Month } from '../../../src/domain/calendar.ts';
import { setAccountMap } from '../../../src/ledger/stated/account-map.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { storeStatement } from '../../../src/ledger/stated/state-balance.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import { reopenMonth } from '../../../src/reports/months/reopen-month.ts';
import type { FileFormat } from '../../../src/reports/plan/report-plan.ts';
import { exportRange, type WantedRange } from '../../../src/reports/serve/export-range.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  PLATFORM_B,
  recordReadDays,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { openBooks } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { numRuns } from '../../support/property.ts';
import { addLateEvent } from './add-late-event.ts';
import { BOOKING_FORMATS, BOOKING_MAP, readBookings } from './read-bookings.ts';
import {
  centsOf,
  lineOf,
  type ReadSheet,
  readWorkbook,
  recalculate,
  rowsOf,
  sheetOf,
  sumCents,
} from './read-workbook.ts';
import { readOfx, runReader } from './run-reader.ts';

const [SEPTEMBER, OCTOBER, NOVEMBER] = ['2025-09', '2025-10', '2025-11'] as const;
const BY = { actor: 'tk_accountant' };
/** Beside the workbook, those that need no chart of accounts. */
const KINDS = ['csv', 'journal', 'ofx', 'journal-continued'] as const;
const ADJUSTMENTS = 'Ajustes de meses anteriores';

const toCents = (text: string): bigint => BigInt(Math.round(Number(text) * 100));

const books = closeAfterAll(await openEnvironment());
let context: Context;
/** The person that enters the adjustments. */
let actor: string;

/** Known in October, and changed after it was closed. */
const paidLater = transactionOf('cashin', 30_000n, [['pending', '2025-10-12 09:00:00']]);
const refunded = transactionOf('cashin', 41_000n, [['paid', '2025-10-13 09:00:00']]);
const unpriced = transactionOf('cashin', 52_000n, [['paid', '2025-10-14 09:00:00']], { commissionCents: null });
const unnamed = transactionOf('cashin', 63_000n, [['paid', '2025-10-15 09:00:00']], { reference: null });
const analysed = transactionOf('cashin', 74_000n, [['pending', '2025-10-16 09:00:00']]);
let commitLate: () => Promise<void>;

beforeAll(async () => {
  ({ context } = books);
  actor = (await createToken(context, { name: 'Ana Souza', role: 'accountant' })).id;
  await openBooks(context, {
    ...{ platform: PLATFORM_A, day: '2025-09-01', balanceCents: 9_000_000n, actor: 'test', newPlatform: true },
  });
  const days = [SEPTEMBER, OCTOBER, NOVEMBER].flatMap((month) => listDays(`${month}-03`, `${month}-06`));
  await applyTransactions(context, [
    ...generateTransactions(numRuns(40, 120), days, 7),
    ...[paidLater, refunded, unpriced, unnamed, analysed],
    transactionOf('cashout', 8_500n, [['pending', '2025-10-30 09:00:00']]),
  ]);
  await recordReadDays(context, '2025-05-01', '2025-11-30', new Date('2025-12-05T12:00:00Z'));
  await closeMonth(context, { month: SEPTEMBER, ...BY });
  // changes of September that come before October is closed are in October's workbook
  await adjust('2025-09-20', -1_500n);
  await applyTransactions(context, [transactionOf('cashin', 2_000n, [['paid', '2025-09-29 09:00:00']])]);
  commitLate = await addLateEvent(context, analysed.id, { status: 'in_analysis', atWall: '2025-10-16 11:00:00' });
  await applyTransactions(context, [transactionOf('cashin', 900n, [['paid', '2025-11-20 10:00:00']])]);
  await closeMonth(context, { month: OCTOBER, ...BY });
}, 120_000);

async function adjust(day: string, amountCents: bigint): Promise<void> {
  const by = { platform: PLATFORM_A, kind: 'fee' as const, note: 'tarifa', actor };
  await adjustBooks(context, { ...by, day, amountCents });
}

type Wanted = Partial<WantedRange> & { month: Month; format?: FileFormat };
type MonthFile = { file: string; bytes: string };

/** Downloads the file of a month, as a reader does. */
async function download({ month, ...wanted }: Wanted, by = context): Promise<MonthFile> {
  const format = wanted.format ?? 'xlsx';
  const file = path.join(books.dataDir, `read.${format}`);
  await exportRange(by, { ...boundsOfMonth(month), ...wanted, format }, (made) => copyFile(made.file, file));
  const bytes = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  return { file, bytes };
}

/** The same of a workbook, with its cells. */
async function read(wanted: Wanted, by = context): Promise<MonthFile & { sheets: ReadSheet[] }> {
  const made = await download(wanted, by);
  return { ...made, sheets: await readWorkbook(made.file) };
}

/** The hashes of a closed month's files in other forms. */
async function hashAll(month: Month, by = context): Promise<string[]> {
  const forms: Omit<Wanted, 'month'>[] = [
    ...KINDS.map((format) => ({ format })),
    { platform: PLATFORM_A },
    { masked: true, locale: 'en' },
  ];
  const hashes: string[] = [];
  for (const form of forms) hashes.push((await download({ month, ...form }, by)).bytes);
  return hashes;
}

const amountOf = (sheets: ReadSheet[], label: string): bigint =>
  centsOf(lineOf(sheetOf(sheets, 'Resumo do período'), label)?.[0]);

/** Compares a month's opening balance with what was handed in. @returns the sum of the adjustments. */
function checkCarried(sheets: ReadSheet[], before: ReadSheet[], [year, month]: [string, string]): bigint {
  const adjusted = sumCents(rowsOf(sheetOf(sheets, ADJUSTMENTS)).map((row) => row.Diferença));
  const closing = centsOf(lineOf(sheetOf(before, 'Resumo do período'), 'Saldo final')?.filter(Boolean).at(-1));
  const opening = centsOf(lineOf(sheetOf(sheets, 'Resumo do período'), 'Saldo inicial', 1)?.filter(Boolean).at(-1));
  expect(amountOf(sheets, `Saldo final de ${month}/${year} no fechamento`)).toBe(closing);
  expect(amountOf(sheets, '± Ajustes de meses anteriores')).toBe(adjusted);
  expect(amountOf(sheets, 'Saldo inicial')).toBe(opening);
  expect(closing + adjusted).toBe(opening);
  return adjusted;
}

test('a closed month’s files keep every cell and byte, and the open month lists what changed, day by day', async () => {
  const [september, october] = [await read({ month: SEPTEMBER }), await read({ month: OCTOBER })];
  const platforms = [PLATFORM_A, PLATFORM_B];
  const own: ReadSheet[][] = [];
  for (const platform of platforms) own.push((await read({ month: OCTOBER, platform })).sheets);
  const hashes = await hashAll(OCTOBER);
  const quiet = await read({ month: NOVEMBER });
  expect(rowsOf(sheetOf(quiet.sheets, ADJUSTMENTS))).toEqual([]);
  expect(checkCarried(quiet.sheets, october.sheets, ['2025', '10'])).toBe(0n);

  const late = transactionOf('cashin', 20_000n, [['paid', '2025-10-10 10:00:00']]);
  const lateOfSeptember = transactionOf('cashin', 700n, [['paid', '2025-09-10 10:00:00']]);
  const lastSecond = transactionOf('cashin', 800n, [['paid', '2025-10-31 23:59:59']]);
  const firstSecond = transactionOf('cashin', 900n, [['paid', '2025-11-01 00:00:00']]);
  await applyTransactions(context, [late, lateOfSeptember, lastSecond, firstSecond]);
  await applyTransactions(context, [withLaterEvents(paidLater, [['paid', '2025-10-12 10:00:00']])]);
  await applyTransactions(context, [withLaterEvents(refunded, [['refund', '2025-10-21 10:00:00']])]);
  await applyTransactions(context, [withLaterEvents(unpriced, [], { commissionCents: 77n })]);
  await applyTransactions(context, [withLaterEvents(unnamed, [], { reference: 'pedido-novo' })]);
  await commitLate();
  await adjust('2025-10-31', -4_321n);
  await openBooks(context, { platform: PLATFORM_B, day: '2025-10-05', balanceCents: 123_456n, actor: 'test' });
  await setPlatformName(context, { platform: PLATFORM_A, name: 'Loja Centro', actor: 'test' });
  const at = context.calendar.startOfDay('2025-11-01');
  await storeStatement(context, { platform: PLATFORM_A, at, balanceCents: 1n, actor: 'test' });
  const found = { kind: 'stuck' as const, scope: refunded.id, transactionId: refunded.id };
  await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
  await recordReadDays(context, '2025-06-01', '2025-11-30', new Date('2025-12-06T12:00:00Z'));

  // another process, whose settings would show documents in full
  const replica = await books.replica({ REPORT_FULL_DOCUMENTS: 'true' });
  expect(await read({ month: SEPTEMBER }, replica)).toEqual(september);
  expect(await read({ month: OCTOBER }, replica)).toEqual(october);
  expect(await hashAll(OCTOBER, replica)).toEqual(hashes);

  const { file, sheets } = await read({ month: NOVEMBER });
  expect(checkCarried(sheets, october.sheets, ['2025', '10'])).not.toBe(0n);
  expect(amountOf(sheets, 'Diferença (deve ser 0,00)')).toBe(0n);
  const rows = rowsOf(sheetOf(sheets, ADJUSTMENTS));
  const days = rows.map((row) => String(row.Dia?.value));
  expect(days).toEqual([...days].sort());
  const rowOf = (id: string) => rows.filter((row) => row['Id da transação']?.value === id);
  const cells = (id: string) =>
    rowOf(id).map((row) => [row.Dia, row.Antes, row.Depois, row['Por quê'], row.Diferença].map((cell) => cell?.value));
  expect(cells(late.id)).toEqual([['2025-10-10 00:00:00', 'não constava', 'Pago', 'soubemos depois: pago', 199.5]]);
  expect(cells(lateOfSeptember.id)).toEqual([
    ['2025-09-10 00:00:00', 'não constava', 'Pago', 'soubemos depois: pago', 6.5],
  ]);
  expect(cells(lastSecond.id)).toEqual([['2025-10-31 00:00:00', 'não constava', 'Pago', 'soubemos depois: pago', 7.5]]);
  // of the open month itself
  expect(cells(firstSecond.id)).toEqual([]);
  const received = rowsOf(sheetOf(sheets, 'Recebimentos')).map((row) => row['Id da transação']?.value);
  expect([received.includes(firstSecond.id), received.includes(lastSecond.id)]).toEqual([true, false]);
  expect(cells(paidLater.id)).toEqual([['2025-10-12 00:00:00', 'Pendente', 'Pago', 'soubemos depois: pago', 299.5]]);
  expect(cells(refunded.id)).toEqual([
    ['2025-10-21 00:00:00', 'Pago', 'Devolvido', 'soubemos depois: devolvido', -410],
  ]);
  expect(cells(unpriced.id)).toEqual([['2025-10-14 00:00:00', 'Pago', 'Pago', 'tarifa conhecida depois', -0.77]]);
  expect(cells(unnamed.id)).toEqual([
    [
      ...['2025-10-15 00:00:00', 'Pago, referência –', 'Pago, referência pedido-novo'],
      ...['dado da transação conhecido ou corrigido depois', 0],
    ],
  ]);
  expect(cells(analysed.id)).toEqual([
    ['2025-10-16 00:00:00', 'Pendente', 'Em análise', 'soubemos depois: em análise', 0],
  ]);
  const entered = rows.filter((row) => row['Por quê']?.value === 'lançado por uma pessoa');
  expect(entered.map((row) => [row.Dia, row['O que mudou'], row.Diferença].map((cell) => cell?.value))).toEqual([
    ['2025-10-05 00:00:00', 'Saldo inicial', 1234.56],
    ['2025-10-31 00:00:00', 'Movimento', -43.21],
  ]);
  const wordsOf = (list: ReturnType<typeof rowsOf>) =>
    list
      .filter((row) => row['O que mudou']?.value === 'Movimento')
      .map((row) => [row.Depois?.value, row.Origem?.value]);
  expect(wordsOf(rows)).toEqual([['Tarifa: tarifa', 'Pessoa: Ana Souza']]);
  const masked = await read({ month: NOVEMBER, masked: true });
  expect(wordsOf(rowsOf(sheetOf(masked.sheets, ADJUSTMENTS)))).toEqual([['Tarifa', 'Pessoa: Contabilidade']]);
  // formulas give the cached values
  const again = await recalculate(file);
  for (const label of ['± Ajustes de meses anteriores', 'Diferença (deve ser 0,00)'])
    expect([label, amountOf(again, label)]).toEqual([label, amountOf(sheets, label)]);
  for (const [index, platform] of platforms.entries())
    checkCarried((await read({ month: NOVEMBER, platform })).sheets, own[index] ?? [], ['2025', '10']);
}, 120_000);

/** The sum of what a file for another program moves, in cents, and the days of its rows that change an earlier month. */
async function readProgramFile(format: (typeof BOOKING_FORMATS)[number], month: Month) {
  const { rows, moved } = await readBookings((await download({ month, format })).file, format);
  const earlier = rows.filter((row) => row.includes('Ajuste de mês anterior'));
  return { moved, earlier, days: new Set(earlier.map((row) => /\d\d\/\d\d\/\d{4}/.exec(row)?.[0])) };
}

test('files for other programs book what changed a closed month on the first day of the next one', async () => {
  await setAccountMap(context, { accounts: BOOKING_MAP, actor: 'test' });
  const { sheets } = await read({ month: NOVEMBER });
  const closing = centsOf(lineOf(sheetOf(sheets, 'Resumo do período'), 'Saldo final')?.filter(Boolean).at(-1));
  const moved = closing - amountOf(sheets, 'Saldo final de 10/2025 no fechamento');
  const [before, after] = [
    await readOfx((await download({ month: OCTOBER, format: 'ofx' })).file),
    await readOfx((await download({ month: NOVEMBER, format: 'ofx' })).file),
  ];
  for (const { id, balance, transactions } of after) {
    const handedIn = before.find((one) => one.id === id)?.balance ?? '0.00';
    const sum = transactions.reduce((all, one) => all + toCents(one.amount), 0n);
    expect([id, toCents(balance) - toCents(handedIn)]).toEqual([id, sum]);
  }
  const all = [...before, ...after].flatMap((one) => one.transactions);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  const late = after.flatMap((one) => one.transactions).filter(({ memo }) => memo.startsWith('Ajuste de mês anterior'));
  expect(new Set(late.map(({ day }) => day))).toEqual(new Set([`${NOVEMBER}-01`]));
  expect(late.map(({ memo }) => memo)).toContainEqual(
    expect.stringMatching(/^Ajuste de mês anterior, 21\/10\/2025: Devolução feita 10:00:00 - /),
  );
  const entered = 'Ajuste de mês anterior, 31/10/2025: Tarifa: tarifa, lançado por Ana Souza';
  expect(late.map(({ memo }) => memo)).toContain(`${entered} 00:00:00`);
  const adjusted = sumCents(rowsOf(sheetOf(sheets, ADJUSTMENTS)).map((row) => row.Diferença));
  expect(late.reduce((sum, one) => sum + toCents(one.amount), 0n)).toBe(adjusted);

  for (const format of BOOKING_FORMATS) {
    const file = await readProgramFile(format, NOVEMBER);
    expect([format, file.moved, [...file.days]]).toEqual([format, moved, ['01/11/2025']]);
    expect([format, file.earlier.filter((row) => row.includes(entered)).length]).toEqual([format, 1]);
  }
  // a range that is no month follows no closed one
  const part = await download({ month: NOVEMBER, to: '2025-11-29', format: 'lancamentos' });
  expect(await readFile(part.file, 'utf8')).not.toContain('Ajuste de mês anterior');
});

test('the journals of three months are included together: the first with its opening balances, the others continue it', async () => {
  const copy = async (month: Month, format: FileFormat, platform?: string): Promise<string> => {
    const { file } = await download({ month, format, ...(platform === undefined ? {} : { platform }) });
    const own = path.join(books.dataDir, `${month}-${format}.journal`);
    await copyFile(file, own);
    return own;
  };
  const include = async (files: string[], ...args: string[]): Promise<string> => {
    const all = path.join(books.dataDir, 'all.journal');
    await writeFile(all, files.map((file) => `include ${file}\n`).join(''));
    return await runReader('hledger', ['-f', all, ...args]);
  };
  for (const platform of [undefined, PLATFORM_A]) {
    const whole: string[] = [];
    const continued: string[] = [];
    for (const month of [SEPTEMBER, OCTOBER, NOVEMBER]) whole.push(await copy(month, 'journal', platform));
    for (const month of [OCTOBER, NOVEMBER]) continued.push(await copy(month, 'journal-continued', platform));
    const [first = '', , last = ''] = whole;
    // with two openings the balances are counted twice, and the assertions of the second file fail
    await expect(include(whole, 'check')).rejects.toThrow(/balance assertion/i);
    const together = [first, ...continued];
    await include(together, 'check', '--strict', 'ordereddates');
    const balances = ['balance', '--flat', '-N', 'Assets'];
    expect(await include(together, ...balances)).toBe(await include([last], ...balances));
    // a journal that continues one says so when that one is missing, or of another month
    await expect(include([first, ...continued.slice(1)], 'check')).rejects.toThrow(/balance assertion/i);
    await expect(include(continued, 'check')).rejects.toThrow(/balance assertion/i);
  }
  const november = await readFile((await download({ month: NOVEMBER, format: 'journal-continued' })).file, 'utf8');
  expect(november).toContain('2025-11-01 * earlier month, 2025-10-10: receipt paid');
  expect(november).not.toContain('opening balances');
});

test('a closed month lists what changed in the month before it, up to its own cut, and says who closed it', async () => {
  const { sheets } = await read({ month: OCTOBER });
  const rows = rowsOf(sheetOf(sheets, ADJUSTMENTS));
  expect(rows.map((row) => [row.Dia?.value, row.Diferença?.value])).toEqual([
    ['2025-09-20 00:00:00', -15],
    ['2025-09-29 00:00:00', 19.5],
  ]);
  expect(checkCarried(sheets, (await read({ month: SEPTEMBER })).sheets, ['2025', '09'])).toBe(450n);
  const closing = lineOf(sheetOf(sheets, 'Resumo do período'), 'Fechamento do mês')?.[0]?.value;
  expect(closing).toMatch(
    /^Fechado em \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d por tk_accountant: estas cifras não mudam mais$/,
  );
  // its days may all be over for good: a month that nobody closed is open
  const november = sheetOf((await read({ month: NOVEMBER })).sheets, 'Resumo do período');
  expect(lineOf(november, 'Fechamento do mês')?.[0]?.value).toMatch(
    /^(?:Todos os dias do período estão completos|O período acabou).*\. Mês em aberto: não foi fechado no Confere$/,
  );
  expect(lineOf(november, 'Situação')).toBeUndefined();
  // no month before the first one was handed in
  expect((await read({ month: SEPTEMBER })).sheets.map(({ title }) => title)).not.toContain(ADJUSTMENTS);
  // a range that is no month is cut now
  const part = await read({ month: OCTOBER, to: '2025-10-30' });
  expect(lineOf(sheetOf(part.sheets, 'Resumo do período'), 'Fechamento do mês')).toBeUndefined();
});

test('a reader without the right to see people gets the adjustments masked', async () => {
  const document = '11144477735';
  const one = transactionOf('cashin', 5_000n, [['paid', '2025-10-17 10:00:00']], { reference: document, document });
  await applyTransactions(context, [one]);
  const rowOf = async (masked: boolean) => {
    const { sheets } = await read({ month: NOVEMBER, masked });
    return rowsOf(sheetOf(sheets, ADJUSTMENTS)).find((row) => row['Id da transação']?.value === one.id);
  };
  expect((await rowOf(false))?.Referência?.value).toBe(document);
  expect((await rowOf(true))?.Referência?.value).toBe('***');
  const ofxOf = async (masked: boolean) =>
    await readFile((await download({ month: NOVEMBER, format: 'ofx', masked })).file, 'latin1');
  expect(await ofxOf(false)).toContain(document);
  const masked = await ofxOf(true);
  expect(masked).toContain('Ajuste de m\xeas anterior, 17/10/2025: Recebimento');
  expect(masked).not.toContain(document);
});

test('a payment that is learnt while its month is closed is in the month or in the adjustments, never in both', async () => {
  const replica = await books.replica();
  for (let run = 0; run < numRuns(1, 20); run++) {
    await reopenMonth(context, { month: OCTOBER, note: 'de novo', ...BY });
    const late = transactionOf('cashin', 1_000n, [['paid', '2025-10-22 10:00:00']]);
    // the open statement differs: it is from before this payment
    await context.db.deleteFrom('statements').execute();
    await context.db.updateTable('mismatches').set({ state: 'resolved' }).execute();
    await Promise.all([applyTransactions(replica, [late]), closeMonth(context, { month: OCTOBER, ...BY })]);
    const [october, november] = [await read({ month: OCTOBER }), await read({ month: NOVEMBER })];
    const listed = (sheets: ReadSheet[], title: string): number =>
      rowsOf(sheetOf(sheets, title)).filter((row) => row['Id da transação']?.value === late.id).length;
    expect(listed(october.sheets, 'Recebimentos') + listed(november.sheets, ADJUSTMENTS)).toBe(1);
    checkCarried(november.sheets, october.sheets, ['2025', '10']);
  }
}, 120_000);
