import { sql } from 'kysely';
import { IS_NO_TEST } from '../callbacks/health/callback-sources.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { addDays, type Day } from '../domain/calendar.ts';
import { ConfereError } from '../domain/errors.ts';
import type { MerchantRow } from '../merchants/read-merchants.ts';
import { readManifest } from './read-manifests.ts';

/** Days that are listed, up to yesterday. */
const DAYS = 14;
/** The newest callbacks among which messages of a day without a manifest are searched. */
const CALLBACKS_MAX = 20_000;

/**
 * The fate of a day without a manifest: the job makes it next; it waits for a backfill; it has no messages, so there is none; it
 * ended before the merchant received events; too many messages are newer, so that only the job finds out.
 */
export type ManifestAwaited = 'next' | 'backfill' | 'no_messages' | 'before' | 'if_messages';
export type ManifestDay = {
  day: Day;
  manifest?: Awaited<ReturnType<typeof readManifest>>['manifest'];
  awaited?: ManifestAwaited;
};

/** Lists the last days of a merchant, the newest first, each with its newest manifest, or with what becomes of it. */
export async function listManifestDays(context: Context, merchant: MerchantRow): Promise<ManifestDay[]> {
  const { db, calendar, clock } = context;
  const { seq } = merchant;
  const today = calendar.dayOf(clock.now());
  const made = await Promise.all(
    Array.from({ length: DAYS }, (_, back) => addDays(today, -1 - back)).map(async (day) => {
      return { day, ...(await findManifest(context, seq, day)) };
    }),
  );
  if (made.every(({ manifest }) => manifest)) return made;
  const earliest = addDays(today, -DAYS);
  const newest = await db
    .selectFrom('day_manifests')
    .select((eb) => eb.fn.max('day').as('day'))
    .where('merchant_seq', '=', seq)
    .executeTakeFirst();
  // the job makes each ended day after the newest one, and begins with yesterday (findDueDays)
  const endedFrom = newest?.day ? addDays(newest.day, 1) : addDays(today, -1);
  const since = calendar.dayOf(merchant.events_since);
  const isRunning = ['waiting', 'running'].includes(merchant.backfill_state ?? '');
  const { days, isWhole } = await findDaysOfMessages(db, seq, earliest);
  const awaited = (day: Day): ManifestAwaited => {
    if (day < since && !days.has(day)) return 'before';
    if (isRunning) return 'backfill';
    if (days.has(day) || (day >= endedFrom && day >= calendar.dayOf(merchant.created_at))) return 'next';
    return isWhole ? 'no_messages' : 'if_messages';
  };
  return made.map((one) => (one.manifest ? one : { ...one, awaited: awaited(one.day) }));
}

async function findManifest(context: Context, seq: number, day: Day) {
  try {
    return await readManifest(context, seq, { day });
  } catch (error) {
    if (error instanceof ConfereError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Finds days from `earliest` that the newest messages are of. `isWhole`: these are all. */
async function findDaysOfMessages(db: Reader, seq: number, earliest: Day) {
  const newest = db
    .selectFrom('callbacks')
    .select('event_seq')
    .where('merchant_seq', '=', seq)
    .where(IS_NO_TEST)
    .orderBy('created_at', 'desc')
    .limit(CALLBACKS_MAX);
  const counted = await db
    .selectFrom(newest.as('one'))
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom(newest.as('one'))
    .innerJoin('events', 'events.seq', 'one.event_seq')
    .select(sql<Day>`SUBSTR(at_wall, 1, 10)`.as('day'))
    .distinct()
    .where('at_wall', '>=', earliest)
    .execute();
  return { days: new Set(rows.map(({ day }) => day)), isWhole: Number(counted.count) < CALLBACKS_MAX };
}
