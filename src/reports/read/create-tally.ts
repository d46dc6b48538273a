import type { Day } from '../../domain/calendar.ts';
import { type AccountBalance, HELD, isBalanceAccount, platformAccountSegment, splitAccount } from './read-accounts.ts';
import type { Movement } from './read-movements.ts';

/** The lines of Resumo that move a balance, each with the sign by which it does. */
export const LINES = [
  'receipts',
  'commissionIn',
  'payments',
  'commissionOut',
  'refundsMade',
  'refundsReceived',
  'adjustments',
] as const;

/** The lines of a range: books that were opened after its first day move its balance too. */
export const RANGE_LINES = [...LINES, 'openings'] as const;

/** Parts of `adjustments`, by the account on the other side: withdrawals to the bank and deposits from it, and fees. */
export const ADJUSTED = ['bank', 'fees'] as const;

/** `ledgerClosing` is the balance at the end by the ledger's own sums. */
const TOTALS = ['opening', ...RANGE_LINES, ...ADJUSTED, 'closing', 'held', 'ledgerClosing'] as const;

/** One platform's day or range, in cents. */
export type PlatformTotals = Record<(typeof TOTALS)[number], bigint>;

/** The totals of all platforms from the first day of a range to the end of this one. */
export type TotalsUntil = { day: Day; totals: PlatformTotals };

export type Hour = { receiptsCount: number; receiptsCents: bigint; paymentsCount: number; paymentsCents: bigint };

export type Tally = {
  /** By the platform's segment of account names. */
  platforms: Map<string, PlatformTotals>;
  hours: Hour[];
  add(movement: Movement): { platformBalanceCents: bigint; balanceCents: bigint };
};

const HOURS_A_DAY = 24;

/** Adds a day's movements to the opening balances. `closing` is the running balance. */
export function createTally(balances: AccountBalance[], platform: string | undefined): Tally {
  const platforms = readOpening(balances, platform);
  const hours = Array.from({ length: HOURS_A_DAY }, () => ({
    receiptsCount: 0,
    receiptsCents: 0n,
    paymentsCount: 0,
    paymentsCents: 0n,
  }));
  let balanceCents = [...platforms.values()].reduce((sum, one) => sum + one.opening, 0n);
  return {
    platforms,
    hours,
    add(movement) {
      const name = platformAccountSegment(movement.platform);
      const totals = platforms.get(name) ?? emptyTotals();
      platforms.set(name, totals);
      addToLine(totals, movement);
      totals.closing += movement.netCents;
      balanceCents += movement.netCents;
      if (movement.inForce) addToHour(hours[Number(movement.atWall.slice(11, 13))], movement);
      return { platformBalanceCents: totals.closing, balanceCents };
    },
  };
}

function readOpening(balances: AccountBalance[], platform: string | undefined): Map<string, PlatformTotals> {
  const platforms = new Map<string, PlatformTotals>();
  const only = platform === undefined ? undefined : platformAccountSegment(platform);
  if (only !== undefined) platforms.set(only, emptyTotals());
  for (const balance of balances) {
    const { root, platform: name } = splitAccount(balance.account);
    if (!isBalanceAccount(root) || (only !== undefined && only !== name)) continue;
    const totals = platforms.get(name) ?? emptyTotals();
    const opening = balance.before + balance.opened;
    totals.opening += opening;
    totals.closing += opening;
    totals.ledgerClosing += balance.end;
    if (root === HELD) totals.held += balance.end;
    platforms.set(name, totals);
  }
  return platforms;
}

const LINE_OF: Partial<Record<Movement['kind'], (typeof RANGE_LINES)[number]>> = {
  receipt: 'receipts',
  payment: 'payments',
  refund_made: 'refundsMade',
  refund_received: 'refundsReceived',
  opening: 'openings',
};

function addToLine(totals: PlatformTotals, { kind, amountCents, commissionCents, postings }: Movement): void {
  totals[LINE_OF[kind] ?? 'adjustments'] += amountCents;
  if (kind === 'adjustment') {
    const roots = postings.map(({ account }) => splitAccount(account).root);
    if (roots.includes('Assets:Bank')) totals.bank += amountCents;
    if (roots.includes('Expenses:Fees')) totals.fees += amountCents;
  }
  if (commissionCents === 0n) return;
  const onReceipt = postings.some((posting) => posting.account.startsWith('Expenses:Commission:Cashin'));
  if (onReceipt) totals.commissionIn -= commissionCents;
  else totals.commissionOut -= commissionCents;
}

function addToHour(hour: Hour | undefined, { kind, amountCents }: Movement): void {
  if (!hour) return;
  if (kind === 'receipt') {
    hour.receiptsCount++;
    hour.receiptsCents += amountCents;
  } else if (kind === 'payment') {
    hour.paymentsCount++;
    hour.paymentsCents -= amountCents;
  }
}

function emptyTotals(): PlatformTotals {
  return Object.fromEntries(TOTALS.map((name) => [name, 0n])) as PlatformTotals; // one value for each name
}

/** The totals of all platforms. */
export function sumPlatformTotals(platforms: Iterable<PlatformTotals>): PlatformTotals {
  const total = emptyTotals();
  for (const totals of platforms) {
    for (const name of TOTALS) total[name] += totals[name];
  }
  return total;
}
