import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import type { RetentionStep } from '../../database/retention-step.ts';
import { reportsDirectory } from '../revisions/make-report.ts';
import { listReportFiles, orMissing } from '../revisions/publish-drafts.ts';

/** The files of a revision, `confere-2026-11-20-r3.xlsx`, and neither their sums nor derived ones. */
const OWN_FILE = /^confere-\d{4}-\d{2}-\d{2}-r\d+\.[a-z]+$/;
const BATCH_FILES = 1_000;

/**
 * Deletes files of revisions in this machine's DATA_DIR/reports that were written before an instant. The revision stays, with the
 * hashes of its files: a file is made again from the revision's cut when it is asked for.
 */
export function reportFileRetention(context: Context): RetentionStep {
  return {
    name: 'report_files',
    setting: 'RETAIN_REPORT_FILES',
    keepMs: context.config.RETAIN_REPORT_FILES,
    async *run({ before, write }) {
      const directory = reportsDirectory(context);
      let files = 0;
      for (const name of await listReportFiles(directory)) {
        if (!OWN_FILE.test(name)) continue;
        const file = path.join(directory, name);
        const facts = await orMissing(stat(file));
        if (!facts || facts.mtime >= before) continue;
        if (write) for (const one of [file, `${file}.sha256`]) await rm(one, { force: true });
        if (++files < BATCH_FILES) continue;
        yield files;
        files = 0;
      }
      yield files;
    },
  };
}
