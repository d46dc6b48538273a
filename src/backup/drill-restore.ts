/**
 * `confere drill`: restores a backup into a place of its own, checks it there, and removes it again. No loop runs on the restored
 * database, so nothing is sent. The place keeps the marks of a restore all the time: nothing else opens it, and after a kill the
 * next drill removes what is there and begins anew.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import { ConfereError } from '../domain/errors.ts';
import type { Log } from '../log.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { SYSTEM_TIMERS } from '../timers.ts';
import { DESCRIPTION, parseDescription } from './describe-backup.ts';
import { isDraft, refuseOwnFolder } from './drafts.ts';
import { compareChain, examineBooks, type RestoreFinding } from './examine-restored.ts';
import { type RestoreOptions, restoreBackup } from './restore-backup.ts';

const STEPS = ['sums', 'database', 'files', 'tables', 'books', 'chain', 'removed'] as const;

export type DrillOptions = Pick<RestoreOptions, 'from' | 'identity' | 'sum'> & {
  /** A directory that does not exist yet, or is empty. */
  place: string;
  /** The address of an empty database; by default an embedded server runs in the place. */
  database?: string | undefined;
  /** Manifests as in `ExamineOptions`. */
  manifests?: string | undefined;
};

export type DrillStep = RestoreFinding & { seconds: number };
/** `backup`: its directory; undefined if none was found. */
export type Drill = { ok: boolean; backup: string | undefined; steps: DrillStep[] };

/**
 * Restores the backup, or the newest one of a folder, and checks the books and the chain.
 * @returns the steps up to the first one that failed.
 * @throws ConfereError `wrong_use` or `config_invalid` where the place or the key does not allow a drill.
 */
export async function drillRestore(
  config: Config,
  { from, place, database, manifests, ...options }: DrillOptions,
  process: { log: Log; signal: AbortSignal },
): Promise<Drill> {
  const home = path.resolve(place);
  refuseOwnFolder(config, home, { option: '--place' });
  const placed = {
    ...config,
    SPOOL_DIR: path.join(home, 'spool'),
    DATA_DIR: home,
    DATABASE_URL: database,
  };
  const steps: DrillStep[] = [];
  let [sinceMs, backup] = [SYSTEM_TIMERS.monotonicMs(), undefined as string | undefined];
  const end = (finding: RestoreFinding): void => {
    const nowMs = SYSTEM_TIMERS.monotonicMs();
    steps.push({ ...finding, seconds: (nowMs - sinceMs) / 1000 });
    sinceMs = nowMs;
  };
  try {
    backup = await findBackup(from);
    await restoreBackup(
      placed,
      {
        ...{ ...options, from: backup },
        onStep: (check, says) => end({ check, ok: true, says }),
        async rehearse(context, restore) {
          end(await examineBooks(context));
          end(await compareChain(context, restore, manifests));
        },
      },
      process,
    );
    end({ check: 'removed', ok: true, says: home });
  } catch (error) {
    const isWrongUse = error instanceof ConfereError && ['wrong_use', 'config_invalid'].includes(error.code);
    // before its sums are verified, the backup is at fault; nothing else was touched
    if (isWrongUse && steps.length > 0) throw error;
    end({ check: STEPS[steps.length] ?? 'removed', ok: false, says: describeFailure(error) });
  }
  return { ok: steps.every(({ ok }) => ok), backup, steps };
}

/** @returns the directory itself if it is a backup, else the newest one in it. @throws ConfereError if there is none. */
async function findBackup(from: string): Promise<string> {
  if (existsSync(path.join(from, DESCRIPTION))) return from;
  let newest: { directory: string; at: Date } | undefined;
  for (const name of await readdir(from)) {
    const directory = path.join(from, name);
    const file = path.join(directory, DESCRIPTION);
    if (isDraft(name) || !existsSync(file)) continue;
    // an unreadable one may be the newest: nothing is concluded without it
    const { started_at: at } = parseDescription(file, await readFile(file));
    if (!newest || at > newest.at) newest = { directory, at };
  }
  if (newest) return newest.directory;
  throw new ConfereError('unavailable', `${from} is no backup, and has none in it`);
}
