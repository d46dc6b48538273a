import { archiveDirectory, listArchives, removeDrafts } from '../../archive/archive-files.ts';
import { readLostArchives } from '../../archive/lost-archives.ts';
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { decodeText } from '../../domain/person/decode-text.ts';
import type { Erase } from '../../domain/person/person.ts';
import type { Redact } from '../../domain/person/redact-text.ts';
import { describeError } from '../../log.ts';
import { type ArchivedBody, readBodies, writeBodies } from './body-files.ts';

/**
 * Erases a person from archived bodies: each file that names the person is written again without them. It reads all files, also
 * those that no row names: a crash leaves them with bodies that are still in their rows.
 */
export function eraseFromArchives(context: Context): Erase {
  return async ({ redact, onSkipped }, { write }) => {
    const directory = archiveDirectory(context.config);
    const recorded = await context.db.selectFrom('body_archives').select('file').orderBy('file').execute();
    if (write && directory !== undefined) await removeDrafts(directory);
    const present = directory === undefined ? [] : await listArchives(directory, 'bodies');
    const lost = await readLostArchives(context.db);
    const all = new Set([...recorded.map(({ file }) => file), ...present]);
    let changed = 0;
    for (const name of all) {
      context.signal.throwIfAborted();
      try {
        if (directory === undefined) throw new Error('ARCHIVE_DIR is not set');
        const skip = (id: string) => onSkipped(`archive ${name} ${id}`);
        const found = redactBodies(await readBodies(context.keys, directory, name), redact, skip);
        changed += found.changed.length;
        if (write && found.changed.length > 0) await rewrite(context, directory, name, redact);
      } catch (error) {
        const logged = { archive: name, error: describeError(error) };
        if (lost.has(name)) {
          context.log.warn(
            logged,
            'an archive that is stated as lost was not searched: if it comes back, forget again',
          );
          continue;
        }
        context.log.error(logged, 'an archive could not be searched');
        onSkipped(`archive ${name}`);
      }
    }
    return changed;
  };
}

/** @param skip is called with a body that cannot be parsed: it stays as it is. */
function redactBodies(
  bodies: ArchivedBody[],
  redact: Redact,
  skip: (id: string) => void,
): { bodies: ArchivedBody[]; changed: number[] } {
  const changed: number[] = [];
  const redacted = bodies.map((one) => {
    try {
      const text = redact(decodeText(one.body));
      if (text === undefined) return one;
      changed.push(one.seq);
      return { ...one, body: Buffer.from(text) };
    } catch {
      skip(one.id);
      return one;
    }
  });
  return { bodies: redacted, changed };
}

/** Reads and writes the file under the lock of its row: two people may be forgotten at once. */
async function rewrite({ db, clock, keys }: Context, directory: string, name: string, redact: Redact): Promise<void> {
  await transact(db, async (trx) => {
    await trx.selectFrom('body_archives').select('file').where('file', '=', name).forUpdate().executeTakeFirst();
    const { bodies, changed } = redactBodies(await readBodies(keys, directory, name), redact, () => undefined);
    if (changed.length === 0) return;
    const bytes = await writeBodies(keys, directory, name, bodies);
    await trx.updateTable('body_archives').set({ file_bytes: bytes }).where('file', '=', name).execute();
    await trx.updateTable('webhooks').set({ redacted_at: clock.now() }).where('seq', 'in', changed).execute();
  });
}
