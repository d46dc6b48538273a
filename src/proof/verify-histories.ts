import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Database } from '../database/tables.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import { type LoadedTransaction, loadStoredTransactionRange } from '../ledger/apply/load-stored-transactions.ts';
import { summarizeHistory } from '../ledger/decide/stored-transaction.ts';
import { diffEntries } from '../ledger/journal/diff-entries.ts';
import { planCommission, planEntries } from '../ledger/journal/plan-entries.ts';
import { type Policies, readPolicies } from '../ledger/journal/read-policies.ts';
import type { ReportBreak } from './collect-breaks.ts';

const TRANSACTIONS_AT_ONCE = 500;

/**
 * Verifies every transaction against its events: its status and the time of it, the number of events and their
 * sequence; and its entries in force against its history under the current openings and refund rules, so an entry
 * booked under outdated rules is found too. Entries of a platform that is being reposted are left to the next check.
 * Takes no locks.
 * @returns how many transactions there are.
 */
export async function verifyHistories(context: Context, report: ReportBreak): Promise<number> {
  let [after, count] = [0, 0];
  while (!context.signal.aborted) {
    const { loaded, policies, reposting } = await inSnapshot(context.db, async (snapshot) => ({
      loaded: await loadStoredTransactionRange(snapshot, after, TRANSACTIONS_AT_ONCE),
      policies: await readPolicies(context, snapshot, 'none'),
      reposting: await readReposting(snapshot),
    }));
    if (loaded.length === 0) break;
    for (const one of loaded) {
      // while a platform is being reposted, its entries partly follow the old opening
      const entryPolicies = reposting.has(one.stored.platform ?? NO_PLATFORM) ? undefined : policies;
      for (const says of listFaults(one, entryPolicies)) {
        report({ scope: one.stored.id, transactionId: one.stored.id, says });
      }
    }
    count += loaded.length;
    after = loaded.at(-1)?.seq ?? after;
  }
  return count;
}

/** Returns platforms whose opening changed and whose repost has not finished. */
async function readReposting(snapshot: Transaction<Database>): Promise<Set<string>> {
  const rows = await snapshot.selectFrom('openings').select('platform').where('reposted_at', 'is', null).execute();
  return new Set(rows.map((row) => row.platform));
}

/** @param policies undefined: its entries are not verified. */
function listFaults({ stored, row, entries }: LoadedTransaction, policies: Policies | undefined): string[] {
  const state = summarizeHistory(stored);
  if (!state) return ['it has no event'];
  const faults: string[] = [];
  const names = ['status', 'status_wall', 'sequence', 'event_count'] as const;
  const wrong = names.filter((name) => state[name] !== row[name]);
  if (wrong.length > 0) faults.push(`its ${wrong.join(', ')} are not those of its events`);
  const sequences = new Set([...stored.events, ...stored.outOfForce].map((event) => event.sequence));
  const counted = stored.events.length + stored.outOfForce.length + (stored.corrections?.count ?? 0);
  if (sequences.size !== stored.events.length + stored.outOfForce.length || Math.max(...sequences) > counted) {
    faults.push('its events are not numbered one by one');
  }
  if (!policies) return faults;
  const desired = planEntries(stored, stored.events, policies.forPlatform(stored.platform));
  const { reverse, post } = diffEntries(desired, entries, (platform) => planCommission(stored, platform));
  if (reverse.length + post.length > 0) faults.push('its entries in force are not those that its events ask for');
  return faults;
}
