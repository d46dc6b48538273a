/**
 * The rows of Ajustes de meses anteriores: what changed, after a month was closed, in its days and in those before it. The
 * cut of that close is compared with the file's own, day by day. The differences add up to the difference between the
 * balance that was handed in and the one with which the file begins.
 */
import { addDays, type Day } from '../../../domain/calendar.ts';
import { maskAccount } from '../../../domain/person/mask-person.ts';
import { formatLocalAmount } from '../../../texts/reports/texts.ts';
import { type ClosedMonth, type RangePlan, spanOf, toWallTimeBounds } from '../../plan/report-plan.ts';
import { listMovedTransactions } from '../../read/list-changed-transactions.ts';
import { isBalanceAccount, platformAccountSegment, readOpened, splitAccount } from '../../read/read-accounts.ts';
import { readChanges } from '../../read/read-changes.ts';
import { type CutEntries, readCutEntries } from '../../read/read-cut-entries.ts';
import { readFactsAtCut } from '../../read/read-facts-at-cut.ts';
import type { AdjustmentRow } from '../columns.ts';
import type { ReportWork } from '../report-work.ts';
import { EMPTY_CHANGE } from './compare-openings.ts';
import { toChangeRows } from './describe-changes.ts';
import { listChangedDays } from './list-changed-days.ts';

type Work = ReportWork<RangePlan>;

/** @param base the close of the month before. @returns the rows in chunks, by day. */
export async function* describeAdjustments(
  work: Work,
  base: ClosedMonth,
): AsyncGenerator<AdjustmentRow[], void, undefined> {
  const { db, plan, scope, factsAtCut } = work;
  const from = { ...base.cut, ...(await readCutEntries(db, base.cut)) };
  const to = { ...plan.cut, entrySeq: scope.entrySeq, lateEntries: scope.lateEntries };
  const end = `${spanOf(plan).from} 00:00:00`;
  const factsAtPreviousCut = await readFactsAtCut(db, from);
  const compared = { from, to, platform: plan.platform, factsAtCut, factsAtPreviousCut };
  const names = new Map(
    (await db.selectFrom('accounts').select(['seq', 'name']).execute()).map(({ seq, name }) => [seq, name]),
  );
  for (const day of await listChangedDays(db, { ...compared, end })) {
    yield await compareOpened(work, { day, from, to, names });
    const bounds = toWallTimeBounds(day, addDays(day, 1));
    for await (const changes of readChanges(db, { ...compared, ...bounds }, listMovedTransactions)) {
      yield (await toChangeRows(work, changes)).map((change) => ({ ...change, day }));
    }
  }
}

type Compared = { day: Day; from: CutEntries; to: CutEntries; names: Map<number, string> };

/** A row for each platform whose opening balance a person stated for this day, or took back, between the cuts. */
async function compareOpened(
  { db, plan, rendering: { texts } }: Work,
  { day, from, to, names }: Compared,
): Promise<AdjustmentRow[]> {
  const sum = async (cut: CutEntries): Promise<Map<string, bigint>> => {
    const sums = new Map<string, bigint>();
    for (const [account, cents] of await readOpened(db, { start: `${day} 00:00:00`, ...cut })) {
      const { root, platform } = splitAccount(names.get(account) ?? '');
      if (isBalanceAccount(root)) sums.set(platform, (sums.get(platform) ?? 0n) + cents);
    }
    return sums;
  };
  const [before, after] = [await sum(from), await sum(to)];
  const own = plan.platform === undefined ? undefined : platformAccountSegment(plan.platform);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((platform) => own === undefined || platform === own)
    .map((platform) => ({ platform, was: before.get(platform) ?? 0n, is: after.get(platform) ?? 0n }))
    .filter(({ was, is }) => was !== is)
    .map(({ platform, was, is }) => ({
      ...{ ...EMPTY_CHANGE, day, recordedAt: plan.madeAt, what: texts.changes.opening },
      platform: plan.masked ? maskAccount(platform) : platform,
      ...{ before: formatLocalAmount(was, texts), after: formatLocalAmount(is, texts) },
      ...{ effectBefore: was, effectAfter: is, why: texts.changes.person, source: texts.sources.person },
    }));
}
