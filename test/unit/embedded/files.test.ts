import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { describeSystemError } from '../../../embedded/files/describe-system-error.ts';
import { makeDirectory } from '../../../embedded/files/make-directory.ts';
import { writeText } from '../../../embedded/files/write-text.ts';
import { ConfereError } from '../../../src/domain/errors.ts';
import { describeFailure } from '../../../src/runtime/describe-failure.ts';

const home = mkdtempSync(path.join(tmpdir(), 'confere-files-'));
afterAll(() => rmSync(home, { recursive: true }));

function errorOf(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

test('a directory is made with those above it, for its owner alone, also where it is there', () => {
  const directory = path.join(home, 'a', 'b');
  for (let times = 0; times < 2; times++) makeDirectory(directory);
  expect([directory, path.dirname(directory)].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
});

test('a directory that another process makes meanwhile is taken', () => {
  // `..` is there once `new` is: as if another process had made it
  const directory = [home, 'new', '..', 'c'].join('/');
  makeDirectory(directory);
  expect(statSync(directory).isDirectory()).toBe(true);
});

test('a directory that can not be made is named, without trying for ever', () => {
  const file = path.join(home, 'file');
  writeFileSync(file, '');
  const says = (directory: string) => describeSystemError(errorOf(() => makeDirectory(directory)));
  expect(says(file)).toBe(`${file} is not a directory, or lies below a file (ENOTDIR, mkdir)`);
  expect(says(path.join(file, 'below'))).toBe(
    `${file}/below is not a directory, or lies below a file (ENOTDIR, mkdir)`,
  );
  // mkdirSync with `recursive` does not return
  expect(says('/proc/confere/data')).toBe('/proc/confere can not be made there (ENOENT, mkdir)');
});

test('a write to a full disk names its file', () => {
  // a device that is always full
  const error = errorOf(() => writeText('/dev/full', 'x'));
  expect(describeSystemError(error)).toBe(
    '/dev/full could not be written, because its disk is full: free some space (ENOSPC, write)',
  );
});

test('a refused connection is named by its address, and what the system did not say is not described', () => {
  const refused = Object.assign(new Error(), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address: '10.0.0.1',
    port: 9,
  });
  expect(describeSystemError(refused)).toBe('10.0.0.1:9 can not be reached (ECONNREFUSED, connect)');
  expect(describeSystemError(Object.assign(new Error(), { code: 'ENOSPC', syscall: 'write' }))).toMatch(
    /^a file could/,
  );
  for (const other of [new ConfereError('conflict', 'no'), new TypeError('no'), 'no', undefined])
    expect(describeSystemError(other)).toBeUndefined();
});

test('work that a signal stopped is described as such, without the place in the code', async () => {
  const stopped = await sleep(1_000, undefined, { signal: AbortSignal.abort() }).catch((error: unknown) => error);
  expect(describeFailure(stopped)).toBe('it was stopped by a signal before it was finished');
});
