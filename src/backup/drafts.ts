/**
 * Drafts of backups, `NAME.draft-OWNER-RANDOM` beside NAME: a draft whose process was killed is removed by the next backup to the
 * same folder.
 */

import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../embedded/files/make-directory.ts';
import type { Config } from '../config.ts';
import { wrongUse } from '../domain/errors.ts';
import { largest } from '../domain/lists.ts';
import { spoolDirectory } from '../inbox/spool/redact-retained-files.ts';
import { checkOwner, nameOwner } from '../inbox/spool/spool-owner.ts';
import { describeError, type Log } from '../log.ts';
import { describeFailure } from '../runtime/describe-failure.ts';

/** The whole owner: a person's `contract.draft-20261123` in the same folder is none of ours. */
const DRAFT = /\.draft-(\d+-.{1,255}-[0-9a-f]{12})-[0-9a-f]{8}$/;
/**
 * A process in another container, or on another machine, is not visible: a backup that is made writes all the time. Less than a day: the
 * next night's backup removes the drafts of this one, before they fill the disk.
 */
const QUIET_MS = 20 * 3_600_000;

export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}

/** Makes an empty draft of this backup. @throws ConfereError `wrong_use` where none can be made. */
export function makeDraft(directory: string, { option }: { option: string }): string {
  const draft = `${directory}.draft-${nameOwner()}-${randomBytes(4).toString('hex')}`;
  try {
    makeDirectory(draft);
  } catch (error) {
    throw wrongUse(`${option} ${directory} cannot be made: ${describeFailure(error)}`, {
      cause: error,
    });
  }
  return draft;
}

/** Removes drafts that surely nobody writes. A failure is logged: the backup itself goes on. */
export async function removeDeadDrafts(folder: string, log: Log): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [draft, owner] = DRAFT.exec(name) ?? [];
    if (draft === undefined || owner === undefined) continue;
    const directory = path.join(folder, name);
    try {
      if (!(await isDead(directory, owner))) continue;
      await rm(directory, { recursive: true, force: true });
      log.warn(`removed ${directory}, which a backup that was killed left`);
    } catch (error) {
      log.warn({ error: describeError(error) }, `could not remove ${directory}, which a backup that was killed left`);
    }
  }
}

async function isDead(directory: string, owner: string): Promise<boolean> {
  const is = checkOwner(owner);
  if (is !== 'unknown') return is === 'gone';
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = [directory, ...entries.map((entry) => path.join(entry.parentPath, entry.name))];
  const written = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return Date.now() - largest(written) > QUIET_MS;
}

/** @throws ConfereError `wrong_use` for a directory within those that are backed up: it would be lost with them. */
export function refuseOwnFolder(config: Config, directory: string, { option }: { option: string }): void {
  const own = { DATA_DIR: config.DATA_DIR, SPOOL_DIR: spoolDirectory(config) };
  for (const [name, folder] of Object.entries(own)) {
    if (!isWithin(resolveLinks(directory), resolveLinks(folder))) continue;
    throw wrongUse(
      `${option} ${directory} lies in ${name} (${folder}), and would be lost with it: name a directory elsewhere, best on another disk`,
    );
  }
}

function isWithin(directory: string, folder: string): boolean {
  return directory === folder || directory.startsWith(`${folder}${path.sep}`);
}

/** The path without links, as far as it exists. */
function resolveLinks(file: string): string {
  const absolute = path.resolve(file);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = path.dirname(absolute);
    return parent === absolute ? absolute : path.join(resolveLinks(parent), path.basename(absolute));
  }
}
