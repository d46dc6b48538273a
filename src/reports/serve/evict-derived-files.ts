import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { reportsDirectory } from '../revisions/make-report.ts';
import { isDraft, listReportFiles } from '../revisions/publish-drafts.ts';

/** Files that differ from the revision's own (another language, one platform, masked): rebuilt on request. */
const DERIVED = /^confere-\d{4}-\d{2}-\d{2}-r\d+-.+\.(?:xlsx|csv|journal)$/;

export const DERIVED_LIMITS = {
  bytesMax: 1024 ** 3,
  ageMsMax: 7 * 86_400_000,
  /** A new file may still be sent to its reader. */
  keptMs: 10 * 60_000,
  /** No build takes as long: its process was killed. */
  draftMsMax: 86_400_000,
};

type Derived = { file: string; bytes: number; ageMs: number };

/** Deletes derived files that are too old, then the oldest ones beyond `bytesMax`, and drafts of killed processes. */
export async function evictDerivedFiles(
  context: Pick<Context, 'config' | 'timers'>,
  limits = DERIVED_LIMITS,
): Promise<{ files: number }> {
  const directory = reportsDirectory(context);
  // the machine's clock, which also dates the files
  const now = context.timers.now();
  const derived: Derived[] = [];
  for (const name of await listReportFiles(directory)) {
    const file = path.join(directory, name);
    if (!isDraft(name) && !DERIVED.test(name)) continue;
    const facts = await stat(file).catch(() => undefined);
    if (!facts) continue;
    const ageMs = now - facts.mtimeMs;
    if (!isDraft(name)) derived.push({ file, bytes: facts.size, ageMs });
    else if (ageMs > limits.draftMsMax) await rm(file, { recursive: true, force: true });
  }
  const evicted = choose(derived, limits);
  for (const { file } of evicted) {
    await rm(file, { force: true });
    await rm(`${file}.sha256`, { force: true });
  }
  return { files: evicted.length };
}

/** Chooses the files to delete: the newest stay as long as they fit. Pure. */
function choose(derived: Derived[], { bytesMax, ageMsMax, keptMs }: typeof DERIVED_LIMITS): Derived[] {
  let bytes = 0;
  return derived
    .toSorted((a, b) => a.ageMs - b.ageMs)
    .filter((one) => {
      bytes += one.bytes;
      return one.ageMs > keptMs && (one.ageMs > ageMsMax || bytes > bytesMax);
    });
}
