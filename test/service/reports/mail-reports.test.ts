import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { mailReports } from '../../../src/reports/revisions/mail-reports.ts';
import { makeDueReports } from '../../../src/reports/revisions/make-due-reports.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { openMailSink } from '../../support/open-mail-sink.ts';

const MINUTE_MS = 60_000;
let isDown = false;

const sink = closeAfterAll(
  await openMailSink({
    onMailFrom: (_address, _session, callback) =>
      callback(isDown ? Object.assign(new Error('not now'), { responseCode: 451 }) : null),
  }),
);

async function openMailing(): Promise<TestEnvironment> {
  sink.mails.length = 0;
  isDown = false;
  return await openEnvironment({
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    ALERT_EMAIL_FROM: 'Confere <confere@example.com>',
    ALERT_EMAIL_TO: 'contas@example.com,chefe@example.com',
    PUBLIC_URL: 'https://confere.example.com',
  });
}

/** Runs `processes` senders, with a clock that is ahead by `laterMs`, until `ask` is true. */
async function sendUntil(
  context: Context,
  ask: () => Promise<boolean>,
  more: { processes?: number; laterMs?: number } = {},
) {
  const stop = new AbortController();
  const clock = { ...context.clock, now: () => new Date(context.clock.now().getTime() + (more.laterMs ?? 0)) };
  const running = Array.from({ length: more.processes ?? 1 }, () =>
    mailReports({ ...context, clock, signal: stop.signal }),
  );
  try {
    await eventually(ask);
  } finally {
    stop.abort();
    await Promise.all(running);
  }
}

const isAllSent = (context: Context) => async (): Promise<boolean> => {
  const rows = await context.db.selectFrom('report_mails').select('sent_at').execute();
  return rows.length > 0 && rows.every((row) => row.sent_at !== null);
};

test('each revision of the schedule is mailed once, as a link that needs a login, without data of the day', async () => {
  await using books = await openMailing();
  const { context } = books;
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  await applyTransactions(context, [transactionOf('cashin', 123_456n, [['paid', `${yesterday} 10:00:00`]])]);
  expect((await makeDueReports(context)).made).toEqual([yesterday]);
  await sendUntil(context, isAllSent(context), { processes: 4 });
  expect(sink.mails).toHaveLength(1);
  const [mail] = sink.mails;
  expect(mail?.to).toEqual(['contas@example.com', 'chefe@example.com']);
  expect(mail?.text).toContain(`https://confere.example.com/reports/${yesterday}-r1.xlsx`);
  const { sha256, position, chain_hash: chain } = (await makeReport(context, yesterday)).report;
  expect(mail?.text).toContain(sha256);
  expect(mail?.text).toContain(`Cadeia do razão (posição e SHA-256): ${position} · ${chain}`);
  for (const secret of ['Maria', '12345678909', '1234,56', '1.234', 'pedido-']) expect(mail?.raw).not.toContain(secret);

  await applyTransactions(context, [transactionOf('cashin', 1n, [['paid', `${yesterday} 11:00:00`]])]);
  await makeDueReports(context);
  await makeDueReports(context);
  await sendUntil(context, isAllSent(context), { processes: 2 });
  expect(sink.mails.map((one) => one.header('message-id'))).toEqual([
    `<report-${yesterday}-r1@example.com>`,
    `<report-${yesterday}-r2@example.com>`,
  ]);
  expect(sink.mails[1]?.text).toContain('Alterações');
});

test('a revision that a person makes is not mailed; without addresses none is', async () => {
  await using books = await openMailing();
  await makeReport(books.context, '2026-03-11');
  expect(await books.context.db.selectFrom('report_mails').selectAll().execute()).toEqual([]);
  await using silent = await openEnvironment();
  await makeDueReports(silent.context);
  expect(await silent.context.db.selectFrom('report_mails').selectAll().execute()).toEqual([]);
});

test('a revision with only a new proof is not mailed; the first one of the whole day is', async () => {
  await using books = await openMailing();
  const { context } = books;
  const day = '2026-03-11';
  const at = (days: number) => daysAfter(context, day, days);
  expect((await makeReport(at(0), day)).report).toMatchObject({ revision: 1, state: 'partial' });
  // only its end has passed
  expect((await makeDueReports(at(1))).made).toEqual([day]);
  expect(await listMails(context, day)).toEqual(['r2']);
  await recordReadDays(context, day, day, at(1).clock.now());
  expect((await makeDueReports(at(2))).made).toContain(day);
  expect((await makeReport(at(2), day)).report).toMatchObject({ revision: 3, proven: true });
  expect(await listMails(context, day)).toEqual(['r2']);
  await recordReadDays(context, addDays(day, -95), day, at(2).clock.now());
  await applyTransactions(context, [transactionOf('cashin', 1n, [['paid', `${day} 11:00:00`]])]);
  expect((await makeDueReports(at(3))).made).toContain(day);
  expect((await makeReport(at(3), day)).report).toMatchObject({ revision: 4, state: 'closed' });
  expect(await listMails(context, day)).toEqual(['r2', 'r4']);
});

test('the next tick mails a revision that a person made, with or without further changes', async () => {
  await using books = await openMailing();
  const { context } = books;
  const day = '2026-03-11';
  const at = (days: number) => daysAfter(context, day, days);
  await makeReport(at(1), day);
  expect(await listMails(context, day)).toEqual([]);
  // only the proof is new
  await recordReadDays(context, day, day, at(1).clock.now());
  expect((await makeDueReports(at(1))).made).toEqual([day]);
  expect(await listMails(context, day)).toEqual(['r2']);
  await applyTransactions(context, [transactionOf('cashin', 1n, [['paid', `${day} 11:00:00`]])]);
  expect((await makeReport(at(2), day)).report).toMatchObject({ revision: 3 });
  expect(await listMails(context, day)).toEqual(['r2']);
  // nothing is new
  expect((await makeDueReports(at(2))).made).not.toContain(day);
  expect(await listMails(context, day)).toEqual(['r2', 'r3']);
  await applyTransactions(context, [transactionOf('cashin', 1n, [['paid', `${day} 12:00:00`]])]);
  expect((await makeReport(at(3), day)).report).toMatchObject({ revision: 4 });
  await recordReadDays(context, addDays(day, -95), day, at(3).clock.now());
  await makeDueReports(at(3));
  expect((await makeReport(at(3), day)).report).toMatchObject({ revision: 5, state: 'closed' });
  expect(await listMails(context, day)).toEqual(['r2', 'r3', 'r5']);
});

test('reports older than the first mail are mailed when they change, not when they close', async () => {
  await using books = await openMailing();
  const { context } = books;
  const [day, other] = ['2026-03-11', '2026-03-12'] as const;
  const at = (days: number) => daysAfter(context, day, days);
  for (const one of [day, other]) await makeReport(at(2), one);
  await recordReadDays(context, addDays(day, -95), other, at(10).clock.now());
  await applyTransactions(context, [transactionOf('cashin', 1n, [['paid', `${other} 11:00:00`]])]);
  expect((await makeDueReports(at(10))).made).toEqual(expect.arrayContaining([day, other]));
  expect(await listMails(context, day)).toEqual([]);
  expect(await listMails(context, other)).toEqual(['r2']);
});

/** The context at nine in the morning, `days` days after `day`. */
function daysAfter(context: Context, day: string, days: number): Context {
  const { clock, calendar } = context;
  const now = (): Date => new Date(calendar.startOfDay(addDays(day, days)).getTime() + 9 * 60 * MINUTE_MS);
  return { ...context, clock: { ...clock, now } };
}

async function listMails(context: Context, day: string): Promise<string[]> {
  const rows = await context.db
    .selectFrom('report_mails')
    .innerJoin('reports', 'reports.seq', 'report_mails.report_seq')
    .select('revision')
    .where('day', '=', day)
    .orderBy('revision')
    .execute();
  return rows.map((row) => `r${row.revision}`);
}

test('a failed mail, or one whose sender was killed, is sent later', async () => {
  await using books = await openMailing();
  const { context } = books;
  await makeDueReports(context);
  isDown = true;
  const failed = async (): Promise<boolean> =>
    (await context.db.selectFrom('report_mails').select('error').executeTakeFirst())?.error != null;
  await sendUntil(context, failed);
  expect(sink.mails).toEqual([]);
  isDown = false;
  // the row of a killed sender: claimed, neither sent nor failed
  const claimed = { error: null, next_attempt_at: new Date(context.clock.now().getTime() + MINUTE_MS) };
  await context.db.updateTable('report_mails').set(claimed).execute();
  await sendUntil(context, isAllSent(context), { laterMs: 2 * MINUTE_MS });
  expect(sink.mails).toHaveLength(1);
});

test('a mail that fails waits 1, 5, 30 minutes and more by its age, and is dropped after the last wait', async () => {
  await using books = await openMailing();
  const { context } = books;
  await makeDueReports(context);
  isDown = true;
  const waits: (number | null)[] = [];
  for (const minutes of [0, 1, 6, 36, 4835, 4836]) {
    const now = context.clock.now().getTime();
    const aged = { error: null, next_attempt_at: new Date(now), created_at: new Date(now - minutes * MINUTE_MS) };
    await context.db.updateTable('report_mails').set(aged).execute();
    const read = () =>
      context.db.selectFrom('report_mails').select(['error', 'next_attempt_at']).executeTakeFirstOrThrow();
    await sendUntil(context, async () => (await read()).error !== null);
    const { next_attempt_at: at } = await read();
    waits.push(at && Math.round((at.getTime() - now) / MINUTE_MS));
  }
  expect(waits).toEqual([1, 5, 30, 120, 1440, null]);
});
