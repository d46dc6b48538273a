/** What an operator can correct is said in one sentence, with who connects to what; and the doctor only reads. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { createTestDatabase, testServer } from '../../support/create-test-database.ts';
import { makeRow } from '../../support/make-provider-rows.ts';
import { runCommand } from '../../support/run-command.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY, SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const user = `t_${randomBytes(4).toString('hex')}`;
const password = randomBytes(8).toString('hex');

type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;
let home: ReturnType<typeof temporaryDirectory>;
let database: TestDatabase;
let server: Awaited<ReturnType<typeof mysql.createConnection>>;

beforeAll(async () => {
  home = temporaryDirectory();
  database = await createTestDatabase();
  server = await mysql.createConnection(testServer());
  await server.query(`CREATE USER '${user}'@'localhost' IDENTIFIED BY '${password}'`);
});
afterAll(async () => {
  await server.query(`DROP USER '${user}'@'localhost'`);
  await server.end();
  home[Symbol.dispose]();
});

const dataDir = () => path.join(home.path, 'data');
const run = (args: string[], env: Record<string, string> = {}) =>
  runCommandInProcess(args, { DATA_DIR: dataDir(), SECRET_KEY, ...env });
const asUser = (on: TestDatabase, secret = password) => urlOf(on).replace('root@', `${user}:${secret}@`);
/** Gives the user the rights of serve, on the tables that exist now. */
async function grant(on: TestDatabase): Promise<void> {
  const { out } = await run(['migrate', '--grants', `${user}@localhost`, '--json'], { DATABASE_URL: urlOf(on) });
  for (const statement of (JSON.parse(out) as { statements: string[] }).statements) await server.query(statement);
}
/** Makes two migrations pending. */
async function dropTwo(on: TestDatabase): Promise<void> {
  await using opened = openDatabase<unknown>(on);
  await sql`DELETE FROM migrations WHERE name LIKE '0081-%' OR name LIKE '0086-%'`.execute(opened.db);
  await sql`DROP TABLE platform_names, account_maps`.execute(opened.db);
}

const MISTYPED = 'unknown environment variable JOB_WACTH: did you mean JOB_WATCH?';
const readMessage = (line: string): string => (JSON.parse(line) as { msg: string }).msg;

test('a database that a newer version migrated is refused by every command and by serve: exit 2, with both versions', async () => {
  const newer = await createTestDatabase();
  await using opened = openDatabase<unknown>(newer);
  await sql`INSERT INTO migrations (name, applied_at, version) VALUES ('9000-add-much.ts', NOW(), '9.1.0')`.execute(
    opened.db,
  );
  const env = { DATABASE_URL: urlOf(newer), PROVIDER_URL: 'http://127.0.0.1:9', PROVIDER_API_KEY: 'k', PORT: '0' };
  // as a process: it takes over the signals
  const serve = await runCommand(['serve'], {
    ...env,
    SECRET_KEY,
    DATA_DIR: dataDir(),
    SPOOL_DIR: path.join(home.path, 'spool'),
    JOB_WACTH: 'off',
  });
  expect(serve.out.trim().split('\n').map(readMessage), 'serve warns of names too').toContain(MISTYPED);
  const refused = [
    serve,
    await run(['migrate'], env),
    await run(['migrate', '--dry-run'], env),
    await run(['doctor'], env),
  ];
  for (const { code, err } of refused) {
    expect(err).toContain('the database was migrated by version 9.1.0 (it has 9000-add-much.ts)');
    expect(err).toContain(`this is version ${VERSION}`);
    expect(code).toBe(2);
  }
});

test('a wrong password is reported with user and host, and not quoted: exit 2', async () => {
  for (const args of [['migrate'], ['doctor'], ['migrate', '--dry-run']]) {
    const { code, err } = await run(args, { DATABASE_URL: asUser(database, 'hunter-2') });
    expect(err).toContain(`the database refuses user ${user} at ${database.socketPath}: a wrong password`);
    expect(err).not.toContain('hunter-2');
    expect(code).toBe(2);
  }
});

test('a database that is not there, or not for this user, is named: exit 2', async () => {
  const missing = urlOf({ ...database, database: 'not_there' });
  const { code, err } = await run(['migrate'], { DATABASE_URL: missing });
  expect({ code, err }).toEqual({
    code: 2,
    err: `confere: user root at ${database.socketPath} finds no database not_there: create it, or correct DATABASE_URL\n`,
  });
  const other = await createTestDatabase('empty');
  const denied = await run(['migrate'], { DATABASE_URL: asUser(other) });
  expect(denied).toMatchObject({
    code: 2,
    err: expect.stringContaining(`user ${user} at ${database.socketPath} lacks a right`),
  });
});

test('pending migrations that the user may not run are named, with who must run them: exit 1, nothing changed', async () => {
  const behind = await createTestDatabase();
  await grant(behind);
  await dropTwo(behind);
  await using opened = openDatabase<unknown>(behind);
  const before = await describeTables(opened);
  const { code, err } = await run(['migrate'], { DATABASE_URL: asUser(behind) });
  expect(err).toMatch(/^confere: 2 migrations are pending \(0081-[\w-]+\.ts to 0086-[\w-]+\.ts\), and user t_/);
  expect(err).toContain(`user ${user} at ${database.socketPath} may not change tables (CREATE command denied`);
  expect(err).toContain("run confere migrate as the database's owner");
  expect(code).toBe(1);
  expect(await describeTables(opened)).toEqual(before);
});

test('with the key of another installation nothing is migrated: exit 2', async () => {
  const behind = await createTestDatabase();
  expect((await run(['migrate'], { DATABASE_URL: urlOf(behind) })).code).toBe(0);
  await dropTwo(behind);
  await using opened = openDatabase<unknown>(behind);
  const before = await describeTables(opened);
  const SECRET_KEY = randomBytes(32).toString('base64');
  const { code, err } = await run(['migrate'], { DATABASE_URL: urlOf(behind), SECRET_KEY });
  expect(err).toMatch(
    /^confere: SECRET_KEY \(key id \w{16}\) is the wrong key: this database is encrypted with the key id \w{16}\./,
  );
  expect(code).toBe(2);
  expect(await describeTables(opened)).toEqual(before);
});

test('with a wrong key, and with DATA_DIR a link to nowhere, the doctor says so and checks the rest', async () => {
  const encrypted = await createTestDatabase();
  expect((await run(['migrate'], { DATABASE_URL: urlOf(encrypted) })).code).toBe(0);
  const DATA_DIR = path.join(home.path, 'dangling');
  symlinkSync('nowhere', DATA_DIR);
  const wrong = { DATABASE_URL: urlOf(encrypted), SECRET_KEY: randomBytes(32).toString('base64'), DATA_DIR };
  const { code, out, err } = await run(['doctor'], wrong);
  expect(out).toMatch(/^FAIL {2}key {7}SECRET_KEY \(key id \w{16}\) is the wrong key: .* docs\/lost-key.md/m);
  expect(out).toContain(
    `FAIL  data      ${DATA_DIR} can't be read and written to (a link to a place that does not exist)`,
  );
  expect(out).toMatch(/^ok {4}provider/m);
  expect({ code, err }).toEqual({ code: 1, err: '' });
});

test('a provider that answers its list and no transaction fails the doctor', async () => {
  await using provider = await new TestProvider(API_KEY).listen();
  provider.add(makeRow());
  const asked = { DATABASE_URL: urlOf(database), PROVIDER_URL: provider.url, PROVIDER_API_KEY: API_KEY };
  expect((await run(['doctor'], asked)).out).toMatch(
    /^ok {4}provider {2}accepts the API key and reports 1 transactions/m,
  );
  provider.switches.fault = ({ kind }) => (kind === 'show' ? { status: 401 } : undefined);
  const { code, out } = await run(['doctor'], asked);
  expect(out).toMatch(/^FAIL {2}provider {2}the provider refuses PROVIDER_API_KEY \(401\)$/m);
  expect(code).toBe(1);
});

test('the doctor writes nothing to a new database, nor to the disk', async () => {
  const DATA_DIR = path.join(home.path, 'not', 'yet');
  const fresh = await createTestDatabase();
  await using opened = openDatabase<unknown>(fresh);
  const before = await describeTables(opened);
  const { code, out } = await run(['doctor', '--json'], { DATABASE_URL: urlOf(fresh), DATA_DIR });
  const { findings } = JSON.parse(out) as { findings: { check: string; ok: boolean; says: string }[] };
  expect(findings).toContainEqual({
    check: 'data',
    ok: true,
    says: `${DATA_DIR} does not exist yet: serve creates it`,
  });
  // the server of the tests does not sync its commits, which the doctor reports
  expect(findings.filter(({ ok, check }) => !ok && check !== 'database')).toEqual([]);
  expect(code).toBe(1);
  expect(await describeTables(opened)).toEqual(before);
  expect(existsSync(path.dirname(DATA_DIR))).toBe(false);
});

test('the doctor checks the rest where there is no embedded database yet, and creates none', async () => {
  const DATA_DIR = path.join(home.path, 'embedded');
  const { code, out } = await runCommandInProcess(['doctor'], { DATA_DIR });
  expect(out).toContain(
    `ok    database  ${DATA_DIR} has no database: set DATA_DIR, or DATABASE_URL; serve creates a new one`,
  );
  expect(out).toMatch(/^ok {4}provider {2}PROVIDER_URL and PROVIDER_API_KEY are not set/m);
  expect(code).toBe(0);
  expect(existsSync(DATA_DIR)).toBe(false);
});

test.each([
  'rotate-key',
  'export --day 2026-11-20',
  'retention --dry-run',
  'tokens list',
  'audit',
  'jobs',
  'migrate --grants app',
  'migrate --dry-run',
  'doctor --restored --since 2026-11-20T03:00:00Z',
  'backup --to HOME/backup',
])('in a wrong DATA_DIR, %s creates no database and no key: exit 2', async (line) => {
  const DATA_DIR = path.join(home.path, 'mistyped');
  const args = line.split(' ').map((arg) => arg.replace('HOME', home.path));
  const { code, out, err } = await runCommandInProcess(args, { DATA_DIR });
  const says = `${DATA_DIR} has no database: set DATA_DIR, or DATABASE_URL; serve creates a new one`;
  expect({ code, out, err }).toEqual({ code: 2, out: '', err: `confere: ${says}\n` });
  expect(existsSync(DATA_DIR)).toBe(false);
});

test('the DATA_DIR of another program, such as the sandbox, is not taken for ours', async () => {
  const DATA_DIR = path.join(home.path, 'sandbox');
  mkdirSync(path.join(DATA_DIR, 'mariadb', 'data', 'sandbox'), { recursive: true });
  const { code, err } = await runCommandInProcess(['tokens', 'list'], { DATA_DIR });
  expect(err).toContain(`${DATA_DIR} has no database`);
  expect(code).toBe(2);
  expect(readdirSync(DATA_DIR, { recursive: true })).toHaveLength(3);
});

test.each([
  ['serve', 'a file'],
  ['migrate', 'a file'],
  ['serve', '/proc/confere'],
])('%s says in one line that DATA_DIR, %s, can not be a directory: exit 2', async (command, place) => {
  const DATA_DIR = place === 'a file' ? path.join(home.path, 'no-directory') : place;
  if (place === 'a file') writeFileSync(DATA_DIR, '');
  const env = { DATA_DIR, PROVIDER_URL: 'http://127.0.0.1:9', PROVIDER_API_KEY: 'k' };
  const { code, err } = await runCommandInProcess([command], env);
  expect(err).toMatch(new RegExp(`^confere: DATA_DIR: ${DATA_DIR} [^\\n]+ \\(E\\w+, mkdir\\)\\n$`));
  expect(code).toBe(2);
});

test('a database that does not run is reported with user and host: exit 1, and the doctor checks the rest', async () => {
  const away = { DATABASE_URL: 'mysql://app:hunter-2@127.0.0.1:1/confere', DATA_DIR: dataDir() };
  const says =
    'the database is not reached by user app at 127.0.0.1:1 (ECONNREFUSED): start it, or correct DATABASE_URL';
  expect(await run(['migrate'], away)).toMatchObject({ code: 1, out: '', err: `confere: ${says}\n` });
  const { code, out } = await run(['doctor'], away);
  expect(out).toContain(`FAIL  database  ${says}\n`);
  expect(out).toMatch(/^ok {4}data {6}/m);
  expect(out).toMatch(/^ok {4}provider/m);
  expect(code).toBe(1);
});

test('with a full disk the doctor says which file, and checks the rest', async () => {
  const DATA_DIR = path.join(home.path, 'full');
  mkdirSync(path.join(DATA_DIR, 'mariadb', 'data', 'confere'), { recursive: true });
  // a process: each of its files may have no byte, as on a full disk
  const doctor = await promisify(execFile)(
    'bash',
    ['-c', 'ulimit -f 0 && exec "$@"', 'bash', path.join(ROOT, 'bin/confere'), 'doctor'],
    { env: { PATH: process.env.PATH, ENV_FILE: '', DATA_DIR } },
  ).catch((error: { code: number; stdout: string }) => error);
  expect(doctor).toMatchObject({ code: 1 });
  expect(doctor.stdout).toMatch(
    /^FAIL {2}database {2}\S+\/mariadb\/members\/\S+ could not be written: .+ \(EFBIG, write\)$/m,
  );
  expect(doctor.stdout).toMatch(/^ok {4}data {6}/m);
});

test('the doctor reports pending migrations, and a data directory that cannot be made', async () => {
  const behind = await createTestDatabase();
  await dropTwo(behind);
  const file = path.join(home.path, 'file');
  writeFileSync(file, '');
  const { code, out } = await run(['doctor'], { DATABASE_URL: urlOf(behind), DATA_DIR: path.join(file, 'data') });
  expect(out).toMatch(/^FAIL {2}database {2}the database is 2 migrations behind: run confere migrate$/m);
  expect(out).toMatch(/^FAIL {2}data {6}/m);
  expect(out).toMatch(/^ok {4}provider/m);
  expect(code).toBe(1);
});

test('a nearly known name of the environment is warned of, and a foreign one is not', async () => {
  const { code, err } = await run(['tokens', 'list'], {
    DATABASE_URL: urlOf(database),
    JOB_WACTH: 'off',
    SOMETHING_ELSE: 'x',
  });
  expect(err.trim().split('\n').map(readMessage)).toEqual([MISTYPED]);
  expect(code).toBe(0);
});

test('migrate --dry-run prints the statements of pending migrations with an estimate, and runs none', async () => {
  const behind = await createTestDatabase();
  await using opened = openDatabase<unknown>(behind);
  await sql`DELETE FROM migrations WHERE name LIKE '0083-%' OR name LIKE '0086-%'`.execute(opened.db);
  await sql`ALTER TABLE mismatches DROP KEY mismatches_opened`.execute(opened.db);
  await sql`DROP TABLE account_maps`.execute(opened.db);
  const before = await describeTables(opened);
  const { code, out } = await run(['migrate', '--dry-run'], { DATABASE_URL: urlOf(behind) });
  expect(out).toMatch(
    /^-- 0083-add-report-figures\.ts\nALTER TABLE mismatches ADD KEY mismatches_opened .+;\n-- mismatches: about 0 rows, 1 MiB; reads it once; it takes writes meanwhile; under a second\n/,
  );
  expect(out).toMatch(/^CREATE TABLE IF NOT EXISTS account_maps \(/m);
  expect(code).toBe(0);
  expect(await describeTables(opened)).toEqual(before);
  const json = await run(['migrate', '--dry-run', '--json'], { DATABASE_URL: urlOf(behind) });
  expect(JSON.parse(json.out)).toMatchObject({
    migrations: [
      { file: '0083-add-report-figures.ts', statements: [{ effect: 'index', table: { name: 'mismatches' } }] },
      { file: '0086-create-account-maps.ts', statements: [{ effect: 'instant', seconds: 0 }] },
    ],
  });
});

test('migrate --dry-run on an empty database shows every table, and marks what only later tables can show', async () => {
  const { code, out } = await run(['migrate', '--dry-run'], { DATABASE_URL: urlOf(await createTestDatabase('empty')) });
  expect(out).toMatch(/^CREATE TABLE IF NOT EXISTS webhooks \(/m);
  expect(out).toMatch(/^-- 0080-.+\n-- not shown further: it reads a table that a migration before it creates$/m);
  expect(code).toBe(0);
});

test('bin/confere reads the file .env beside package.json; the environment wins, and ENV_FILE names another file', async () => {
  const root = path.join(home.path, 'installed');
  mkdirSync(path.join(root, 'bin'), { recursive: true });
  copyFileSync(path.join(ROOT, 'bin/confere'), path.join(root, 'bin/confere'));
  for (const name of ['src', 'embedded', 'migrations', 'node_modules', 'package.json'])
    symlinkSync(path.join(ROOT, name), path.join(root, name));
  writeFileSync(path.join(root, '.env'), 'PORT=many\nPROVIDER_RATE="fast"\nJOBS=perhaps\n');
  const other = path.join(home.path, 'other.env');
  writeFileSync(other, 'WEBHOOK_GRACE=soon\n');
  const serve = (env: Record<string, string | undefined>) =>
    runCommand(['serve'], env as Record<string, string>, path.join(root, 'bin/confere'));
  const [first, second, missing] = await Promise.all([
    serve({ JOBS: 'on', ENV_FILE: undefined }),
    serve({ ENV_FILE: other }),
    serve({ ENV_FILE: `${other}.not` }),
  ]);
  expect(missing.err).toMatch(
    /^confere: ENV_FILE names \S+\.not, which is not a file that \S+ can read: correct it.*\n$/,
  );
  expect(missing.code).toBe(2);
  const named = (err: string) =>
    ['PORT', 'PROVIDER_RATE', 'JOBS', 'WEBHOOK_GRACE'].filter((name) => err.includes(`  ${name}: `));
  expect([first.code, second.code]).toEqual([2, 2]);
  expect([named(first.err), named(second.err)]).toEqual([['PORT', 'PROVIDER_RATE'], ['WEBHOOK_GRACE']]);
});

/** The definition and a checksum of each table. */
async function describeTables({ db }: { db: ReturnType<typeof openDatabase<unknown>>['db'] }): Promise<unknown[]> {
  const { rows } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() ORDER BY table_name`.execute(db);
  const described: unknown[] = [];
  for (const { name } of rows) {
    const table = sql.table(name);
    const [definition, sum] = [
      await sql`SHOW CREATE TABLE ${table}`.execute(db),
      await sql`CHECKSUM TABLE ${table}`.execute(db),
    ];
    described.push([definition.rows, sum.rows]);
  }
  return described;
}
