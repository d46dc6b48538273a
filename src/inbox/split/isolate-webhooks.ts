/**
 * Finds which of some webhooks can't be taken apart, after all of them failed together: halves are tried until each that
 * fails stands by itself. It goes into quarantine, and the rest lands: one poisoned body must not hold up the inbox.
 */
import type { Context } from '../../context.ts';
import { isServerError, isTransient, transact } from '../../database/transact.ts';
import { isRefusedByDatabase } from '../../ledger/apply/store-refused-rows.ts';
import { describeError } from '../../log.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { raiseQuarantine } from '../items/quarantine.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import type { DeferredWebhooks } from './defer-webhooks.ts';

export const NOT_TAKEN_APART = 'not_taken_apart';
/** So many that fail alone while nothing lands: it is the database that fails, not they. */
const FAILED_ALONE_MAX = 8;

/** @param room so many of the new items may be claimed; `items` is how many were written. */
export type SplitTogether = (seqs: number[], room: number) => Promise<{ claimed: ClaimedItem[]; items: number }>;
/** What a taking apart is handed on to. */
export type SplitCallbacks = {
  deferred?: DeferredWebhooks | undefined;
  onClaimed?: ((items: ClaimedItem[]) => void) | undefined;
};
type Failed = { seq: number; error: unknown };

/**
 * @param failing `error`: why they failed together; `putOff`: takes those that nothing tells of; `onClaimed`: is told what
 *   was claimed of those that landed, as they land: they are under lease, whatever fails after them.
 * @throws the error, where nothing tells that it is a webhook's own: the database is away, or takes nothing at all.
 */
export async function isolateWebhooks(
  context: Context,
  failing: { seqs: number[]; slots: number; error: unknown } & SplitCallbacks,
  take: SplitTogether,
): Promise<void> {
  let { slots: room } = failing;
  const failed: Failed[] = [];
  let landed = 0;
  const land = async (seqs: number[]): Promise<number> => {
    const { claimed, items } = await take(seqs, room);
    room -= claimed.length;
    failing.onClaimed?.(claimed);
    return items;
  };
  const halve = async (seqs: number[], error: unknown): Promise<void> => {
    if (!isAnswer(error)) throw error;
    const [seq, second] = seqs;
    if (seq === undefined) throw error;
    if (second === undefined) {
      failed.push({ seq, error });
      if (landed === 0 && failed.length > FAILED_ALONE_MAX && !isRefusedByDatabase(error)) throw error;
      return;
    }
    const middle = Math.ceil(seqs.length / 2);
    for (const half of [seqs.slice(0, middle), seqs.slice(middle)]) {
      try {
        const items = await land(half);
        landed += items;
      } catch (again) {
        await halve(half, again);
      }
    }
  };
  const takeAgain = async ({ seq }: Failed): Promise<Failed | undefined> => {
    try {
      await land([seq]);
      return undefined;
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return { seq, error };
    }
  };
  await halve(failing.seqs, failing.error);
  const left: Failed[] = [];
  for (const one of failed) {
    // of anything but what it holds, only that others' items were taken tells; and what failed before them may be over
    const last = landed > 0 && !isRefusedByDatabase(one.error) ? await takeAgain(one) : one;
    if (last && (isRefusedByDatabase(last.error) || (landed > 0 && !isServerError(last.error))))
      await quarantine(context, last);
    else if (last) left.push(last);
  }
  const isPutOff = left.map((one) => putOffAlone(context, one, failing.deferred)).every(Boolean);
  if (left[0] && landed === 0 && !isPutOff) throw left[0].error;
}

function putOffAlone(context: Context, { seq, error }: Failed, putOff: DeferredWebhooks | undefined): boolean {
  if (!putOff?.add(seq, error)) return false;
  const told = { webhook: seq, error: describeError(error) };
  context.log.error(told, 'a webhook could not be taken apart: it is tried again in a while, what comes goes on');
  return true;
}

/** Whether the database answered at all: one that is away says nothing about a webhook. */
function isAnswer(error: unknown): boolean {
  const { errno, sqlState, fatal } = (error ?? {}) as { errno?: number; sqlState?: string; fatal?: boolean };
  return errno !== undefined && sqlState !== undefined && fatal !== true && !isTransient(error);
}

async function quarantine(context: Context, { seq, error }: Failed): Promise<void> {
  const told = { webhook: seq, error: describeError(error) };
  context.log.error(told, 'a webhook could not be taken apart: it is in quarantine, the others went on');
  await transact(context.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('webhooks')
      .set({ state: 'quarantined', reason: NOT_TAKEN_APART, items: 0 })
      .where('seq', '=', seq)
      .where('state', '=', 'received')
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await raiseQuarantine(context, trx, [{ seq, reason: NOT_TAKEN_APART }]);
    await redactArrivals(context, trx, [seq]);
  });
}
