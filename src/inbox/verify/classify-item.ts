import { formatAmount } from '../../domain/money.ts';
import type { ObservedTransaction } from '../../domain/observation.ts';
import { describeStatus } from '../../domain/statuses.ts';
import type { FetchResult } from '../items/fetch-transaction.ts';

/** Pause after each fetch that does not show the claim yet: a webhook can be ahead of the provider's own reads. */
const PAUSES_MS = [1_000, 3_000, 10_000, 30_000, 120_000, 300_000];

/** Longest pause after the grace: a contradiction is reported within a minute, even if a slow answer cost a fetch. */
const LATE_PAUSE_MS_MAX = 30_000;

export type WebhookClaim = {
  receivedAt: Date;
  fetches: number;
  claimedStatus: string | null;
  claimedAmountCents: bigint | null;
};

/** A claim that the provider does not show. A webhook's status and its amount are two claims, each with a scope. */
export type Contradiction = {
  claim: 'amount' | 'status';
  scope: string;
  id: string;
  reference: string | null;
  amountCents: bigint;
  expected: unknown;
  actual: unknown;
};

export type ItemOutcome =
  | { kind: 'applied'; id: string; contradictions: Contradiction[] }
  | { kind: 'waiting'; nextFetchAt: Date; id: string | undefined }
  | { kind: 'quarantined'; reason: 'ambiguous' | 'unknown_at_provider' | 'unreadable_at_provider' };

/**
 * Decides the outcome of an item after a fetch. Pure.
 *
 * If several transactions have the key, the claim means the only one that it fits; fitting more, it is ambiguous. A
 * claim that fits none is compared with the one that was created last: the latest attempt. What was found beside an
 * unknown id ends the item at its second fetch at the earliest, as the id may be shown a moment later, and contradicts
 * nothing: the webhook may be about somebody else's payment.
 */
export function classifyItem(claim: WebhookClaim, found: FetchResult, now: Date, graceMs: number): ItemOutcome {
  if (found.kind === 'ambiguous') return { kind: 'quarantined', reason: 'ambiguous' };
  const rows = found.kind === 'row' ? found.rows.flatMap((row) => (row.ok ? [row.transaction] : [])) : [];
  const isFallback = found.kind === 'row' && found.isFallback === true;
  const fitting = rows.filter((row) => compareClaims(claim, row).length === 0);
  const nextFetchAt =
    found.kind === 'deferred' && (found.waitsFor === 'list' || found.notBefore)
      ? awaitList(claim, found.notBefore, now, graceMs)
      : scheduleFetch(claim.fetches + 1, now, claim.receivedAt, graceMs);
  const mayEnd = !isFallback || claim.fetches > 0 || !nextFetchAt;
  if (fitting.length > 1 && mayEnd) return { kind: 'quarantined', reason: 'ambiguous' };
  const shown = fitting[0] ?? rows.toSorted((a, b) => (a.createdWall < b.createdWall ? 1 : -1))[0];
  const contradictions = shown ? compareClaims(claim, shown) : [];
  if (shown && contradictions.length === 0 && mayEnd) return { kind: 'applied', id: shown.id, contradictions };
  if (nextFetchAt)
    return { kind: 'waiting', nextFetchAt, id: rows.length === 1 && !isFallback ? shown?.id : undefined };
  if (shown && !isFallback) return { kind: 'applied', id: shown.id, contradictions };
  return {
    kind: 'quarantined',
    reason: found.kind === 'row' && !isFallback ? 'unreadable_at_provider' : 'unknown_at_provider',
  };
}

/** An item that waits for the list is retried once the ledger has learnt its transaction, else at the end of the grace. */
function awaitList(claim: WebhookClaim, notBefore: Date | undefined, now: Date, graceMs: number): Date | undefined {
  const deadline = new Date(claim.receivedAt.getTime() + graceMs);
  return notBefore ?? (now < deadline ? deadline : undefined);
}

/**
 * When to fetch next. Pure.
 * @param fetches how many fetches were made.
 * @param graceMs counted from `receivedAt`. At its end the claim counts as contradicted: the last fetch is made then, not
 *   before. An item whose first fetch was late, after an outage, gets the same number of fetches, in quick
 *   succession, also beyond the grace.
 * @returns undefined when this was the last fetch.
 */
export function scheduleFetch(fetches: number, now: Date, receivedAt: Date, graceMs: number): Date | undefined {
  const deadlineMs = receivedAt.getTime() + graceMs;
  const pauseMs = pauseAfter(fetches);
  if (now.getTime() < deadlineMs) return new Date(Math.min(now.getTime() + pauseMs, deadlineMs));
  return fetches >= countFetches(graceMs) ? undefined : new Date(now.getTime() + Math.min(pauseMs, LATE_PAUSE_MS_MAX));
}

function pauseAfter(fetches: number): number {
  return PAUSES_MS[Math.min(fetches, PAUSES_MS.length) - 1] ?? PAUSES_MS[0] ?? 0;
}

/** How many fetches a grace holds, the first at its start and the last at its end. */
function countFetches(graceMs: number): number {
  let fetches = 1;
  for (let atMs = 0; atMs < graceMs; fetches++) atMs += pauseAfter(fetches);
  return fetches;
}

/**
 * Compares the claims with the shown transaction. A status counts as shown when the history holds it at any time; the
 * row's own status without an event does not count. An amount counts when it is the transaction's.
 */
function compareClaims(claim: WebhookClaim, shown: ObservedTransaction): Contradiction[] {
  const subject = { id: shown.id, reference: shown.reference, amountCents: shown.amountCents };
  const found: Contradiction[] = [];
  if (claim.claimedAmountCents !== null && claim.claimedAmountCents !== shown.amountCents) {
    found.push({
      ...subject,
      claim: 'amount',
      scope: `${shown.id} amount`,
      expected: { amount: formatAmount(claim.claimedAmountCents) },
      actual: { amount: formatAmount(shown.amountCents) },
    });
  }
  const statuses = shown.events.map((event) => event.status);
  if (claim.claimedStatus !== null && !statuses.includes(claim.claimedStatus)) {
    found.push({
      ...subject,
      claim: 'status',
      scope: `${shown.id} ${describeStatus(claim.claimedStatus)}`,
      expected: { status: describeStatus(claim.claimedStatus) },
      actual: { status: describeStatus(shown.status), history: statuses.map(describeStatus) },
    });
  }
  return found;
}
