/** `backup.json`: what a backup holds. It has no secret and nothing personal, and is never encrypted. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { wrongUse } from '../domain/errors.ts';
import { refuseOtherSum, type Sums, sha256Of } from './sums.ts';

export const DESCRIPTION = 'backup.json';
const FORMAT = 1;

/** A name such as `data/../x` must not lead out of DATA_DIR. */
const dataName = z.string().regex(/^data\/(?:(?:manifests|spool|archive\/\d{4}-\d{2})\/)?\w[\w.-]*$/);

const description = z.object({
  format: z.literal(FORMAT),
  /** The Confere that made it. */
  version: z.string(),
  /** The database's clock before anything was copied: all that was committed or answered before is in the backup. */
  started_at: z.coerce.date(),
  finished_at: z.coerce.date(),
  encrypted: z.boolean(),
  database: z.object({
    /** `dump`: statements; `copy`: the files of an embedded server. */
    method: z.enum(['dump', 'copy']),
    server: z.string(),
    tables: z.array(z.string()).min(1),
    migrations: z.array(z.string()).min(1),
  }),
  /** The newest seal before the snapshot; null while nothing was sealed. */
  head: z.object({ position: z.int().positive(), hash: z.string() }).nullable(),
  /** The key that its secrets are encrypted with; `file` where the backup has it. */
  key: z.object({ id: z.string(), file: dataName.nullable() }),
  /** Names of files of DATA_DIR. */
  data: z.array(dataName),
});
export type BackupDescription = z.infer<typeof description>;
export type BackupMethod = BackupDescription['database']['method'];

export const DATABASE_FILES: Record<BackupMethod, string> = {
  dump: 'database.sql.gz',
  copy: 'database.mbstream.gz',
};

export function renderDescription(backup: Omit<BackupDescription, 'format'>): string {
  return `${JSON.stringify({ format: FORMAT, ...backup }, null, 2)}\n`;
}

/** Reads the description of a backup. @param sums as `verifySums` returns them. @throws ConfereError if it has changed since, or this version cannot read it. */
export async function readDescription(directory: string, sums: Sums): Promise<BackupDescription> {
  const file = path.join(directory, DESCRIPTION);
  const text = await readFile(file);
  refuseOtherSum(DESCRIPTION, sha256Of(text), sums);
  return parseDescription(file, text);
}

/** @param file its name, for the error. @throws ConfereError if this version cannot read it. */
export function parseDescription(file: string, text: Buffer): BackupDescription {
  const parsed = description.safeParse(parseOrNull(text.toString()));
  if (parsed.success) return parsed.data;
  throw wrongUse(
    `${file} is broken, or not of a backup that this version can read: use another copy, or another version`,
  );
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
