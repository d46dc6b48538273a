import { formatAmount } from '../domain/money.ts';
import type { ObservedTransaction } from '../domain/observation.ts';
import { nameStatus } from '../domain/statuses.ts';
import type { Found } from './find-transaction.ts';
import { LIST_LOOK_MS } from './plan-shows.ts';
import { scheduleLook } from './schedule-look.ts';

export type Claim = {
  receivedAt: Date;
  looks: number;
  claimedStatus: string | null;
  claimedAmountCents: bigint | null;
};

export type Contradiction = {
  scope: string;
  id: string;
  reference: string | null;
  amountCents: bigint;
  expected: unknown;
  actual: unknown;
};

export type Fate =
  | { kind: 'applied'; id: string | null; contradiction: Contradiction | undefined }
  | { kind: 'waiting'; nextLookAt: Date; id: string | undefined }
  | { kind: 'quarantined'; reason: 'ambiguous' | 'unknown_at_provider' | 'unreadable_at_provider' };

/** What becomes of an item after a look. Pure. */
export function judgeItem(claim: Claim, found: Found, now: Date, graceMs: number): Fate {
  if (found.kind === 'ambiguous') return { kind: 'quarantined', reason: 'ambiguous' };
  const shown = found.kind === 'row' && found.row.ok ? found.row.transaction : undefined;
  const contradiction = shown ? compareClaim(claim, shown) : undefined;
  if (shown && !contradiction) return { kind: 'applied', id: shown.id, contradiction };
  if (found.kind === 'deferred' && found.notBefore)
    return { kind: 'waiting', nextLookAt: found.notBefore, id: undefined };
  const scheduled = scheduleLook(claim.looks + 1, now, claim.receivedAt, graceMs);
  const nextLookAt =
    scheduled && (found.kind === 'deferred' ? deferLook(claim, found.awaits, scheduled, now, graceMs) : scheduled);
  if (nextLookAt) return { kind: 'waiting', nextLookAt, id: shown?.id };
  if (shown) return { kind: 'applied', id: shown.id, contradiction };
  return { kind: 'quarantined', reason: found.kind === 'row' ? 'unreadable_at_provider' : 'unknown_at_provider' };
}

/** What waits for the list is looked at more seldom than the schedule says, and at the end of the grace all the same. */
function deferLook(claim: Claim, awaits: 'list' | 'sender', scheduled: Date, now: Date, graceMs: number): Date {
  const deadlineMs = claim.receivedAt.getTime() + graceMs;
  const seldomMs = Math.min(now.getTime() + LIST_LOOK_MS, deadlineMs);
  return awaits === 'list' && seldomMs > scheduled.getTime() ? new Date(seldomMs) : scheduled;
}

/**
 * A status is shown when the history holds it at any time: the row's own status beside a history without it is no
 * event. An amount is shown when it is the transaction's.
 */
function compareClaim(claim: Claim, shown: ObservedTransaction): Contradiction | undefined {
  const about = { id: shown.id, reference: shown.reference, amountCents: shown.amountCents };
  if (claim.claimedAmountCents !== null && claim.claimedAmountCents !== shown.amountCents) {
    return {
      ...about,
      scope: `${shown.id} amount`,
      expected: { amount: formatAmount(claim.claimedAmountCents) },
      actual: { amount: formatAmount(shown.amountCents) },
    };
  }
  const statuses = shown.events.map((event) => event.status);
  if (claim.claimedStatus === null || statuses.includes(claim.claimedStatus)) return undefined;
  return {
    ...about,
    scope: `${shown.id} ${nameStatus(claim.claimedStatus)}`,
    expected: { status: nameStatus(claim.claimedStatus) },
    actual: { status: nameStatus(shown.status), history: statuses.map(nameStatus) },
  };
}
