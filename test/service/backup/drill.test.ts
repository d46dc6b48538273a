/** `confere drill`: a backup is restored, checked and removed again, beside a service that does not notice. */
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { restoreBackup } from '../../../src/backup/restore-backup.ts';
import { readConfig } from '../../../src/config.ts';
import { createLog } from '../../../src/log.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

type Target = Awaited<ReturnType<typeof createTestDatabase>>;
type Step = { check: string; ok: boolean; says: string; seconds: number };

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const backups = path.join(home.path, 'backups');
const STEPS = ['sums', 'database', 'files', 'tables', 'books', 'chain', 'removed'];

let live: CallbackEnvironment;
let liveTarget: Target;
let shop: MerchantServer;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  liveTarget = await createTestDatabase();
  shop = stack.use(await openMerchantServer());
  live = stack.use(await openCallbackEnvironment({ SECRET_KEY, DATA_DIR: path.join(home.path, 'live') }, liveTarget));
  mkdirSync(backups);
  await backUp('2026-01-02T0300Z');
  await live.addMerchant(`${shop.url}/pix`);
  await live.applyTransactions(3, ['pending', 'paid']);
  await sealNow(live.context);
  // the order of the names is not that of the times
  await backUp('2026-01-01T0300Z');
});
afterAll(() => stack.disposeAsync());

async function backUp(name: string): Promise<string> {
  const to = path.join(backups, name);
  expect(await runCommandInProcess(['backup', '--to', to], live.env)).toMatchObject({ code: 0, err: '' });
  return to;
}

let places = 0;
/** An empty place, and a file with the address of an empty database. */
async function makePlace(target?: Target) {
  const database = target ?? (await createTestDatabase('empty'));
  const [place, address] = ['place', 'address'].map((name) => path.join(home.path, `${name}-${places++}`)) as [
    string,
    string,
  ];
  writeFileSync(address, urlOf(database));
  return { place, database, args: ['--place', place, '--database', address] };
}

async function drill(args: string[], from = backups) {
  const { code, out, err } = await runCommandInProcess(['drill', '--from', from, '--json', ...args], live.env);
  const { backup, steps = [] } = (out === '' ? {} : JSON.parse(out)) as { backup?: string; steps?: Step[] };
  return { code, err, backup, steps };
}

async function listTables(target: Target): Promise<string[]> {
  const connection = await mysql.createConnection(target);
  const [rows] = await connection.query<mysql.RowDataPacket[]>('SHOW TABLES');
  await connection.end();
  return rows.map((row) => String(Object.values(row)[0]));
}

/** A sum of the rows of each table. */
async function describeDatabase(target: Target) {
  const tables = await listTables(target);
  const connection = await mysql.createConnection(target);
  const [rows] = await connection.query<mysql.RowDataPacket[]>(`CHECKSUM TABLE ${tables.join(', ')}`);
  await connection.end();
  return rows;
}

it('a drill restores the newest backup, checks it, prints the time of each step and leaves nothing', async () => {
  const before = await describeDatabase(liveTarget);
  const { place, database, args } = await makePlace();
  const { code, err, backup, steps } = await drill(args);
  expect({ code, err, backup }).toEqual({ code: 0, err: '', backup: path.join(backups, '2026-01-01T0300Z') });
  expect(steps.map(({ check, ok }) => [check, ok])).toEqual(STEPS.map((check) => [check, true]));
  expect(steps.every(({ seconds }) => seconds >= 0)).toBe(true);
  const { says } = steps.find(({ check }) => check === 'books') ?? {};
  expect(says).toMatch(/^3 transactions and 3 entries are consistent/);
  expect({ left: await listTables(database), isThere: existsSync(place) }).toEqual({ left: [], isThere: false });
  expect(await describeDatabase(liveTarget), 'the service is as before').toEqual(before);
  expect(shop.calls, 'nothing is sent').toEqual([]);

  const shown = await runCommandInProcess(['drill', '--from', backup ?? '', ...args], live.env);
  expect(shown.out).toMatch(/^ok {4}sums +\d+\.\d s {2}\d+ files, \d\.\d MiB, each with its sum\n/);
  expect(shown.out).toMatch(/2026-01-01T0300Z can be restored: \d+\.\d s in all\n$/);
});

it('a drill of a broken backup, and of a folder without one, fails and leaves nothing', async () => {
  const { place, database, args } = await makePlace();
  const broken = await backUp('broken');
  appendFileSync(path.join(broken, 'database.sql.gz'), 'x');
  const { code, steps } = await drill(args);
  expect({ code, steps }).toEqual({
    code: 1,
    steps: [
      {
        check: 'sums',
        ok: false,
        says: expect.stringContaining('database.sql.gz has changed'),
        seconds: expect.any(Number),
      },
    ],
  });
  rmSync(broken, { recursive: true });
  const none = await drill(args, home.path);
  expect(none).toMatchObject({ code: 1, steps: [{ ok: false, says: expect.stringContaining('has none in it') }] });
  expect({ left: await listTables(database), isThere: existsSync(place) }).toEqual({ left: [], isThere: false });
});

it('a drill fails at the books where the backup has a break', async () => {
  const { place, database, args } = await makePlace();
  const other = await createTestDatabase();
  await using damaged = await openCallbackEnvironment({ SECRET_KEY }, other);
  await damaged.applyTransactions(1, ['paid']);
  await sealNow(damaged.context);
  const to = path.join(home.path, 'damaged');
  for (const { name } of (
    await sql<{ name: string }>`SELECT trigger_name AS name FROM information_schema.triggers
    WHERE trigger_schema = DATABASE() AND event_object_table = 'postings'`.execute(damaged.context.db)
  ).rows)
    await sql`DROP TRIGGER ${sql.id(name)}`.execute(damaged.context.db);
  await sql`UPDATE postings SET amount_cents = amount_cents * 2`.execute(damaged.context.db);
  expect(await runCommandInProcess(['backup', '--to', to], damaged.env)).toMatchObject({ code: 0 });
  const { code, steps } = await drill(args, to);
  expect(code).toBe(1);
  expect(steps.filter(({ ok }) => !ok)).toEqual([
    { check: 'books', ok: false, says: expect.stringMatching(/^\d+ breaks\. /), seconds: expect.any(Number) },
  ]);
  expect({ left: await listTables(database), isThere: existsSync(place) }).toEqual({ left: [], isThere: false });
});

it('a drill refuses a place or a database that is not empty, and an address in its arguments', async () => {
  const before = await describeDatabase(liveTarget);
  const onLive = await makePlace(liveTarget);
  expect(await drill(onLive.args)).toMatchObject({
    code: 2,
    err: expect.stringContaining('the database is not empty'),
  });
  expect(existsSync(onLive.place)).toBe(false);
  expect(await describeDatabase(liveTarget)).toEqual(before);

  const used = await makePlace();
  mkdirSync(used.place);
  writeFileSync(path.join(used.place, 'notes.txt'), '');
  expect(await drill(used.args)).toMatchObject({ code: 2, err: expect.stringContaining('is not empty (notes.txt)') });
  expect(existsSync(path.join(used.place, 'notes.txt'))).toBe(true);

  const { place } = await makePlace();
  const within = await drill(['--place', path.join(live.dataDir, 'drill')]);
  expect(within).toMatchObject({ code: 2, err: expect.stringContaining('lies in DATA_DIR') });
  const argument = await drill(['--place', place, '--database', 'mysql://app:hunter22@db1/drill']);
  expect(argument).toMatchObject({ code: 2, err: expect.stringContaining('--database takes a file with it') });
  expect(argument.err).not.toContain('hunter22');
});

it('nothing else opens the place of a drill, and a drill that was killed is made anew', async () => {
  const { place, database } = await makePlace();
  const env = { ...live.env, DATABASE_URL: urlOf(database), DATA_DIR: place };
  const options = {
    from: path.join(backups, '2026-01-01T0300Z'),
    async rehearse(): Promise<void> {
      for (const command of ['migrate', 'doctor'])
        expect(await runCommandInProcess([command], env)).toMatchObject({
          code: 2,
          err: expect.stringContaining('is not whole'),
        });
      // as a kill leaves the place and the database now
      const left = await makePlace(database);
      cpSync(place, left.place, { recursive: true });
      rmSync(path.join(left.place, 'serve.lock'));
      expect(await drill(left.args)).toMatchObject({ code: 0, err: '' });
      expect({ tables: await listTables(database), files: readdirSync(left.place) }).toEqual({ tables: [], files: [] });
    },
  };
  await restoreBackup(readConfig(env), options, {
    log: createLog('silent', process.stderr),
    signal: live.context.signal,
  });
  expect.assertions(4);
});

it('without --database a drill starts a server of its own in the place', async () => {
  const { place } = await makePlace();
  const { code, err, steps } = await drill(['--place', place]);
  expect({ code, err, checks: steps.map(({ check }) => check) }).toEqual({ code: 0, err: '', checks: STEPS });
  expect(existsSync(place)).toBe(false);
});
