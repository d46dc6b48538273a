/** The log's origins: its names, one after another. */
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import { ConfereError } from '../domain/errors.ts';
import { parseJson } from '../domain/person/tokenize-json.ts';
import { readSize } from './tree.ts';

/** The action of the audit for a restore; its detail has `log`. */
export const RESTORE_ACTION = 'restores.record';
const RESTORE = z.object({
  log: z.object({
    origin: z.string(),
    leaves: z.int(),
    verdict: z.enum(['accepted', 'refused', 'away', 'none', 'recorded']),
  }),
});
/**
 * The log after a restore: its origin, its leaves, and what the witnesses said of its newest checkpoint. `away`: too few
 * answered; `none`: there was no checkpoint, or nobody to ask; `recorded`: files have newer ones. Unless it is accepted, the
 * origin is another one.
 */
export type RestoredLog = z.infer<typeof RESTORE>['log'];

export type Origin = { seq: number; origin: string; from_size: number; started_at: Date };

/** Reads all origins of the log, the oldest first. */
export async function readOrigins(db: Reader): Promise<Origin[]> {
  return await db.selectFrom('log_origins').selectAll().orderBy('seq').execute();
}

/**
 * Returns the log's origin. It is stored at first: LOG_ORIGIN, or the place of PUBLIC_URL. Another LOG_ORIGIN begins another
 * origin, which goes on with the same leaves.
 */
export async function readOrigin(context: Pick<Context, 'db' | 'config' | 'clock'>): Promise<Origin> {
  const { db, config } = context;
  const known = (await readOrigins(db)).at(-1);
  if (known && isChosen(config, known)) return known;
  return await beginOrigin(context, chooseName(config));
}

function chooseName({ LOG_ORIGIN, PUBLIC_URL }: Context['config']): string {
  return LOG_ORIGIN ?? `${new URL(PUBLIC_URL).host}/log`;
}

/** Begins the origin of LOG_ORIGIN, if it is another one. @throws ConfereError `config_invalid` for one that the log left. */
export async function requireOrigin(context: Pick<Context, 'db' | 'config' | 'clock'>): Promise<void> {
  const { LOG_ORIGIN: chosen } = context.config;
  if (chosen === undefined) return;
  const known = await readOrigin(context);
  if (!isChosen(context.config, known))
    throw new ConfereError(
      'config_invalid',
      `LOG_ORIGIN: the log had the name ${chosen} before, and has the name ${known.origin} now: choose one that it never had`,
    );
}

function isChosen({ LOG_ORIGIN: chosen }: Context['config'], { origin }: Origin): boolean {
  return chosen === undefined || chosen === origin || chosen === withoutInstant(origin);
}

/** The name without the instant of the restore that began the origin. */
function withoutInstant(origin: string): string {
  return origin.replace(/\/\d{14}$/, '');
}

/** Begins another origin with the leaves that are there. */
export async function beginOrigin({ db, clock }: Pick<Context, 'db' | 'clock'>, origin: string): Promise<Origin> {
  return await transact(
    db,
    async (trx) => {
      const all = await readOrigins(trx);
      const known = all.find((one) => one.origin === origin);
      // another process began it; an origin that was left does not come back
      if (known) return all.at(-1) ?? known;
      const row = { seq: (all.at(-1)?.seq ?? 0) + 1, origin, from_size: await readSize(trx), started_at: clock.now() };
      await trx.insertInto('log_origins').values(row).execute();
      return row;
    },
    { retryDuplicates: true },
  );
}

/** Returns the name of the origin that a restore begins. @param before that of the backup, if it has one. */
export function nameRestored({ config }: Pick<Context, 'config'>, before: Origin | undefined, at: Date): string {
  const base = config.LOG_ORIGIN ?? (before ? withoutInstant(before.origin) : chooseName(config));
  return `${base}/${at.toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
}

/** `isRestored`: the audit has the restore that began it, with as many leaves. */
export type KnownOrigin = Origin & { isRestored: boolean };

/** Reads all origins, and whether restores began them. */
export async function readKnownOrigins(db: Reader): Promise<KnownOrigin[]> {
  const begun = (await readRestoredLogs(db)).filter(({ verdict }) => verdict !== 'accepted');
  const isBegun = ({ origin, from_size: size }: Origin) =>
    begun.some((one) => one.origin === origin && one.leaves === size);
  return (await readOrigins(db)).map((one) => ({ ...one, isRestored: isBegun(one) }));
}

/** Reads from the audit how the log went on after each restore, the oldest first. */
export async function readRestoredLogs(db: Reader): Promise<RestoredLog[]> {
  const rows = await db
    .selectFrom('audit')
    .select('detail')
    .where('action', '=', RESTORE_ACTION)
    .orderBy('seq')
    .execute();
  return rows.flatMap(({ detail }) => RESTORE.safeParse(parseJson(detail ?? '')).data?.log ?? []);
}

/** Says how the log went on after a restore. */
export function describeRestoredLog({ origin, leaves, verdict }: RestoredLog): string {
  const goesOn = `the log goes on with its ${leaves} leaves as ${origin}`;
  if (verdict === 'accepted') return `${goesOn}: its witnesses accept its newest checkpoint`;
  const why = {
    refused: 'a witness refused its newest checkpoint: it saw leaves that the backup lacks',
    away: 'too few witnesses answered: nobody said whether the backup lacks leaves',
    none: 'no witness was there to say whether the backup lacks leaves',
    recorded: 'checkpoints in files name more leaves',
  }[verdict];
  return `${goesOn}, another name than before; ${why}`;
}

/**
 * Returns the restored origin that began with fewer leaves than a checkpoint of an earlier one has: the restore lost what is beyond
 * them. A backup from before the first checkpoint has no earlier origin.
 */
export function findLost(
  origins: KnownOrigin[],
  { origin, size }: { origin: string; size: number },
): KnownOrigin | undefined {
  const index = origins.findIndex((one) => one.origin === origin);
  if (index < 0 && !origins[0]?.isRestored) return undefined;
  return origins.slice(index + 1).find(({ isRestored, from_size }) => isRestored && from_size < size);
}
