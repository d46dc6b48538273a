import type { Context } from '../src/context.ts';
import { applyRetention } from '../src/database/apply-retention.ts';
import { evictDerivedFiles } from '../src/reports/serve/evict-derived-files.ts';

/** Every night: what is no evidence and was kept long enough goes. */
export async function dropOldNightly(context: Context): Promise<void> {
  const dropped = await applyRetention(context.db, context.clock.now(), context.signal);
  const { files } = await evictDerivedFiles(context);
  context.log.info({ dropped, derivedFiles: files }, 'dropped what was kept long enough');
}
