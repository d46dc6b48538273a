import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { describeError } from '../../log.ts';
import { type ClaimedItem, newLease, releaseLeases } from '../items/claim-items.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import { traceparentIn } from '../items/trace-webhook.ts';
import { hashExtra } from '../receive/item-columns.ts';
import { nameSender } from '../receive/name-sender.ts';
import type { ArrivalTaker, WrittenArrival } from '../receive/take-arrivals.ts';
import { reportSplit } from '../split/split-webhooks.ts';

/**
 * Verifies what the receiver of this process commits under a lease of ours: nothing waits for the loop's next round.
 * @param slots how many items may start now.
 * @param start verifies claimed items.
 */
export function createArrivalTaker(
  context: Context,
  { slots, start }: { slots: () => number; start: (items: ClaimedItem[]) => void },
): ArrivalTaker & { ended(): Promise<void> } {
  /** Items that start once they are redacted: they occupy slots already. */
  let redacting = 0;
  /** Commits, redactions and releases in flight: the stop awaits them. */
  const running = new Set<Promise<unknown>>();

  function track(work: Promise<unknown>): void {
    const one = work.catch(() => undefined).finally(() => running.delete(one));
    running.add(one);
  }

  async function redactAndStart(items: ClaimedItem[]): Promise<void> {
    const seqs = items.map(({ webhookSeq }) => webhookSeq);
    redacting += items.length;
    try {
      await transact(context.db, (trx) => redactArrivals(context, trx, seqs));
    } catch (error) {
      // recording the outcome of their items redacts them too
      context.log.warn(
        { error: describeError(error) },
        'redacting new webhooks failed; they are redacted once verified',
      );
    }
    redacting -= items.length;
    startUnlessStopping(items);
  }

  /** After the signal their leases are released: another process claims them at once. */
  function startUnlessStopping(items: ClaimedItem[]): void {
    if (!context.signal.aborted) {
      start(items);
      return;
    }
    const seqs = items.map(({ seq }) => seq);
    const released = releaseLeases(context, seqs).catch((error: unknown) =>
      context.log.warn({ error: describeError(error) }, 'releasing the leases of new webhooks failed; they expire'),
    );
    track(released);
  }

  return {
    lease: (count) => (!context.signal.aborted && count <= slots() - redacting ? newLease(context) : undefined),
    take(written, isAnyoneForgotten) {
      const items = written.map(toClaimedItem);
      const reported = items.map(({ webhookHash: hash, traceparent }) => ({
        hash,
        traceparent,
        items: 1,
        reason: null,
      }));
      reportSplit(context, reported, Date.now());
      if (isAnyoneForgotten && !context.signal.aborted) track(redactAndStart(items));
      else startUnlessStopping(items);
    },
    track,
    /** Resolves once nothing is in flight. */
    async ended() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

function toClaimedItem({ arrival, item, webhookSeq, itemSeq }: WrittenArrival): ClaimedItem {
  return {
    seq: itemSeq,
    webhookSeq,
    webhookHash: arrival.hash,
    webhookRepeats: 0,
    receivedAt: arrival.receivedAt,
    transactionId: item.transactionId,
    reference: item.reference,
    extraHash: hashExtra(item),
    position: 0,
    misses: 0,
    granted: false,
    sender: nameSender(arrival.address),
    claimedStatus: item.claimedStatus,
    claimedAmountCents: item.claimedAmountCents,
    fetches: 0,
    fetchedAt: null,
    itemsInWebhook: 1,
    traceparent: traceparentIn(arrival.headers),
  };
}
