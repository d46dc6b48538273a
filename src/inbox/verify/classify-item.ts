import { formatAmount } from '../../domain/money.ts';
import type { ObservedTransaction } from '../../domain/observation.ts';
import { describeStatus } from '../../domain/statuses.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';
import { scheduleFetch } from './schedule-fetch.ts';

export type WebhookClaim = {
  receivedAt: Date;
  fetches: number;
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

export type ItemOutcome =
  | { kind: 'applied'; id: string | null; contradiction: Contradiction | undefined }
  | { kind: 'waiting'; nextFetchAt: Date; id: string | undefined }
  | { kind: 'quarantined'; reason: 'ambiguous' | 'unknown_at_provider' | 'unreadable_at_provider' };

/** Decides the outcome of an item after a fetch. Pure. */
export function classifyItem(claim: WebhookClaim, found: FetchResult, now: Date, graceMs: number): ItemOutcome {
  if (found.kind === 'ambiguous') return { kind: 'quarantined', reason: 'ambiguous' };
  const shown = found.kind === 'row' && found.row.ok ? found.row.transaction : undefined;
  const contradiction = shown ? compareClaim(claim, shown) : undefined;
  if (shown && !contradiction) return { kind: 'applied', id: shown.id, contradiction };
  const nextFetchAt =
    found.kind === 'deferred' && (found.waitsFor === 'list' || found.notBefore)
      ? awaitList(claim, found.notBefore, now, graceMs)
      : scheduleFetch(claim.fetches + 1, now, claim.receivedAt, graceMs);
  if (nextFetchAt) return { kind: 'waiting', nextFetchAt, id: shown?.id };
  if (shown) return { kind: 'applied', id: shown.id, contradiction };
  return { kind: 'quarantined', reason: found.kind === 'row' ? 'unreadable_at_provider' : 'unknown_at_provider' };
}

/** An item that waits for the list is retried once the ledger has learnt its transaction, else at the end of the grace. */
function awaitList(claim: WebhookClaim, notBefore: Date | undefined, now: Date, graceMs: number): Date | undefined {
  const deadline = new Date(claim.receivedAt.getTime() + graceMs);
  return notBefore ?? (now < deadline ? deadline : undefined);
}

/**
 * Compares the claim with the shown transaction. A status counts as shown when the history holds it at any time; the
 * row's own status without an event does not count. An amount counts when it is the transaction's.
 */
function compareClaim(claim: WebhookClaim, shown: ObservedTransaction): Contradiction | undefined {
  const subject = { id: shown.id, reference: shown.reference, amountCents: shown.amountCents };
  if (claim.claimedAmountCents !== null && claim.claimedAmountCents !== shown.amountCents) {
    return {
      ...subject,
      scope: `${shown.id} amount`,
      expected: { amount: formatAmount(claim.claimedAmountCents) },
      actual: { amount: formatAmount(shown.amountCents) },
    };
  }
  const statuses = shown.events.map((event) => event.status);
  if (claim.claimedStatus === null || statuses.includes(claim.claimedStatus)) return undefined;
  return {
    ...subject,
    scope: `${shown.id} ${describeStatus(claim.claimedStatus)}`,
    expected: { status: describeStatus(claim.claimedStatus) },
    actual: { status: describeStatus(shown.status), history: statuses.map(describeStatus) },
  };
}
