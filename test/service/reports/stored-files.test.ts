import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Erase } from '../../../src/domain/person/person.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { eraseReportFiles } from '../../../src/reports/serve/erase-report-files.ts';
import { findReport, nameDownload, openReport } from '../../../src/reports/serve/open-report.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  transactionOf,
} from '../../support/make-report-transactions.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { centsOf, lineOf, readWorkbook, rowsOf, sheetOf, sumCents } from './read-workbook.ts';

const DAY = '2026-03-11';
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

test('a missing or damaged file is rebuilt from its cut, byte for byte, after any later change', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, generateTransactions(80, ['2026-03-10', DAY], 3));
  const { report } = await makeReport(context, DAY);
  await applyTransactions(context, generateTransactions(40, ['2026-03-10', DAY], 4));
  for (const { format, sha256: stored } of report.files) {
    const { file } = await openReport(context, { day: DAY, format });
    expect(sha256(file)).toBe(stored);
    expect(readFileSync(`${file}.sha256`, 'utf8')).toBe(`${stored}  ${path.basename(file)}\n`);
    rmSync(file);
    expect(sha256((await openReport(context, { day: DAY, format })).file)).toBe(stored);
    writeFileSync(file, 'half a file');
    expect(sha256((await openReport(context, { day: DAY, format })).file)).toBe(stored);
  }
});

test('a lost file that this version rebuilds with other bytes is recorded beside the first hash, said in the log, and rebuilt once', async () => {
  const lines: string[] = [];
  const log = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  await using books = await openEnvironment({ LOG_LEVEL: 'warn' }, undefined, log);
  const { context } = books;
  await applyTransactions(context, generateTransactions(20, [DAY], 3));
  const { report } = await makeReport(context, DAY);
  // as an earlier version made it: the same rows, other columns
  const earlier = report.files.map((one) => ({ ...one, sha256: 'a'.repeat(64) }));
  await context.db
    .updateTable('reports')
    .set({ files: JSON.stringify(earlier) })
    .execute();
  const opened = await openReport(context, { day: DAY, format: 'csv' });
  expect(opened.sha256).toBe(sha256(opened.file));
  const { report: listed } = await openReport(context, { day: DAY, format: 'xlsx' });
  expect(listed.files.map((one) => [one.sha256, one.rebuilt?.sha256])).toEqual(
    report.files.map((one) => ['a'.repeat(64), one.sha256]),
  );
  expect(lines.filter((line) => line.includes('rebuilt: its rows are the same, its SHA-256 is not'))).toHaveLength(3);
  const before = statSync(opened.file).ino;
  expect((await openReport(context, { day: DAY, format: 'csv' })).sha256).toBe(opened.sha256);
  expect(statSync(opened.file).ino).toBe(before);
  expect(lines).toHaveLength(3);
});

test('another replica, with its own disk, language and masks, serves the same bytes from the same database', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, generateTransactions(80, ['2026-03-10', DAY], 3));
  await makeReport(context, DAY);
  await applyTransactions(context, generateTransactions(40, ['2026-03-10', DAY], 4));
  const { report } = await makeReport(context, DAY);
  await applyTransactions(context, generateTransactions(40, ['2026-03-10', DAY], 6));
  using disk = temporaryDirectory();
  const config = { ...context.config, DATA_DIR: disk.path, REPORT_LOCALE: 'en' as const, REPORT_FULL_DOCUMENTS: true };
  const replica = { ...context, config };
  for (const { format, sha256: stored, name } of report.files) {
    const opened = await openReport(replica, { day: DAY, format });
    expect(path.dirname(opened.file)).toBe(path.join(disk.path, 'reports'));
    expect([opened.name, opened.sha256, sha256(opened.file)]).toEqual([name, stored, stored]);
    expect(opened.report).toEqual(report);
  }
  const first = await openReport(replica, { day: DAY, format: 'xlsx', revision: 1 });
  expect(first.sha256).toBe(first.report.sha256);
});

test('one platform alone adds up to its own column', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, generateTransactions(120, ['2026-03-10', DAY], 11));
  await makeReport(context, DAY);
  const all = sheetOf(await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file), 'Resumo');
  const opened = await openReport(context, { day: DAY, format: 'xlsx', platform: PLATFORM_A });
  expect(opened.name).toBe(`confere-2026-03-11-r1-platform-${PLATFORM_A}.xlsx`);
  const sheets = await readWorkbook(opened.file);
  const one = sheetOf(sheets, 'Resumo');
  for (const label of ['Saldo inicial', '+ Recebimentos', '− Pagamentos', 'Saldo final', 'do qual retido']) {
    expect(centsOf(lineOf(one, label)?.[0]), label).toBe(centsOf(lineOf(all, label)?.[0]));
    expect(centsOf(lineOf(one, label)?.[1]), label).toBe(centsOf(lineOf(all, label)?.[0]));
  }
  const platforms = rowsOf(sheetOf(sheets, 'Extrato')).map((row) => row.Plataforma?.value);
  expect(new Set(platforms)).toEqual(new Set([PLATFORM_A]));
});

test("a masked file masks a merchant's text only where it repeats the payer", async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const paid = (extra: string, email: string | null) =>
    transactionOf('cashin', 100n, [['paid', `${DAY} 10:00:00`]], { extra, email });
  const texts = ['para MARIA DA CONCEICAO', 'cpf 123.456.789-09', 'de maria@loja.example', 'mesa 4'];
  await applyTransactions(
    context,
    texts.map((extra) => paid(extra, 'maria@loja.example')),
  );
  await makeReport(context, DAY);
  const extras = async (masked: boolean) => {
    const { file } = await openReport(context, { day: DAY, format: 'xlsx', masked });
    return rowsOf(sheetOf(await readWorkbook(file), 'Recebimentos')).map((row) => row.Extra?.value);
  };
  expect(await extras(false)).toEqual(texts);
  expect(await extras(true)).toEqual(['***', '***', '***', 'mesa 4']);
  // a file with the masks of an earlier version, and its sum
  const { file } = await openReport(context, { day: DAY, format: 'csv', masked: true });
  const masked = readFileSync(file, 'utf8');
  writeFileSync(file, 'other masks');
  writeFileSync(
    `${file}.sha256`,
    `${createHash('sha256').update('other masks').digest('hex')}  ${path.basename(file)}\n`,
  );
  await openReport(context, { day: DAY, format: 'csv', masked: true });
  expect(readFileSync(file, 'utf8')).toBe(masked);
});

test('Resumo of a file that was rebuilt after an erasure says that it is not the original one', async () => {
  await using books = await openEnvironment();
  const { context, dataDir } = books;
  await applyTransactions(context, [transactionOf('cashin', 100n, [['paid', `${DAY} 10:00:00`]])]);
  const { report: first } = await makeReport(context, DAY);
  const readResumo = async () => {
    const { file, report } = await openReport(context, { day: DAY, format: 'xlsx' });
    const lines = sheetOf(await readWorkbook(file), 'Resumo').rows.map((row) => row[1]?.value);
    return { report, isMarked: lines.includes(textsOf('pt-BR').summary.forgottenText) };
  };
  expect(await readResumo()).toMatchObject({ isMarked: false, report: { redacted: false } });
  const days = async () => new Set([DAY]);
  const count = await eraseReportFiles(context)(
    { listReportDays: days } as Parameters<Erase>[0],
    { write: true } as Parameters<Erase>[1],
  );
  expect(count).toBe(6);
  expect(readdirSync(path.join(dataDir, 'reports'))).toEqual([]);
  const { report, isMarked } = await readResumo();
  expect(isMarked).toBe(true);
  expect(report).toMatchObject({ redacted: true, digest: first.digest });
  const again = await openReport(context, { day: DAY, format: 'xlsx' });
  expect(again.sha256).toBe(again.report.sha256);
  expect(again.sha256).not.toBe(first.sha256);
});

test('no two platforms share a file, and an unknown platform has none', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const platforms = ['a.b', 'a_b', 'a:b', 'en', 'masked', 'en-masked'];
  const paid = (platform: string) => transactionOf('cashin', 100n, [['paid', `${DAY} 10:00:00`]], { platform });
  const open = transactionOf('cashin', 100n, [['pending', `${DAY} 10:00:00`]], { platform: 'open' });
  await applyTransactions(context, [...platforms.map(paid), open]);
  await makeReport(context, DAY);
  const wanted = ['en', undefined].flatMap((locale) =>
    [true, false].flatMap((masked) =>
      [...platforms, undefined, 'open'].map((platform) => ({
        ...{ day: DAY, format: 'csv' as const, masked },
        ...(platform === undefined ? {} : { platform }),
        ...(locale === undefined ? {} : { locale: 'en' as const }),
      })),
    ),
  );
  // the name decides the file: to build all of them takes seconds
  const [files, downloads] = [new Set<string>(), new Set<string>()];
  for (const one of wanted) {
    const { name } = await findReport(context, one);
    files.add(name);
    downloads.add(nameDownload(name, one));
  }
  expect([files.size, downloads.size]).toEqual([wanted.length, wanted.length]);
  const contents = new Set<string>();
  for (const platform of ['a.b', 'a_b']) {
    const { file } = await openReport(context, { day: DAY, format: 'csv', platform });
    expect(files).toContain(path.basename(file));
    contents.add(readFileSync(file, 'utf8'));
  }
  expect(contents.size).toBe(2);
  for (const platform of ['nobody', 'A.b', PLATFORM_A]) {
    const opening = openReport(context, { day: DAY, format: 'csv', platform });
    await expect(opening).rejects.toMatchObject({ code: 'invalid_request' });
  }
});

test('a sheet beyond its limit continues in parts, which add up and are listed on Resumo', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const transactions = generateTransactions(150, [DAY], 5);
  await applyTransactions(context, transactions);
  await makeReport(context, DAY, { rowsPerSheetMax: 20 });
  const sheets = await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file);
  const parts = sheets.filter((sheet) => /^Recebimentos/.test(sheet.title));
  expect(parts.map((sheet) => sheet.title).slice(0, 2)).toEqual(['Recebimentos', 'Recebimentos (2)']);
  const paid = transactions.filter(
    (one) => one.operation === 'cashin' && one.events.some((e) => e.status === 'paid' && e.atWall.startsWith(DAY)),
  );
  const rows = parts.flatMap((sheet) => rowsOf(sheet));
  expect(rows).toHaveLength(paid.length);
  expect(sumCents(rows.map((row) => row.Valor))).toBe(paid.reduce((total, one) => total + one.amountCents, 0n));
  const summary = sheetOf(sheets, 'Resumo');
  const listed = summary.rows.filter((row) => row[0]?.value === 'Planilhas divididas').map((row) => row[1]?.value);
  expect(listed).toContainEqual(expect.stringMatching(/^Recebimentos: \d+ partes/));
  expect(centsOf(lineOf(summary, 'Diferença (deve ser 0,00)', 1)?.filter(Boolean).at(-1))).toBe(0n);
});
