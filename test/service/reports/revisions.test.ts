import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { acceptMismatch } from '../../../src/ledger/correct/accept-mismatch.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { listReports } from '../../../src/reports/serve/list-reports.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { readSeal } from '../../../src/seal/read-seals.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import {
  applyTransactions,
  generateTransactions,
  PLATFORM_A,
  recordReadDays,
  transactionOf,
  withLaterEvents,
} from '../../support/make-report-transactions.ts';
import { stateBalance } from '../../support/open-books.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { numRuns } from '../../support/property.ts';
import { readRow } from '../../support/read-rows.ts';
import { centsOf, lineOf, readWorkbook, rowsOf, sheetOf, sumCents } from './read-workbook.ts';

const DAY = '2026-03-11';
const AFTER = new Date('2026-03-12T09:00:00Z');
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

test('no change makes no revision; a late event makes the next one, and the older one stays', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const late = transactionOf('cashin', 9_900n, [['pending', '2026-03-11 10:00:00']]);
  await applyTransactions(context, [late, transactionOf('cashin', 100n, [['paid', '2026-03-11 11:00:00']])]);

  const first = await makeReport(context, DAY);
  expect(first).toMatchObject({ changed: true, report: { revision: 1, state: 'provisional', proven: false } });
  expect(await makeReport(context, DAY)).toMatchObject({ changed: false, report: { revision: 1 } });

  await applyTransactions(context, [withLaterEvents(late, [['paid', '2026-03-11 23:59:59']])]);
  const second = await makeReport(context, DAY);
  expect(second).toMatchObject({ changed: true, report: { revision: 2 } });
  expect(second.report.digest).not.toBe(first.report.digest);
  const { file, name } = await openReport(context, { day: DAY, format: 'xlsx' });
  expect(name).toBe('confere-2026-03-11-r2.xlsx');
  const changes = sheetOf(await readWorkbook(file), 'Alterações');
  const [change, ...others] = rowsOf(changes);
  expect(others).toEqual([]);
  // the total is the change of the day's closing balance
  expect(sumCents(changes.rows.at(-1)?.filter((cell) => cell?.formula) ?? [])).toBe(2n * 9_850n);
  expect(change).toMatchObject({
    'Id da transação': { value: late.id },
    Antes: { value: 'Pendente' },
    Depois: { value: 'Pago' },
    'Por quê': { value: 'soubemos depois: pago' },
    Origem: { value: 'Consulta' },
  });
  expect(centsOf(change?.Diferença)).toBe(9_850n);
  expect((await openReport(context, { day: DAY, format: 'xlsx', revision: 1 })).sha256).toBe(first.report.sha256);
});

test('a change without effect on the day makes no revision, and is checked once', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const one = transactionOf('cashout', 500n, [['paid', '2026-03-11 09:00:00']]);
  await applyTransactions(context, [one]);
  await makeReport(context, DAY);
  await applyTransactions(context, [withLaterEvents(one, [['refund', '2026-03-12 00:00:00']])]);
  expect((await makeReport(context, DAY)).changed).toBe(false);
  await applyTransactions(context, [transactionOf('cashin', 100n, [['canceled', '2026-03-10 09:00:00']])]);
  expect((await makeReport(context, DAY)).changed).toBe(false);
  const row = await context.db.selectFrom('reports').selectAll().executeTakeFirstOrThrow();
  expect(row.checked_event_seq).toBeGreaterThan(row.cut_event_seq);
});

test('a change in an earlier day shows in the opening balance of the later ones', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, [transactionOf('cashin', 1_000n, [['paid', '2026-03-11 09:00:00']])]);
  await makeReport(context, DAY);
  await applyTransactions(context, [transactionOf('cashin', 2_050n, [['paid', '2026-03-10 09:00:00']])]);
  expect((await makeReport(context, DAY)).changed).toBe(true);
  const { file } = await openReport(context, { day: DAY, format: 'xlsx' });
  const sheets = await readWorkbook(file);
  expect(centsOf(lineOf(sheetOf(sheets, 'Resumo'), 'Saldo inicial')?.[0])).toBe(2_000n);
  const [change] = rowsOf(sheetOf(sheets, 'Alterações'));
  expect(change).toMatchObject({ 'O que mudou': { value: 'Saldo inicial' }, Plataforma: { value: PLATFORM_A } });
  expect(centsOf(change?.Diferença)).toBe(2_000n);
});

test('a fact that was filled in later stays unknown in earlier revisions', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const blank = { reference: null, extra: null, platform: null, e2eId: null };
  const held = transactionOf('cashout', 9_900n, [['pending', `${DAY} 10:00:00`]], blank);
  const paid = transactionOf('cashin', 5_000n, [['paid', `${DAY} 10:00:00`]], blank);
  await applyTransactions(context, [held, paid]);
  const { report } = await makeReport(context, DAY);
  const known = {
    reference: 'pedido-1',
    extra: 'caixa 4',
    platform: PLATFORM_A,
    e2eId: 'E12345678202603111300abcdefghijk',
  };
  await applyTransactions(context, [withLaterEvents(held, [], known), withLaterEvents(paid, [], known)]);
  await applyTransactions(context, [
    withLaterEvents(paid, [], { ...known, e2eId: 'E12345678202603111300zzzzzzzzzzz' }),
  ]);
  for (const { format, sha256: stored } of report.files) {
    rmSync((await openReport(context, { day: DAY, format })).file);
    expect([format, (await openReport(context, { day: DAY, format })).sha256]).toEqual([format, stored]);
  }
  await applyTransactions(context, [transactionOf('cashin', 100n, [['paid', `${DAY} 11:00:00`]])]);
  await makeReport(context, DAY);
  const sheets = await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file);
  const row = rowsOf(sheetOf(sheets, 'Recebimentos')).find((one) => one['Id da transação']?.value === paid.id);
  expect(row).toMatchObject({
    Referência: { value: 'pedido-1' },
    'Id E2E': { value: 'E12345678202603111300zzzzzzzzzzz' },
  });
});

test('a correction shows in the next revision only, with a row in Alterações', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const open = transactionOf('cashin', 9_900n, [['pending', `${DAY} 10:00:00`]]);
  const paid = transactionOf('cashout', 5_000n, [
    ['pending', `${DAY} 09:00:00`],
    ['paid', `${DAY} 10:00:00`],
  ]);
  await applyTransactions(context, [open, paid, ...generateTransactions(30, [DAY], 8)]);
  const { report: first } = await makeReport(context, DAY);

  const accept = async (kind: 'amount_differs' | 'status_differs', one: typeof open, actual: object) => {
    const { seq } = await readRow(context.db, 'transactions', ['seq'], { id: one.id });
    const found = { kind, scope: one.id, transactionSeq: seq, transactionId: one.id, actual };
    await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
    const row = await readRow(context.db, 'mismatches', ['id'], { scope: one.id });
    await acceptMismatch(context, row.id, { actor: 'test', note: 'o provedor confirmou' });
  };
  await accept('amount_differs', open, { amount: '12.34', operation: 'cashin' });
  await accept('status_differs', paid, { lacks: [{ sequence: 2 }], shows_again: [] });
  expect(await makeReport(context, DAY)).toMatchObject({ changed: true, report: { revision: 2 } });

  const rows = async (title: string, revision: number) =>
    rowsOf(
      sheetOf(await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx', revision })).file), title),
    );
  const ofOne = (list: Awaited<ReturnType<typeof rows>>, id: string) =>
    list.find((row) => row['Id da transação']?.value === id);
  const pending = await rows('Pendentes', 2);
  expect(centsOf(ofOne(pending, open.id)?.Valor)).toBe(1_234n);
  expect(ofOne(pending, paid.id)).toMatchObject({ Situação: { value: 'Pendente' } });
  const changes = await rows('Alterações', 2);
  expect(ofOne(changes, open.id)).toMatchObject({
    'Por quê': { value: 'dado da transação conhecido ou corrigido depois' },
  });
  expect(ofOne(changes, paid.id)).toMatchObject({ Antes: { value: 'Pago' }, Depois: { value: 'Pendente' } });

  for (const { format, sha256: stored } of first.files) {
    rmSync((await openReport(context, { day: DAY, format, revision: 1 })).file);
    expect([format, (await openReport(context, { day: DAY, format, revision: 1 })).sha256]).toEqual([format, stored]);
  }
  const before = await rows('Pendentes', 1);
  expect([centsOf(ofOne(before, open.id)?.Valor), ofOne(before, paid.id)]).toEqual([9_900n, undefined]);
});

test('a row committed late, below the number of a cut, is not in the cut, and makes the next revision', async () => {
  await using books = await openEnvironment();
  const { db } = books.context;
  const open = transactionOf('cashin', 9_900n, [['pending', `${DAY} 10:00:00`]]);
  await applyTransactions(books.context, [open]);
  const top = async (table: 'entries' | 'events') =>
    Number(
      (
        await db
          .selectFrom(table)
          .select((eb) => eb.fn.max('seq').as('seq'))
          .executeTakeFirst()
      )?.seq ?? 0,
    );
  const [eventSeq, entrySeq] = [(await top('events')) + 1, (await top('entries')) + 1];
  for (const table of ['events', 'entries']) await sql.raw(`ALTER TABLE ${table} AUTO_INCREMENT = 1000`).execute(db);
  await applyTransactions(books.context, generateTransactions(30, [DAY], 3));
  const { report: first } = await makeReport(books.context, DAY);

  // as on another node of a cluster: numbers drawn before the cut, committed after it
  const { seq } = await db.selectFrom('transactions').select('seq').where('id', '=', open.id).executeTakeFirstOrThrow();
  const paid = { transaction_seq: seq, at_wall: `${DAY} 12:00:00`, source_kind: 'show' };
  const now = books.context.clock.now();
  await db
    .insertInto('events')
    .values({
      ...paid,
      seq: eventSeq,
      status: 'paid',
      occurrence: 1,
      position: 1,
      sequence: 2,
      inferred: 0,
      seen_at: now,
    })
    .execute();
  const entry = {
    ...paid,
    seq: entrySeq,
    event_seq: eventSeq,
    kind: 'movement',
    platform: PLATFORM_A,
    recorded_at: now,
  };
  await db.insertInto('entries').values(entry).execute();
  const account = async (name: string) =>
    (await db.selectFrom('accounts').select('seq').where('name', '=', name).executeTakeFirstOrThrow()).seq;
  const posting = { entry_seq: entrySeq, at_wall: paid.at_wall };
  await db
    .insertInto('postings')
    .values([
      {
        ...posting,
        position: 0,
        account_seq: await account(`Assets:Provider:Available:${PLATFORM_A}`),
        amount_cents: 9_900n,
      },
      {
        ...posting,
        position: 1,
        account_seq: await account(`Liabilities:Receipts:${PLATFORM_A}`),
        amount_cents: -9_900n,
      },
    ])
    .execute();
  const status = { status: 'paid', status_wall: paid.at_wall } as const;
  await db.updateTable('transactions').set(status).where('seq', '=', seq).execute();

  const again = async () => {
    for (const { format, sha256: stored } of first.files) {
      rmSync((await openReport(books.context, { day: DAY, format, revision: 1 })).file);
      expect([format, (await openReport(books.context, { day: DAY, format, revision: 1 })).sha256]).toEqual([
        format,
        stored,
      ]);
    }
  };
  await again();
  await sealNow(books.context);
  await again();
  const later = { ...books.context, clock: { ...books.context.clock, now: () => new Date('2026-03-12T12:00:00Z') } };
  expect((await makeDueReports(later)).made).toEqual([DAY]);
  const sheets = await readWorkbook((await openReport(books.context, { day: DAY, format: 'xlsx' })).file);
  const [change, ...others] = rowsOf(sheetOf(sheets, 'Alterações'));
  expect(others).toEqual([]);
  expect(change).toMatchObject({
    'Id da transação': { value: open.id },
    Antes: { value: 'Pendente' },
    Depois: { value: 'Pago' },
    'Por quê': { value: 'soubemos depois: pago' },
  });
  expect(centsOf(change?.Diferença)).toBe(9_900n);
  await again();
});

test('a revision names the chain position of its cut in the API, on Resumo, in the journal and in the file', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, generateTransactions(30, [DAY], 3));
  const { report } = await makeReport(context, DAY);
  await applyTransactions(context, generateTransactions(30, [DAY], 4));
  const head = await sealNow(context);
  const seal = await readSeal(context.db, report.position ?? 0);
  expect(report.chain_hash).toBe(seal?.hash.toString('hex'));
  expect(head.position).toBeGreaterThan(report.position ?? 0);
  const { file } = await openReport(context, { day: DAY, format: 'xlsx' });
  const summary = sheetOf(await readWorkbook(file), 'Resumo');
  expect(lineOf(summary, 'Cadeia do razão (posição e SHA-256)')?.[0]?.value).toBe(
    `${report.position} · ${report.chain_hash}`,
  );
  const core = execFileSync('unzip', ['-p', file, 'docProps/core.xml']).toString();
  expect(core).toContain(`chain:${report.position}:${report.chain_hash}`);
  const journal = readFileSync((await openReport(context, { day: DAY, format: 'journal' })).file, 'utf8');
  expect(journal.split('\n')[0]).toContain(`chain ${report.position} sha256:${report.chain_hash}`);

  // a rebuilt chain does not replace the hash of the cut
  await sql.raw('DROP TRIGGER seals_no_update').execute(context.db);
  await sql`UPDATE seals SET hash = UNHEX(REPEAT('ab', 32))`.execute(context.db);
  rmSync(file);
  const again = await openReport(context, { day: DAY, format: 'xlsx' });
  expect(again.report.chain_hash).toBe(report.chain_hash);
  expect(again.sha256).toBe(report.sha256);
});

test('a day is partial while it runs, provisional after its end, closed once all earlier days were read again', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const today = context.calendar.dayOf(context.clock.now());
  expect((await makeReport(context, today)).report).toMatchObject({ state: 'partial', proven: false });

  await recordReadDays(context, '2026-03-11', '2026-03-11', new Date('2026-03-11T20:00:00Z'));
  expect((await makeReport(context, DAY)).report).toMatchObject({ state: 'provisional', proven: false });
  const run = await recordReadDays(context, '2026-03-11', '2026-03-11', AFTER);
  expect(await makeReport(context, DAY)).toMatchObject({ changed: true, report: { revision: 2, proven: true } });
  const proven = sheetOf(await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file), 'Resumo');
  expect(lineOf(proven, 'Provado com o provedor')?.[0]?.value).toContain(run);

  await recordReadDays(context, addDays(DAY, -95), addDays(DAY, -1), AFTER);
  const { reports } = await listReports(context, { limit: 1, after: undefined });
  expect(reports[0]?.day).toBe(today);
  const { reports: older } = await listReports(context, { limit: 1, after: `${today}_1` });
  expect(older[0]).toMatchObject({ day: DAY, revision: 2, state: 'closed' });
  expect((await makeReport(context, DAY)).report).toMatchObject({ revision: 3, state: 'closed' });
});

test('a day without data has a valid, empty report', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await recordReadDays(context, DAY, DAY, AFTER);
  expect((await makeReport(context, DAY)).report).toMatchObject({ revision: 1, proven: true });
  const sheets = await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file);
  for (const sheet of sheets.slice(1)) expect(rowsOf(sheet)).toEqual([]);
  expect(centsOf(lineOf(sheetOf(sheets, 'Resumo'), 'Saldo final')?.[0])).toBe(0n);
});

test('a day in the future, and an invalid day, are refused', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const tomorrow = addDays(context.calendar.dayOf(context.clock.now()), 1);
  await expect(makeReport(context, tomorrow)).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(makeReport(context, '2026-02-30')).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(openReport(context, { day: DAY, format: 'csv' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a balance stated after a report makes the next revision, which shows it; the older one stays', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const day = addDays(context.calendar.dayOf(context.clock.now()), -1);
  await applyTransactions(context, [transactionOf('cashin', 1_000n, [['paid', `${day} 10:00:00`]])]);
  const { report: first } = await makeReport(context, day);
  expect((await makeDueReports(context)).made).toEqual([]);
  // midnight is the end of the day, and not of the next
  const at = context.calendar.startOfDay(addDays(day, 1));
  await stateBalance(context, { platform: PLATFORM_A, actor: 'test', at, balanceCents: 951n });
  expect((await makeDueReports(context)).made).toEqual([day]);
  expect(await makeReport(context, day)).toMatchObject({ changed: false, report: { revision: 2 } });
  const sheets = await readWorkbook((await openReport(context, { day, format: 'xlsx' })).file);
  expect(centsOf(lineOf(sheetOf(sheets, 'Resumo'), 'Diferença para o informado')?.[0])).toBe(1n);
  expect(rowsOf(sheetOf(sheets, 'Alterações'))).toMatchObject([
    { 'O que mudou': { value: 'Saldo informado' }, Plataforma: { value: PLATFORM_A } },
  ]);
  for (const { format, sha256: stored } of first.files) {
    rmSync((await openReport(context, { day, format, revision: 1 })).file);
    expect([format, (await openReport(context, { day, format, revision: 1 })).sha256]).toEqual([format, stored]);
  }
});

test('the job makes yesterday, every missed day since the first report, and days that changed', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  const first = addDays(yesterday, -3);
  await makeReport(context, first);
  expect((await makeDueReports(context)).made).toEqual([-2, -1, 0].map((days) => addDays(yesterday, days)));
  expect((await makeDueReports(context)).made).toEqual([]);
  await applyTransactions(context, [transactionOf('cashin', 700n, [['paid', `${addDays(yesterday, -1)} 12:00:00`]])]);
  expect((await makeDueReports(context)).made).toEqual([addDays(yesterday, -1), yesterday]);
});

test('the next revision resolves closed_day_changed', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await makeReport(context, DAY);
  await applyTransactions(context, [transactionOf('cashin', 700n, [['paid', `${DAY} 12:00:00`]])]);
  await transact(context.db, (trx) =>
    raiseMismatches(trx, [{ kind: 'closed_day_changed', scope: DAY }], context.clock.now()),
  );
  await makeReport(context, DAY);
  const row = await context.db.selectFrom('mismatches').select(['state', 'resolution']).executeTakeFirstOrThrow();
  expect(row).toEqual({ state: 'resolved', resolution: 'revised' });
});

test('two processes that make the same day end with one revision and its own file', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, generateTransactions(60, [DAY], 9));
  const made = await Promise.all([makeReport(context, DAY), makeReport(context, DAY), makeReport(context, DAY)]);
  expect(made.map((one) => one.report.revision)).toEqual([1, 1, 1]);
  expect(made.filter((one) => one.changed)).toHaveLength(1);
  const opened = await openReport(context, { day: DAY, format: 'xlsx' });
  expect(sha256(opened.file)).toBe(opened.report.sha256);
});

test('a report that fails midway leaves no row and no file', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  await applyTransactions(context, [transactionOf('cashin', 700n, [['paid', `${DAY} 12:00:00`]])]);
  const toWall = (): string => {
    throw new Error('the disk is full');
  };
  await expect(makeReport({ ...context, calendar: { ...context.calendar, toWallTime: toWall } }, DAY)).rejects.toThrow(
    'disk',
  );
  expect(readdirSync(path.join(books.dataDir, 'reports'))).toEqual([]);
  expect(await context.db.selectFrom('reports').select('seq').execute()).toEqual([]);
  expect((await makeReport(context, DAY)).report.revision).toBe(1);
});

test('a revision waits for a writer with uncommitted lower entries, and loses none', async () => {
  await using books = await openEnvironment();
  const { context } = books;
  const transactions = generateTransactions(numRuns(40, 200), [DAY], 21);
  const learning = (async () => {
    for (const one of transactions) await applyTransactions(context, [one]);
  })();
  const digests: string[] = [];
  for (let round = 0; round < 4; round++) digests.push((await makeReport(context, DAY)).report.digest);
  await learning;
  await makeReport(context, DAY);
  const rows = await context.db.selectFrom('reports').select('revision').execute();
  for (const { revision } of rows) {
    const { file, report } = await openReport(context, { day: DAY, format: 'xlsx', revision });
    rmSync(file);
    expect((await openReport(context, { day: DAY, format: 'xlsx', revision })).sha256).toBe(report.sha256);
  }
});
