import { lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import type { RetentionStep } from '../../database/retention-step.ts';
import { type Day, monthOf } from '../../domain/calendar.ts';
import { VERSION } from '../../domain/version.ts';
import { listClosesInForce, readMonthChanges } from '../../seal/read-month-closes.ts';
import { reportsDirectory } from '../revisions/make-report.ts';
import { findRevision, presentReport } from '../revisions/present-report.ts';
import { listReportFiles, measureFile, orMissing } from '../revisions/publish-drafts.ts';

/** The files of a revision, `confere-2026-11-20-r3.xlsx`, and neither their sums nor derived ones. */
const OWN_FILE = /^confere-(\d{4}-\d{2}-\d{2})-r(\d+)\.[a-z]+$/;
const BATCH_FILES = 1_000;

/**
 * Deletes files of revisions in this machine's DATA_DIR/reports that were written before an instant. The revision stays, with the
 * hashes of its files: a file is made again from the revision's cut when it is asked for. Files that might not get the same bytes
 * again stay, and those of a closed month.
 */
export function reportFileRetention(context: Context): RetentionStep {
  return {
    name: 'report_files',
    setting: 'RETAIN_REPORT_FILES',
    keepMs: context.config.RETAIN_REPORT_FILES,
    async *run({ before, write }) {
      const directory = reportsDirectory(context);
      const closed = new Set(listClosesInForce(await readMonthChanges(context.db)).map(({ month }) => month));
      let files = 0;
      for (const name of await listReportFiles(directory)) {
        const [, day, revision] = OWN_FILE.exec(name) ?? [];
        if (day === undefined || closed.has(monthOf(day))) continue;
        const file = path.join(directory, name);
        const facts = await orMissing(lstat(file));
        if (!facts?.isFile() || facts.mtime >= before) continue;
        if (!(await canBeMadeAgain(context.db, { day, revision: Number(revision) }, file))) continue;
        if (write) for (const one of [file, `${file}.sha256`]) await rm(one, { force: true });
        if (++files < BATCH_FILES) continue;
        yield files;
        files = 0;
      }
      yield files;
    },
  };
}

/** Whether the file has the bytes that its revision names, made by this version: another one may write others. */
async function canBeMadeAgain(
  db: Reader,
  { day, revision }: { day: Day; revision: number },
  file: string,
): Promise<boolean> {
  const row = await findRevision(db, day, revision);
  if (!row || row.redacted_at !== null || row.version !== VERSION) return false;
  const stored = presentReport(row).files.find(({ name }) => name === path.basename(file));
  if (!stored || stored.rebuilt) return false;
  return (await orMissing(measureFile(file)))?.sha256 === stored.sha256;
}
