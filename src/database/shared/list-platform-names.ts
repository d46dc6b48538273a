import { compareText } from '../../domain/lists.ts';
import type { Reader } from '../reader.ts';

export type NamedPlatform = { platform: string; name: string; named_at: string; named_by: string };

/**
 * Lists the names that people gave to platforms, the newest of each.
 * @param until ignores later names, so a report that is made again shows the same.
 */
export async function listPlatformNames(db: Reader, until?: Date): Promise<NamedPlatform[]> {
  const rows = await db
    .selectFrom('platform_names')
    .select(['platform', 'name', 'created_at', 'actor'])
    .$if(until !== undefined, (query) => query.where('created_at', '<=', until ?? new Date()))
    .orderBy('seq')
    .execute();
  const newest = new Map(rows.map((row) => [row.platform, row]));
  return [...newest.values()]
    .flatMap(({ platform, name, created_at, actor }) =>
      name === null ? [] : [{ platform, name, named_at: created_at.toISOString(), named_by: actor }],
    )
    .sort((a, b) => compareText(a.name, b.name));
}
