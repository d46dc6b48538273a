/**
 * Plans the journal entries of one transaction from its history. Pure; all posting rules are in this file.
 *
 * A transaction is in one of four states: none, held (the amount of a cashout is reserved), settled (paid) and
 * returned. An event that changes the state makes one entry at the event's own time; other events post nothing. Amounts
 * are signed cents, debit positive, and the postings of each entry sum to zero.
 *
 * The plan depends on the whole history and not on the order in which events arrived. diff-entries.ts compares it with
 * the entries in force and corrects them by reversal, so the journal can be recomputed at any time.
 */
import type { Day, WallTime } from '../../domain/calendar.ts';
import { NO_PLATFORM, spellPlatform } from '../../domain/platform.ts';
import type { Operation } from '../../domain/statuses.ts';

export type Posting = { account: string; cents: bigint };

export type EntryKind = 'event' | 'commission' | 'held_at_opening';

export type PlannedEntry<E> = {
  kind: EntryKind;
  /** The event that causes it; undefined for an amount held when the books opened. */
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
  /** The first day of this platform's books; earlier events post nothing. */
  openingDay: Day | undefined;
  /** Whether a refund on this day returns the commission. */
  returnsCommission: (day: Day) => boolean;
};

export type State = 'none' | 'held' | 'settled' | 'returned';

const FREE: BookingFacts = { operation: 'cashin', amountCents: 0n, commissionCents: null, platform: null };
const UNOPENED: Policy = { openingDay: undefined, returnsCommission: () => false };

/** Returns the entries of a history, in its order. */
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
    if (!opened && state === 'held') add('held_at_opening', undefined, opensAt, planHold(booked, platform));
    opened = true;
  };
  let latest = opensAt;
  for (const event of history) {
    if (!opened && event.atWall >= opensAt) open();
    if (event.atWall > latest) latest = event.atWall;
    // an event that follows the opening in the history but is dated before it is not in the opening's balance: it is
    // dated like the latest event before it
    const atWall = opened && event.atWall < opensAt ? latest : event.atWall;
    const step = nextStep(state, { status: event.status, atWall }, booked, platform, policy);
    if (!step) continue;
    state = step.state;
    if (opened) add('event', event, atWall, step.postings);
  }
  open();
  return entries;
}

/** Returns the state in which a history leaves its transaction, also where nothing of it is posted. */
export function stateOf(operation: Operation, history: { status: string; atWall: WallTime }[]): State {
  let state: State = 'none';
  for (const event of history)
    state = nextStep(state, event, { ...FREE, operation }, NO_PLATFORM, UNOPENED)?.state ?? state;
  return state;
}

/** Appends the platform to an account. */
export function nameAccount(account: string, platform: string): string {
  return `${account}:${spellPlatform(platform)}`;
}

const ESCAPED = /~([0-9a-f]+)~/g;

/** Splits the name of an account as `nameAccount` made it. */
export function splitAccount(name: string): { account: string; platform: string } {
  const end = name.lastIndexOf(':');
  const platform = name.slice(end + 1).replace(ESCAPED, (_, code: string) => String.fromCodePoint(Number(`0x${code}`)));
  return { account: name.slice(0, end), platform };
}

function nextStep(
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
      return { state: 'held', postings: planHold(booked, platform) };
    case 'paid':
      if (state === 'settled') return undefined;
      return {
        state: 'settled',
        postings: [...planPayment(booked, platform, state === 'held'), ...planCommission(booked, platform)],
      };
    case 'denied':
    case 'canceled':
    case 'expired':
    case 'refund':
      if (state === 'held') return { state: 'none', postings: negate(planHold(booked, platform)) };
      if (state !== 'settled') return undefined;
      return {
        state: 'returned',
        postings: planRefund(booked, platform, policy.returnsCommission(event.atWall.slice(0, 10))),
      };
    default:
      // an unknown status posts nothing; decide/ reports it
      return undefined;
  }
}

function planHold({ amountCents }: BookingFacts, platform: string): Posting[] {
  return [
    { account: nameAccount('Assets:Provider:Held', platform), cents: amountCents },
    { account: nameAccount('Assets:Provider:Available', platform), cents: -amountCents },
  ];
}

function planPayment({ operation, amountCents }: BookingFacts, platform: string, wasHeld: boolean): Posting[] {
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

function planRefund(booked: BookingFacts, platform: string, withCommission: boolean): Posting[] {
  const { operation, amountCents } = booked;
  const sign = operation === 'cashin' ? 1n : -1n;
  const account = operation === 'cashin' ? 'Liabilities:Receipts' : 'Liabilities:Payables';
  return [
    { account: nameAccount(account, platform), cents: sign * amountCents },
    { account: nameAccount('Assets:Provider:Available', platform), cents: -sign * amountCents },
    ...(withCommission ? negate(planCommission(booked, platform)) : []),
  ];
}

/** Sums postings per account and drops those of zero. */
export function mergePostings(postings: Posting[]): Posting[] {
  const totals = new Map<string, bigint>();
  for (const { account, cents } of postings) totals.set(account, (totals.get(account) ?? 0n) + cents);
  return [...totals].filter(([, cents]) => cents !== 0n).map(([account, cents]) => ({ account, cents }));
}

/** The postings of an entry that takes these back. */
export function negate(postings: Posting[]): Posting[] {
  return postings.map(({ account, cents }) => ({ account, cents: -cents }));
}
