import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** What a whole run needs in a memory file system, several times over. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;
const MEMORY = '/dev/shm';

/**
 * Where tests keep what they write: in memory where there is room, else in the system's temporary directory. Tests kill
 * processes and never the machine, so a sync to a disk proves nothing that memory does not.
 */
export function testDirectory(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir();
}
