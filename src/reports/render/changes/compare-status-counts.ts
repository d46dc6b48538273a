import type { Reader } from '../../../database/reader.ts';
import { addDays } from '../../../domain/calendar.ts';
import { type Cut, type ReportPlan, toWallTimeBounds } from '../../plan/report-plan.ts';
import { readStatusCounts, type StatusCount } from '../../read/read-counts.ts';
import { readCutEntries } from '../../read/read-cut-entries.ts';
import { readFactsAtCut } from '../../read/read-facts-at-cut.ts';

export type Counted = Pick<StatusCount, 'count' | 'amountCents'>;
type Compared = Pick<ReportPlan, 'day' | 'platform'>;
type CountChange = Pick<StatusCount, 'operation' | 'status'> & { before: Counted; after: Counted };

const NONE: Counted = { count: 0, amountCents: 0n };

/**
 * Compares the status counts that Resumo shows at two cuts. The digest does not hold them: a status that moves no money
 * and is not the day's last one has no row.
 */
export async function compareStatusCounts(
  db: Reader,
  plan: Compared & { cut: Cut },
  previous: { cut: Cut },
): Promise<CountChange[]> {
  const [before, after] = [await readCounts(db, plan, previous.cut), await readCounts(db, plan, plan.cut)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    const one = is ?? was;
    if (!one || (was?.count === is?.count && was?.amountCents === is?.amountCents)) return [];
    return [{ operation: one.operation, status: one.status, before: was ?? NONE, after: is ?? NONE }];
  });
}

async function readCounts(db: Reader, { day, platform }: Compared, cut: Cut): Promise<Map<string, StatusCount>> {
  const factsAtCut = await readFactsAtCut(db, { ...cut, ...(await readCutEntries(db, cut)) });
  const scope = { ...toWallTimeBounds(day, addDays(day, 1)), eventSeq: cut.eventSeq, platform, factsAtCut };
  const counts = await readStatusCounts(db, scope);
  return new Map(counts.map((one) => [`${one.operation} ${one.status}`, one]));
}
