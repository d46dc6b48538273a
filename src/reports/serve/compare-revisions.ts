import type { Context } from '../../context.ts';
import { inSnapshot } from '../../database/in-snapshot.ts';
import { isStatementTimeout, limitStatementTime } from '../../database/limit-statement-time.ts';
import type { Reader } from '../../database/reader.ts';
import type { Day } from '../../domain/calendar.ts';
import type { Language } from '../../domain/language/language.ts';
import { append } from '../../domain/lists.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { assertPlatform } from '../read/assert-platform.ts';
import { type Figures, parseFigures } from '../read/report-figures.ts';
import { describeChanges } from '../render/changes/describe-changes.ts';
import type { ChangeRow } from '../render/columns.ts';
import { prepareWork } from '../render/prepare-work.ts';
import { reportsDirectory, toPreviousRevision } from '../revisions/make-report.ts';
import { findRevision, type ReportRow } from '../revisions/present-report.ts';
import { buildOnce } from './build-once.ts';
import { planRebuild } from './open-report.ts';

/** A page shows at most this many rows: *Alterações* has all rows of a revision. */
const ROWS_SHOWN_MAX = 200;

/** Comparing the rows takes no longer. A page waits for it: the sheet *Alterações* of a revision has no such limit. */
export const COMPARE_LIMITS = { msMax: 5_000 };

type Wanted = { day: Day; from: number; to: number; platform?: string | undefined; locale: Language; masked: boolean };
export type RevisionComparison = {
  /** The figures of both revisions; undefined where one stores none yet. */
  before: Figures | undefined;
  after: Figures | undefined;
  /** The first revision was made while the day was running: later movements are new, and not listed. */
  afterPartial: boolean;
  /** Undefined where comparing them takes longer than COMPARE_LIMITS.msMax. */
  rows: ChangeRow[] | undefined;
  hasMore: boolean;
};

/**
 * Compares two revisions of a day, as *Alterações* does with neighbours: what changed from `from` to `to`, and why. It
 * reads the ledger at both cuts, for at most COMPARE_LIMITS.msMax.
 * @throws ConfereError `not_found` for a revision that does not exist, `invalid_request` for revisions in the wrong order or
 *   an unknown platform.
 */
export async function compareRevisions(context: Context, wanted: Wanted): Promise<RevisionComparison> {
  const { day, from, to, platform, masked } = wanted;
  if (from >= to) throw refuseField('from', 'revisions_reversed', { from, to });
  if (platform !== undefined) await assertPlatform(context.db, platform, { from: day, to: day });
  const [before, after] = [await findOne(context, day, from), await findOne(context, day, to)];
  const key = `changes ${day} ${from} ${to} ${platform ?? ''} ${wanted.locale} ${masked}`;
  const changes = await buildOnce(context, key, () => readRows(context, { before, after }, wanted));
  return {
    before: parseFigures(before.figures, platform),
    after: parseFigures(after.figures, platform),
    afterPartial: before.state === 'partial',
    ...changes,
  };
}

async function findOne({ db }: Context, day: Day, revision: number): Promise<ReportRow> {
  const row = await findRevision(db, day, revision);
  if (!row) throw refuse('revision_unknown', { revision, day });
  return row;
}

async function readRows(
  context: Context,
  { before, after }: { before: ReportRow; after: ReportRow },
  { platform, locale, masked }: Wanted,
): Promise<Pick<RevisionComparison, 'rows' | 'hasMore'>> {
  const planned = await planRebuild(context, after, { platform, masked, locale });
  const plan = { ...planned, previous: toPreviousRevision(before) };
  const { msMax } = COMPARE_LIMITS;
  const endMs = performance.now() + msMax;
  const read = async (snapshot: Reader): Promise<Pick<RevisionComparison, 'rows' | 'hasMore'>> => {
    // nothing is written to the directory
    const work = await prepareWork(snapshot, plan, reportsDirectory(context), context.signal);
    const rows: ChangeRow[] = [];
    for await (const chunk of describeChanges(work, after.digest).rows) {
      append(rows, chunk);
      if (rows.length > ROWS_SHOWN_MAX) break;
      if (performance.now() > endMs) return TOO_LONG;
    }
    return { rows: rows.slice(0, ROWS_SHOWN_MAX), hasMore: rows.length > ROWS_SHOWN_MAX };
  };
  try {
    return await inSnapshot(limitStatementTime(context.db, Math.max(1, msMax)), read);
  } catch (error) {
    if (isStatementTimeout(error)) return TOO_LONG;
    throw error;
  }
}

const TOO_LONG = { rows: undefined, hasMore: false };
