/** Bodies as lines of a file of the archive. */
import { readArchive, writeArchive } from '../../archive/archive-files.ts';
import type { Keys } from '../../database/keys/settings.ts';

/** `seq` is the row number of the webhook. */
export type ArchivedBody = { seq: number; id: string; receivedAt: Date; body: Buffer };

type Line = { seq: number; id: string; received_at: string; body: string };

/** @returns the bytes of the file. */
export async function writeBodies(
  keys: Keys,
  directory: string,
  name: string,
  bodies: readonly ArchivedBody[],
): Promise<number> {
  const lines = bodies.map(
    // latin1 maps each byte to one character
    ({ seq, id, receivedAt, body }): Line => ({
      ...{ seq, id, received_at: receivedAt.toISOString() },
      body: body.toString('latin1'),
    }),
  );
  return await writeArchive(keys, directory, name, lines);
}

/** @throws ConfereError `unavailable` if the file is not there or cannot be read. */
export async function readBodies(keys: Keys, directory: string, name: string): Promise<ArchivedBody[]> {
  const lines = await readArchive<Line>(keys, directory, name);
  return lines.map(({ seq, id, received_at, body }) => ({
    ...{ seq, id, receivedAt: new Date(received_at) },
    body: Buffer.from(body, 'latin1'),
  }));
}
