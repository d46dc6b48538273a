import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startProgram } from '../../../demo/start-programs.ts';
import { identifyProcess } from '../../../embedded/identify-process.ts';
import { readDescription } from '../../../src/backup/describe-backup.ts';
import { makeBackup } from '../../../src/backup/make-backup.ts';
import { readBackupMetrics } from '../../../src/backup/read-backup-metrics.ts';
import { createReader } from '../../../src/backup/stored-files.ts';
import { verifySums } from '../../../src/backup/sums.ts';
import { openSpool } from '../../../src/inbox/spool/spool.ts';
import { nameOwner } from '../../../src/inbox/spool/spool-owner.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const to = path.join(home.path, 'plain');
const encrypted = path.join(home.path, 'encrypted');
const identityFile = path.join(home.path, 'backup.key');
const WEBHOOK = { receivedAt: new Date(), address: '203.0.113.7', headers: {}, body: Buffer.from('{"id":"spooled"}') };

/** One line of what a restore without --sum trusts. */
const WARNED = /^confere: without --sum, everyone who could write to \S+ is trusted[^\n]*\n$/;

let source: TestEnvironment;
let sourceTarget: Place['target'];
let sourceEnv: Record<string, string>;
let sum: string;
let places = 0;

/** An empty place: a database and a DATA_DIR that does not exist yet. */
async function makePlace(more: Record<string, string> = {}) {
  const target = await createTestDatabase('empty');
  const dataDir = path.join(home.path, `place-${places++}`);
  const env = {
    DATABASE_URL: urlOf(target),
    SECRET_KEY,
    DATA_DIR: dataDir,
    SPOOL_DIR: path.join(dataDir, 'spool'),
    ...more,
  };
  return { env, dataDir, target };
}
type Place = Awaited<ReturnType<typeof makePlace>>;

async function countTables({ target }: Place): Promise<number> {
  const connection = await mysql.createConnection(target);
  const [rows] = await connection.query<mysql.RowDataPacket[]>('SHOW TABLES');
  await connection.end();
  return rows.length;
}

async function readTriggers(target: Place['target']) {
  const connection = await mysql.createConnection(target);
  const [rows] = await connection.query<
    mysql.RowDataPacket[]
  >(`SELECT trigger_name, event_manipulation, event_object_table, TRIM(TRAILING ';' FROM action_statement) AS ACTION_STATEMENT
    FROM information_schema.triggers WHERE trigger_schema = DATABASE() ORDER BY trigger_name`);
  await connection.end();
  return rows;
}

/** A copy of the backup that a test may damage. */
function copyBackup(from = to): string {
  const copy = path.join(home.path, `copy-${places++}`);
  cpSync(from, copy, { recursive: true });
  return copy;
}

/** Gives a damaged backup sums that fit. */
/** Appends statements to the dump, as somebody who can write to the directory might. */
function addStatements(copy: string, statements: string): void {
  const file = path.join(copy, 'database.sql.gz');
  writeFileSync(file, gzipSync(`${gunzipSync(readFileSync(file)).toString()}\n${statements}\n`));
  writeSums(copy);
}

function writeSums(copy: string): void {
  const names = [
    'backup.json',
    'database.sql.gz',
    ...readdirSync(path.join(copy, 'data', 'spool')).map((name) => `data/spool/${name}`),
  ];
  const { stdout } = spawnSync('sha256sum', names, { cwd: copy, encoding: 'utf8' });
  writeFileSync(path.join(copy, 'SHA256SUMS'), stdout);
}

/** A database server that takes connections and never says a word. */
async function openSilentServer() {
  const sockets: net.Socket[] = [];
  let reach: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const server = net.createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    reach();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    reached,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function expectRefused(args: string[], place: Place, error: RegExp): Promise<void> {
  const { code, err } = await runCommandInProcess(['restore', ...args], place.env);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(error) });
  expect({ tables: await countTables(place), exists: existsSync(place.dataDir) }).toEqual({ tables: 0, exists: false });
}

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  sourceTarget = await createTestDatabase();
  source = stack.use(await openEnvironment({ SECRET_KEY, DATA_DIR: path.join(home.path, 'source') }, sourceTarget));
  const spool = path.join(source.dataDir, 'spool');
  sourceEnv = { ...source.env, SPOOL_DIR: spool };
  {
    await using opened = openSpool(spool);
    await opened.append(WEBHOOK);
  }
  // as another serve on this machine has it, which still runs
  const [name = ''] = readdirSync(spool);
  const [begunAt, owner = ''] = name.split('.');
  const running = `${identifyProcess(1)?.replace(':', '-')}-${owner.split('-').at(-1)}`;
  cpSync(path.join(spool, name), path.join(spool, `${begunAt}.${running}.00000000.spool`));
  rmSync(path.join(spool, name));
  const identity = await generateIdentity();
  writeFileSync(identityFile, `# created by age-keygen\n${identity}\n`);
  const made = await runCommandInProcess(['backup', '--to', to, '--json'], sourceEnv);
  expect(made).toMatchObject({ code: 0, err: '' });
  ({ sum } = JSON.parse(made.out) as { sum: string });
  const recipient = await identityToRecipient(identity);
  const sealed = await runCommandInProcess(['backup', '--to', encrypted, '--recipient', recipient], sourceEnv);
  expect(sealed).toMatchObject({ code: 0, err: '' });
});
afterAll(() => stack.disposeAsync());

describe('a backup', () => {
  it('is checked by sha256sum', () => {
    const check = spawnSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], {
      cwd: to,
      encoding: 'utf8',
    });
    expect([check.status, check.stdout]).toEqual([0, '']);
  });

  it.each<[string, (copy: string) => void, RegExp]>([
    [
      'whose dump changed by a byte',
      (copy) => appendFileSync(path.join(copy, 'database.sql.gz'), 'x'),
      /database\.sql\.gz has changed/,
    ],
    ['that lacks a file', (copy) => rmSync(path.join(copy, 'backup.json')), /backup\.json is missing/],
    [
      'with a file more',
      (copy) => writeFileSync(path.join(copy, 'data', 'secret.key'), 'x'),
      /data\/secret\.key is not in SHA256SUMS/,
    ],
    ['that was not finished', (copy) => rmSync(path.join(copy, 'SHA256SUMS')), /no finished backup/],
    [
      'whose sums lead elsewhere',
      (copy) => writeFileSync(path.join(copy, 'SHA256SUMS'), `${'0'.repeat(64)}  ../x\n`),
      /has a line that is no sum/,
    ],
  ])('%s is refused, and nothing is written', async (_, damage, error) => {
    const copy = copyBackup();
    damage(copy);
    await expectRefused(['--from', copy], await makePlace(), error);
  });

  it('that was replaced with sums of its own is refused by the sum that was kept', async () => {
    const copy = copyBackup();
    writeFileSync(path.join(copy, 'backup.json'), '{}');
    writeSums(copy);
    await expectRefused(['--from', copy, '--sum', sum], await makePlace(), /is not the one of --sum/);
    await expectRefused(['--from', copy], await makePlace(), /not of a backup that this version can read/);
    writeFileSync(path.join(copy, 'backup.json'), '');
    writeSums(copy);
    await expectRefused(['--from', copy], await makePlace(), /backup\.json is broken, or not of a backup/);
  });

  it('of another key is refused, and the key is named', async () => {
    const other = Buffer.alloc(32, 9).toString('base64');
    const id = source.context.vault.keyId;
    await expectRefused(['--from', to], await makePlace({ SECRET_KEY: other }), new RegExp(`whose id is ${id}`));
  });

  it('with spooled webhooks is refused where no serve would take them', async () => {
    const place = await makePlace();
    const { SPOOL_DIR: _, ...env } = place.env;
    await expectRefused(
      ['--from', to],
      { ...place, env: env as Place['env'] },
      /1 segments of spooled webhooks: set SPOOL_DIR/,
    );
  });

  it('is not restored into a place that is used', async () => {
    const place = await makePlace();
    mkdirSync(place.dataDir);
    writeFileSync(path.join(place.dataDir, 'admin-token'), 'x');
    const first = await runCommandInProcess(['restore', '--from', to], place.env);
    expect(first).toMatchObject({ code: 2, err: expect.stringContaining('is not empty (admin-token)') });
    rmSync(place.dataDir, { recursive: true });
    mkdirSync(place.dataDir);
    writeFileSync(path.join(place.dataDir, 'serve.lock'), identifyProcess(process.pid) ?? '');
    const taken = await runCommandInProcess(['restore', '--from', to], place.env);
    expect(taken).toMatchObject({ code: 2, err: expect.stringMatching(/another serve or restore runs on/) });
    rmSync(place.dataDir, { recursive: true });
    const used = { ...place.env, DATABASE_URL: source.env.DATABASE_URL ?? '' };
    const second = await runCommandInProcess(['restore', '--from', to], used);
    expect(second).toMatchObject({ code: 2, err: expect.stringMatching(/the database is not empty \(\d+ tables\)/) });
  });

  it('is not made into a directory that has files, with a wrong key, or without a database; nothing is left of it', async () => {
    const before = readdirSync(home.path);
    const backUp = (directory: string, env: Record<string, string>, ...more: string[]) =>
      runCommandInProcess(['backup', '--to', directory, ...more], env);
    const fresh = path.join(home.path, 'never');
    expect(await backUp(to, sourceEnv)).toMatchObject({ code: 2, err: expect.stringContaining('is not empty') });
    const wrong = { ...sourceEnv, SECRET_KEY: Buffer.alloc(32, 9).toString('base64') };
    expect(await backUp(fresh, wrong)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is the wrong key: this database is encrypted with the key id'),
    });
    expect(await backUp(fresh, sourceEnv, '--recipient', 'age1nobody')).toMatchObject({ code: 2 });
    const { env } = await makePlace();
    expect(await backUp(fresh, env)).toMatchObject({ code: 2, err: expect.stringContaining('nothing to back up') });
    const nowhere = { DATA_DIR: path.join(home.path, 'nowhere') };
    expect(await backUp(fresh, nowhere)).toMatchObject({ code: 2, err: expect.stringContaining('has no database') });
    expect(readdirSync(home.path)).toEqual(before);
  });

  it('is not made within DATA_DIR, also by a link, or its spool', async () => {
    const link = path.join(home.path, 'link');
    symlinkSync(source.dataDir, link);
    for (const directory of [path.join(source.dataDir, 'new', 'backup'), path.join(link, 'backup')])
      expect(await runCommandInProcess(['backup', '--to', directory], sourceEnv)).toMatchObject({
        code: 2,
        err: expect.stringContaining('would be lost with it'),
      });
    rmSync(link);
  });

  it('gets a name by its time with --into, and needs one of --to and --into', async () => {
    const folder = path.join(home.path, 'nights');
    expect(await runCommandInProcess(['backup', '--into', folder], sourceEnv)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}Z$/)]);
    for (const args of [[], ['--into', folder, '--to', folder]])
      expect(await runCommandInProcess(['backup', ...args], sourceEnv)).toMatchObject({
        code: 2,
        err: expect.stringContaining('give one of --to and --into'),
      });
  });

  it('removes drafts of killed backups beside it, and no draft that may be written', async () => {
    const folder = path.join(home.path, 'drafts');
    const owner = nameOwner();
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    const elsewhere = owner.replace(/[0-9a-f]{12}$/, '0'.repeat(12));
    const drafts = {
      killed: `a.draft-1-1-${owner.split('-').at(-1)}-00000000`,
      running: `b.draft-${owner}-00000000`,
      elsewhere: `c.draft-${elsewhere}-00000000`,
      elsewhereOld: `d.draft-${elsewhere}-00000000`,
      dated: 'contract.draft-20261123',
      other: 'f.draft-of-a-letter',
    };
    for (const name of Object.values(drafts)) {
      const data = path.join(folder, name, 'data');
      mkdirSync(data, { recursive: true });
      for (const file of [data, path.dirname(data)])
        utimesSync(file, 0, name === drafts.elsewhere ? hoursAgo(19) : hoursAgo(23));
    }
    const made = await runCommandInProcess(['backup', '--to', path.join(folder, 'new')], {
      ...sourceEnv,
      LOG_LEVEL: 'warn',
    });
    expect(made.code).toBe(0);
    expect(made.err.trim().split('\n')).toHaveLength(2);
    expect(readdirSync(folder).sort()).toEqual(
      [drafts.running, drafts.elsewhere, drafts.dated, drafts.other, 'new'].sort(),
    );
  });

  it('that another one overtakes says so, and leaves that one', async () => {
    const directory = path.join(home.path, 'twice');
    const { context } = source;
    const make = () => makeBackup(context.config, { to: directory, option: '--to', recipients: [] }, context);
    const [first, second] = await Promise.allSettled([make(), make()]);
    const lost = first.status === 'rejected' ? first : second;
    expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected']);
    expect(lost).toMatchObject({
      reason: { code: 'conflict', message: expect.stringContaining(`another backup made ${directory} meanwhile`) },
    });
    await verifySums(directory, undefined);
    expect(readdirSync(home.path).filter((name) => name.startsWith('twice'))).toEqual(['twice']);
  });

  it('whose end is not recorded is reported as finished', async () => {
    const directory = path.join(home.path, 'unrecorded');
    const connection = await mysql.createConnection(sourceTarget);
    await connection.query(`CREATE TRIGGER no_record BEFORE INSERT ON settings FOR EACH ROW
      IF NEW.name = 'last_backup' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF`);
    const made = await runCommandInProcess(['backup', '--to', directory, '--json'], sourceEnv);
    await connection.query('DROP TRIGGER no_record');
    await connection.end();
    const { sum: own, trouble } = JSON.parse(made.out) as { sum: string; trouble: string };
    expect([made.code, trouble]).toEqual([0, expect.stringContaining('ER_SIGNAL_EXCEPTION')]);
    await verifySums(directory, own);
  });

  it('is restored with the triggers of the migrations, and with none of its own', async () => {
    const copy = copyBackup();
    addStatements(copy, 'CREATE TRIGGER own BEFORE INSERT ON audit FOR EACH ROW SET NEW.actor = "nobody";');
    const place = await makePlace();
    const restored = await runCommandInProcess(['restore', '--from', copy], place.env);
    expect(restored).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^confere: without --sum, .* is trusted: .*\n$/),
    });
    const triggers = await readTriggers(place.target);
    expect(triggers.length).toBeGreaterThan(10);
    expect(triggers).toEqual(await readTriggers(sourceTarget));
  });

  it.each([
    ['VIEW seen AS SELECT 1 one', /the view seen/],
    ['PROCEDURE run() SELECT 1', /the procedure run/],
    ['EVENT later ON SCHEDULE EVERY 1 DAY DO SELECT 1', /the event later/],
  ])('with CREATE %s is refused, and the database is empty again', async (statement, says) => {
    const copy = copyBackup();
    addStatements(copy, `CREATE ${statement};`);
    await expectRefused(['--from', copy], await makePlace(), says);
  });

  it.each([
    '\\! touch "$FILE"',
    '\\. /etc/hostname',
    'SELECT 1;\n\\! touch "$FILE"',
    'system touch "$FILE"',
    'tee $FILE',
  ])('whose dump has the command %s runs nothing', async (command) => {
    const file = path.join(home.path, `ran-${places++}`);
    const copy = copyBackup();
    addStatements(copy, command.replace('$FILE', file));
    const place = await makePlace();
    expect((await runCommandInProcess(['restore', '--from', copy], place.env)).code).not.toBe(0);
    expect([existsSync(file), await countTables(place)]).toEqual([false, 0]);
  });

  it('that changes between the check of its sums and its reading is refused', async () => {
    const copy = copyBackup();
    const { sums } = await verifySums(copy, undefined);
    addStatements(copy, 'SELECT 1;');
    const reader = createReader(copy, undefined, sums);
    await expect(reader.copy('database.sql.gz', new PassThrough().resume())).rejects.toThrow(
      /changed while it was read/,
    );
    writeFileSync(path.join(copy, 'backup.json'), '{}');
    await expect(readDescription(copy, sums)).rejects.toThrow(/changed while it was read/);
  });
});

test('a backup is made of the database host that takes writes, not of the first that answers', async () => {
  const { socketPath, database } = await createTestDatabase();
  await using env = await openEnvironment({ SECRET_KEY }, { socketPath, database });
  const [stale, writer] = [await openTcpProxy(socketPath), await openTcpProxy(socketPath)];
  stale.become('read only');
  const url = `mysql://root@127.0.0.1:${stale.port}/${database}?hosts=127.0.0.1:${writer.port}`;
  const place = path.join(home.path, 'agreed');
  const made = await runCommandInProcess(['backup', '--to', place], { ...env.env, DATABASE_URL: url });
  expect(made).toMatchObject({ code: 0 });
  expect(writer.taken()).toBeGreaterThan(stale.taken());
  for (const proxy of [stale, writer]) proxy.cut();
});

describe('an encrypted backup', () => {
  it('has nothing in the clear but what it is', () => {
    const files = readdirSync(encrypted, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(
      files
        .map(({ name }) => name)
        .filter((name) => !name.endsWith('.age'))
        .sort(),
    ).toEqual(['SHA256SUMS', 'backup.json']);
    expect(files.length).toBe(4);
    for (const { name, parentPath } of files.filter((one) => one.name.endsWith('.age')))
      expect(readFileSync(path.join(parentPath, name)).subarray(0, 21).toString()).toBe('age-encryption.org/v1');
  });

  it('is refused without its key, and with another one', async () => {
    await expectRefused(['--from', encrypted], await makePlace(), /is encrypted: name the file of its key/);
    const other = path.join(home.path, 'other.key');
    writeFileSync(other, await generateIdentity());
    await expectRefused(['--from', encrypted, '--identity', other], await makePlace(), /could not be decrypted/);
    await expectRefused(['--from', to, '--identity', identityFile], await makePlace(), /is not encrypted/);
  });

  it('is restored with its key: tables, triggers, and the spool, which the next serve takes at once', async () => {
    const place = await makePlace();
    const restored = await runCommandInProcess(['restore', '--from', encrypted, '--identity', identityFile], place.env);
    expect(restored).toMatchObject({ code: 0, err: expect.stringMatching(WARNED) });
    const connection = await mysql.createConnection(place.target);
    await expect(connection.query('DELETE FROM audit')).rejects.toThrow('audit is append-only');
    await connection.end();
    await using spool = openSpool(place.env.SPOOL_DIR ?? '');
    const [name = ''] = await spool.claimSegments();
    expect(spool.readSegment(name)?.records).toEqual([WEBHOOK]);
  });
});

/** Marks the database as one that a restore of this id has begun to fill. */
async function beginToFill({ target }: Place, id: string): Promise<void> {
  const connection = await mysql.createConnection(target);
  await connection.query(`CREATE TABLE restore_unfinished (id TINYINT NOT NULL PRIMARY KEY) COMMENT = '${id}'`);
  await connection.query('CREATE TABLE webhooks (half INT)');
  await connection.end();
}

describe('a restore that was interrupted', () => {
  it('leaves a database that every command refuses, and another restore too', async () => {
    const place = await makePlace();
    await beginToFill(place, 'another');
    for (const args of [['migrate'], ['backup', '--to', path.join(home.path, 'half')], ['restore', '--from', to]])
      expect(await runCommandInProcess(args, place.env)).toMatchObject({
        code: 2,
        err: expect.stringContaining('a restore of it was interrupted'),
      });
    expect(existsSync(place.dataDir)).toBe(false);
    expect(await countTables(place)).toBe(2);
  });

  it('by SIGKILL leaves its mark in DATA_DIR, which every command refuses, until it is run again', async () => {
    const place = await makePlace();
    const { env, dataDir } = place;
    // as a start on a disk without room left it
    mkdirSync(path.join(dataDir, 'mariadb', 'data.new', 'mysql'), { recursive: true });
    writeFileSync(path.join(dataDir, 'mariadb', 'data.new', 'ibdata1'), '');
    mkdirSync(path.join(dataDir, 'spool'));
    await using silent = await openSilentServer();
    const url = `mysql://root@127.0.0.1:${silent.port}/confere`;
    const restoring = startProgram(home.path, 'killed', ['restore', '--from', to], { ...env, DATABASE_URL: url });
    await silent.reached;
    const ended = new Promise((resolve) => restoring.child.once('exit', resolve));
    restoring.child.kill('SIGKILL');
    await ended;
    expect(readdirSync(dataDir).sort()).toEqual(['restore.unfinished', 'serve.lock', 'spool']);
    // what it would have placed next
    const { id, files } = JSON.parse(readFileSync(path.join(dataDir, 'restore.unfinished'), 'utf8')) as {
      id: string;
      files: string[];
    };
    await beginToFill(place, id);
    for (const file of files) writeFileSync(file, 'half');

    const provider = {
      PROVIDER_URL: 'http://127.0.0.1:9',
      PROVIDER_API_KEY: 'x'.repeat(16),
      WEBHOOK_SECRET: 'x'.repeat(16),
    };
    for (const args of [['serve'], ['migrate'], ['doctor'], ['backup', '--to', path.join(home.path, 'half')]])
      expect(await runCommandInProcess(args, { ...env, ...provider })).toMatchObject({
        code: 2,
        err: expect.stringContaining('run confere restore again'),
      });
    const again = await runCommandInProcess(['restore', '--from', to], env);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('beginning anew') });
    expect(readdirSync(dataDir)).toEqual(['spool']);
    expect(readdirSync(path.join(dataDir, 'spool')).length).toBe(1);
    await using restored = await openEnvironment({ SECRET_KEY, DATA_DIR: dataDir }, place.target);
    expect(await restored.context.db.selectFrom('restores').select('seq').execute()).toHaveLength(1);
    // its own record came after its snapshot
    const { started_at } = JSON.parse(readFileSync(path.join(to, 'backup.json'), 'utf8')) as { started_at: string };
    const [made, bytes] = await readBackupMetrics(restored.context);
    expect([made?.values, Number(bytes?.values) > 0]).toEqual([Date.parse(started_at) / 1000, true]);
  });

  it('by an error leaves nothing, and says nothing of the rows', async () => {
    const place = await makePlace();
    const copy = copyBackup();
    const dump = gunzipSync(readFileSync(path.join(copy, 'database.sql.gz'))).toString();
    writeFileSync(path.join(copy, 'database.sql.gz'), gzipSync(`${dump}\nINSERT INTO gone VALUES ('Maria');\n`));
    writeSums(copy);
    const { code, err } = await runCommandInProcess(['restore', '--from', copy], place.env);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("gone' doesn't exist") });
    expect(err).not.toContain('Maria');
    expect({ tables: await countTables(place), exists: existsSync(place.dataDir) }).toEqual({
      tables: 0,
      exists: false,
    });
  });
});

test('a database that was restored by other means is recorded by the instant of its backup, once', async () => {
  await using other = await openEnvironment();
  const doctor = (...args: string[]) => runCommandInProcess(['doctor', '--restored', ...args], other.env);
  expect(await doctor()).toMatchObject({ code: 2, err: expect.stringContaining('name the instant of the backup') });
  expect(await doctor('--since', '2999-01-01T00:00:00Z')).toMatchObject({
    code: 2,
    err: expect.stringContaining('to come'),
  });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const recorded = await doctor('--since', since);
  expect(recorded).toMatchObject({ code: 3, out: expect.stringContaining(`gap       ${since} to the first webhook`) });
  expect(recorded.out).toMatch(/^wait {2}list .*: queued: a worker of serve reads them$/m);
  expect(recorded.out).toContain('callbacks 0 are held');
  expect(await doctor('--since', since)).toMatchObject({
    code: 1,
    err: expect.stringContaining('recorded and not confirmed'),
  });
  expect(await doctor('--confirm', '--since', since)).toMatchObject({ code: 2 });
});
