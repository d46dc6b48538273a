import type { Context } from '../../context.ts';

/** Requests of one merchant's systems in a second, in this process: of its feed, ten full pages are 2,000 events. */
export const MERCHANT_REQUESTS_PER_S_MAX = 10;

/** Pages of its portal in a second: a browser opens many tabs at once. */
export const MERCHANT_PAGES_PER_S_MAX = 40;

/** Counts each merchant's requests by the second. @returns whether it may make one more now. */
export function createMerchantLimit(
  { timers }: Pick<Context, 'timers'>,
  requestsMax = MERCHANT_REQUESTS_PER_S_MAX,
): (merchantSeq: number) => boolean {
  const requests = new Map<number, number>();
  let second = 0;
  return (merchantSeq) => {
    const now = Math.floor(timers.monotonicMs() / 1000);
    if (now !== second) requests.clear();
    second = now;
    const count = (requests.get(merchantSeq) ?? 0) + 1;
    requests.set(merchantSeq, count);
    return count <= requestsMax;
  };
}
