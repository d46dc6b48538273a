import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { acknowledgeMismatch, resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { applyTransactions, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory } from '../../support/start-serve.ts';
import { findValues } from './find-values.ts';

const PLAIN = '31415926535';
const NAME = 'Zuzimara Quixabeira';
const EXTRA = `mesa 4, cliente ${PLAIN}`;
const ALONE = '2026-03-01';
const NAMING = '2026-03-05';
const LATER = '2026-03-09';

const paid = (day: string, facts = {}) => transactionOf('cashin', 900n, [['paid', `${day} 10:00:00`]], facts);
/** The person's own transaction, long before the days whose reports name them. */
const theirs = { name: NAME, document: PLAIN };

const open = () => openEnvironment({ SECRET_KEY });
const inFiles = ({ context, dataDir }: TestEnvironment) =>
  findValues(context.db, [path.join(dataDir, 'reports')], [PLAIN, 'Zuzimara']);
const daysOfFiles = ({ dataDir }: TestEnvironment) => [
  ...new Set(readdirSync(path.join(dataDir, 'reports')).flatMap((name) => /\d{4}-\d{2}-\d{2}/.exec(name) ?? [])),
];

async function forget(books: TestEnvironment, dataDir: string, ...more: string[]) {
  const { DATABASE_URL = '' } = books.context.config;
  const env = { DATABASE_URL, SECRET_KEY, DATA_DIR: dataDir };
  const called = runCommandInProcess(['forget', '--document', PLAIN, '--json', ...more], env, books.timers);
  const { code, out, err } = await advanceUntilDone(books, called);
  return { code, err, reported: (out === '' ? {} : JSON.parse(out)) as { erased: Record<string, number> } };
}

async function makeReports({ context }: TestEnvironment, days: string[]): Promise<void> {
  for (const day of days) {
    await makeReport(context, day);
    await openReport(context, { day, format: 'xlsx', masked: true });
  }
}

async function findMismatch({ context }: TestEnvironment, kind: string, transactionId: string): Promise<string> {
  const found = await readRow(context.db, 'mismatches', ['id'], { kind, transaction_id: transactionId });
  return found.id;
}

async function raise(books: TestEnvironment, transactionId: string): Promise<string> {
  const differs = { kind: 'commission_differs' as const, scope: transactionId, transactionId };
  const { context } = books;
  await context.db.transaction().execute((trx) => raiseMismatches(trx, [differs], context.clock.now()));
  return await findMismatch(books, 'commission_differs', transactionId);
}

test('the files of another’s day go whose extra held the document, and of no other day', async () => {
  await using books = await open();
  await applyTransactions(books.context, [paid(ALONE, theirs), paid(NAMING, { extra: EXTRA }), paid(LATER)]);
  await makeReports(books, [NAMING, LATER]);
  expect(await inFiles(books)).toContain(`confere-${NAMING}-r1-masked.xlsx`);
  const dry = await forget(books, books.dataDir, '--dry-run');
  expect(dry.reported.erased.report_files).toBeGreaterThan(0);
  expect(await forget(books, books.dataDir)).toMatchObject({ code: 0, reported: { finished: true } });
  expect(await inFiles(books)).toEqual([]);
  expect(daysOfFiles(books)).toEqual([LATER]);
});

test('forgetting removes the files of each day whose report showed a note', async () => {
  await using books = await open();
  const { context } = books;
  // known by a note alone
  const one = paid(ALONE);
  await applyTransactions(context, [one, paid(LATER)]);
  await makeReports(books, ['2026-03-02']);
  const id = await raise(books, one.id);
  await acknowledgeMismatch(context, id, { actor: 'a', note: `falei com ${NAME}, CPF ${PLAIN}` });
  await makeReports(books, ['2026-03-03', NAMING]);
  await resolveMismatchByHand(context, id, { actor: 'a', note: 'resolvido' });
  await makeReports(books, [LATER]);
  expect(await inFiles(books)).toContain(`confere-${NAMING}-r1.xlsx`);
  expect(await forget(books, books.dataDir)).toMatchObject({ code: 0, reported: { finished: true } });
  expect(await inFiles(books)).toEqual([]);
  expect(daysOfFiles(books)).toEqual(['2026-03-02', LATER]);
  const { report } = await openReport(context, { day: NAMING, format: 'xlsx' });
  expect(report.redacted).toBe(true);
});

test('forgetting removes the files even if the command died after erasing everything else', async () => {
  await using books = await open();
  using broken = temporaryDirectory();
  writeFileSync(path.join(broken.path, 'reports'), 'no directory');
  await plantBoth(books);
  expect((await forget(books, broken.path)).code).toBe(1);
  const left = await inFiles(books);
  expect(left).toEqual(left.filter((name) => name.startsWith('confere-')));
  expect(left).toContain(`confere-${NAMING}-r1.xlsx`);
  expect(await forget(books, books.dataDir)).toMatchObject({ code: 0, reported: { finished: true } });
  expect(await inFiles(books)).toEqual([]);
});

test('forgetting removes the files on a second machine with reports of its own', async () => {
  await using books = await open();
  using other = temporaryDirectory();
  mkdirSync(path.join(other.path, 'reports'));
  await plantBoth(books);
  expect(await forget(books, other.path)).toMatchObject({ code: 0, reported: { finished: true } });
  expect(await inFiles(books)).toContain(`confere-${NAMING}-r1.xlsx`);
  expect(await forget(books, books.dataDir)).toMatchObject({ code: 0, reported: { finished: true } });
  expect(await inFiles(books)).toEqual([]);
});

/** Someone whom another's extra names on one day, and a note on the reports of a later one. */
async function plantBoth(books: TestEnvironment): Promise<void> {
  const { context } = books;
  const one = paid(ALONE, theirs);
  await applyTransactions(context, [one, paid(NAMING, { extra: EXTRA })]);
  await makeReports(books, [NAMING]);
  const id = await raise(books, one.id);
  await acknowledgeMismatch(context, id, { actor: 'a', note: `a senhora ${NAME} ligou` });
  await makeReports(books, [LATER]);
}
