import type { Context } from '../../context.ts';
import { matchesPlatform } from '../../database/matches-platform.ts';
import { flagClosedDays, transactWithAlerts } from '../../mismatches/flag-closed-days.ts';
import { loadStoredTransactions } from '../apply/load-stored-transactions.ts';
import { diffEntries } from '../journal/diff-entries.ts';
import { planCommission, planEntries } from '../journal/plan-entries.ts';
import { readPolicies } from '../journal/read-policies.ts';
import { writeEntries } from '../journal/write-entries.ts';

const BATCH_ROWS = 200;

/**
 * Brings the entries of a platform's transactions to what its policy now asks for, by reversal and posting: after an
 * opening was stated or reversed. Idempotent; batches are committed one by one and may be run again after a kill.
 */
export async function repostTransactions(context: Context, platform: string): Promise<void> {
  let after = 0;
  for (;;) {
    // what is left undone is taken up again: nobody writes it down as done
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
      // the transactions first, as whoever applies a look to them: then nobody waits for another in a ring
      const loaded = await loadStoredTransactions(
        trx,
        rows.map((row) => row.id),
      );
      // in each batch, under their lock: they may change while this goes on, and are booked by again after it
      const policies = await readPolicies(context, trx);
      const changes = [...loaded.values()].map(({ seq, stored: held, entries }) => ({
        transactionSeq: seq,
        source: { kind: 'person' as const },
        ...diffEntries(planEntries(held, held.events, policies.forPlatform(held.platform)), entries, (name) =>
          planCommission(held, name),
        ),
      }));
      const now = context.clock.now();
      await writeEntries(context, trx, changes, now);
      const entries = changes.flatMap(({ reverse, post }) => [...reverse, ...post]);
      await flagClosedDays(context, trx, entries, now);
    });
  }
}
