import { randomUUID } from 'node:crypto';
import { copyFile, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import type { Day } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import type { Language } from '../../domain/language/language.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { VERSION } from '../../domain/version.ts';
import { refuse } from '../../texts/refuse.ts';
import { readSurplus } from '../plan/read-surplus.ts';
import {
  type FileFormat,
  type Format,
  type ReportPlan,
  type ReportState,
  ROWS_PER_SHEET_MAX,
  type WholeReading,
} from '../plan/report-plan.ts';
import { assertPlatform } from '../read/assert-platform.ts';
import { alertDifferingReport } from '../readback/alert-differing-report.ts';
import { readBack } from '../readback/read-back.ts';
import { assertGroup, FORMAT_FACTS } from '../render/formats/formats.ts';
import { writeReport } from '../render/write-report.ts';
import { reportsDirectory, toPreviousRevision } from '../revisions/make-report.ts';
import { nameReportFile } from '../revisions/name-report-file.ts';
import { findRevision, presentReport, type Report, type ReportRow, toCut } from '../revisions/present-report.ts';
import {
  finalizeDrafts,
  hashOfWorkbook,
  measureFile,
  orMissing,
  publishDrafts,
  type ReportFile,
  withDrafts,
} from '../revisions/publish-drafts.ts';
import { buildOnce } from './build-once.ts';
import { evictDerivedFiles } from './evict-derived-files.ts';

/** The version of the masks. */
const MASKS = 'masks 5';

export type OpenedReport = { report: Report; file: string; name: string; bytes: number; sha256: string };
export type WantedReport<Name extends FileFormat = Format> = {
  day: Day;
  format: Name;
  revision?: number | undefined;
  locale?: Language | undefined;
  platform?: string | undefined;
  /** For a reader without the right to see personal data. */
  masked?: boolean;
  group?: 'day' | undefined;
};

/**
 * Opens a file of a revision, by default the newest. A missing or damaged file is rebuilt from the revision's cut. So are
 * derived files: in another language, of one platform, or masked.
 * @throws ConfereError `not_found` if the day has no such revision, `invalid_request` for an unknown platform.
 */
export async function openReport(context: Context, wanted: WantedReport): Promise<OpenedReport> {
  const { row, name } = await findReport(context, wanted);
  const report = presentReport(row);
  const file = path.join(reportsDirectory(context), name);
  const stored = report.files.find((one) => one.name === name);
  const expected = stored ? [stored.sha256, stored.rebuilt?.sha256] : [await readSum(file, remarkOf(wanted))];
  const found = expected[0] === undefined ? undefined : await orMissing(measureFile(file));
  if (found && expected.includes(found.sha256)) return { report, file, name: nameDownload(name, wanted), ...found };
  // one build makes all formats of a revision, language and platform
  const key = `file ${name.slice(0, -wanted.format.length)}`;
  const files = await buildOnce(context, key, () => rebuild(context, row, wanted));
  if (!stored) await evictDerivedFiles(context);
  const made = files.find((one) => one.format === wanted.format);
  if (!made) throw new Error(`no ${wanted.format} was written`);
  if (stored && row.redacted_at !== null) await writeFacts(context, row, files);
  else if (stored && made.sha256 !== stored.sha256) await recordRebuilt(context, row, files);
  return { report, file, name: nameDownload(name, wanted), bytes: made.bytes, sha256: made.sha256 };
}

/**
 * Finds the revision, and the name of its file.
 * @throws ConfereError as `openReport` does.
 */
export async function findReport(
  { db }: Context,
  wanted: WantedReport<FileFormat>,
): Promise<{ row: ReportRow; name: string }> {
  const { day, format, platform, locale, masked = false, group } = wanted;
  assertGroup(format, group);
  const row = await findRevision(db, day, wanted.revision);
  if (!row) throw refuse('report_unknown', { day });
  if (platform !== undefined) await assertPlatform(db, platform, { from: day, to: day });
  const otherLocale = locale !== undefined && locale !== row.locale ? locale : undefined;
  return { row, name: nameReportFile({ ...row, format, otherLocale, platform, masked, group }) };
}

/** The file's own name, without a platform that the file masks. On disk the platform keeps two such files apart. */
export function nameDownload(name: string, { masked, platform, format }: WantedReport<FileFormat>): string {
  if (!masked || platform === undefined || maskPlatform(platform) === platform) return name;
  return `${name.slice(0, name.indexOf('platform-'))}platform-masked.${FORMAT_FACTS[format].extension}`;
}

/** A masked file of another version of the masks is rebuilt. */
function remarkOf(wanted: WantedReport): string | undefined {
  return wanted.masked ? MASKS : undefined;
}

/** Stores the facts of files that were rebuilt after an erasure: they are the revision's own from now on. */
async function writeFacts(context: Context, row: ReportRow, files: ReportFile[]): Promise<void> {
  await context.db
    .updateTable('reports')
    .set({ files: JSON.stringify(files), sha256: hashOfWorkbook(files) })
    .where('seq', '=', row.seq)
    .execute();
}

/**
 * Records that files of a revision have other bytes than when it was made: another version of the program changes the bytes
 * but not the digest of the rows. The page of the day and the API show it beside the first hash, which stays.
 */
async function recordRebuilt(context: Context, row: ReportRow, made: ReportFile[]): Promise<void> {
  const at = context.clock.now().toISOString();
  const files = presentReport(row).files.map((first): ReportFile => {
    const { bytes, sha256 } = made.find(({ format }) => format === first.format) ?? first;
    return sha256 === first.sha256 ? first : { ...first, rebuilt: { bytes, sha256, at, version: VERSION } };
  });
  await context.db
    .updateTable('reports')
    .set({ files: JSON.stringify(files) })
    .where('seq', '=', row.seq)
    .execute();
  for (const { format, sha256, rebuilt } of files)
    if (rebuilt) {
      const facts = { day: row.day, revision: row.revision, format, sha256, rebuilt: rebuilt.sha256 };
      context.log.warn(facts, 'a lost or damaged report file was rebuilt: its rows are the same, its SHA-256 is not');
    }
}

/** The hash of a derived file, from the file beside it; undefined if the remark differs. */
async function readSum(file: string, remark = ''): Promise<string | undefined> {
  const text = await orMissing(readFile(`${file}.sha256`, 'utf8'));
  return text?.includes(remark) ? text.split(' ')[0] : undefined;
}

async function rebuild(context: Context, row: ReportRow, wanted: WantedReport): Promise<ReportFile[]> {
  const directory = reportsDirectory(context);
  const plan = await planRebuild(context, row, wanted);
  return await withDrafts(directory, randomUUID(), async (scratch) => {
    const written = await alertDifferingReport(context, { from: row.day, to: row.day, isKept: false }, () =>
      inSnapshot(context.db, async (snapshot) => {
        const files = await writeReport(snapshot, plan, scratch);
        await readBack(files);
        return files;
      }),
    );
    if (wanted.platform === undefined && row.redacted_at === null && !written.digest.equals(row.digest)) {
      throw new ConfereError(
        'books_broken',
        `revision ${row.revision} of ${row.day} no longer gives the rows that it was made from: run confere doctor`,
      );
    }
    const shares = written.work.shares?.digest();
    if (wanted.platform === undefined && shares && row.orders_digest && !shares.equals(row.orders_digest))
      context.log.warn(
        { day: row.day, revision: row.revision },
        'a revision was rebuilt with other orders than it was made with: a match was committed late',
      );
    const otherLocale = plan.locale === row.locale ? undefined : plan.locale;
    const drafts = await finalizeDrafts(written.files, (format) => nameReportFile({ ...plan, format, otherLocale }));
    await publishDrafts(directory, drafts, remarkOf(wanted));
    return drafts.map((one) => one.facts);
  });
}

/** The plan of a stored revision, as this reader wants it. */
export async function planRebuild(
  context: Context,
  row: ReportRow,
  wanted: Pick<WantedReport, 'locale' | 'platform' | 'masked' | 'group'>,
): Promise<ReportPlan> {
  const before = row.revision > 1 ? await findRevision(context.db, row.day, row.revision - 1) : undefined;
  return {
    day: row.day,
    revision: row.revision,
    cut: toCut(row),
    previous: before && toPreviousRevision(before),
    state: row.state as ReportState,
    reading: await findReading(context, row),
    countedAt: row.proven_run_seq === null ? (row.proven_asked_at ?? undefined) : undefined,
    madeAt: row.made_at,
    locale: wanted.locale ?? (row.locale as Language),
    fullDocuments: row.full_documents === 1 && !wanted.masked,
    masked: wanted.masked ?? false,
    platform: wanted.platform,
    version: row.version,
    rowsPerSheetMax: ROWS_PER_SHEET_MAX,
    calendar: context.calendar,
    isRedacted: row.redacted_at !== null,
    group: wanted.group,
  };
}

async function findReading(context: Context, row: ReportRow): Promise<WholeReading | undefined> {
  if (row.proven_run_seq === null || row.proven_asked_at === null) return undefined;
  const run = await context.db.selectFrom('runs').select('id').where('seq', '=', row.proven_run_seq).executeTakeFirst();
  const surplus = await readSurplus(context.db, row.day, row.proven_run_seq, row.made_at);
  return { runSeq: row.proven_run_seq, runId: run?.id ?? '?', askedAt: row.proven_asked_at, surplus };
}

/** Copies a finished file to a path that a person chose: whole, or not at all. */
export async function copyReport(opened: { file: string }, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.part`;
  try {
    await copyFile(opened.file, draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}
