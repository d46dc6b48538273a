/**
 * Finds the webhooks that can't be split, after a batch of them failed together. Halves are retried until each failing
 * webhook stands alone. It is quarantined and the rest is committed: one poisoned body must not block the inbox.
 */

import type { Context } from '../../context.ts';
import { isDatabaseAway } from '../../database/open/explain-failure.ts';
import { isDataError, isServerError, isTransient, transact } from '../../database/transact.ts';
import { append } from '../../domain/lists.ts';
import { describeError } from '../../log.ts';
import { hasForgottenPeople } from '../../privacy/redact-forgotten.ts';
import { bisect } from '../../runtime/bisect.ts';
import type { ClaimedItem } from '../items/claim-items.ts';
import { raiseQuarantine } from '../items/quarantine.ts';
import { redactArrivals } from '../items/redact-arrivals.ts';
import type { DeferredWebhooks } from './defer-webhooks.ts';

/** A stored reason of quarantine. */
export const NOT_TAKEN_APART = 'not_taken_apart';
/** With this many single failures and no success the database is at fault, not the webhooks. */
const FAILED_ALONE_MAX = 8;

/** Splits webhooks in one transaction and claims up to `slots` of the new items. `items`: how many were written. */
export type SplitTogether = (seqs: number[], slots: number) => Promise<{ claimed: ClaimedItem[]; items: number }>;
/** `ids`: of these webhooks by row number, for the log. */
type Failing = { seqs: number[]; error: unknown; ids?: Map<number, string> };
type FailedWebhook = { seq: number; id: string | undefined; error: unknown };
/** Items claimed by committed transactions; `failure`: the error that stopped the rest. */
export type Isolated = { claimed: ClaimedItem[]; failure: { error: unknown } | undefined };

/**
 * @param failing the webhooks that failed together with `error`. `deferred` takes webhooks whose own fault is not proven.
 * @returns the claimed items, also where it failed after their commit: they are under lease. It fails with the error
 *   where nothing proves a webhook's own fault: the database is away, or accepts nothing at all.
 */
export async function isolateWebhooks(
  context: Context,
  failing: Failing & { slots: number; deferred?: DeferredWebhooks | undefined },
  splitTogether: SplitTogether,
): Promise<Isolated> {
  const claimed: ClaimedItem[] = [];
  const split = async (seqs: number[]): Promise<number> => {
    const done = await splitTogether(seqs, failing.slots - claimed.length);
    append(claimed, done.claimed);
    return done.items;
  };
  try {
    const { failed, landed } = await splitByHalves(failing, split);
    const left: FailedWebhook[] = [];
    for (const one of failed) {
      // unless the database refused its data, blame a webhook only after others succeeded; its error may be over by then
      const last = landed > 0 && !isDataError(one.error) ? await retryAlone(one, split) : one;
      if (last && (isDataError(last.error) || (landed > 0 && !isServerError(last.error))))
        await quarantine(context, last);
      else if (last) left.push(last);
    }
    const isDeferred = left.map((one) => deferAlone(context, one, failing.deferred)).every(Boolean);
    if (left[0] && landed === 0 && !isDeferred) throw left[0].error;
    return { claimed, failure: undefined };
  } catch (error) {
    return { claimed, failure: { error } };
  }
}

/** @returns the webhooks that failed alone, and how many items of the others were written. */
async function splitByHalves(
  failing: Failing,
  split: (seqs: number[]) => Promise<number>,
): Promise<{ failed: FailedWebhook[]; landed: number }> {
  const failed: FailedWebhook[] = [];
  let landed = 0;
  const work = async (seqs: number[]): Promise<number[]> => {
    // all of them together failed before
    if (seqs === failing.seqs) throw failing.error;
    const items = await split(seqs);
    landed += items;
    return [];
  };
  const toResult = (error: unknown, seq: number): number => {
    failed.push({ seq, id: failing.ids?.get(seq), error });
    if (landed === 0 && failed.length > FAILED_ALONE_MAX && !isDataError(error)) throw error;
    return seq;
  };
  await bisect(failing.seqs, work, { isSplittable: isAnswer, toResult });
  return { failed, landed };
}

/** @returns the webhook with its new error; undefined where it was split now. */
async function retryAlone(
  { seq, id }: FailedWebhook,
  split: (seqs: number[]) => Promise<number>,
): Promise<FailedWebhook | undefined> {
  try {
    await split([seq]);
    return undefined;
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return { seq, id, error };
  }
}

function deferAlone(
  context: Context,
  { seq, id, error }: FailedWebhook,
  deferred: DeferredWebhooks | undefined,
): boolean {
  if (!deferred?.add(seq, error)) return false;
  const details = { webhook: id, error: describeError(error) };
  context.log.error(details, 'splitting a webhook failed; retrying it later, other webhooks continue');
  return true;
}

/** Whether the database answered at all: a lost connection says nothing about a webhook. */
function isAnswer(error: unknown): boolean {
  // errors of mysql2 carry these
  const { errno, sqlState, fatal } = (error ?? {}) as { errno?: number; sqlState?: string; fatal?: boolean };
  return (
    errno !== undefined && sqlState !== undefined && fatal !== true && !isTransient(error) && !isDatabaseAway(error)
  );
}

async function quarantine(context: Context, { seq, id, error }: FailedWebhook): Promise<void> {
  const details = { webhook: id, error: describeError(error) };
  context.log.error(details, 'splitting a webhook failed; it is quarantined, other webhooks continue');
  await transact(context.db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('webhooks')
      .set({ state: 'quarantined', reason: NOT_TAKEN_APART, items: 0 })
      .where('seq', '=', seq)
      .where('state', '=', 'received')
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return;
    await raiseQuarantine(context, trx, [{ seq, reason: NOT_TAKEN_APART }]);
    if (await hasForgottenPeople(trx)) await redactArrivals(context, trx, [seq]);
  });
}
