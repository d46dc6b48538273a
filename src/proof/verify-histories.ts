import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Database } from '../database/tables.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import { type LoadedTransaction, loadStoredTransactionRange } from '../ledger/apply/load-stored-transactions.ts';
import { summarizeHistory } from '../ledger/decide/decide-observation.ts';
import { diffEntries } from '../ledger/journal/diff-entries.ts';
import { planCommission, planEntries } from '../ledger/journal/plan-entries.ts';
import { type Policies, readPolicies } from '../ledger/journal/read-policies.ts';
import type { ReportBreak } from './collect-breaks.ts';

const TRANSACTIONS_AT_ONCE = 500;

/**
 * Whether every transaction is what its events say: its status, when it came to it, how many events there are and how
 * they are numbered; and whether its entries in force are those that its history asks for under today's openings and
 * refund rules, so that one booked under rules that no longer hold is found too. Entries of a platform that is being
 * booked again are left to the next check. Without locks: nobody waits for it.
 * @returns how many transactions there are.
 */
export async function verifyHistories(context: Context, tell: ReportBreak): Promise<number> {
  let [after, count] = [0, 0];
  while (!context.signal.aborted) {
    const { loaded, policies, reposting, unmended } = await inSnapshot(context.db, async (snapshot) => ({
      loaded: await loadStoredTransactionRange(snapshot, after, TRANSACTIONS_AT_ONCE),
      policies: await readPolicies(context, snapshot, 'none'),
      reposting: await readReposting(snapshot),
      unmended: await readUnmended(snapshot),
    }));
    if (loaded.length === 0) break;
    for (const one of loaded) {
      if (unmended.has(one.seq)) continue;
      // between a statement and the last of its entries they are partly of before
      const judged = reposting.has(one.stored.platform ?? NO_PLATFORM) ? undefined : policies;
      for (const says of judgeTransaction(one, judged)) {
        tell({ scope: one.stored.id, transactionId: one.stored.id, says });
      }
    }
    count += loaded.length;
    after = loaded.at(-1)?.seq ?? after;
  }
  return count;
}

/** Platforms whose opening changed, and whose transactions are not all booked by it yet. */
async function readReposting(snapshot: Transaction<Database>): Promise<Set<string>> {
  const rows = await snapshot.selectFrom('openings').select('platform').where('reposted_at', 'is', null).execute();
  return new Set(rows.map((row) => row.platform));
}

/** Histories of an earlier version that are not corrected yet: `doctor` counts them. */
async function readUnmended(snapshot: Transaction<Database>): Promise<Set<number>> {
  const rows = await snapshot
    .selectFrom('histories_to_mend')
    .select('transaction_seq')
    .where('mended_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.transaction_seq));
}

/** @param policies undefined: its entries are not judged. */
function judgeTransaction(
  { stored: held, row: stored, entries }: LoadedTransaction,
  policies: Policies | undefined,
): string[] {
  const state = summarizeHistory(held);
  if (!state) return ['it has no event'];
  const faults: string[] = [];
  const names = ['status', 'status_wall', 'sequence', 'event_count'] as const;
  const wrong = names.filter((name) => state[name] !== stored[name]);
  if (wrong.length > 0) faults.push(`its ${wrong.join(', ')} are not those of its events`);
  const sequences = new Set([...held.events, ...held.outOfForce].map((event) => event.sequence));
  const counted = held.events.length + held.outOfForce.length + (held.corrections?.count ?? 0);
  if (sequences.size !== held.events.length + held.outOfForce.length || Math.max(...sequences) > counted) {
    faults.push('its events are not numbered one by one');
  }
  if (!policies) return faults;
  const desired = planEntries(held, held.events, policies.forPlatform(held.platform));
  const { reverse, post } = diffEntries(desired, entries, (platform) => planCommission(held, platform));
  if (reverse.length + post.length > 0) faults.push('its entries in force are not those that its events ask for');
  return faults;
}
