import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Day } from '../../domain/calendar.ts';
import type { Erase } from '../../domain/person/person.ts';
import { reportsDirectory } from '../revisions/make-report.ts';

const FILE = /^confere-(\d{4}-\d{2}-\d{2})-r\d+/;
const DRAFT = /^\.draft-/;
/** One that was being made when its day was marked may be finished later; and machines' clocks differ. */
const MAKING_MS_MAX = 600_000;

/**
 * Deletes the files of reports that may name the person, those in other languages and of one platform too, and drafts
 * that a killed process left. A revision stays, marked: its files are made again from its cut when they are asked for.
 * Files from before such a mark go too, whoever it was for: the mark may be another machine's.
 */
export function eraseReportFiles(context: Context): Erase {
  return async (person, { write }) => {
    const days = await person.listReportDays();
    const directory = reportsDirectory(context);
    const marks = await readMarks(context);
    const files: string[] = [];
    for (const name of await listFiles(directory)) {
      const day = FILE.exec(name)?.[1];
      const goes =
        day === undefined ? DRAFT.test(name) : days.has(day) || (await isOlder(directory, name, marks.get(day)));
      if (goes) files.push(name);
    }
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

/** When somebody was taken out of a day's revisions, the last time. */
async function readMarks({ db }: Context): Promise<Map<Day, Date>> {
  const rows = await db
    .selectFrom('reports')
    .select((eb) => ['day', eb.fn.max<Date>('redacted_at').as('at')])
    .where('redacted_at', 'is not', null)
    .groupBy('day')
    .execute();
  return new Map(rows.map((row) => [row.day, row.at]));
}

async function isOlder(directory: string, name: string, mark: Date | undefined): Promise<boolean> {
  if (mark === undefined) return false;
  try {
    return (await stat(path.join(directory, name))).mtimeMs < mark.getTime() + MAKING_MS_MAX;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function markRevisions(context: Context, days: string[]): Promise<void> {
  if (days.length === 0) return;
  await context.db.updateTable('reports').set({ redacted_at: context.clock.now() }).where('day', 'in', days).execute();
}
