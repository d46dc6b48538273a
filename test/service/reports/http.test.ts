import { createHash } from 'node:crypto';
import express from 'express';
import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { authenticate } from '../../../src/http/access/authorize.ts';
import { createAuthGuard } from '../../../src/http/access/guard-auth-attempts.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { mountOperations } from '../../../src/http/mount-operations.ts';
import { makeOneReport, startReport, waitFor } from '../../../src/operations/books/reports.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { applyTransactions, generateTransactions } from '../../support/make-report-transactions.ts';
import { logIn } from '../../support/open-console-session.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openSurfaces } from '../../support/open-surfaces.ts';
import { readRows } from '../../support/read-rows.ts';

const DAY = '2026-03-11';
const books = closeAfterAll(await openEnvironment());
const { url, tokens } = await openSurfaces(books);

beforeAll(async () => {
  await applyTransactions(books.context, generateTransactions(60, [DAY], 2));
});

async function call(role: Role, path: string, body?: object): Promise<Response> {
  return await fetch(`${url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${tokens[role]}`, 'content-type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
}

test('a day is made once (201), and not again while nothing changes (200)', async () => {
  expect((await call('viewer', `/reports/${DAY}.xlsx`)).status).toBe(404);
  expect((await call('viewer', '/reports', { day: DAY })).status).toBe(403);
  const made = await call('operator', '/reports', { day: DAY });
  expect(made.status).toBe(201);
  const report = await made.json();
  expect(report).toMatchObject({ day: DAY, revision: 1, state: 'provisional', proven: false });
  const again = await call('operator', '/reports', { day: DAY });
  expect([again.status, await again.json()]).toEqual([200, report]);
  const list = await (await call('viewer', '/reports?limit=1')).json();
  expect(list).toEqual({ reports: [report], next_cursor: null });
});

test.each([
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['csv', 'text/csv; charset=utf-8'],
  ['journal', 'text/plain; charset=utf-8'],
])('the %s downloads under its own name, and the audit names the reader', async (format, type) => {
  await call('operator', '/reports', { day: DAY });
  const answer = await call('operator', `/reports/${DAY}.${format}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe(type);
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="confere-${DAY}-r1.${format}"`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const { reports } = (await (await call('viewer', '/reports')).json()) as {
    reports: { files: { format: string; sha256: string; bytes: number }[] }[];
  };
  const listed = reports[0]?.files.find((file) => file.format === format);
  expect(listed).toMatchObject({ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
  const audited = await readRows(books.context.db, 'audit', ['action', 'target'], {
    target: `confere-${DAY}-r1.${format}`,
  });
  expect(audited).toEqual([{ action: 'reports.download', target: `confere-${DAY}-r1.${format}` }]);
});

test('a viewer gets a file with masked names, marked in its name and built once', async () => {
  await call('operator', '/reports', { day: DAY });
  const full = await (await call('operator', `/reports/${DAY}.csv`)).text();
  const answers = [await call('viewer', `/reports/${DAY}.csv`), await call('viewer', `/reports/${DAY}.csv`)];
  expect(answers[0]?.headers.get('content-disposition')).toContain(`confere-${DAY}-r1-masked.csv`);
  const [masked = '', again] = await Promise.all(answers.map((answer) => answer.text()));
  const names = (text: string) => {
    const [head = [], ...rows] = text.split('\r\n').map((line) => line.split(';'));
    return rows.slice(0, -1).map((cells) => cells[head.indexOf('Nome')] ?? '');
  };
  expect(names(full).filter((name) => name !== '')).not.toEqual([]);
  expect(names(masked)).toEqual(names(full).map((name) => name.replace(/\S+/g, (word) => `${[...word][0]}***`)));
  expect(again).toBe(masked);
  const journal = await call('viewer', `/reports/${DAY}.journal`);
  expect(journal.headers.get('content-disposition')).toContain(`confere-${DAY}-r1-masked.journal`);
});

test('the console serves the same files, masked for a viewer, and the audit names reader and file', async () => {
  await call('operator', '/reports', { day: DAY });
  const before = await lastAudit();
  for (const role of ['operator', 'viewer'] as const) {
    const cookie = await logIn(url, tokens[role]);
    const name = `confere-${DAY}-r1${role === 'viewer' ? '-masked' : ''}.csv`;
    const answer = await fetch(`${url}/reports/${DAY}-r1.csv`, { headers: { cookie } });
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    expect(await answer.text()).toBe(await (await call(role, `/reports/${DAY}.csv`)).text());
  }
  const audited = await books.context.db
    .selectFrom('audit')
    .select(['actor', 'target'])
    .where('seq', '>', before)
    .where('action', '=', 'reports.download')
    .orderBy('seq')
    .execute();
  const full = `confere-${DAY}-r1.csv`;
  expect(audited.map((row) => row.target)).toEqual([full, full, ...Array(2).fill(`confere-${DAY}-r1-masked.csv`)]);
  const actors = audited.map((row) => row.actor);
  expect(new Set(actors).size).toBe(2);
  expect(actors[0]).toBe(actors[1]);
  expect(actors[2]).toBe(actors[3]);
});

async function lastAudit(): Promise<number> {
  const row = await books.context.db
    .selectFrom('audit')
    .select((eb) => eb.fn.max<number>('seq').as('seq'))
    .executeTakeFirst();
  return row?.seq ?? 0;
}

const waitNot: typeof makeOneReport.after = (context, _made, { day }) => waitFor(context, startReport(context, day), 0);

test('a request for a report that outlasts our wait is audited too', async () => {
  const impatient = { ...makeOneReport, after: waitNot };
  const app = express()
    .use(authenticate(books.context, createAuthGuard(books.context)), express.json())
    .use(mountOperations(books.context, { tag: 'Reports', changes: [impatient] }));
  const listening = await serveHttp(books.context, app);
  try {
    const before = await lastAudit();
    const answer = await fetch(`http://127.0.0.1:${listening.port}/reports`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' },
      body: JSON.stringify({ day: '2026-03-09' }),
    });
    expect([answer.status, await answer.json()]).toEqual([202, { day: '2026-03-09', state: 'being_made' }]);
    const audited = await books.context.db
      .selectFrom('audit')
      .select(['action', 'target', 'detail'])
      .where('seq', '>', before)
      .execute();
    expect(audited).toEqual([{ action: 'reports.make', target: '2026-03-09', detail: null }]);
    await eventually(async () => (await call('viewer', '/reports/2026-03-09.csv')).status === 200);
  } finally {
    await listening[Symbol.asyncDispose]();
  }
});

test('English comes on request, under a name that says so', async () => {
  await call('operator', '/reports', { day: DAY });
  const answer = await call('operator', `/reports/${DAY}.csv?locale=en`);
  expect(answer.headers.get('content-disposition')).toContain(`confere-${DAY}-r1-en.csv`);
  expect((await answer.text()).split('\r\n')[0]).toMatch(/Date and time;Movement;Status/);
});

test('wrong days, names and queries are 404 or 422', async () => {
  const statuses = [
    await call('operator', '/reports', { day: '2026-02-30' }),
    await call('operator', '/reports', { day: '2999-01-01' }),
    await call('operator', '/reports', {}),
    await call('viewer', '/reports/2026-02-30.xlsx'),
    await call('viewer', `/reports/${DAY}.pdf`),
    await call('viewer', `/reports/${DAY}.csv?revision=9`),
    await call('viewer', `/reports/${DAY}.csv?locale=fr`),
    await call('viewer', '/reports/..%2f..%2fsecret.key'),
  ].map((answer) => answer.status);
  expect(statuses).toEqual([422, 422, 422, 404, 404, 404, 422, 404]);
});

test('a month and a range are sent to viewers masked, under their own names, and audited', async () => {
  const month = await call('viewer', '/reports/2026-03.csv');
  expect(month.status).toBe(200);
  expect(month.headers.get('content-disposition')).toBe(
    'attachment; filename="confere-2026-03-01-2026-03-31-masked.csv"',
  );
  expect(await month.text()).not.toContain('Maria da Conceição');
  const range = await call('operator', `/reports/${DAY}..2026-03-12.csv`);
  const bytes = Buffer.from(await range.arrayBuffer());
  expect(range.headers.get('digest')).toBe(`sha-256=${createHash('sha256').update(bytes).digest('base64')}`);
  expect(bytes.toString()).toContain('Maria da Conceição');
  const name = `confere-${DAY}-2026-03-12.csv`;
  const audited = await books.context.db.selectFrom('audit').select('actor').where('target', '=', name).execute();
  expect(audited).toHaveLength(1);
});

test.each([
  ['/reports/2099-01.xlsx', 422, 'has not begun'],
  ['/reports/2026-03-12..2026-03-11.xlsx', 422, 'is after'],
  ['/reports/2025-01-01..2026-03-11.journal', 422, 'at most 92'],
  ['/reports/2026-03.xlsx?revision=1', 422, 'has no revisions'],
  ['/reports/2026-03-11.xlsx?revision=first', 422, 'revision: must be the number of a revision, from 1'],
  ['/reports/2026-03-11.xlsx?revision=0', 422, 'revision: must be the number of a revision, from 1'],
  ['/reports/2026-03-11.xlsx?revision=1.5', 422, 'revision: must be the number of a revision, from 1'],
  ['/reports/2026-03-11.xlsx?locale=de', 422, 'locale: must be pt-BR or en'],
  ['/reports/2026-03.xlsx?platform=nobody', 422, 'nothing is known'],
  ['/reports/2026-13.xlsx', 404, 'YYYY-MM-DD..YYYY-MM-DD'],
  ['/reports/2026-03-01..2026-02-30.xlsx', 404, 'YYYY-MM-DD..YYYY-MM-DD'],
])('%s is refused with %i', async (address, status, reason) => {
  const answer = await call('viewer', address);
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(reason)]);
});
