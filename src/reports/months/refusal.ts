import type { Day, Month } from '../../domain/calendar.ts';
import { ConfereError } from '../../domain/errors.ts';
import { maskPlatform } from '../../domain/person/mask-person.ts';
import { refusal } from '../../texts/refuse.ts';

/**
 * A reason for which a month can't be closed, or reopened.
 * - `before_books`: it ended before the first entry.
 * - `month_running`: it has not ended.
 * - `earlier_month_open`: a month with entries, between the newest closed one and this one, is not closed.
 * - `later_month_closed`: a later month was closed on top of it.
 * - `day_unproven`: nobody has read or counted this day after its end.
 * - `days_before_unread`: nobody has read or counted these days before the books open, and what began then may move in the month.
 * - `mismatch_open`: a critical mismatch is not resolved, unless it is only about transactions that began after the month;
 *   `more_mismatches_open` counts those beyond the first 100.
 * - `balance_differs`: a balance that a person stated is not the ledger's.
 * - `opening_unfinished`: the history below an opening is still being posted.
 */
export type Refusal =
  | { code: 'before_books' | 'month_running' | 'earlier_month_open' | 'later_month_closed'; month: Month }
  | { code: 'day_unproven'; day: Day }
  | { code: 'days_before_unread'; from: Day; to: Day }
  | {
      code: 'mismatch_open';
      mismatchId: string;
      kind: string;
      transactionId: string | null;
      owner: string | null;
      /** The day that it concerns. */
      day: Day;
      /** Whether its day is before the month. */
      isEarlier: boolean;
    }
  | { code: 'more_mismatches_open'; month: Month; count: number; earlier: number }
  | {
      code: 'balance_differs';
      platform: string;
      at: string;
      /** Decimal texts. */
      balance: string;
      ledger: string;
      difference: string;
      /** The open mismatch of this statement. */
      mismatchId: string | undefined;
    }
  | { code: 'opening_unfinished'; openingId: string; platform: string };

/** A refusal as our API shows it. `link` is the page of the console where it is ended. */
export type PresentedRefusal = ReturnType<typeof presentRefusal>;

/** The month is as it was. Each reason is in `refusals`. */
export class MonthRefusedError extends ConfereError {
  readonly refusals: Refusal[];

  constructor(reason: 'month_kept_open' | 'month_kept_closed', month: Month, refusals: Refusal[]) {
    const presented = refusals.map((one) => presentRefusal(one));
    const values = { month, refusals: presented.map(({ detail }) => detail).join('; ') };
    super(...refusal(reason, values, { members: { refusals: presented } }));
    this.refusals = refusals;
  }
}

/** @param masked for a reader without the right to see people: a platform may be a document. */
export function presentRefusal(refusal: Refusal, masked = false) {
  const shown =
    masked && 'platform' in refusal ? { ...refusal, platform: maskPlatform(refusal.platform) ?? '' } : refusal;
  return {
    code: shown.code,
    detail: describeRefusal(shown),
    link: linkRefusal(shown),
    ...('month' in shown ? { month: shown.month } : {}),
    ...('day' in shown ? { day: shown.day } : {}),
    ...('from' in shown ? { from: shown.from, to: shown.to } : {}),
    ...('mismatchId' in shown ? { mismatch_id: shown.mismatchId } : {}),
    ...('kind' in shown ? { kind: shown.kind } : {}),
    ...('platform' in shown ? { platform: shown.platform } : {}),
  };
}

function describeRefusal(refusal: Refusal): string {
  switch (refusal.code) {
    case 'before_books':
      return `${refusal.month} ended before the first entry of the books: there is nothing to close`;
    case 'month_running':
      return `${refusal.month} has not ended`;
    case 'earlier_month_open':
      return `${refusal.month} has entries and is not closed: close it first`;
    case 'later_month_closed':
      return `${refusal.month}, a later month, is closed: reopen it first`;
    case 'day_unproven':
      return `${refusal.day} was neither read nor counted at the provider after its end: start a run for it`;
    case 'days_before_unread':
      return `${refusal.from} to ${refusal.to}, before the books open, was neither read nor counted at the provider, and what began then may move in the month: wait for the run of the opening, or start one`;
    case 'mismatch_open':
      return `the critical mismatch ${refusal.mismatchId} (${refusal.kind}) is not resolved`;
    case 'more_mismatches_open':
      return `${refusal.count} more critical mismatches are not resolved`;
    case 'balance_differs':
      return `the balance ${refusal.balance} of platform ${refusal.platform}, stated for ${refusal.at}, is not the ledger's ${refusal.ledger}: a difference of ${refusal.difference}`;
    case 'opening_unfinished':
      return `the history below the opening ${refusal.openingId} of platform ${refusal.platform} is still being posted: try again later`;
  }
}

/** The address of the console's list of the mismatches that keep a month open. */
export function linkBlockers(month: Month): string {
  return `/mismatches?blocks=${month}`;
}

/** The address of the console's page that ends a refusal. */
export function linkRefusal(refusal: Refusal): string {
  switch (refusal.code) {
    case 'before_books':
    case 'month_running':
    case 'earlier_month_open':
    case 'later_month_closed':
      return `/reports/months/${refusal.month}`;
    case 'day_unproven':
      return `/reports/${refusal.day}`;
    case 'days_before_unread':
      return '/reconciliations';
    case 'mismatch_open':
      return `/mismatches/${refusal.mismatchId}`;
    case 'more_mismatches_open':
      return linkBlockers(refusal.month);
    case 'balance_differs':
      return refusal.mismatchId === undefined ? '/balances/statements' : `/mismatches/${refusal.mismatchId}`;
    case 'opening_unfinished':
      return '/balances/openings';
  }
}
