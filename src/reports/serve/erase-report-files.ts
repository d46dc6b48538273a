import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Day } from '../../domain/calendar.ts';
import type { Erase } from '../../domain/person/person.ts';
import { reportsDirectory } from '../revisions/make-report.ts';
import { isDraft, listReportFiles, orMissing } from '../revisions/publish-drafts.ts';

const FILE = /^confere-(\d{4}-\d{2}-\d{2})-r\d+/;
/** A build in progress at the mark may finish later, and the clocks of machines differ. */
const MAKING_MS_MAX = 600_000;

/**
 * Deletes the files of reports that may name the person, derived ones included, and drafts of killed processes. It marks
 * the revisions, whose files are rebuilt from their cuts on request. Files older than any mark of their day are deleted
 * too: another machine may have set the mark.
 */
export function eraseReportFiles(context: Context): Erase {
  return async (person, { write }) => {
    const days = await person.listReportDays();
    const directory = reportsDirectory(context);
    const marks = await readMarks(context);
    const files: string[] = [];
    for (const name of await listReportFiles(directory)) {
      const day = FILE.exec(name)?.[1];
      const mustGo =
        day === undefined ? isDraft(name) : days.has(day) || (await isOlder(directory, name, marks.get(day)));
      if (mustGo) files.push(name);
    }
    if (!write) return files.length;
    // before the deletion: from now on a reader does not expect the old bytes
    await markRevisions(context, [...days]);
    for (const name of files) await rm(path.join(directory, name), { recursive: true, force: true });
    return files.length;
  };
}

/** The time of the last erasure in each day's revisions. */
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
  const facts = await orMissing(stat(path.join(directory, name)));
  return facts !== undefined && facts.mtimeMs < mark.getTime() + MAKING_MS_MAX;
}

async function markRevisions(context: Context, days: string[]): Promise<void> {
  if (days.length === 0) return;
  await context.db.updateTable('reports').set({ redacted_at: context.clock.now() }).where('day', 'in', days).execute();
}
