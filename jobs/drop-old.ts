import type { Context } from '../src/context.ts';
import { applyRetention } from '../src/database/apply-retention.ts';
import { evictDerived } from '../src/reports/serve/evict-derived.ts';

/** Every night: what is no evidence and was kept long enough goes. */
export async function dropOldNightly(context: Context): Promise<void> {
  const dropped = await applyRetention(context.db, context.clock.now(), context.signal);
  const { files } = await evictDerived(context);
  context.log.info({ dropped, derivedFiles: files }, 'dropped what was kept long enough');
}
