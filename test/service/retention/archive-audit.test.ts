import { mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { readAuditFile } from '../../../src/access/read-archived-audit.ts';
import { writeArchive } from '../../../src/archive/archive-files.ts';
import { copyArchives } from '../../../src/backup/copy-data-dir.ts';
import type { Context } from '../../../src/context.ts';
import { checkArchive } from '../../../src/doctor/check-storage.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { checkAllBooks, checkBooks, checkNewBooks } from '../../../src/proof/check-books.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { stateLostArchives } from '../../../src/retention/state-lost-archives.ts';
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
  for (let read = 1; read <= READS; read++) {
    if (read === 3) await reopen();
    await audit(context, { ...READ, detail: JSON.stringify({ transactions: [`t${read}`] }) });
  }
  await sealNow(context);
});
async function reopen(): Promise<void> {
  const reopened = { seq: 1, month: '2020-01', action: 'reopen', at: new Date(), actor: 'x' };
  await context.db.insertInto('month_closes').values(reopened).execute();
  const change = { actor: 'x', action: 'months.reopen', target: reopened.month };
  await audit(context, { ...change, detail: '{"reopen":1,"close":0}' });
}
afterAll(() => stack.disposeAsync());

const READ = { actor: 'tok_1', action: 'transactions.list', target: '["from"]' };
const archiveAudit = async (by = context, write = true): Promise<number | undefined> =>
  (await applyRetention(by, { write })).find(({ name }) => name === 'audit')?.rows;
const listActions = async () =>
  (await context.db.selectFrom('audit').select('action').orderBy('seq').execute()).map(({ action }) => action);
const listFiles = (): string[] =>
  readdirSync(archive, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.audit'))
    .sort();

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
  const other = await environment.replica();
  // the slower one leaves no file
  const counts = await Promise.all([archiveAudit(), archiveAudit(other)]);
  expect(counts).toEqual(expect.arrayContaining([0, READS]));
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

const state = (...args: string[]) => runCommandInProcess(['retention', ...args], environment.env);
const STATEMENT = ['--by', 'OPS-1', '--reason', 'the disk is gone'];

it('an archive is stated as lost only if it cannot be read, with who and why', async () => {
  const [file = ''] = listFiles();
  const refused = async (...args: string[]) => {
    const { code, err } = await state(...args);
    return `${code} ${err}`;
  };
  expect(await refused('--lost', file)).toMatch(/^2 .*needs --by and --reason/);
  expect(await refused('--lost', file, '--by', ' ', '--reason', 'gone')).toMatch(/^2 .*needs --by and --reason/);
  expect(await refused('--lost', 'all', '--lost', file, '--by', 'ops', '--reason', 'gone')).toMatch(/^2 .*all alone/);
  expect(await refused('--lost', file, '--by', 'OPS-1', '--reason', 'of 529.982.247-25')).toMatch(/^2 .*no CPF/);
  expect(await refused('--lost', 'x\x1b[2J\u202e.audit', ...STATEMENT)).toMatch(
    /^2 .*no archive is named x⟨U\+001B⟩\[2J⟨U\+202E⟩.audit/,
  );
  expect(await refused('--lost', file, ...STATEMENT)).toMatch(/^2 .*can be read: it is not lost/);
  expect(await state('--lost', 'all', ...STATEMENT, '--json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"lost":\[\]/),
  });
  const unmounted = { ...environment.env, ARCHIVE_DIR: path.join(home.path, 'unmounted') };
  const args = ['retention', '--lost', file, ...STATEMENT];
  expect(await runCommandInProcess(args, unmounted)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/can't be listed \(ENOENT\)/),
  });
  // a fault that may pass
  const kept = path.join(archive, file);
  renameSync(kept, `${kept}.kept`);
  mkdirSync(kept);
  expect(await refused('--lost', file, ...STATEMENT)).toMatch(/^2 .*may be whole: reading it fails with EISDIR/);
  rmdirSync(kept);
  renameSync(`${kept}.kept`, kept);
  expect(await listActions()).not.toContain('archive.lost');
});

it('a whole check goes on without an archive that is stated as lost, says so each time, and reads it if it comes back', async () => {
  const [file = ''] = listFiles();
  const kept = path.join(archive, file);
  renameSync(kept, `${kept}.kept`);
  await expect(checkBooks(context)).rejects.toThrow(/is not there: .* confere retention --lost/);
  await expect(checkArchive(context)).rejects.toThrow('1 archives are not in');
  expect(await state('--lost', 'all', ...STATEMENT, '--dry-run')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/would be stated/),
  });
  await expect(checkBooks(context)).rejects.toThrow('is not there');

  // it may be the mount that is missing
  await expect(archiveAudit()).rejects.toThrow(
    /webhook_bodies, audit failed: .* has none of its 1 archives, as if it were not mounted/,
  );
  const refused = await state('--lost', 'all', ...STATEMENT);
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/as if it were not mounted: mount it/) });
  const other = await environment.replica();
  const at = context.clock.now();
  const byName = (one: Context) => {
    const stopped = { ...one, clock: { ...one.clock, now: () => at } };
    return stateLostArchives(stopped, [file], { by: 'OPS-1', reason: 'the disk is gone', write: true });
  };
  // of two in the same millisecond only one states it
  const both = (await Promise.all([byName(context), byName(other)])).flat();
  expect(both).toMatchObject([{ file, kind: 'audit', rows: READS, fault: 'is not there' }]);
  expect(await state('--lost', file, ...STATEMENT)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/no archive that is not stated yet/),
  });
  const rows = context.db.selectFrom('audit').selectAll().where('action', '=', 'archive.lost');
  const [row, ...others] = await rows.execute();
  expect(others).toEqual([]);
  expect(row).toMatchObject({ actor: 'command', target: file });
  const detail = { kind: 'audit', rows: READS, fault: 'is not there', by: 'OPS-1', reason: 'the disk is gone' };
  expect(JSON.parse(row?.detail ?? '')).toEqual(detail);
  await sealNow(context);

  const lost = { rows: READS, positions: 1 };
  expect(await checkBooks(context)).toMatchObject({ broken: 0, lost });
  expect(await checkAllBooks(context)).toMatchObject({ broken: 0, lost });
  expect(await checkNewBooks(context, -1)).toMatchObject({ broken: 0, lost });
  expect(await checkArchive(context)).toMatch(/of them, 1 files are stated as lost: 0 webhook bodies and 5 rows/);
  const { out } = await runCommandInProcess(['doctor', '--books'], environment.env);
  expect(out).toMatch(
    /^ok {4}books .*; 5 rows of the audit are stated as lost: the hashes of 1 positions can't be comp/m,
  );
  expect((await runCommandInProcess(['audit', '--archived', '--json'], environment.env)).code).toBe(0);
  const copied: string[] = [];
  const store = async (name: string) => void copied.push(name);
  expect(
    await copyArchives(context.config, { db: context.db, tables: ['body_archives', 'audit_archives'] }, store as never),
  ).toEqual([]);
  // the statement itself is old by now
  await environment.timers.advance(401 * DAY_MS);
  await archiveAudit();
  expect(await listActions()).toContain('archive.lost');

  renameSync(`${kept}.kept`, kept);
  expect(await checkBooks(context)).toMatchObject({ broken: 0, lost: { rows: 0, positions: 0 } });
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

it('a row that was deleted beside those of a lost archive is found', async () => {
  const [file = ''] = listFiles();
  renameSync(path.join(archive, file), path.join(home.path, 'moved'));
  expect(await checkBooks(context)).toMatchObject({ broken: 0 });
  // the trigger lets it go: its number lies between those of the archive
  await sql`DELETE FROM audit WHERE action = 'months.reopen'`.execute(context.db);
  const says = 'it is stated as lost with 5 rows of the audit, and 6 of its numbers are gone';
  expect((await checkBooks(context)).breaks).toContainEqual({ scope: `archive ${file}`, says });
});
