import { archiveDirectory } from '../../archive/archive-files.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { readBodies } from './body-files.ts';

export type StoredBody = {
  /** Undefined: it was dropped from the quarantine, or it cannot be read. */
  body: Buffer | undefined;
  sourceAddress: string;
  /** The file of the archive that holds it; undefined: its row does. */
  archive: string | undefined;
  /** Why its file cannot be read. */
  fault?: string;
};

/**
 * Reads the raw body of a webhook, from its row or from the archive.
 * @returns undefined if there is no such row.
 */
export async function readBody({ db, config, keys }: Context, seq: number): Promise<StoredBody | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .select(['body', 'source_address', 'dropped_at'])
    .where('seq', '=', seq)
    .executeTakeFirst();
  if (!row) return undefined;
  const stored = { body: row.body, sourceAddress: row.source_address, archive: undefined };
  if (row.body.length > 0 || row.dropped_at === null) return stored;
  const archived = await db
    .selectFrom('body_archives')
    .select('file')
    .where('first_webhook_seq', '<=', seq)
    .where('last_webhook_seq', '>=', seq)
    .orderBy('first_webhook_seq', 'desc')
    .executeTakeFirst();
  if (!archived) return { ...stored, body: undefined };
  const { file } = archived;
  const directory = archiveDirectory(config);
  if (directory === undefined)
    return { ...stored, body: undefined, archive: file, fault: 'ARCHIVE_DIR is not set in this process' };
  try {
    const body = (await readBodies(keys, directory, file)).find((one) => one.seq === seq)?.body;
    return { ...stored, body, archive: body && file };
  } catch (error) {
    if (!(error instanceof ConfereError)) throw error;
    return { ...stored, body: undefined, archive: file, fault: error.message };
  }
}
