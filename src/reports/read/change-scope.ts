import type { WallTime } from '../../domain/calendar.ts';
import type { Cut } from '../plan/report-plan.ts';
import type { CutEntries } from './read-cut-entries.ts';
import type { FactsAtCut } from './read-facts-at-cut.ts';

/** Which changes of a day are read: those between two cuts, of all platforms or of one. */
export type ChangeScope = {
  start: WallTime;
  end: WallTime;
  from: Cut & CutEntries;
  to: Cut & CutEntries;
  platform: string | undefined;
  /** At the later cut, and at the one before. */
  factsAtCut: FactsAtCut;
  factsAtPreviousCut: FactsAtCut;
};
