import { AVAILABLE, HELD, OPENING_KINDS, splitAccount } from './read-accounts.ts';

export type MovementKind =
  | 'receipt'
  | 'payment'
  | 'refund_made'
  | 'refund_received'
  | 'hold'
  | 'release'
  | 'commission'
  | 'adjustment'
  | 'opening';

export type MovementPosting = { account: string; cents: bigint };

export type Effect = {
  kind: MovementKind;
  /** The balance moves by net = amount − commission; held is the part that is set aside or released. */
  amountCents: bigint;
  commissionCents: bigint;
  netCents: bigint;
  heldCents: bigint;
};

/**
 * Classifies an entry by its postings, in the terms of accounting. A reversal has the kind of the entry that it reverses,
 * with the opposite sign, so the sums of a kind are right. Pure.
 */
export function classifyMovement(entry: {
  /** The entry's own kind, or that of the entry it reverses. */
  kind: string;
  isReversal: boolean;
  eventStatus: string | null;
  postings: readonly MovementPosting[];
}): Effect {
  let net = 0n;
  let held = 0n;
  let commission = 0n;
  let moves: 'receipts' | 'payables' | undefined;
  for (const { account, cents } of entry.postings) {
    const { root } = splitAccount(account);
    if (root === AVAILABLE || root === HELD) net += cents;
    if (root === HELD) held += cents;
    if (root.startsWith('Expenses:Commission')) commission += cents;
    if (root === 'Liabilities:Receipts') moves = 'receipts';
    if (root === 'Liabilities:Payables') moves = 'payables';
  }
  const setsAside = entry.isReversal ? held < 0n : held > 0n;
  const kind = nameKind(entry.kind, entry.eventStatus, moves, held === 0n ? undefined : setsAside);
  return { kind, amountCents: net + commission, commissionCents: commission, netCents: net, heldCents: held };
}

function nameKind(
  kind: string,
  eventStatus: string | null,
  moves: 'receipts' | 'payables' | undefined,
  setsAside: boolean | undefined,
): MovementKind {
  if (OPENING_KINDS.includes(kind)) return 'opening';
  if (kind === 'adjustment') return 'adjustment';
  const paid = eventStatus === 'paid';
  if (moves === 'receipts') return paid ? 'receipt' : 'refund_made';
  if (moves === 'payables') return paid ? 'payment' : 'refund_received';
  if (setsAside === undefined) return 'commission';
  return setsAside ? 'hold' : 'release';
}
