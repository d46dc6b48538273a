/** The log's origins: its names, one after another. */
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { transact } from '../database/transact.ts';
import { readSize } from './tree.ts';

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
  const { LOG_ORIGIN: chosen } = config;
  const isChosen = chosen === undefined || known?.origin === chosen || known?.origin.startsWith(`${chosen}/`);
  if (known && isChosen) return known;
  return await beginOrigin(context, chosen ?? `${new URL(config.PUBLIC_URL).host}/log`);
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

/** Returns the name of the origin that a restore begins. */
export function nameRestored({ config }: Pick<Context, 'config'>, before: Origin, at: Date): string {
  const base = config.LOG_ORIGIN ?? before.origin.replace(/\/\d{14}$/, '');
  return `${base}/${at.toISOString().replaceAll(/\D/g, '').slice(0, 14)}`;
}

/** Returns the later origin that began with fewer leaves than a checkpoint has: a restore lost what is beyond them. */
export function findLost(origins: Origin[], { origin, size }: { origin: string; size: number }): Origin | undefined {
  const index = origins.findIndex((one) => one.origin === origin);
  return index < 0 ? undefined : origins.slice(index + 1).find((one) => one.from_size < size);
}
