import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { readAuditFile } from '../../../src/access/read-archived-audit.ts';
import { writeArchive } from '../../../src/archive/archive-files.ts';
import type { Context } from '../../../src/context.ts';
import { checkArchive } from '../../../src/doctor/check-storage.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { watchDeletes } from '../../support/failing-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const DAY_MS = 86_400_000;
const READS = 5;

const home = temporaryDirectory();
const archive = path.join(home.path, 'archive');
const stack = new AsyncDisposableStack();
let environment: TestEnvironment;
let context: Context;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  mkdirSync(archive);
  environment = stack.use(await openEnvironment({ ARCHIVE_DIR: archive, RETAIN_AUDIT: '400d' }));
  ({ context } = environment);
  await applyObservations(context, [observeNow(context, makeShownTransaction(['pending', 'paid@1']))]);
  for (let read = 1; read <= READS; read++)
    await audit(context, { ...READ, detail: JSON.stringify({ transactions: [`t${read}`] }) });
  const reopened = { seq: 1, month: '2020-01', action: 'reopen', at: new Date(), actor: 'x' };
  await context.db.insertInto('month_closes').values(reopened).execute();
  const change = { actor: 'x', action: 'months.reopen', target: reopened.month };
  await audit(context, { ...change, detail: '{"reopen":1,"close":0}' });
  await sealNow(context);
});
afterAll(() => stack.disposeAsync());

const READ = { actor: 'tok_1', action: 'transactions.list', target: '["from"]' };
const archiveAudit = async (by = context, write = true): Promise<number | undefined> =>
  (await applyRetention(by, { write })).find(({ name }) => name === 'audit')?.rows;
const listActions = async () =>
  (await context.db.selectFrom('audit').select('action').orderBy('seq').execute()).map(({ action }) => action);
const listFiles = (): string[] =>
  readdirSync(archive, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.audit'));

it('a user who may not delete from the audit archives nothing, and is named the way out', async () => {
  expect(await archiveAudit()).toBe(0);
  await environment.timers.advance(401 * DAY_MS);
  await audit(context, { ...READ, target: 'young' });
  const before = await listActions();
  const restricted = watchDeletes(context, 'audit', () => {
    throw Object.assign(new Error('denied'), { errno: 1142 });
  });
  // the job goes on without it, and does not fail each night
  const results = await applyRetention(restricted);
  const says = 'this user may not delete from the audit: run confere retention as the user that migrates';
  expect(results.find(({ name }) => name === 'audit')).toMatchObject({ rows: 0, note: expect.stringContaining(says) });
  await expect(checkArchive(restricted)).rejects.toThrow(says);
  expect(await checkArchive(context)).toMatch(/^0 webhook bodies and 0 rows of the audit in 0 files/);
  expect([await listActions(), listFiles()]).toEqual([before, []]);
});

it('sealed audit rows older than RETAIN_AUDIT move to a file, and the books check proves them there', async () => {
  expect(await archiveAudit(context, false)).toBe(READS);
  expect(await archiveAudit()).toBe(READS);
  expect(await listActions()).toEqual(['months.reopen', 'transactions.list', 'audit.archive']);
  expect(listFiles()).toHaveLength(1);
  expect(await checkBooks(context)).toMatchObject({ broken: 0 });
  const args = ['audit', '--archived', '--target', 't3', '--json'];
  const { out } = await runCommandInProcess(args, environment.env);
  expect(JSON.parse(out)).toMatchObject({ audit: [{ actor: 'tok_1', detail: '{"transactions":["t3"]}' }] });
  expect(await archiveAudit()).toBe(0);
});

it('the database refuses to delete rows that no archive has, and to change what it knows of archives', async () => {
  const { db } = context;
  await expect(sql`DELETE FROM audit WHERE target = 'young'`.execute(db)).rejects.toThrow('audit is append-only');
  await expect(sql`DELETE FROM audit_archives`.execute(db)).rejects.toThrow('audit_archives is append-only');
  await expect(sql`UPDATE audit_archives SET last_audit_seq = 99`.execute(db)).rejects.toThrow('append-only');
});

it('the books check fails where the file is not there, and finds a row that was changed in it', async () => {
  const elsewhere = await environment.replica({ ARCHIVE_DIR: path.join(home.path, 'elsewhere') });
  await expect(checkBooks(elsewhere)).rejects.toThrow(/archive .* is not there/);
  const [file = ''] = listFiles();
  const rows = await readAuditFile(context, file);
  const forged = rows.map((row, index) => (index === 2 ? { ...row, actor: 'tok_2' } : row));
  await writeArchive(context.keys, archive, file, forged);
  const { broken, breaks } = await checkBooks(context);
  expect(broken).toBeGreaterThan(0);
  expect(breaks[0]?.scope).toMatch(/^seal /);
});
