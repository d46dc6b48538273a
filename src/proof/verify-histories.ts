import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import type { Database } from '../database/tables.ts';
import { largest } from '../domain/lists.ts';
import { NO_PLATFORM } from '../domain/platform.ts';
import {
  type LoadedTransaction,
  readStoredTransactions,
  type TransactionSelection,
} from '../ledger/apply/load-stored-transactions.ts';
import { summarizeHistory } from '../ledger/decide/stored-transaction.ts';
import { diffEntries } from '../ledger/journal/diff-entries.ts';
import { planCommission, planEntries } from '../ledger/journal/plan-entries.ts';
import { type Policies, readPolicies } from '../ledger/journal/read-policies.ts';
import type { Verification } from './check-state.ts';
import type { ReportBreak } from './collect-breaks.ts';

export const TRANSACTIONS_AT_ONCE = 500;

/** Verifies the next transactions; after a proof, those above its numbers. verify-touched.ts verifies older ones. */
export async function verifyHistories({ context, state: { histories }, report }: Verification): Promise<boolean> {
  const seqs = await verifyTransactions(context, { after: histories.after, limit: TRANSACTIONS_AT_ONCE }, report);
  histories.after = seqs.at(-1) ?? histories.after;
  histories.count += seqs.length;
  return seqs.length > 0;
}

/**
 * Verifies transactions against their events: status and the time of it, the number of events and their sequence; and
 * the entries in force against the history under the current openings and refund rules, so an entry booked under outdated
 * rules is found too. Entries of a platform that is being reposted are left to the next check. Takes no locks.
 * @returns their row numbers.
 */
export async function verifyTransactions(
  context: Context,
  choice: TransactionSelection,
  report: ReportBreak,
): Promise<number[]> {
  const { loaded, policies, reposting } = await inSnapshot(context.db, async (snapshot) => ({
    loaded: await readStoredTransactions(snapshot, choice),
    policies: await readPolicies(context, snapshot, 'none'),
    reposting: await readReposting(snapshot),
  }));
  for (const one of loaded) {
    // while a platform is being reposted, its entries partly follow the old opening
    const entryPolicies = reposting.has(one.stored.platform ?? NO_PLATFORM) ? undefined : policies;
    for (const says of listFaults(one, entryPolicies)) {
      report({ scope: one.stored.id, transactionId: one.stored.id, says });
    }
  }
  return loaded.map(({ seq }) => seq);
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
  if (sequences.size !== stored.events.length + stored.outOfForce.length || largest(sequences) > counted) {
    faults.push('its events are not numbered one by one');
  }
  if (!policies) return faults;
  const desired = planEntries(stored, stored.events, policies.forPlatform(stored.platform));
  const { reverse, post } = diffEntries(desired, entries, (platform) => planCommission(stored, platform));
  if (reverse.length + post.length > 0) faults.push('its entries in force are not those that its events ask for');
  return faults;
}
