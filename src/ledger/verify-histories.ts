import type { Context } from '../context.ts';
import { inSnapshot } from '../database/in-snapshot.ts';
import { tellState } from './decide.ts';
import { type Loaded, loadHeldRange } from './load-held.ts';
import { mendJournal } from './mend-journal.ts';
import { charge, listDesiredEntries } from './post.ts';
import { type Policies, readPolicies } from './read-policies.ts';
import type { TellBreak } from './tell-break.ts';

const TRANSACTIONS_AT_ONCE = 500;

/**
 * Whether every transaction is what its events say: its status, when it came to it, how many events there are and how
 * they are numbered; and whether its entries in force are those that its history asks for under today's openings and
 * refund rules, so that one booked under rules that no longer hold is found too. Without locks: nobody waits for it.
 * @returns how many transactions there are.
 */
export async function verifyHistories(context: Context, tell: TellBreak): Promise<number> {
  let [after, count] = [0, 0];
  while (!context.signal.aborted) {
    const [loaded, policies] = await inSnapshot(context.db, async (snapshot) => [
      await loadHeldRange(snapshot, after, TRANSACTIONS_AT_ONCE),
      await readPolicies(context, snapshot, 'none'),
    ]);
    if (loaded.length === 0) break;
    for (const one of loaded) {
      for (const says of judgeTransaction(one, policies)) {
        tell({ scope: one.held.id, transactionId: one.held.id, says });
      }
    }
    count += loaded.length;
    after = loaded.at(-1)?.seq ?? after;
  }
  return count;
}

function judgeTransaction({ held, stored, entries }: Loaded, policies: Policies): string[] {
  const state = tellState(held);
  if (!state) return ['it has no event'];
  const faults: string[] = [];
  const names = ['status', 'status_wall', 'sequence', 'event_count'] as const;
  const wrong = names.filter((name) => state[name] !== stored[name]);
  if (wrong.length > 0) faults.push(`its ${wrong.join(', ')} are not those of its events`);
  const sequences = new Set([...held.events, ...held.struck].map((event) => event.sequence));
  const counted = held.events.length + held.struck.length + (held.corrected?.times ?? 0);
  if (sequences.size !== held.events.length + held.struck.length || Math.max(...sequences) > counted) {
    faults.push('its events are not numbered one by one');
  }
  const desired = listDesiredEntries(held, held.events, policies.of(held.platform));
  const { reverse, post } = mendJournal(desired, entries, (platform) => charge(held, platform));
  if (reverse.length + post.length > 0) faults.push('its entries in force are not those that its events ask for');
  return faults;
}
