import { fill } from '../../../texts/fill.ts';
import { formatLocalAmount } from '../../../texts/reports/texts.ts';
import { type ReceiptShares, sumShares } from '../../orders/share-receipts.ts';
import { sumReceiptShares } from '../../orders/sum-receipt-shares.ts';
import type { PreviousRevision } from '../../plan/report-plan.ts';
import type { CutEntries } from '../../read/read-cut-entries.ts';
import type { ChangeRow } from '../columns.ts';
import type { ReportWork } from '../report-work.ts';
import { EMPTY_CHANGE } from './compare-openings.ts';

type Work = Pick<ReportWork, 'db' | 'plan' | 'scope' | 'rendering' | 'shares'>;

/**
 * Whether the receipts are of other orders than at the revision before. One that shows no orders is no measure: an upgrade, and the first
 * order, change no day of before.
 */
export function haveOtherOrders(
  { shares }: { shares: ReceiptShares | undefined },
  { ordersDigest }: Pick<PreviousRevision, 'ordersDigest'>,
): boolean {
  return shares !== undefined && ordersDigest !== null && !shares.digest().equals(ordersDigest);
}

/** One row if so, with how much of the receipts was of orders before. */
export async function describeOrders(
  { db, plan, scope, rendering, shares }: Work,
  { revision, entries }: { revision: PreviousRevision; entries: CutEntries },
): Promise<ChangeRow[]> {
  const { orders } = revision.cut;
  // the digest is that of all platforms
  if (!shares || !orders || revision.state === 'partial' || plan.platform !== undefined) return [];
  if (!haveOtherOrders({ shares }, revision)) return [];
  const { texts } = rendering;
  const before = await sumReceiptShares(db, { ...scope, ...entries }, orders);
  const [then, now] = [before.platforms, shares.platforms].map((platforms) => {
    const { ofOrders, unidentified } = sumShares(platforms);
    return fill(texts.changes.ordersText, {
      ofOrders: formatLocalAmount(ofOrders, texts),
      unidentified: formatLocalAmount(unidentified, texts),
    });
  });
  const why = fill(texts.changes.ordersWhy, { revision: revision.revision });
  return [
    { ...EMPTY_CHANGE, recordedAt: plan.madeAt, what: texts.changes.orders, before: then ?? '', after: now ?? '', why },
  ];
}
