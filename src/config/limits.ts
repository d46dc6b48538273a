/** Limits of the running service that no setting changes. A configuration holds its own copy, which a test may narrow. */
import { DAY_MS } from '../domain/calendar.ts';

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

export type Limits = {
  /** The ages at which an open transaction is fetched by its id, rising, in ms; after the last one, as often as that again. */
  openAgesMs: number[];
  /** From this many rows on, a recent reading of a day compares only its newest rows (docs/decisions/0070). */
  recentReadRows: number;
  /** How long a merchant may be without a success before it is reported, in ms. */
  callbackAlertMs: number;
  /** A disk with fewer bytes free is reported. */
  diskFreeBytes: number;
};

export const LIMITS: Limits = {
  openAgesMs: [30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS],
  recentReadRows: 20_000,
  callbackAlertMs: 30 * MINUTE_MS,
  diskFreeBytes: 2 * 1024 ** 3,
};
