/**
 * The journal of one transaction, as its history asks for it. Pure.
 *
 * A transaction is in one of four states: none, held (cashouts whose amount is set aside), settled (paid) and returned.
 * Each event that changes the state makes one entry at the event's own time; one that does not posts nothing. Amounts
 * are signed cents, debit positive, and each entry's postings sum to zero. Because the entries follow the whole history
 * and not the order in which it was learnt, what is in force can always be compared with it and mended by reversal.
 */
import type { Day, WallTime } from '../../domain/calendar.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { Operation } from '../../domain/statuses.ts';

export type Posting = { account: string; cents: bigint };

export type EntryKind = 'event' | 'commission' | 'held_at_opening';

export type PlannedEntry<E> = {
  kind: EntryKind;
  /** The event that asks for it; undefined for what was held when the books were opened. */
  event: E | undefined;
  atWall: WallTime;
  platform: string;
  postings: Posting[];
};

export type BookingFacts = {
  operation: Operation;
  amountCents: bigint;
  commissionCents: bigint | null;
  platform: string | null;
};

export type Policy = {
  /** The day from which this platform's books are kept; earlier events post nothing. */
  openingDay: Day | undefined;
  /** Whether a refund on this day gives the commission back. */
  returnsCommission: (day: Day) => boolean;
};

type State = 'none' | 'held' | 'settled' | 'returned';

/** The entries that a history asks for, in its order. */
export function planEntries<E extends { status: string; atWall: WallTime }>(
  booked: BookingFacts,
  history: E[],
  policy: Policy,
): PlannedEntry<E>[] {
  const platform = booked.platform ?? NO_PLATFORM;
  const opensAt = policy.openingDay === undefined ? '' : `${policy.openingDay} 00:00:00`;
  const entries: PlannedEntry<E>[] = [];
  const add = (kind: EntryKind, event: E | undefined, atWall: WallTime, postings: Posting[]): void => {
    const moving = mergePostings(postings);
    if (moving.length > 0) entries.push({ kind, event, atWall, platform, postings: moving });
  };
  let state: State = 'none';
  let opened = opensAt === '';
  const open = (): void => {
    if (!opened && state === 'held') add('held_at_opening', undefined, opensAt, hold(booked, platform));
    opened = true;
  };
  let latest = opensAt;
  for (const event of history) {
    if (!opened && event.atWall >= opensAt) open();
    if (event.atWall > latest) latest = event.atWall;
    // what the opening's balance does not hold yet, though it is dated before, is dated after what it follows
    const atWall = opened && event.atWall < opensAt ? latest : event.atWall;
    const step = takeStep(state, { status: event.status, atWall }, booked, platform, policy);
    if (!step) continue;
    state = step.state;
    if (opened) add('event', event, atWall, step.postings);
  }
  open();
  return entries;
}

/** Accounts end in the platform; what an account's name can't carry is written as its code, closed at both ends. */
export function nameAccount(account: string, platform: string): string {
  const safe = platform.replace(/[^A-Za-z0-9_.-]/g, (char) => `~${char.codePointAt(0)?.toString(16)}~`);
  return `${account}:${safe}`;
}

function takeStep(
  state: State,
  event: { status: string; atWall: WallTime },
  booked: BookingFacts,
  platform: string,
  policy: Policy,
): { state: State; postings: Posting[] } | undefined {
  switch (event.status) {
    case 'pending':
    case 'in_process':
    case 'in_analysis':
      if (state !== 'none' || booked.operation === 'cashin') return undefined;
      return { state: 'held', postings: hold(booked, platform) };
    case 'paid':
      if (state === 'settled') return undefined;
      return {
        state: 'settled',
        postings: [...settle(booked, platform, state === 'held'), ...planCommission(booked, platform)],
      };
    case 'denied':
    case 'canceled':
    case 'expired':
    case 'refund':
      if (state === 'held') return { state: 'none', postings: negate(hold(booked, platform)) };
      if (state !== 'settled') return undefined;
      return {
        state: 'returned',
        postings: giveBack(booked, platform, policy.returnsCommission(event.atWall.slice(0, 10))),
      };
    default:
      // an unknown status moves nothing; it is flagged by decide
      return undefined;
  }
}

function hold({ amountCents }: BookingFacts, platform: string): Posting[] {
  return [
    { account: nameAccount('Assets:Provider:Held', platform), cents: amountCents },
    { account: nameAccount('Assets:Provider:Available', platform), cents: -amountCents },
  ];
}

function settle({ operation, amountCents }: BookingFacts, platform: string, wasHeld: boolean): Posting[] {
  if (operation === 'cashin') {
    return [
      { account: nameAccount('Assets:Provider:Available', platform), cents: amountCents },
      { account: nameAccount('Liabilities:Receipts', platform), cents: -amountCents },
    ];
  }
  const from = wasHeld ? 'Assets:Provider:Held' : 'Assets:Provider:Available';
  return [
    { account: nameAccount('Liabilities:Payables', platform), cents: amountCents },
    { account: nameAccount(from, platform), cents: -amountCents },
  ];
}

/** The provider's commission on a payment: an expense, taken from what is available. */
export function planCommission({ operation, commissionCents }: BookingFacts, platform: string): Posting[] {
  const cents = commissionCents ?? 0n;
  const account = operation === 'cashin' ? 'Expenses:Commission:Cashin' : 'Expenses:Commission:Cashout';
  return [
    { account: nameAccount(account, platform), cents },
    { account: nameAccount('Assets:Provider:Available', platform), cents: -cents },
  ];
}

function giveBack(booked: BookingFacts, platform: string, withCommission: boolean): Posting[] {
  const { operation, amountCents } = booked;
  const sign = operation === 'cashin' ? 1n : -1n;
  const account = operation === 'cashin' ? 'Liabilities:Receipts' : 'Liabilities:Payables';
  return [
    { account: nameAccount(account, platform), cents: sign * amountCents },
    { account: nameAccount('Assets:Provider:Available', platform), cents: -sign * amountCents },
    ...(withCommission ? negate(planCommission(booked, platform)) : []),
  ];
}

/** One posting an account, none of zero. */
export function mergePostings(postings: Posting[]): Posting[] {
  const totals = new Map<string, bigint>();
  for (const { account, cents } of postings) totals.set(account, (totals.get(account) ?? 0n) + cents);
  return [...totals].filter(([, cents]) => cents !== 0n).map(([account, cents]) => ({ account, cents }));
}

function negate(postings: Posting[]): Posting[] {
  return postings.map(({ account, cents }) => ({ account, cents: -cents }));
}
