/** Exports of a search that fail: before the first byte, and in the middle. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { ConfereError } from '../../../src/domain/errors.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createLog } from '../../../src/log.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { watchWrites } from '../../support/failing-database.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';

/** More than the first page of an export. */
const ROWS = 1_100;

const env = closeAfterAll(await openConsoleEnvironment());
let url: string;
let cookie: string;
/** Called before each audit, which precedes each page. */
let onAudit: () => void = () => undefined;
const lines = new PassThrough();
const logged: string[] = [];
lines.on('data', (line: Buffer) => logged.push(line.toString()));

beforeAll(async () => {
  const now = env.context.clock.now();
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const id = `0f0e0d0c-0000-4000-8000-${String(index).padStart(12, '0')}`;
    return observe({ ...env.paid, id, e2e_id: '', reference: 'many' }, now);
  });
  await applyObservations(env.context, rows);
  const context = { ...watchWrites(env.context, 'audit', () => onAudit()), log: createLog('info', lines) };
  const server = env.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  url = `http://127.0.0.1:${server.port}`;
  cookie = (await openConsoleSession(env, 'operator')).cookie;
});
afterEach(() => {
  onAudit = () => undefined;
});

const tooWide = (): never => {
  throw new ConfereError('invalid_request', 'the search takes too long', { fields: { from: ['narrow the days'] } });
};
const exportAs = async (format: string) =>
  await fetch(`${url}/transactions/export?format=${format}&reference=many`, { headers: { cookie } });

test.each(['csv', 'xlsx'])('an export as %s whose first page takes too long is a page, no file', async (format) => {
  onAudit = tooWide;
  const answer = await exportAs(format);
  expect(answer.status).toBe(422);
  expect(answer.headers.get('content-type')).toContain('text/html');
  expect(answer.headers.get('content-disposition')).toBeNull();
  expect(await answer.text()).toContain('esta busca leva mais de 1800 ms');
});

test('a CSV whose later page fails is cut off by the connection, and the log says it', async () => {
  let audits = 0;
  onAudit = () => {
    audits++;
  };
  const whole = await exportAs('csv');
  expect(whole.headers.get('content-disposition')).toMatch(/^attachment; filename="confere-transacoes-.*\.csv"$/);
  expect((await whole.text()).trimEnd().split('\r\n')).toHaveLength(ROWS + 1);
  let left = audits;
  onAudit = () => {
    left--;
    if (left === 0) tooWide();
  };
  const cut = await exportAs('csv');
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow('terminated');
  // the connection ends before the error reaches the log
  const line = await eventually('the log says it', () => logged[0]);
  expect(line).toContain('a response failed and was cut off');
  expect(line).toContain('the search takes too long');
  expect(logged).toHaveLength(1);
});
