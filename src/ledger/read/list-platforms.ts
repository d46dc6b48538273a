import type { Reader } from '../../database/reader.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';

/** The platforms that transactions show, in the order of their ids, at most `max`; `none` for those without one. */
export async function listPlatforms(db: Reader, max: number): Promise<string[]> {
  // one step in the index per platform, however many transactions it has
  const rows = await db.selectFrom('transactions').select('platform').groupBy('platform').limit(max).execute();
  return [...new Set(rows.map(({ platform }) => platform ?? NO_PLATFORM))];
}
