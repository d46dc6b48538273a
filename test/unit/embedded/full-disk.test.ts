import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { refuseSmallDisk } from '../../../embedded/launch-server.ts';
import { explainFullDisk } from '../../../src/backup/explain-full-disk.ts';
import { readConfig } from '../../../src/config.ts';

const config = readConfig({ DATA_DIR: tmpdir() });

describe('a disk without room', () => {
  it('for a new embedded database is refused, with what is free and what is needed', () => {
    expect(() => refuseSmallDisk(tmpdir(), 2 ** 60)).toThrow(
      new RegExp(`the disk of ${tmpdir()} has \\d+ MiB free, and the embedded database needs at least \\d{12,} MiB`),
    );
  });

  it.each([
    `mbstream failed with exit code 1: Error writing file './ibdata1' (Errcode: 28 "No space left on device")`,
    `mariadb failed with exit code 1: ERROR 1114 (HY000) at line 529: The table 'entries' is full`,
    'the embedded database ended (1): [ERROR] InnoDB: preallocating 1 bytes for file ./ib_logfile101 failed with error 28',
    'ENOSPC: no space left on device, write',
  ])('is named where a restore failed with: %s', async (said) => {
    const message = expect.stringMatching(
      new RegExp(`^a disk is full: that of ${tmpdir()} \\(\\d+ of \\d+ MiB free\\) has no room`),
    );
    expect(await explainFullDisk(new Error(said), config)).toMatchObject({ code: 'unavailable', message });
  });

  it('is not blamed for another error', async () => {
    const other = new Error('mariadb failed with exit code 1: ERROR 1064 (42000) at line 1: syntax');
    expect(await explainFullDisk(other, config)).toBe(other);
  });
});
