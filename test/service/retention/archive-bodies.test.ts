import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { checkArchive } from '../../../src/doctor/check-storage.ts';
import { REMOVED } from '../../../src/domain/person/redact-text.ts';
import { webhookIdOf } from '../../../src/domain/webhook-id.ts';
import { eraseFromArchives } from '../../../src/inbox/archive/erase-from-archives.ts';
import { readBody } from '../../../src/inbox/archive/read-body.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { stateLostArchives } from '../../../src/retention/state-lost-archives.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { loseCommit, watchWrites } from '../../support/failing-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

const DAY_MS = 86_400_000;
/** Older than RETAIN_BODIES, in two months of the provider's calendar. */
const [MARCH, APRIL] = ['2024-03', '2024-04'];
const MARCH_LAST = new Date('2024-04-01T02:59:00.000Z');
const APRIL_FIRST = new Date('2024-04-01T03:00:00.000Z');

const home = temporaryDirectory();
const archive = path.join(home.path, 'archive');
const stack = new AsyncDisposableStack();
let environment: TestEnvironment;
let context: Context;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  environment = stack.use(await openEnvironment({ SECRET_KEY, ARCHIVE_DIR: archive }));
  ({ context } = environment);
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  for (const table of ['webhooks', 'body_archives'] as const) await context.db.deleteFrom(table).execute();
});

async function addWebhook(body: string | Buffer, receivedAt: Date, state = 'applied'): Promise<number> {
  const bytes = Buffer.from(body);
  const hash = createHash('sha256').update(bytes).digest();
  const row = { hash, body: bytes, received_at: receivedAt, source_address: '203.0.113.7', headers: '{}', state };
  const { insertId } = await context.db.insertInto('webhooks').values(row).executeTakeFirstOrThrow();
  return Number(insertId);
}

const listFiles = (): string[] =>
  (readdirSync(archive, { recursive: true, encoding: 'utf8' }) as string[]).filter((name) => name.endsWith('.bodies'));
const listBodies = async (): Promise<string[]> =>
  (await context.db.selectFrom('webhooks').select('body').orderBy('seq').execute()).map(({ body }) => body.toString());
const archiveBodies = async (by = context, write = true): Promise<number | undefined> =>
  (await applyRetention(by, { write })).find(({ name }) => name === 'webhook_bodies')?.rows;

it('bodies older than RETAIN_BODIES move to a file of their month; their rows, hashes and repeats stay', async () => {
  const bytes = Buffer.from([0x7b, 0xff, 0x00, 0xc3, 0x28, 0x0a, 0x7d]);
  const seqs = [
    await addWebhook('{"id":1,"name":"Zuzimara"}', MARCH_LAST),
    await addWebhook(bytes, APRIL_FIRST),
    await addWebhook('{"id":3}', APRIL_FIRST, 'quarantined'),
    await addWebhook('{"id":4}', APRIL_FIRST),
    await addWebhook('{"id":5}', new Date(context.clock.now().getTime() - 399 * DAY_MS)),
  ];
  const before = await listBodies();
  expect(await archiveBodies(context, false)).toBe(3);
  expect(await listBodies()).toEqual(before);
  expect(await archiveBodies()).toBe(3);
  expect(await listBodies()).toEqual(['', '', '{"id":3}', '', '{"id":5}']);
  const files = listFiles();
  expect(files.map((name) => name.slice(0, 7)).sort()).toEqual([MARCH, APRIL]);
  for (const name of files) expect(readFileSync(path.join(archive, name)).includes('Zuzimara')).toBe(false);
  expect(await readBody(context, seqs[1] ?? 0)).toMatchObject({ body: bytes, archive: expect.stringContaining(APRIL) });
  expect(await readBody(context, seqs[2] ?? 0)).toMatchObject({ body: Buffer.from('{"id":3}'), archive: undefined });
  expect(await archiveBodies()).toBe(0);

  const id = webhookIdOf(createHash('sha256').update('{"id":1,"name":"Zuzimara"}').digest());
  const shown = await runCommandInProcess(['webhooks', 'show', id, '--json'], environment.env);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(shown.out)).toMatchObject({ id, body: '{"id":1,"name":"Zuzimara"}' });
  const audited = context.db.selectFrom('audit').select(['actor', 'action', 'target']).orderBy('seq', 'desc');
  expect(await audited.executeTakeFirst()).toEqual({ actor: 'command', action: 'webhooks.show', target: id });
  const received = await createReceiver(
    context,
    undefined,
  )({
    body: Buffer.from('{"id":1,"name":"Zuzimara"}'),
    address: '203.0.113.7',
    headers: {},
  });
  expect(received).toMatchObject({ id, duplicate: true });
  expect(await checkArchive(context)).toBe(`3 webhook bodies and 0 rows of the audit in 2 files of ${archive}`);
});

it('a crash after the file was written loses nothing: the next run archives the bodies again', async () => {
  const seq = await addWebhook('{"id":6}', APRIL_FIRST);
  const files = listFiles().length;
  const crashing = watchWrites(context, 'body_archives', () => {
    throw new Error('killed');
  });
  await expect(archiveBodies(crashing)).rejects.toThrow('retention of webhook_bodies failed');
  expect([listFiles().length, await listBodies()]).toEqual([files + 1, ['{"id":6}']]);
  expect(await archiveBodies()).toBe(1);
  expect(await readBody(context, seq)).toMatchObject({ body: Buffer.from('{"id":6}') });
});

it('a commit whose answer was lost keeps its file', async () => {
  const seq = await addWebhook('{"id":7}', APRIL_FIRST);
  expect(await archiveBodies(loseCommit(context, 'body_archives'))).toBe(1);
  expect(await listBodies()).toEqual(['']);
  expect(await readBody(context, seq)).toMatchObject({ body: Buffer.from('{"id":7}') });
});

it('a body that is redacted while its file is written is archived as redacted, and no file has it raw', async () => {
  const seq = await addWebhook('{"id":8,"name":"Zuzimara"}', APRIL_FIRST);
  const files = new Set(listFiles());
  let redactions = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const isRead = result.rows.some((row) => 'body' in row && 'received_at' in row);
      if (!isRead || redactions++ > 0) return result;
      const body = Buffer.from('{"id":8,"name":"removed"}');
      await context.db.updateTable('webhooks').set({ body, redacted_at: new Date() }).where('seq', '=', seq).execute();
      return result;
    },
  };
  expect(await archiveBodies({ ...context, db: context.db.withPlugin(plugin) })).toBe(1);
  expect(redactions).toBeGreaterThan(1);
  expect(await readBody(context, seq)).toMatchObject({ body: Buffer.from('{"id":8,"name":"removed"}') });
  expect(listFiles().filter((name) => !files.has(name))).toHaveLength(1);
});

it('two processes that archive at once store each body once', async () => {
  const seqs: number[] = [];
  for (let number = 0; number < 20; number++) seqs.push(await addWebhook(`{"both":${number}}`, APRIL_FIRST));
  const other = await environment.replica();
  const counts = await Promise.all([archiveBodies(), archiveBodies(other)]);
  expect(counts.reduce((sum = 0, count) => sum + (count ?? 0), 0)).toBe(20);
  const recorded = await context.db.selectFrom('body_archives').select('bodies').execute();
  expect(recorded.reduce((sum, { bodies }) => sum + bodies, 0)).toBe(20);
  for (const [number, seq] of seqs.entries())
    expect((await readBody(other, seq))?.body?.toString()).toBe(`{"both":${number}}`);
});

it('without a place to write to, bodies stay in their rows, and the other tables are still cleaned', async () => {
  await addWebhook('{"id":9}', APRIL_FIRST);
  const tick = { job: 'watch', due_at: MARCH_LAST, holder: 'x', lease_until: MARCH_LAST };
  await context.db.insertInto('job_ticks').values(tick).execute();
  const file = path.join(home.path, 'a-file');
  writeFileSync(file, '');
  const broken = await environment.replica({ ARCHIVE_DIR: file });
  await expect(archiveBodies(broken)).rejects.toThrow('retention of webhook_bodies failed');
  expect(await listBodies()).toEqual(['{"id":9}']);
  expect(await context.db.selectFrom('job_ticks').select('job').execute()).toEqual([]);
  const unset = await environment.replica({ ARCHIVE_DIR: '' });
  expect(await archiveBodies(unset)).toBe(0);
  expect(await listBodies()).toEqual(['{"id":9}']);
  await expect(checkArchive(unset)).rejects.toThrow(
    'ARCHIVE_DIR is not set, and webhook bodies older than RETAIN_BODIES',
  );
});

it('forgetting rewrites the files that name the person, also one that no row names, and says which are missing', async () => {
  const seqs = [
    await addWebhook('{"name":"Zuzimara"}', APRIL_FIRST),
    await addWebhook('{"name":"another"}', APRIL_FIRST),
  ];
  const crashing = watchWrites(context, 'body_archives', () => {
    throw new Error('killed');
  });
  await expect(archiveBodies(crashing)).rejects.toThrow();
  await archiveBodies();
  const skipped: string[] = [];
  const person = {
    redact: (text: string) => (text.includes('Zuzimara') ? text.replaceAll('Zuzimara', REMOVED) : undefined),
    onSkipped: (row: string) => skipped.push(row),
  } as unknown as Parameters<ReturnType<typeof eraseFromArchives>>[0];
  const erase = eraseFromArchives(context);
  const found = await erase(person, { write: false });
  expect(found).toBeGreaterThan(1);
  expect(await erase(person, { write: true })).toBe(found);
  expect(await erase(person, { write: true })).toBe(0);
  expect(await readBody(context, seqs[0] ?? 0)).toMatchObject({ body: Buffer.from(`{"name":"${REMOVED}"}`) });
  expect(await readBody(context, seqs[1] ?? 0)).toMatchObject({ body: Buffer.from('{"name":"another"}') });
  const marked = context.db.selectFrom('webhooks').select('seq').where('redacted_at', 'is not', null);
  expect(await marked.execute()).toEqual([{ seq: seqs[0] }]);
  expect(skipped).toEqual([]);

  const elsewhere = await environment.replica({ ARCHIVE_DIR: path.join(home.path, 'elsewhere') });
  await eraseFromArchives(elsewhere)(person, { write: true });
  expect(skipped).toEqual([expect.stringMatching(/^archive 2024-04\/.*\.bodies$/)]);
  await expect(checkArchive(elsewhere)).rejects.toThrow(/1 archives are not in .*elsewhere, the first is 2024-04/);
  mkdirSync(elsewhere.config.ARCHIVE_DIR ?? '');
  const by = { by: 'OPS-1', reason: 'the disk is gone', write: true };
  // an empty directory may be a mount that is missing: nothing is written into it, and not all is stated at once
  const unmounted = /elsewhere has none of its 1 archives, as if it were not mounted/;
  await expect(archiveBodies(elsewhere)).rejects.toThrow(unmounted);
  await expect(stateLostArchives(elsewhere, 'all', by)).rejects.toThrow(unmounted);
  const missing = await stateLostArchives(elsewhere, 'all', { ...by, write: false });
  const named = missing.map(({ file }) => file);
  expect(await stateLostArchives(elsewhere, named, by)).toMatchObject([{ kind: 'bodies', fault: 'is not there' }]);
  expect(await archiveBodies(elsewhere)).toBe(0);
  skipped.length = 0;
  await eraseFromArchives(elsewhere)(person, { write: true });
  expect(skipped).toEqual([]);
  expect(await checkArchive(elsewhere)).toMatch(
    /1 files are stated as lost: \d+ webhook bodies and 0 rows of the audit$/,
  );
  expect(await readBody(elsewhere, seqs[0] ?? 0)).toMatchObject({ body: undefined, fault: expect.any(String) });
});

it('a backup contains the archive, and a restore needs an empty ARCHIVE_DIR for it', async () => {
  const seq = await addWebhook('{"id":10}', APRIL_FIRST);
  await archiveBodies();
  const to = path.join(home.path, 'backup');
  const made = await runCommandInProcess(['backup', '--to', to, '--method', 'dump'], environment.env);
  expect(made).toMatchObject({ code: 0 });
  const target = await createTestDatabase('empty');
  const place = { DATABASE_URL: urlOf(target), SECRET_KEY, DATA_DIR: path.join(home.path, 'restored') };
  const restore = (env: Record<string, string>) => runCommandInProcess(['restore', '--from', to], { ...place, ...env });
  expect(await restore({})).toMatchObject({ code: 2, err: expect.stringContaining('set ARCHIVE_DIR') });
  expect(await restore({ ARCHIVE_DIR: archive })).toMatchObject({ code: 2, err: expect.stringContaining('empty') });
  const ARCHIVE_DIR = path.join(home.path, 'restored-archive');
  mkdirSync(ARCHIVE_DIR);
  expect(await restore({ ARCHIVE_DIR })).toMatchObject({ code: 0 });
  await using restored = await openEnvironment({ ...place, ARCHIVE_DIR }, target);
  expect(await readBody(restored.context, seq)).toMatchObject({ body: Buffer.from('{"id":10}') });

  const unset = { ...environment.env, ARCHIVE_DIR: '' };
  const refused = await runCommandInProcess(['backup', '--to', `${to}-2`], unset);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('ARCHIVE_DIR, which is not set') });
});
