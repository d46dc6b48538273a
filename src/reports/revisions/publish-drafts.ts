import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InvariantError } from '../../domain/errors.ts';
import { FORMATS, type Format } from '../plan/report-plan.ts';
import { readFileChunks } from '../xlsx/read-file-chunks.ts';

/** A file as the revision's row describes it. */
export type ReportFile = {
  format: Format;
  name: string;
  bytes: number;
  sha256: string;
  /** It was lost or damaged, and a later version of the program rebuilt it from the same rows with other bytes. */
  rebuilt?: { bytes: number; sha256: string; at: string; version: string };
};

/** The hash of a revision's workbook, as its row stores it. @throws InvariantError without a workbook. */
export function hashOfWorkbook(files: readonly ReportFile[]): Buffer {
  const workbook = files.find((file) => file.format === 'xlsx');
  if (!workbook) throw new InvariantError('a revision without a workbook has no hash to store');
  return Buffer.from(workbook.sha256, 'hex');
}

const DRAFT = '.draft-';

/** Whether a name in the directory of reports is a directory of drafts. */
export function isDraft(name: string): boolean {
  return name.startsWith(DRAFT);
}

/** Names in the directory of reports; none before the first report. */
export async function listReportFiles(directory: string): Promise<string[]> {
  return (await orMissing(readdir(directory))) ?? [];
}

/** The result of file work; undefined if the file does not exist. */
export async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

type Draft = { draft: string; facts: ReportFile };

/**
 * Flushes the finished drafts of a revision and measures them. They get their public names later, so a full disk, which
 * fails here or before, leaves no partial file under such a name.
 */
export async function finalizeDrafts(
  files: Record<Format, string>,
  nameOf: (format: Format) => string,
): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (const format of FORMATS) {
    const draft = files[format];
    await sync(draft, 'r+');
    drafts.push({ draft, facts: { format, name: nameOf(format), ...(await measureFile(draft)) } });
  }
  return drafts;
}

/**
 * Renames finalized drafts to their public names, each with its SHA-256 in a file beside it that `sha256sum -c` reads.
 * @param remark a comment in that file, as `# …`.
 */
export async function publishDrafts(directory: string, drafts: Draft[], remark?: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const { draft, facts } of drafts) {
    const sums = `${draft}.sha256`;
    await writeFile(sums, `${facts.sha256}  ${facts.name}\n${remark ? `# ${remark}\n` : ''}`, { flush: true });
    await rename(draft, path.join(directory, facts.name));
    await rename(sums, path.join(directory, `${facts.name}.sha256`));
  }
  // a rename is durable once its directory is flushed
  await sync(directory, 'r');
}

async function sync(file: string, flags: string): Promise<void> {
  const handle = await open(file, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The size of a file, and its SHA-256 in hex. */
export async function measureFile(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  for await (const chunk of readFileChunks(file)) hash.update(chunk);
  return { bytes: (await stat(file)).size, sha256: hash.digest('hex') };
}

/** Runs `work` with a new directory for drafts, on the disk of the reports, and removes the directory. */
export async function withDrafts<T>(
  reports: string,
  name: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = path.join(reports, `${DRAFT}${name}`);
  await mkdir(directory, { recursive: true });
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
