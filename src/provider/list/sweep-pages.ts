/**
 * The order in which a pass asks for pages, and how many it may ask for. Rows buy requests, announcements do not: a
 * provider that announced 99,999 pages beside 30 rows had 200,000 requests sent to it.
 */

import { PAGE_ROWS } from './check-pass.ts';

/** Requests that a pass may send beyond the pages that brought rows: the page after the last, and one more. */
const SPARE_PAGES = 2;
/** Pages past the announced end that are new only in part are drift, and could go on for as long as rows are made. */
const PARTLY_NEW_MAX = 20;

export type RequestBudget = {
  recordRequest(): void;
  /** Called for each page that brought a row which the pass had not seen. */
  recordFilledPage(): void;
  maySend(): boolean;
};

/** @param pagesBefore how many pages the pass before had filled. */
export function createRequestBudget(pagesBefore: number): RequestBudget {
  let [sent, filled] = [0, 0];
  return {
    recordRequest: () => {
      sent++;
    },
    recordFilledPage: () => {
      filled++;
    },
    maySend: () => sent < Math.max(filled, pagesBefore) + SPARE_PAGES,
  };
}

/** Asks for a page; calls `arrive` as soon as it is there, and resolves once it is applied too. */
export type SweepPage<Answer> = (page: number, arrive: (answer: Answer | undefined) => void) => Promise<void>;
type Brought = { found: number; fresh: number };
type Sweeper<Answer> = {
  sweep: SweepPage<Answer>;
  take: (page: number, answer: Answer | undefined) => Brought;
  /** How many pages are asked for or being applied at once. */
  hands: number;
  /** Called once, when the last pages are about to be asked for, with how many there are. */
  onNearEnd: (pages: number) => void;
};
/** `from`: the first page to ask for; `before`: what the page before it brought; `announced`: the last by `total`. */
type Range = { from: number; before: Brought; announced: number; pagesMax: number };

/**
 * From a page on, until one brings no row, or nothing new past the announced end. Answers are taken in the order of
 * their pages. Behind a full page that is announced to have followers these are asked for at once, as far as rows have
 * paid for them; behind any other one page is asked for after the other.
 * @returns whether the last page brought nothing new.
 */
export async function sweepForwards<Answer>(
  { from, before, announced, pagesMax }: Range,
  { sweep, take, hands, requests, onNearEnd }: Sweeper<Answer> & { requests: RequestBudget },
): Promise<boolean> {
  const arrived = new Map<number, { answer: Answer | undefined }>();
  let [next, taken, partlyNew] = [from, from - 1, 0];
  let [brought, isFull] = [before, before.found >= PAGE_ROWS];
  let largest = before.found;
  let ended = before.found === 0;
  let tellNearEnd = (): void => {
    tellNearEnd = () => undefined;
    onNearEnd(Math.max(taken, announced));
  };
  const arrive = (page: number, answer: Answer | undefined): void => {
    arrived.set(page, { answer });
    for (let one = arrived.get(taken + 1); one; one = arrived.get(taken + 1)) {
      arrived.delete(++taken);
      brought = take(taken, one.answer);
      const { found, fresh } = brought;
      if (taken > announced && fresh > 0 && fresh < found) partlyNew++;
      ended ||= found === 0 || (fresh === 0 && taken > announced) || partlyNew >= PARTLY_NEW_MAX;
      largest = Math.max(largest, found);
      isFull = found === largest;
    }
  };
  await keepUnderWay(hands, sweep, arrive, () => {
    const mayFollow = taken === next - 1 || (isFull && next <= announced + 1);
    if (ended || next > pagesMax || !mayFollow || !requests.maySend()) return undefined;
    if (next + hands > announced) tellNearEnd();
    return next++;
  });
  tellNearEnd();
  return brought.fresh === 0;
}

/** From the last page that the pass before had filled back to the second. */
export async function sweepBackwards<Answer>(
  last: number,
  { sweep, take, hands, onNearEnd }: Sweeper<Answer>,
): Promise<void> {
  let next = last;
  await keepUnderWay(hands, sweep, take, () => {
    if (next === Math.min(last, hands)) onNearEnd(last);
    return next >= 2 ? next-- : undefined;
  });
}

/**
 * Keeps pages under way: the next one is asked for whenever there is a hand free and `next` names it. The first failure
 * stops the rest, and is thrown once all are at rest.
 */
async function keepUnderWay<Answer>(
  hands: number,
  sweep: SweepPage<Answer>,
  arrive: (page: number, answer: Answer | undefined) => void,
  next: () => number | undefined,
): Promise<void> {
  const under = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;
  let wake = (): void => undefined;
  const start = (page: number): void => {
    const one = sweep(page, (answer) => {
      arrive(page, answer);
      wake();
    })
      .catch((error: unknown) => {
        failed ??= { error };
      })
      .finally(() => {
        under.delete(one);
        wake();
      });
    under.add(one);
  };
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    while (!failed && under.size < hands) {
      const page = next();
      if (page === undefined) break;
      start(page);
    }
    if (under.size === 0) break;
    await changed;
  }
  if (failed) throw failed.error;
}
