import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { reportsDirectory } from '../revisions/make-report.ts';

/** Files that differ from the revision's own (another language, one platform, masked): made again when asked for. */
const DERIVED = /^confere-\d{4}-\d{2}-\d{2}-r\d+-.+\.(?:xlsx|csv|journal)$/;
const DRAFT = /^\.draft-/;

export const DERIVED_LIMITS = {
  bytesMax: 1024 ** 3,
  ageMsMax: 7 * 86_400_000,
  /** One that was just made may be on its way to who asked for it. */
  keptMs: 10 * 60_000,
  /** No report takes as long: its process was killed. */
  draftMsMax: 86_400_000,
};

type Derived = { file: string; bytes: number; ageMs: number };

/** Deletes derived files that are too old, and the oldest of them beyond so many bytes; and drafts that were left. */
export async function evictDerivedFiles(
  context: Pick<Context, 'config' | 'timers'>,
  limits = DERIVED_LIMITS,
): Promise<{ files: number }> {
  const directory = reportsDirectory(context);
  // by the machine's clock, as the files' own times are
  const now = context.timers.now();
  const derived: Derived[] = [];
  for (const name of await listNames(directory)) {
    const file = path.join(directory, name);
    const isDraft = DRAFT.test(name);
    if (!isDraft && !DERIVED.test(name)) continue;
    const facts = await stat(file).catch(() => undefined);
    if (!facts) continue;
    const ageMs = now - facts.mtimeMs;
    if (!isDraft) derived.push({ file, bytes: facts.size, ageMs });
    else if (ageMs > limits.draftMsMax) await rm(file, { recursive: true, force: true });
  }
  const evicted = choose(derived, limits);
  for (const { file } of evicted) {
    await rm(file, { force: true });
    await rm(`${file}.sha256`, { force: true });
  }
  return { files: evicted.length };
}

/** Pure. The newest are kept for as long as they fit. */
function choose(derived: Derived[], { bytesMax, ageMsMax, keptMs }: typeof DERIVED_LIMITS): Derived[] {
  let bytes = 0;
  return derived
    .toSorted((a, b) => a.ageMs - b.ageMs)
    .filter((one) => {
      bytes += one.bytes;
      return one.ageMs > keptMs && (one.ageMs > ageMsMax || bytes > bytesMax);
    });
}

async function listNames(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
