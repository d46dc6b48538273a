import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finishProgram, startProgram } from '../../../embedded/programs/run-client.ts';
import { makeBackup } from '../../../src/backup/make-backup.ts';
import { findVault } from '../../../src/database/keys/find-vault.ts';
import { refuseRestoreMark, restoreMarkFile } from '../../../src/database/open/restore-mark.ts';
import { describeFailure } from '../../../src/runtime/describe-failure.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const file = path.join(home.path, 'file');
/** Empty on every Linux, where it is mounted. */
const MOUNT_POINT = '/dev/mqueue';
const isMounted = existsSync(MOUNT_POINT) && statSync(MOUNT_POINT).dev !== statSync('/dev').dev;
let environment: TestEnvironment;
let env: Record<string, string>;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  writeFileSync(file, '');
  environment = stack.use(await openEnvironment({ SECRET_KEY, DATA_DIR: path.join(home.path, 'source') }));
  ({ env } = environment);
});
afterAll(() => stack.disposeAsync());

async function expectRefused(args: string[], says: RegExp, more: Record<string, string> = {}): Promise<void> {
  const before = readdirSync(home.path);
  const { code, err } = await runCommandInProcess(args, { ...env, ...more });
  // one line, without a position in the source
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringMatching(new RegExp(`^(?:confere: without --sum.*\n)?confere: ${says.source}\n$`)),
  });
  expect(readdirSync(home.path)).toEqual(before);
}

describe('a place that cannot be used is named, with what to do', () => {
  it('by a backup into a file, below one, or where nothing can be made', async () => {
    const isFile = /--to: \S+ is not a directory, or lies below a file \(ENOTDIR, scandir\)/;
    for (const to of [file, path.join(file, 'backup')]) await expectRefused(['backup', '--to', to], isFile);
    await expectRefused(
      ['backup', '--into', file],
      /--into: \S+ is not a directory, or lies below a file \(ENOTDIR, scandir\)/,
    );
    const cannot = /--to \/proc\/confere\/a cannot be made: \/proc\/confere can not be made there \(ENOENT, mkdir\)/;
    await expectRefused(['backup', '--to', '/proc/confere/a'], cannot);
  });

  it.runIf(isMounted)('by a backup onto a mount point', async () => {
    const says = /--to \/dev\/mqueue is a mount point: name a new directory in it, such as \/dev\/mqueue\/NAME/;
    await expectRefused(['backup', '--to', MOUNT_POINT], says);
  });

  it('by a restore from a file, or into one', async () => {
    const to = path.join(home.path, 'backup');
    expect(await runCommandInProcess(['backup', '--to', to], env)).toMatchObject({ code: 0 });
    const place = { DATABASE_URL: urlOf(await createTestDatabase('empty')) };
    const isFile = /\S+ is not a directory, or lies below a file \(ENOTDIR, scandir\)/;
    for (const DATA_DIR of [file, path.join(file, 'data')])
      await expectRefused(['restore', '--from', to], isFile, { ...place, DATA_DIR });
    const notMade = /DATA_DIR: \/proc\/confere can not be made there \(ENOENT, mkdir\)/;
    await expectRefused(['restore', '--from', to], notMade, { ...place, DATA_DIR: '/proc/confere' });
    const link = path.join(home.path, 'link');
    symlinkSync('nowhere', link);
    const dangling = /DATA_DIR: \S+\/link is a link to a place that does not exist: make that .* \(EEXIST, mkdir\)/;
    await expectRefused(['restore', '--from', to], dangling, { ...place, DATA_DIR: link });
    const notRead = /--from: \S+SHA256SUMS is not a directory, or lies below a file \(ENOTDIR, open\)/;
    await expectRefused(['restore', '--from', file], notRead);
  });

  it('by a secret.key that is a directory, empty, missing or of another database', async () => {
    const DATA_DIR = path.join(home.path, 'keys');
    const key = path.join(DATA_DIR, 'secret.key');
    mkdirSync(key, { recursive: true });
    const { SECRET_KEY: _, ...config } = environment.context.config;
    const own = { ...config, DATA_DIR } as typeof environment.context.config;
    const backUp = () =>
      makeBackup(own, { to: path.join(home.path, 'no-key'), option: '--to', recipients: [] }, environment.context);
    const isDirectory = `${key} is a directory (EISDIR, read)`;
    await expect(findVault(environment.context.db, own, true)).rejects.toThrow(isDirectory);
    expect(describeFailure(await backUp().catch((error: unknown) => error))).toBe(isDirectory);
    mkdirSync(restoreMarkFile(DATA_DIR));
    const mark = (): unknown => refuseRestoreMark(DATA_DIR);
    expect(mark).toThrow(expect.objectContaining({ path: restoreMarkFile(DATA_DIR) }));
    rmdirSync(restoreMarkFile(DATA_DIR));
    rmdirSync(key);
    await expect(backUp()).rejects.toThrow(
      /keys\/secret.key is missing: this database is encrypted with the key id \w{16}/,
    );
    writeFileSync(key, '');
    const isEmpty = `${key} does not hold base64 of 32 bytes: put the key there`;
    await expect(backUp()).rejects.toThrow(isEmpty);
    await expect(findVault(environment.context.db, own, true)).rejects.toThrow(isEmpty);
    writeFileSync(key, Buffer.alloc(32, 9).toString('base64'));
    await expect(backUp()).rejects.toThrow(
      /secret.key \(key id \w{16}\) is the wrong key: .* is encrypted with the key id/,
    );
  });

  it('by a disk that is full, not by the program whose output could not be written', async () => {
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write', path: file });
    const program = startProgram('false', [], new AbortController().signal);
    await expect(finishProgram(program, Promise.reject(full))).rejects.toBe(full);
  });
});
