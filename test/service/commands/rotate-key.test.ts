import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../embedded/open-database.ts';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import { findVault } from '../../../src/database/keys/find-vault.ts';
import { KEY_CHECK, readSetting } from '../../../src/database/keys/settings.ts';
import { createVault } from '../../../src/database/keys/vault.ts';
import type { Database } from '../../../src/database/tables.ts';
import { createLog } from '../../../src/log.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { readCredentials, rotateSecret } from '../../../src/merchants/secrets.ts';
import { readSigningKeys } from '../../../src/tlog/keys.ts';
import { copyEmbeddedData } from '../../support/copy-embedded-data.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';
import { readSealed } from '../../support/read-sealed.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { waitForLockWaits } from '../../support/wait-for-lock-waits.ts';

const CONFERE = path.join(import.meta.dirname, '../../../bin/confere');
const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const newKey = (): string => randomBytes(32).toString('base64');

let databaseUrl: string;
let target: Awaited<ReturnType<typeof createTestDatabase>>;
let current = newKey();
let merchantId: string;
let before: { secrets: string[]; keys: unknown };

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  target = await createTestDatabase();
  databaseUrl = urlOf(target);
  await using context = await openWith(current);
  const { merchant } = await createMerchant(context, {
    ...{ name: 'Loja', url: 'https://loja.example/pix', headers: { 'x-key': 'theirs' } },
  });
  merchantId = merchant.id;
  before = { secrets: await readSecrets(context), keys: readKeys(context) };
});
afterAll(() => stack.disposeAsync());

const envOf = (key: string) => ({ DATABASE_URL: databaseUrl, SECRET_KEY: key, DATA_DIR: path.join(home.path, 'data') });
const openWith = (key: string): Promise<Context> => openEnv(envOf(key));

async function openEnv(env: Record<string, string>): Promise<Context> {
  const log = createLog('silent', process.stderr);
  return await openContext(readConfig(env), { log, signal: new AbortController().signal, migrates: true });
}

async function readSecrets(context: Context): Promise<string[]> {
  const { seq } = await context.db.selectFrom('merchants').select('seq').executeTakeFirstOrThrow();
  const { keys, headers } = (await readCredentials(context, context.db, [seq])).get(seq) ?? { keys: [], headers: {} };
  const signing = (await readSigningKeys(context)).map(({ privateKey: key }) => key.export({ format: 'jwk' }).d ?? '');
  return [...keys.map((key) => key.export().toString('base64')), JSON.stringify(headers), ...signing];
}

/** The keys that never change; of the archive's, its id. */
function readKeys({ keys: { archive, ...keys } }: Context) {
  return { ...keys, archive: archive.keyId };
}

function keyFile(key: string): string {
  const file = path.join(home.path, `${randomBytes(4).toString('hex')}.key`);
  writeFileSync(file, `${key}\n`);
  return file;
}

describe('another SECRET_KEY', () => {
  it('decrypts every secret as before, and the old key decrypts none', async () => {
    await using replica = await openWith(current);
    const next = newKey();
    const create = ['tokens', 'create', '--role', 'viewer', '--idempotency-key', 'before the rotation'];
    const made = await runCommandInProcess(create, envOf(current));
    const { code, out } = await runCommandInProcess(
      ['rotate-key', '--new-key-file', keyFile(next), '--json'],
      envOf(current),
    );
    expect([code, JSON.parse(out)]).toMatchObject([0, { secrets: 6, old_key_id: replica.vault.keyId }]);
    expect(out).not.toContain(next);

    // a replica that still runs with the old key reports that, and stores nothing that no key could decrypt
    await expect(readSecrets(replica)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('rotate-key'),
    });
    await expect(rotateSecret(replica, merchantId)).rejects.toMatchObject({ code: 'config_invalid' });
    const late = await runCommandInProcess(['tokens', 'create', '--role', 'viewer'], envOf(current));
    expect([late.code, late.err]).toEqual([
      2,
      expect.stringContaining(`SECRET_KEY (key id ${replica.vault.keyId}) is the wrong key`),
    ]);

    current = next;
    await using context = await openWith(current);
    expect(await runCommandInProcess(create, envOf(current))).toMatchObject({ code: 0, out: made.out });
    expect({ secrets: await readSecrets(context), keys: readKeys(context) }).toEqual(before);
    const bound = await readSealed(context);
    expect(bound.map(({ isPlaced }) => isPlaced)).toEqual(bound.map(() => true));
    const rows = await context.db.selectFrom('merchant_secrets').select('key_id').execute();
    expect(rows).toEqual([{ key_id: context.vault.keyId }, { key_id: context.vault.keyId }]);
  });

  it('decrypts secrets from before keys had ids', async () => {
    await using context = await openWith(current);
    const place = { purpose: 'any', row: [1] };
    const earlier = createVault(Buffer.from(current, 'base64'), () => false);
    const sealed = earlier.encrypt(Buffer.from('old'), place);
    expect(context.vault.decrypt(sealed.subarray(9), place).toString()).toBe('old');
  });

  // bin/confere execs the command, so a signal to it reaches the command
  it.each<[string, 'old' | 'new', ('settings' | 'merchant_secrets')?]>([
    ['before anything is written', 'old', 'settings'],
    ['between two secrets', 'old', 'merchant_secrets'],
    ['once it is committed', 'new'],
  ])('killed %s, every secret opens with the %s key alone', async (_, opensWith, table) => {
    await using watcher = await openWith(current);
    const next = newKey();
    const lock = await watcher.db.startTransaction().execute();
    if (table) await lock.selectFrom(table).selectAll().forUpdate().execute();
    // the response to its COMMIT is withheld, so the process is alive after the commit
    using proxy = await openTcpProxy(target.socketPath);
    let hasWritten = false;
    proxy.silenceFrom((text) => {
      hasWritten ||= /^update `merchant_secrets`/i.test(text);
      return hasWritten && /^commit/i.test(text);
    });
    const viaProxy = `mysql://root@127.0.0.1:${proxy.port}/${target.database}`;
    const child = spawn(CONFERE, ['rotate-key', '--new-key-file', keyFile(next)], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ENV_FILE: '', ...envOf(current), DATABASE_URL: viaProxy },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    if (table) await waitForLockWaits(watcher);
    else await eventually(async () => !(await readSetting(watcher.db, KEY_CHECK))?.equals(watcher.vault.check));
    child.kill('SIGKILL');
    const signal = await ended;
    await lock.rollback().execute();
    expect(signal).toBe('SIGKILL');
    // a COMMIT that was under way has ended once its lock is released
    await watcher.db.selectFrom('settings').select('name').where('name', '=', KEY_CHECK).forUpdate().execute();
    const opened = await Promise.allSettled([openWith(current), openWith(next)]);
    expect(opened.map((one) => one.status)).toEqual(
      opensWith === 'old' ? ['fulfilled', 'rejected'] : ['rejected', 'fulfilled'],
    );
    for (const one of opened) {
      if (one.status !== 'fulfilled') continue;
      await using context = one.value;
      expect({ secrets: await readSecrets(context), keys: readKeys(context) }).toEqual(before);
    }
    if (opensWith === 'new') current = next;
  });

  it.each([
    [['rotate-key']],
    [['rotate-key', '--new-key-file', '/no/such/file']],
    [['rotate-key', '--new-key-file', path.join(import.meta.dirname, 'rotate-key.test.ts')]],
  ])('refuses %j as wrong use', async (args) => {
    const { code, err } = await runCommandInProcess(args, envOf(current));
    expect([code, err]).toEqual([2, expect.stringContaining('confere: ')]);
  });

  it('refuses the key that is in use', async () => {
    expect((await runCommandInProcess(['rotate-key', '--new-key-file', keyFile(current)], envOf(current))).code).toBe(
      2,
    );
  });
});

describe("the embedded database's key", () => {
  const env = { DATA_DIR: path.join(home.path, 'embedded') };
  const file = path.join(env.DATA_DIR, 'secret.key');
  const create = () => runCommandInProcess(['tokens', 'create', '--role', 'viewer', '--json'], env);

  /** Holds the lock that a rotation needs first. @returns the texts of the next key's files while the rotation waits for it. */
  async function rotateLocked() {
    await using context = await openEnv(env);
    const lock = await context.db.startTransaction().execute();
    await lock.selectFrom('settings').selectAll().forUpdate().execute();
    const rotation = runCommandInProcess(['rotate-key', '--json'], env);
    await waitForLockWaits(context);
    const written = readdirSync(env.DATA_DIR).filter((name) => name.startsWith('secret.key.next.'));
    const keys = written.map((name) => readFileSync(path.join(env.DATA_DIR, name), 'utf8'));
    await lock.rollback().execute();
    return { ...(await rotation), keys };
  }

  it('is made, written down, and adopted by the next start where the rotation was killed before that', async () => {
    await copyEmbeddedData(env.DATA_DIR);
    expect((await runCommandInProcess(['migrate'], env)).code).toBe(0);
    const old = readFileSync(file);
    const { code, out, keys } = await rotateLocked();
    expect(code).toBe(0);
    const next = readFileSync(file);
    // it was on the disk before anything was encrypted with it
    expect(keys).toEqual([next.toString()]);
    expect(next.equals(old)).toBe(false);
    expect((await create()).code).toBe(0);

    // the state between the commit and the renaming of the file
    const { key_id } = JSON.parse(out) as { key_id: string };
    renameSync(file, `${file}.next.${key_id}`);
    writeFileSync(file, old);
    // and a file of another rotation that was killed before its commit
    writeFileSync(`${file}.next.0000000000000000`, `${newKey()}\n`);
    expect((await create()).code).toBe(0);
    expect(readFileSync(file).equals(next)).toBe(true);
    expect(readdirSync(env.DATA_DIR).filter((name) => name.includes(key_id))).toEqual([]);

    // removed, or another one: its file is named, and nothing is written
    rmSync(`${file}.next.0000000000000000`);
    const needed = `this database is encrypted with the key id ${key_id}. Put that key there`;
    renameSync(file, `${file}.kept`);
    expect(await create()).toMatchObject({ code: 2, err: expect.stringContaining(`${file} is missing: ${needed}`) });
    expect(existsSync(file)).toBe(false);
    const other = newKey();
    writeFileSync(file, `${other}\n`);
    const { keyId } = createVault(Buffer.from(other, 'base64'));
    const refused = await create();
    expect(refused.err).toContain(`${file} (key id ${keyId}) is the wrong key: ${needed}`);
    expect(refused.err).toContain('docs/lost-key.md');
    expect(refused.code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe(`${other}\n`);
    const inEnv = await runCommandInProcess(['jobs'], { ...env, SECRET_KEY_FILE: file });
    expect(inEnv.err).toContain(`SECRET_KEY_FILE (${file}) (key id ${keyId}) is the wrong key: ${needed}`);
  });

  it('is refused where its file does not hold a key', async () => {
    const DATA_DIR = path.join(home.path, 'damaged');
    mkdirSync(DATA_DIR);
    writeFileSync(path.join(DATA_DIR, 'secret.key'), 'c2hvcnQ=');
    await using opened = openDatabase<Database>(await createTestDatabase());
    await expect(findVault(opened.db, readConfig({ DATA_DIR }), false)).rejects.toThrow(
      `${DATA_DIR}/secret.key does not hold base64 of 32 bytes`,
    );
  });
});
