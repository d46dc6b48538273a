import type { Context } from '../src/context.ts';
import { dropOld } from '../src/database/drop-old.ts';

/** Every night: what is no evidence and was kept long enough goes. */
export async function dropOldNightly(context: Context): Promise<void> {
  const dropped = await dropOld(context.db, context.clock.now(), context.signal);
  context.log.info({ dropped }, 'dropped what was kept long enough');
}
