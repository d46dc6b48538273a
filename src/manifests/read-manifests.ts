import type { Selectable } from 'kysely';
import { digestIds, listIds } from '../callbacks/render/build-statement.ts';
import { presentManifest } from '../callbacks/render/render-manifests.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import type { Day } from '../domain/calendar.ts';
import { refuse } from '../texts/refuse.ts';
import { isDropped, readMembers } from './read-members.ts';

export type ManifestQuery = { day: Day; revision?: number | undefined };
type ManifestRow = Selectable<Database['day_manifests']>;

/** A merchant's manifest of a day: the newest revision, or a given one. @throws ConfereError `not_found`. */
export async function readManifest(context: Context, merchantSeq: number, query: ManifestQuery) {
  return await presentManifest(context, await findManifest(context.db, merchantSeq, query));
}

/**
 * The webhook-ids that a manifest's digest covers, as that covers them: sorted, each on a line.
 * @throws ConfereError `not_found`; `conflict` if the messages of the day are not those of the manifest any more.
 */
export async function readManifestIds(context: Context, merchantSeq: number, query: ManifestQuery): Promise<string> {
  const { day, callback_cut: cut, ids_digest: digest } = await findManifest(context.db, merchantSeq, query);
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
  db: Reader,
  merchantSeq: number,
  { day, revision }: ManifestQuery,
): Promise<ManifestRow> {
  const row = await db
    .selectFrom('day_manifests')
    .selectAll()
    .where('merchant_seq', '=', merchantSeq)
    .where('day', '=', day)
    .$if(revision !== undefined, (query) => query.where('revision', '=', revision ?? 0))
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row) return row;
  throw refuse('manifest_unknown');
}
