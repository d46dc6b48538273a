/** Decides whether a payment that was received is reported as nobody's. Pure. */
import { type Day, HOUR_MS } from '../../domain/calendar.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { PaymentFacts } from './facts.ts';

/** How long a receipt may be without its expected payment. */
export const UNIDENTIFIED_AFTER_MS = 24 * HOUR_MS;
/** From the first day of issue on, a receipt must be somebody's. `arrivedAt`: when the first expected payment came. */
export type Start = { sinceDay: Day; arrivedAt: Date };
/** By platform; `none`: of expected payments that name none. */
export type Starts = ReadonlyMap<string, Start>;
export type Receipt = { facts: PaymentFacts; paidAt: Date | null; isMatched: boolean };

/**
 * @returns `ended`: it is matched, returned or no receipt; undefined: it may wait, or nobody said what this platform expects.
 * `baseline`: it was paid before anything was expected.
 */
export function decideReceipt(
  { facts, paidAt, isMatched }: Receipt,
  starts: Starts,
  now: Date,
): 'unidentified' | 'baseline' | 'ended' | undefined {
  if (isMatched || paidAt === null || facts.standing !== 'settled') return 'ended';
  const start = findStart(starts, facts.platform);
  const isDue = paidAt.getTime() + UNIDENTIFIED_AFTER_MS <= now.getTime();
  if (!start || facts.day < start.sinceDay || !isDue) return undefined;
  return paidAt < start.arrivedAt ? 'baseline' : 'unidentified';
}

/** Expected payments that name no platform speak of all platforms, but only where none names one. */
export function findStart<One>(starts: ReadonlyMap<string, One>, platform: string | null): One | undefined {
  const isNamed = [...starts.keys()].some((name) => name !== NO_PLATFORM);
  return isNamed ? starts.get(platform ?? NO_PLATFORM) : starts.get(NO_PLATFORM);
}
