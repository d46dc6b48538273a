import type { Context } from '../context.ts';
import { refuse } from '../texts/refuse.ts';
import type { Timers } from '../timers.ts';

/** How often each of these is done for one merchant in a minute, by this process. */
export const RATES_A_MINUTE = { preview: 60, replay: 20, test: 10, address: 5 } as const;

const MINUTE_S = 60;
const MERCHANTS_MAX = 10_000;

type Minute = { number: number; counts: Map<string, number> };
const minutes = new WeakMap<Timers, Minute>();

/**
 * Counts a costly request of a merchant's pages, of staff or of the merchant.
 * @throws ConfereError `too_many_requests` beyond RATES_A_MINUTE.
 */
export function countRequest(context: Context, kind: keyof typeof RATES_A_MINUTE, merchant: string): void {
  const second = Math.floor(context.timers.monotonicMs() / 1000);
  const number = Math.floor(second / MINUTE_S);
  const known = minutes.get(context.timers);
  const minute = known?.number === number ? known : { number, counts: new Map<string, number>() };
  minutes.set(context.timers, minute);
  const key = `${kind} ${minute.counts.size > MERCHANTS_MAX ? 'all' : merchant}`;
  const count = (minute.counts.get(key) ?? 0) + 1;
  minute.counts.set(key, count);
  if (count <= RATES_A_MINUTE[kind]) return;
  const retryAfterS = MINUTE_S - (second % MINUTE_S);
  throw refuse('merchant_rate_limited', { n: RATES_A_MINUTE[kind], kind }, { retryAfterS });
}
