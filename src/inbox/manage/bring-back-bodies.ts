/** Bodies of webhooks that an earlier version moved into files come back into their rows, or are deleted: a person decides. */
import { audit } from '../../access/audit.ts';
import { archiveDirectory, listArchives, readArchive, removeArchive } from '../../archive/archive-files.ts';
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import type { Erase } from '../../domain/person/person.ts';

/** A line of a file. `body`: a character for each byte. */
type Line = { seq: number; body: string };

/**
 * Returns the files of bodies that are left, with how many bodies they have: those that the database names, and those in DATA_DIR/archive that
 * a crash left beside the rows (0).
 */
export async function listArchivedBodies({ db, config }: Context): Promise<Map<string, number>> {
  const recorded = await db.selectFrom('body_archives').select(['file', 'bodies']).orderBy('file').execute();
  const present = await listArchives(archiveDirectory(config), 'bodies');
  return new Map([
    ...present.map((file) => [file, 0] as const),
    ...recorded.map((one) => [one.file, one.bodies] as const),
  ]);
}

/**
 * Ends the archive of bodies, a file at a time: `restore` writes each body into its row again, `delete` leaves the row with its
 * hash and no body. Killed between two files, it continues.
 * @returns how many bodies and files.
 * @throws ConfereError `unavailable` if `restore` can't read a file: it and those after it stay.
 */
export async function endArchivedBodies(
  context: Context,
  how: 'restore' | 'delete',
): Promise<{ bodies: number; files: number }> {
  const directory = archiveDirectory(context.config);
  const done = { bodies: 0, files: 0 };
  for (const [file, bodies] of await listArchivedBodies(context)) {
    context.signal.throwIfAborted();
    // a file that no row names has bodies that are in their rows
    const lines = how === 'restore' && bodies > 0 ? await readArchive<Line>(context.keys, directory, file) : [];
    await endFile(context, file, { how, lines, bodies });
    await removeArchive(directory, file);
    done.bodies += bodies;
    done.files++;
  }
  return done;
}

async function endFile(
  { db, clock }: Context,
  file: string,
  { how, lines, bodies }: { how: 'restore' | 'delete'; lines: Line[]; bodies: number },
): Promise<void> {
  await transact(db, async (trx) => {
    for (const { seq, body } of lines) {
      await trx
        .updateTable('webhooks')
        .set({ body: Buffer.from(body, 'latin1'), dropped_at: null })
        .where('seq', '=', seq)
        .where('dropped_at', 'is not', null)
        .execute();
    }
    await trx.deleteFrom('body_archives').where('file', '=', file).execute();
    const detail = JSON.stringify({ bodies });
    await audit({ db: trx, clock }, { actor: 'command', action: `archives.${how}`, target: file, detail });
  });
}

/** Names each file of bodies as missed: the person may be in it. */
export function missArchivedBodies(context: Context): Erase {
  return async ({ onSkipped }) => {
    for (const file of (await listArchivedBodies(context)).keys()) onSkipped(`archive ${file}`);
    return 0;
  };
}
