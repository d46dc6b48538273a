import type { Context } from '../src/context.ts';
import { bindSecrets } from '../src/database/keys/reseal.ts';
import { evictDerivedFiles } from '../src/reports/serve/evict-derived-files.ts';
import { applyRetention } from '../src/retention/apply-retention.ts';

/** Deletes derived report files, and rows that are older than their retention. Binds secrets of earlier versions to their rows. */
export async function dropOldNightly(context: Context): Promise<void> {
  const { files } = await evictDerivedFiles(context);
  context.signal.throwIfAborted();
  const results = await applyRetention(context);
  context.signal.throwIfAborted();
  const dropped = Object.fromEntries(results.map(({ name, rows }) => [name, rows]));
  context.log.info({ dropped, derivedFiles: files }, 'deleted rows and files past their retention');
  await bindSecrets(context);
}
