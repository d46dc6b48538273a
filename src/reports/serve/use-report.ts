import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import { type FileFormat, FORMATS, type Format } from '../plan/report-plan.ts';
import { writeFile } from '../render/write-range.ts';
import { presentReport } from '../revisions/present-report.ts';
import { measureFile } from '../revisions/publish-drafts.ts';
import { useDraft } from './build-once.ts';
import {
  findReport,
  nameDownload,
  type OpenedReport,
  openReport,
  planRebuild,
  type WantedReport,
} from './open-report.ts';

type Wanted = WantedReport<FileFormat> & {
  /** Ends the work when the client has left. */
  signal?: AbortSignal;
};

/**
 * Passes a file of a revision to `use`. A revision keeps three formats; a file in another one is written from its cut, and
 * deleted once `use` returns: some depend on the account map, which changes.
 * @throws ConfereError as `openReport` does, and `invalid_request` where the account map lacks an account.
 */
export async function useReport(
  context: Context,
  wanted: Wanted,
  use: (opened: OpenedReport) => Promise<void>,
): Promise<void> {
  if (isKept(wanted)) {
    await use(await openReport(context, wanted)).catch(async (error: NodeJS.ErrnoException) => {
      // retention deleted it since it was opened
      if (error.code !== 'ENOENT') throw error;
      await use(await openReport(context, wanted));
    });
    return;
  }
  const { row, name } = await findReport(context, wanted);
  const { format } = wanted;
  const build = async (directory: string, signal: AbortSignal): Promise<string> => {
    const plan = await planRebuild(context, row, wanted);
    return await inSnapshot(context.db, (snapshot) => writeFile(snapshot, plan, { directory, format, signal }));
  };
  await useDraft(context, wanted.signal, build, async (file) =>
    use({ report: presentReport(row), file, name: nameDownload(name, wanted), ...(await measureFile(file)) }),
  );
}

function isKept(wanted: Wanted): wanted is Wanted & { format: Format } {
  return (FORMATS as readonly string[]).includes(wanted.format);
}
