/** Changes by a merchant itself, in its portal: within what operators allow. */
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { refuse } from '../texts/refuse.ts';
import {
  isWithinLimitsAgain,
  lockMerchant,
  RESUMED,
  readStop,
  type SetMerchant,
  setMerchantState,
} from './change-merchants.ts';
import { checkFilter } from './check-filter.ts';
import { completeFilter, type FilterInput, isWithin, type MerchantFilter, parseFilter } from './match-filter.ts';
import { type NotedAddress, noteAddresses } from './note-addresses.ts';
import { findMerchant, type MerchantRow } from './read-merchants.ts';
import { startBackfill } from './start-backfill.ts';

/** Columns of a closed breaker. Since when it fails stays: closing it again and again must delay no report. */
export const CLOSED = { failures: 0, breaker_opened_at: null, probe_at: null };

/**
 * Pauses an enabled merchant, or enables one that paused itself, was disabled by its failures, or is behind an open breaker.
 * @throws ConfereError `conflict` if it is not enabled, or if operators paused it.
 */
export async function setOwnState(context: Context, id: string, state: 'enabled' | 'paused'): Promise<SetMerchant> {
  return await transact(context.db, async (trx) => {
    const before = await lockMerchant(trx, id);
    const { state: now, paused_by: by, breaker_opened_at: opened } = before;
    if (state === 'paused' && now !== 'enabled') throw refuse('merchant_already', { state: now });
    if (state === 'enabled' && now === 'paused' && by !== 'merchant') throw refuse('merchant_paused_by_operators');
    if (state === now) {
      if (opened !== null) await trx.updateTable('merchants').set(CLOSED).where('id', '=', id).execute();
      return { ...(await findMerchant(trx, id)), was: readStop(before) };
    }
    return await setMerchantState({ ...context, db: trx }, id, state, 'merchant');
  });
}

type ChosenFilter = { merchant: MerchantRow; before: MerchantFilter; after: MerchantFilter; noted: NotedAddress[] };

/**
 * Sets the filter that a merchant chooses itself. It narrows: an event has to match the operators' filter too. If it now
 * accepts more than before, the callbacks of past events that it lacks follow in the background.
 * @throws ConfereError `invalid_request` beyond the limits; `conflict` if it accepts more while such callbacks of an earlier change still wait: each widening
 *   reads all events since `events_since`.
 */
export async function setOwnFilter(
  context: Context,
  id: string,
  { filter: input, tokenId }: { filter: FilterInput; tokenId: string },
): Promise<ChosenFilter> {
  checkFilter(input);
  const filter = completeFilter(input);
  const made = await transact(context.db, async (trx) => {
    const locked = await lockMerchant(trx, id);
    const merchant = await findMerchant(trx, id);
    const set = { own_filter: acceptsAll(filter) ? null : JSON.stringify(filter) };
    const resumes = isWithinLimitsAgain(merchant, set);
    const old = parseFilter(locked.own_filter ?? '{}');
    const widens = resumes || !isWithin(filter, old);
    if (widens && merchant.backfill_state !== null && merchant.backfill_state !== 'done') {
      throw refuse('backfill_running');
    }
    const resumed = resumes ? { ...RESUMED, recovered_at: context.clock.now() } : {};
    await trx
      .updateTable('merchants')
      .set({ ...set, ...resumed })
      .where('seq', '=', locked.seq)
      .execute();
    if (widens) await startBackfill(context, trx, locked.seq, locked.events_since);
    const [before, change] = [{ filter: JSON.stringify(old) }, { filter: JSON.stringify(filter) }];
    return { before: old, noted: await noteAddresses(context, trx, { seq: locked.seq, before, change, by: tokenId }) };
  });
  return { merchant: await findMerchant(context.db, id), ...made, after: filter };
}

function acceptsAll(filter: MerchantFilter): boolean {
  return Object.values(filter).every((list) => Object.keys(list).length === 0);
}
