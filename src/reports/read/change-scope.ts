import type { WallTime } from '../../domain/calendar.ts';
import type { Cut } from '../plan/plan.ts';
import type { KnownThen } from './read-facts.ts';
import type { EntriesOfCut } from './read-late.ts';

/** Which changes of a day are read: those between two cuts, of all platforms or of one. */
export type ChangeScope = {
  start: WallTime;
  end: WallTime;
  from: Cut & EntriesOfCut;
  to: Cut & EntriesOfCut;
  platform: string | undefined;
  /** At the later cut, and at the one before. */
  known: KnownThen;
  knownBefore: KnownThen;
};
