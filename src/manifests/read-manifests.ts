import type { Selectable } from 'kysely';
import { digestIds, listIds } from '../callbacks/render/build-statement.ts';
import { presentManifest } from '../callbacks/render/render-manifests.ts';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import type { Day } from '../domain/calendar.ts';
import { refuse } from '../texts/refuse.ts';
import { findNextDue } from '../timetable/find-due-times.ts';
import { isJobOn } from '../timetable/list-jobs.ts';
import { isDropped, readMembers } from './read-members.ts';

export type ManifestQuery = { day: Day; revision?: number | undefined };
type ManifestRow = Selectable<Database['day_manifests']>;

/** A merchant's manifest of a day: the newest revision, or a given one. @throws ConfereError `not_found`. */
export async function readManifest(context: Context, merchantSeq: number, query: ManifestQuery) {
  return await presentManifest(context, await findManifest(context, merchantSeq, query));
}

/**
 * The webhook-ids that a manifest's digest covers, as that covers them: sorted, each on a line.
 * @throws ConfereError `not_found`; `conflict` if the messages of the day are not those of the manifest any more.
 */
export async function readManifestIds(context: Context, merchantSeq: number, query: ManifestQuery): Promise<string> {
  const { day, callback_cut: cut, ids_digest: digest } = await findManifest(context, merchantSeq, query);
  const members = (await readMembers(context, day, { merchantSeqs: [merchantSeq], cut })).get(merchantSeq) ?? [];
  const ids = members.map(({ id }) => id);
  if (digestIds(ids).equals(digest)) return listIds(ids);
  if (await isDropped(context, context.db, { merchantSeq, day })) throw refuse('manifest_dropped');
  const merchant = `merchant ${merchantSeq}`;
  context.log.error({ merchant, day }, 'the messages of a day are not those of its manifest');
  throw refuse('manifest_outdated');
}

/** Finds it. @throws ConfereError `not_found`. */
export async function findManifest(
  context: Scheduled & Pick<Context, 'db'>,
  merchantSeq: number,
  { day, revision }: ManifestQuery,
): Promise<ManifestRow> {
  const row = await context.db
    .selectFrom('day_manifests')
    .selectAll()
    .where('merchant_seq', '=', merchantSeq)
    .where('day', '=', day)
    .$if(revision !== undefined, (query) => query.where('revision', '=', revision ?? 0))
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row) return row;
  const next = findNextManifests(context);
  throw next
    ? refuse('manifest_unknown', { next: context.calendar.toIso(context.calendar.toWallTime(next)) })
    : refuse('manifests_off');
}

type Scheduled = Pick<Context, 'config' | 'clock' | 'calendar'>;

/** When manifests are made next; undefined while the job is off. */
export function findNextManifests({ config, clock }: Pick<Scheduled, 'config' | 'clock'>): Date | undefined {
  const { JOB_DAY_MANIFESTS: cron, PROVIDER_TIME_ZONE: zone } = config;
  return isJobOn(config, 'day_manifests') ? findNextDue(cron, zone, clock.now()) : undefined;
}
