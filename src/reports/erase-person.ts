import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import type { Erase } from '../domain/person.ts';
import { reportsDirectory } from './make-report.ts';

const FILE = /^confere-(\d{4}-\d{2}-\d{2})-r\d+/;
const DRAFT = /^\.draft-/;

/**
 * Deletes the files of reports that may name the person, those in other languages and of one platform too, and drafts
 * that a killed process left. A revision stays, marked: its files are made again from its cut when they are asked for.
 */
export function eraseReportFiles(context: Context): Erase {
  return async ({ days }, { write }) => {
    const directory = reportsDirectory(context);
    const files = (await listFiles(directory)).filter((name) => {
      const day = FILE.exec(name)?.[1];
      return day === undefined ? DRAFT.test(name) : days.has(day);
    });
    if (!write) return files.length;
    // first: whoever opens a revision from now on does not take a file for what it was
    await markRevisions(context, [...days]);
    for (const name of files) await rm(path.join(directory, name), { recursive: true, force: true });
    return files.length;
  };
}

async function listFiles(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function markRevisions(context: Context, days: string[]): Promise<void> {
  if (days.length === 0) return;
  await context.db.updateTable('reports').set({ redacted_at: context.clock.now() }).where('day', 'in', days).execute();
}
