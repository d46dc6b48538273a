/**
 * The commission that is booked, in any order of arrival. Pure. Three of them decide, each by the time of
 * its request: the first that showed the payment, the newest commission shown while open, and the earliest shown as paid.
 * Each is a minimum or a maximum, so any order ends alike.
 */

/** Cents, and when the observation that shows them was requested, in ms since 1970. */
type Shown = { cents: bigint; atMs: number };
export type CommissionEvidence = { paidAtMs?: number | undefined; open?: Shown | undefined; paid?: Shown | undefined };

/** Adds an observation. */
export function addCommission(
  evidence: CommissionEvidence,
  { cents, atMs, isPaid }: { cents: bigint | null; atMs: number; isPaid: boolean },
): CommissionEvidence {
  const paidAtMs = isPaid ? Math.min(evidence.paidAtMs ?? atMs, atMs) : evidence.paidAtMs;
  if (cents === null) return { ...evidence, paidAtMs };
  const shown = { cents, atMs };
  const { open, paid } = evidence;
  if (isPaid) return { paidAtMs, open, paid: !paid || isEarlier(shown, paid) ? shown : paid };
  return { paidAtMs, open: !open || isEarlier(open, shown) ? shown : open, paid };
}

/** The smaller commission of two requests of one instant counts as the earlier one. */
function isEarlier(a: Shown, b: Shown): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.cents < b.cents);
}

/** The commission of the observation that first showed the payment; else the newest before it; else the first after it. */
export function decideCommission({ paidAtMs, open, paid }: CommissionEvidence): bigint | null {
  const first = paid && paid.atMs === paidAtMs ? paid : (open ?? paid);
  return first?.cents ?? null;
}

/**
 * The evidence of a stored transaction. One that does not lead to the booked commission (a person accepted another, or an
 * earlier version wrote it) is replaced: once paid, the booked one stays.
 */
export function readEvidence(
  stored: CommissionEvidence | undefined,
  { cents, atMs, isPaid }: { cents: bigint | null; atMs: number; isPaid: boolean },
): CommissionEvidence {
  if (stored && decideCommission(stored) === cents && (stored.paidAtMs !== undefined) === isPaid) return stored;
  return addCommission({}, { cents, isPaid, atMs: isPaid && cents !== null ? 0 : atMs });
}

/** As text of its column: `[paidAtMs, open cents, ms, paid cents, ms]`; null where nothing is known. */
export function formatEvidence(evidence: CommissionEvidence | undefined): string | null {
  const { paidAtMs, open, paid } = evidence ?? {};
  if (paidAtMs === undefined && !open) return null;
  const parts = [open, paid].flatMap((one) => (one ? [String(one.cents), one.atMs] : [null, null]));
  return JSON.stringify([paidAtMs ?? null, ...parts]);
}

export function parseEvidence(text: string | null): CommissionEvidence | undefined {
  if (text === null) return undefined;
  const [paidAtMs, openCents, openMs, paidCents, paidMs] = JSON.parse(text) as (number | string | null)[];
  const shown = (cents: unknown, atMs: unknown): Shown | undefined =>
    typeof cents === 'string' ? { cents: BigInt(cents), atMs: Number(atMs) } : undefined;
  return {
    paidAtMs: typeof paidAtMs === 'number' ? paidAtMs : undefined,
    open: shown(openCents, openMs),
    paid: shown(paidCents, paidMs),
  };
}
