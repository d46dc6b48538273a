import type { Context } from '../../context.ts';

/** `body` is undefined if it was deleted: its retention ended, it was dropped from the quarantine, or an earlier version archived it. */
export type StoredBody = { body: Buffer | undefined; sourceAddress: string };

/**
 * Reads the raw body of a webhook.
 * @returns undefined if there is no such row.
 */
export async function readStoredBody({ db }: Pick<Context, 'db'>, seq: number): Promise<StoredBody | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .select(['body', 'source_address', 'dropped_at'])
    .where('seq', '=', seq)
    .executeTakeFirst();
  return row && { body: row.dropped_at === null ? row.body : undefined, sourceAddress: row.source_address };
}
