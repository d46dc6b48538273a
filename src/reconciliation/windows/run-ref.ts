import type { Day } from '../../domain/calendar.ts';

/**
 * How a run proves its days: `read` reads each one whole; `count` proves settled days by counts, and reads those whole
 * that do not add up; `open` does so with the days alone that hold an open transaction.
 */
export type RunHow = 'read' | 'count' | 'open';

export type RunRef = {
  seq: number;
  id: string;
  platform: string | null;
  trigger: string;
  from: Day;
  to: Day;
  how: RunHow;
  /** Whose lease it is: of this claim alone, since the lanes of one process claim beside each other. */
  holder: string;
  /** Sent to the provider by those that worked it before. */
  requestsBefore: number;
};

/** Days of the provider's calendar, both inclusive. */
export type Window = { fromDay: Day; toDay: Day };

export type WindowRef = Window & { seq: number };

export type WindowResult = {
  /** `complete`: read whole, and proven; `counted`: proven by counts. */
  state: 'complete' | 'counted' | 'incomplete';
  reason: string | undefined;
  passes: number;
  pages: number;
  /** The last total that the provider announced, less the rows of days around the window that were asked for with it. */
  total: number;
  /** Distinct ids of the window that were read. */
  seen: number;
  /** How many more rows were announced than listed: as a person accepted, or alike in all passes; else 0. */
  surplus: number;
  askedAt: Date;
};
