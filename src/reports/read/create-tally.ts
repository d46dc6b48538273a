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
  /** What the ledger itself says the balance is at the day's end. */
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
  /** By the platform as accounts name it. */
  platforms: Map<string, PlatformTotals>;
  hours: Hour[];
  add(movement: Movement): { platformBalanceCents: bigint; balanceCents: bigint };
};

const HOURS_A_DAY = 24;

/** Adds up a day's movements, on top of the opening balances; `closing` runs with them. */
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
      const figures = platforms.get(name) ?? emptyFigures();
      platforms.set(name, figures);
      addToLine(figures, movement);
      figures.closing += movement.netCents;
      balanceCents += movement.netCents;
      if (movement.inForce) addToHour(hours[Number(movement.atWall.slice(11, 13))], movement);
      return { platformBalanceCents: figures.closing, balanceCents };
    },
  };
}

function readOpening(balances: AccountBalance[], platform: string | undefined): Map<string, PlatformTotals> {
  const platforms = new Map<string, PlatformTotals>();
  const only = platform === undefined ? undefined : platformAccountSegment(platform);
  if (only !== undefined) platforms.set(only, emptyFigures());
  for (const balance of balances) {
    const { root, platform: name } = splitAccount(balance.account);
    if (!isBalanceAccount(root) || (only !== undefined && only !== name)) continue;
    const figures = platforms.get(name) ?? emptyFigures();
    const opening = balance.before + balance.opened;
    figures.opening += opening;
    figures.closing += opening;
    figures.ledgerClosing += balance.end;
    if (root === HELD) figures.held += balance.end;
    platforms.set(name, figures);
  }
  return platforms;
}

function addToLine(figures: PlatformTotals, movement: Movement): void {
  const { kind, amountCents, commissionCents } = movement;
  if (kind === 'receipt') figures.receipts += amountCents;
  else if (kind === 'payment') figures.payments += amountCents;
  else if (kind === 'refund_made') figures.refundsMade += amountCents;
  else if (kind === 'refund_received') figures.refundsReceived += amountCents;
  else figures.adjustments += amountCents;
  if (commissionCents === 0n) return;
  const onReceipt = movement.postings.some((posting) => posting.account.startsWith('Expenses:Commission:Cashin'));
  if (onReceipt) figures.commissionIn -= commissionCents;
  else figures.commissionOut -= commissionCents;
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

function emptyFigures(): PlatformTotals {
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

/** All platforms together. */
export function sumPlatformTotals(platforms: Iterable<PlatformTotals>): PlatformTotals {
  const total = emptyFigures();
  for (const figures of platforms) {
    for (const name of Object.keys(total) as (keyof PlatformTotals)[]) total[name] += figures[name];
  }
  return total;
}
