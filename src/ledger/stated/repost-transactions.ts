import type { Context } from '../../context.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import { flagClosedDays, transactWithAlerts } from '../../mismatches/flag-closed-days.ts';
import { loadStoredTransactions } from '../apply/load-stored-transactions.ts';
import { diffEntries } from '../journal/diff-entries.ts';
import { planCommission, planEntries } from '../journal/plan-entries.ts';
import { readPolicies } from '../journal/read-policies.ts';
import { writeEntries } from '../journal/write-entries.ts';

const BATCH_ROWS = 200;

/**
 * Adapts the entries of a platform's transactions to its policy, by reversal and posting, after an opening was stated
 * or reversed. Idempotent; each batch is committed by itself and can be repeated after a kill.
 */
export async function repostTransactions(context: Context, platform: string): Promise<void> {
  let after = 0;
  for (;;) {
    // on abort: the caller does not mark the opening as reposted, so the remaining batches run later
    context.signal.throwIfAborted();
    const rows = await context.db
      .selectFrom('transactions')
      .select(['seq', 'id'])
      .where('seq', '>', after)
      .where(matchesPlatform('platform', platform))
      .orderBy('seq')
      .limit(BATCH_ROWS)
      .execute();
    if (rows.length === 0) return;
    after = rows.at(-1)?.seq ?? after;
    await transactWithAlerts(context, async (trx) => {
      // lock the transactions first, in the order of an applier: this prevents deadlocks
      const loaded = await loadStoredTransactions(
        trx,
        rows.map((row) => row.id),
      );
      // read in each batch under their lock: they may change meanwhile, and are then reposted once more
      const policies = await readPolicies(context, trx);
      const changes = [...loaded.values()].map(({ seq, stored, entries }) => ({
        transactionSeq: seq,
        source: { kind: 'person' as const },
        ...diffEntries(planEntries(stored, stored.events, policies.forPlatform(stored.platform)), entries, (name) =>
          planCommission(stored, name),
        ),
      }));
      const now = context.clock.now();
      await writeEntries(context, trx, changes, now);
      const entries = changes.flatMap(({ reverse, post }) => [...reverse, ...post]);
      await flagClosedDays(context, trx, entries, now);
    });
  }
}
