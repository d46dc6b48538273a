import { type BackfillOptions, workBackfills } from '../../src/callbacks/backfill/work-backfills.ts';
import type { Context } from '../../src/context.ts';
import { eventually } from './eventually.ts';

/** Runs the loop of backfills in this process until a condition holds, by default until all past events are enqueued. */
export async function runBackfills(
  context: Context,
  until: () => Promise<boolean> = () => hasNoOpenBackfill(context),
  options: BackfillOptions = {},
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const ended = workBackfills({ ...context, signal }, options);
  try {
    await eventually('the backfills', until);
  } finally {
    stop.abort();
    await ended;
  }
}

async function hasNoOpenBackfill({ db }: Context): Promise<boolean> {
  const open = await db
    .selectFrom('backfills')
    .innerJoin('merchants', 'merchants.seq', 'merchant_seq')
    .select('merchant_seq')
    .where('backfills.state', '<>', 'done')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return open === undefined;
}
