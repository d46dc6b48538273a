import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Several times the space that a whole run needs in a memory file system. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;
const MEMORY = '/dev/shm';

/**
 * Returns the directory for files of tests: in memory if there is room, else the system's temporary directory. Tests kill
 * processes, never the machine, so a sync to a disk proves no more than memory does.
 */
export function testDirectory(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir();
}
