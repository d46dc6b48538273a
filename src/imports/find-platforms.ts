import type { Reader } from '../database/reader.ts';
import { listPlatformNames } from '../database/shared/list-platform-names.ts';
import { listPlatforms } from '../ledger/read/list-platforms.ts';
import { foldName } from '../ledger/stated/platform-names.ts';

/** More platforms than a company has; each is one step in an index. */
const PLATFORMS_MAX = 100_000;

/** Returns the ids of those texts that are the name of exactly one platform, in any case, and are no id themselves. */
export async function findPlatformIds(db: Reader, texts: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const all = await listPlatformNames(db);
  const named = Map.groupBy(all, ({ name }) => foldName(name));
  const found = [...texts].flatMap((text) => {
    const [one, ...others] = named.get(foldName(text.trim())) ?? [];
    return one && others.length === 0 ? [[text, one.platform] as const] : [];
  });
  if (found.length === 0) return new Map();
  const ids = new Set([...(await listPlatforms(db, PLATFORMS_MAX)), ...all.map(({ platform }) => platform)]);
  return new Map(found.filter(([text]) => !ids.has(text)));
}

/** Lists the platforms that no transaction shows, each with how often it is given, the most frequent first. */
export async function countUnseenPlatforms(
  db: Reader,
  platforms: readonly string[],
): Promise<{ platform: string; rows: number }[]> {
  if (platforms.length === 0) return [];
  const seen = new Set(await listPlatforms(db, PLATFORMS_MAX));
  const given = Map.groupBy(platforms, (one) => one);
  const unseen = [...given].filter(([platform]) => !seen.has(platform));
  return unseen.map(([platform, { length: rows }]) => ({ platform, rows })).sort((a, b) => b.rows - a.rows);
}
