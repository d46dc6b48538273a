/**
 * Finds which of some webhooks can't be taken apart, after all of them failed together: halves are tried until each that
 * fails stands by itself. It goes into quarantine, and the rest lands: one poisoned body must not hold up the inbox.
 */
import type { Context } from '../context.ts';
import { isServersOwn, isTransient, transact } from '../database/transact.ts';
import { isRefusedByDatabase } from '../ledger/refuse-row.ts';
import { describeError } from '../log.ts';
import type { ClaimedItem } from './claim-items.ts';
import { raiseQuarantine } from './quarantine.ts';
import { redactArrived } from './redact-arrived.ts';

export const NOT_TAKEN_APART = 'not_taken_apart';
/** So many that fail alone while nothing lands: it is the database that fails, not they. */
const FAILED_ALONE_MAX = 8;

/** @param room so many of the new items may be claimed; `items` is how many were written. */
export type Take = (seqs: number[], room: number) => Promise<{ claimed: ClaimedItem[]; items: number }>;
type Failed = { seq: number; error: unknown };

/**
 * @param error why they failed together.
 * @returns what was claimed of those that landed.
 * @throws the error, where nothing tells that it is a webhook's own: the database is away, or takes nothing at all.
 */
export async function isolateWebhooks(
  context: Context,
  failing: { seqs: number[]; room: number; error: unknown },
  take: Take,
): Promise<ClaimedItem[]> {
  const claimed: ClaimedItem[] = [];
  const failed: Failed[] = [];
  let landed = 0;
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
        const taken = await take(half, failing.room - claimed.length);
        claimed.push(...taken.claimed);
        landed += taken.items;
      } catch (again) {
        await halve(half, again);
      }
    }
  };
  await halve(failing.seqs, failing.error);
  // what the database would not take for what it holds is its own fault; of anything else but the server's, that others' items were taken tells
  const isBlamed = ({ error }: Failed) => isRefusedByDatabase(error) || (landed > 0 && !isServersOwn(error));
  for (const one of failed) if (isBlamed(one)) await quarantine(context, one);
  const left = failed.find((one) => !isBlamed(one));
  // what landed is claimed: it is looked at first, and what is left alone then is told of by the next try
  if (left && landed === 0) throw left.error;
  return claimed;
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
    await redactArrived(context, trx, [seq]);
  });
}
