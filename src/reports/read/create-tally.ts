import { type AccountBalance, HELD, isBalanceAccount, platformAccountSegment, splitAccount } from './read-balances.ts';
import type { Movement } from './read-movements.ts';

/** One platform's day, in cents, each line with the sign by which it moves the balance. */
export type PlatformTotals = {
  opening: bigint;
  receipts: bigint;
  commissionIn: bigint;
  payments: bigint;
  commissionOut: bigint;
  refundsMade: bigint;
  refundsReceived: bigint;
  adjustments: bigint;
  closing: bigint;
  held: bigint;
  /** The balance at the day's end by the ledger's own sums. */
  ledgerClosing: bigint;
};

export const LINES = [
  'receipts',
  'commissionIn',
  'payments',
  'commissionOut',
  'refundsMade',
  'refundsReceived',
  'adjustments',
] as const;

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

function addToLine(totals: PlatformTotals, movement: Movement): void {
  const { kind, amountCents, commissionCents } = movement;
  if (kind === 'receipt') totals.receipts += amountCents;
  else if (kind === 'payment') totals.payments += amountCents;
  else if (kind === 'refund_made') totals.refundsMade += amountCents;
  else if (kind === 'refund_received') totals.refundsReceived += amountCents;
  else totals.adjustments += amountCents;
  if (commissionCents === 0n) return;
  const onReceipt = movement.postings.some((posting) => posting.account.startsWith('Expenses:Commission:Cashin'));
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
  return {
    opening: 0n,
    receipts: 0n,
    commissionIn: 0n,
    payments: 0n,
    commissionOut: 0n,
    refundsMade: 0n,
    refundsReceived: 0n,
    adjustments: 0n,
    closing: 0n,
    held: 0n,
    ledgerClosing: 0n,
  };
}

/** The totals of all platforms. */
export function sumPlatformTotals(platforms: Iterable<PlatformTotals>): PlatformTotals {
  const total = emptyTotals();
  for (const totals of platforms) {
    for (const name of Object.keys(total) as (keyof PlatformTotals)[]) total[name] += totals[name];
  }
  return total;
}
