import type { Context } from '../src/context.ts';
import { applyRetention } from '../src/database/apply-retention.ts';
import { evictDerivedFiles } from '../src/reports/serve/evict-derived-files.ts';

/** Deletes rows that are no evidence and older than their retention, and derived report files. */
export async function dropOldNightly(context: Context): Promise<void> {
  const dropped = await applyRetention(context.db, context.clock.now(), context.signal);
  context.signal.throwIfAborted();
  const { files } = await evictDerivedFiles(context);
  context.log.info({ dropped, derivedFiles: files }, 'deleted rows and files past their retention');
}
