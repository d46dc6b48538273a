import type { Day } from '../../domain/calendar.ts';
import type { Message } from '../../domain/errors.ts';

/**
 * How a run proves its days. `read`: reads each day whole. `count`: proves settled days by counts, and reads a day whole
 * where its counts do not add up. `open`: like `count`, only for days that have an open transaction. `recent`: reads what
 * is new in today and yesterday, and a day whole where that concludes nothing.
 */
export type RunHow = 'read' | 'count' | 'open' | 'recent';

export type RunRef = {
  seq: number;
  id: string;
  platform: string | null;
  trigger: string;
  from: Day;
  to: Day;
  how: RunHow;
  /** Names this claim alone: the worker loops of one process claim concurrently. */
  holder: string;
  /** Requests that earlier claims of this run sent to the provider. */
  requestsBefore: number;
  /** The trace context of its first claim. */
  traceparent: string | null;
};

/** Days of the provider's calendar, both inclusive. */
export type Window = { fromDay: Day; toDay: Day };

export type WindowRef = Window & { seq: number };

export type WindowResult = {
  /**
   * `complete`: read whole, and proven; `counted`: proven by counts; `recent`: what was new since a complete reading was
   * read, and the count agrees. A recent day is not proven: only its newest rows were seen.
   */
  state: 'complete' | 'counted' | 'recent' | 'incomplete';
  reason: Message | undefined;
  passes: number;
  pages: number;
  /** The last total that the provider announced, less rows of days around the window that were queried with it. */
  total: number;
  /** Distinct ids of the window that were read. */
  seen: number;
  /** How many more rows were announced than listed: as a person accepted, or equal in all passes; else 0. */
  surplus: number;
  askedAt: Date;
};

/** One page was applied. */
export type WindowStep = {
  rows: number;
  pages: number;
  /** Whether the last pages of the first pass are in flight or about to be. */
  isNearEnd: boolean;
};
