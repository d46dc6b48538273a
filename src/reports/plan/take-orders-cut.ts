import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { waitForInserted } from '../../database/wait-for-writers.ts';
import { MINUTE_MS } from '../../domain/calendar.ts';
import { decideAll } from '../../expected/follow/follow-payments.ts';
import { findOldestUndecided } from '../../expected/read-expected-metrics.ts';
import type { OrdersCut } from './orders-cut.ts';

const POLL_MS = 100;
/** A report waits 10 seconds for the follower, which mostly decides within one. */
const POLLS_MAX = 100;
/** A change that waits for longer fails, or nobody follows: it is not waited for. `expected_behind` alerts of it. */
const HOPELESS_MS = MINUTE_MS;

/**
 * Takes the newest cut of orders, once all that was committed before the call is decided: by this process where no other follows.
 * A follower that is behind stops no report: the cut says since when, the log and Resumo show it.
 * @returns null where no receipt was ever expected.
 */
export async function takeOrdersCut(context: Context): Promise<OrdersCut | null> {
  const { db } = context;
  const expected = db.selectFrom('expected_payments').select('seq').where('operation', '=', 'cashin').limit(1);
  if (!(await expected.executeTakeFirst())) return null;
  const versionSeq = await waitForInserted(db, 'expected_versions');
  const undecidedSince = await awaitDecided(context);
  const matchSeq = await waitForInserted(db, 'expected_matches');
  const mismatchSeq = await waitForInserted(db, 'mismatch_changes');
  // the follower alone adds changes, in one transaction at a time
  const newest = await db
    .selectFrom('expected_changes')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const starts = await db.selectFrom('expected_starts').select(['platform', 'since_day']).orderBy('platform').execute();
  return {
    ...{ versionSeq, changeSeq: newest?.seq ?? 0, matchSeq, mismatchSeq },
    since: starts.map((row) => [row.platform, row.since_day]),
    undecidedSince: undecidedSince?.toISOString() ?? null,
  };
}

/** @returns since when something is not decided; null: nothing. */
async function awaitDecided(context: Context): Promise<Date | null> {
  const { db, clock, log, signal } = context;
  const newest = await db.selectFrom('expected_work').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  for (let poll = 0; ; poll++) {
    await decideAll(context);
    const now = clock.now();
    const since = (await hasWork(db, newest?.seq ?? 0, now)) ? await findOldestUndecided(db, now) : null;
    if (since === null) return null;
    if (poll >= POLLS_MAX || now.getTime() - since.getTime() > HOPELESS_MS) {
      log.warn(
        { since: since.toISOString() },
        'orders are not decided up to now; a report is made without, and says so',
      );
      return since;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Whether work up to a number is left, or an end that is over. */
async function hasWork(db: Reader, upTo: number, now: Date): Promise<boolean> {
  const work = db.selectFrom('expected_work').select('seq').where('seq', '<=', upTo).limit(1);
  const end = db.selectFrom('expected_payments').select('seq').where('look_at', '<=', now).limit(1);
  return (await work.executeTakeFirst()) !== undefined || (await end.executeTakeFirst()) !== undefined;
}
