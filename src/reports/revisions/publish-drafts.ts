import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Format } from '../plan/report-plan.ts';
import { readFileChunks } from '../xlsx/read-file-chunks.ts';

/** What a revision's row tells of a file. */
export type ReportFile = { format: Format; name: string; bytes: number; sha256: string };

/**
 * Flushes a finished draft and measures it. Nothing has its public name yet: a full disk fails here or before, and
 * leaves no half file to be found.
 */
export async function finalizeDraft(draft: string, facts: { format: Format; name: string }): Promise<ReportFile> {
  const handle = await open(draft, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { ...facts, bytes: (await stat(draft)).size, sha256: await hashFile(draft) };
}

/**
 * Gives sealed drafts their names, each with its SHA-256 in a file beside it that `sha256sum -c` reads.
 * @param remark a comment in that file, as `# …`.
 */
export async function publishDrafts(
  directory: string,
  drafts: { draft: string; facts: ReportFile }[],
  remark?: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const { draft, facts } of drafts) {
    const sums = `${draft}.sha256`;
    await writeFile(sums, `${facts.sha256}  ${facts.name}\n${remark ? `# ${remark}\n` : ''}`, { flush: true });
    await rename(draft, path.join(directory, facts.name));
    await rename(sums, path.join(directory, `${facts.name}.sha256`));
  }
  // a rename is durable once its directory is
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** SHA-256 of a file, in hex. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of readFileChunks(file)) hash.update(piece);
  return hash.digest('hex');
}

/** Runs `work` with a directory of its own for drafts, on the same disk as the reports; it is gone afterwards. */
export async function withDrafts<T>(
  reports: string,
  name: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = path.join(reports, `.draft-${name}`);
  await mkdir(directory, { recursive: true });
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
