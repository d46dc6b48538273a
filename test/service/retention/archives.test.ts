import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { bringBackAudit } from '../../../src/access/bring-back-audit.ts';
import { copyArchives } from '../../../src/backup/copy-data-dir.ts';
import type { Context } from '../../../src/context.ts';
import { checkArchives } from '../../../src/doctor/check-storage.ts';
import type { Erase } from '../../../src/domain/person/person.ts';
import { missArchivedBodies } from '../../../src/inbox/manage/bring-back-bodies.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { describeSaid } from '../../../src/texts/messages.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { writeArchive } from '../../support/write-archive.ts';

const AUDIT_FILE = '2025-10/000000000001-0000000a.audit';
const BODIES_FILE = '2025-10/000000000001-0000000b.bodies';
/** Left by a crash of an earlier version: its bodies are in their rows. */
const STRAY_FILE = '2025-10/000000000001-0000000c.bodies';
const BODIES = [Buffer.from('{"name":"Zuzimara"}'), Buffer.from([0x7b, 0xff, 0x00, 0xc3, 0x28, 0x7d])];

const home = temporaryDirectory();
const DATA_DIR = path.join(home.path, 'data');
const archive = path.join(DATA_DIR, 'archive');
const stack = new AsyncDisposableStack();
let environment: TestEnvironment;
let context: Context;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  environment = stack.use(await openEnvironment({ DATA_DIR }));
  ({ context } = environment);
  for (let read = 1; read <= 5; read++)
    await audit(context, { actor: 'tok_1', action: read === 3 ? 'months.reopen' : 'reads', target: `t${read}` });
  await expect(context.db.deleteFrom('audit').execute()).rejects.toThrow('audit is append-only');
  await sql`DROP TRIGGER audit_no_delete`.execute(context.db);
  await sealNow(context);
});
afterAll(() => stack.disposeAsync());

const run = (...args: string[]) => runCommandInProcess(args, environment.env);
const listAudit = async () =>
  await context.db
    .selectFrom('audit')
    .selectAll()
    .where('action', 'in', ['reads', 'months.reopen'])
    .orderBy('seq')
    .execute();
const listFiles = (): string[] =>
  readdirSync(archive, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));

type AuditRow = Awaited<ReturnType<typeof listAudit>>[number];

/** Moves the rows of reads into a file, as an earlier version did. */
async function archiveAudit(): Promise<AuditRow[]> {
  const rows = (await listAudit()).filter(({ action }) => action === 'reads');
  writeArchive(context.keys, archive, AUDIT_FILE, rows);
  const [first = 0, last = 0] = [rows[0]?.seq, rows.at(-1)?.seq];
  const values = sql`(${first}, ${last}, ${AUDIT_FILE}, ${rows.length}, 1, UTC_TIMESTAMP(3))`;
  await sql`INSERT IGNORE INTO audit_archives VALUES ${values}`.execute(context.db);
  await context.db.deleteFrom('audit').where('action', '=', 'reads').execute();
  return rows;
}

it('archived rows of the audit come back by migrate, as they were sealed, and their file goes', async () => {
  const before = await listAudit();
  await archiveAudit();
  expect(await listAudit()).toHaveLength(1);
  await expect(checkArchives(context)).rejects.toThrow('1 files have rows of the audit');
  const { code, out, err } = await run('migrate', '--json');
  expect([code, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toMatchObject({ audit_restored: 4, archives_left: 0 });
  expect(await listAudit()).toEqual(before);
  expect(listFiles()).toEqual([]);
  expect(describeSaid(await checkArchives(context))).toBe('no archive is left');
  expect(await checkBooks(context)).toMatchObject({ broken: 0 });
  expect(JSON.parse((await run('migrate', '--json')).out)).toMatchObject({ audit_restored: 0 });
});

it('migrate refuses while a file cannot be read; two processes that start at once bring back each row once', async () => {
  const before = await listAudit();
  const rows = await archiveAudit();
  rmSync(path.join(archive, AUDIT_FILE));
  const { code, err } = await run('migrate');
  expect([code, err]).toEqual([1, expect.stringContaining(`${AUDIT_FILE} is not there: place the ARCHIVE_DIR`)]);
  expect(await listAudit()).toHaveLength(1);

  writeArchive(context.keys, archive, AUDIT_FILE, rows);
  const counts = await Promise.all([bringBackAudit(context), bringBackAudit(await environment.replica())]);
  expect(counts.toSorted((a, b) => a - b)).toEqual([0, 4]);
  expect(await listAudit()).toEqual(before);
});

async function archiveBodies(): Promise<void> {
  const { db, clock } = context;
  for (const table of ['webhooks', 'body_archives'] as const) await db.deleteFrom(table).execute();
  const lines = [];
  for (const body of BODIES) {
    const hash = createHash('sha256').update(body).digest();
    const row = {
      hash,
      body: Buffer.alloc(0),
      received_at: clock.now(),
      source_address: '::1',
      headers: '{}',
      state: 'applied',
    };
    const { insertId } = await db
      .insertInto('webhooks')
      .values({ ...row, dropped_at: clock.now() })
      .executeTakeFirstOrThrow();
    lines.push({ seq: Number(insertId), id: 'wh', received_at: clock.now(), body: body.toString('latin1') });
  }
  const [first = 0, last = 0] = [lines[0]?.seq, lines.at(-1)?.seq];
  const counts = { bodies: lines.length, body_bytes: 1, file_bytes: 1, archived_at: clock.now() };
  await db
    .insertInto('body_archives')
    .values({ first_webhook_seq: first, last_webhook_seq: last, file: BODIES_FILE, ...counts })
    .execute();
  for (const name of [BODIES_FILE, STRAY_FILE]) writeArchive(context.keys, archive, name, lines);
}

const listBodies = async (): Promise<Buffer[]> =>
  (await context.db.selectFrom('webhooks').select('body').orderBy('seq').execute()).map(({ body }) => body);

it('while files of bodies are left, doctor fails, forget names them, a backup has them and migrate says so', async () => {
  await archiveBodies();
  await expect(checkArchives(context)).rejects.toThrow(
    '2 files have 2 bodies of webhooks: run confere archives restore',
  );
  const missed: string[] = [];
  const person = { onSkipped: (row: string) => missed.push(row) } as unknown as Parameters<Erase>[0];
  expect(await missArchivedBodies(context)(person, { write: true })).toBe(0);
  expect(missed.sort()).toEqual([`archive ${BODIES_FILE}`, `archive ${STRAY_FILE}`]);
  const copied = await copyArchives(
    context.config,
    { db: context.db, tables: ['body_archives', 'audit_archives'] },
    async (_, content) => {
      content.resume();
      return '';
    },
  );
  expect(copied).toEqual([`data/archive/${BODIES_FILE}`]);
  expect((await run('migrate')).out).toContain('2 files with bodies of webhooks are left');
});

it('confere archives restore brings each body back to the byte; delete leaves the rows without them', async () => {
  await archiveBodies();
  const elsewhere = { ...environment.env, DATA_DIR: path.join(home.path, 'elsewhere') };
  const refused = await runCommandInProcess(['archives', 'restore'], elsewhere);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('is not there')]);
  expect(await listBodies()).toEqual([Buffer.alloc(0), Buffer.alloc(0)]);

  expect((await run('archives', 'restore')).out).toBe('2 bodies of webhooks are back; 2 files were deleted\n');
  expect(await listBodies()).toEqual(BODIES);
  expect(listFiles()).toEqual([]);
  expect(describeSaid(await checkArchives(context))).toBe('no archive is left');
  const ended = context.db.selectFrom('audit').select('target').where('action', '=', 'archives.restore');
  expect((await ended.execute()).map(({ target }) => target)).toContain(BODIES_FILE);

  await archiveBodies();
  expect((await run('archives', 'delete')).out).toBe('2 bodies of webhooks are gone; 2 files were deleted\n');
  expect(await listBodies()).toEqual([Buffer.alloc(0), Buffer.alloc(0)]);
  expect([listFiles(), describeSaid(await checkArchives(context))]).toEqual([[], 'no archive is left']);
});
