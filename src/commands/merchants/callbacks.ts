import type { Command } from 'commander';
import { presentAttempt } from '../../callbacks/manage/present-callback.ts';
import { findCallback, listAttempts } from '../../callbacks/manage/read-callbacks.ts';
import type { Context } from '../../context.ts';
import { callbacks, redeliverCallback, replayCallbacks } from '../../operations/merchants/callbacks.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';

const OUTCOME_MS_MAX = 30_000;
const OUTCOME_POLL_MS = 100;

/** `confere callbacks …`: lists callbacks, and sends them again. */
export function callbacksCommand(program: Command): void {
  const group = program.command('callbacks').description('messages to merchants');
  listCommand(group, callbacks, {
    description: 'the newest callbacks',
    fields: { transaction: 'transaction_id' },
    say: (one) =>
      `${one.id}  ${one.state.padEnd(9)}  ${one.type}  ${one.merchant_id}  ${one.transaction_id ?? one.source}  ${one.attempts} attempts`,
  });
  changeCommand(group, 'redeliver <id>', redeliverCallback, {
    description: 'send a callback once more, with its webhook-id (a running worker delivers it)',
    say: ({ id }: { id: string }) => `${id} is queued again`,
  });
  changeCommand(group, 'replay', replayCallbacks, {
    description: "send a merchant's delivered and failed callbacks of a range again, with their webhook-ids",
    options: {
      '--merchant <id>': 'whose',
      '--from <instant>': 'made by Confere at or after, whenever it arrived, such as 2026-11-21T00:00:00-03:00',
      '--to <instant>': 'made before',
      '--by <time>':
        'created (default): from and to are when Confere made the message; event: when its event happened at the provider',
      '--state <state>': 'only delivered, or only failed',
      '--dry-run': 'only count them',
    },
    fields: { state: 'states' },
    read: ({ states }) => (states === undefined ? {} : { states: [states] }),
    say: ({ count, dry_run: isDryRun }: { count: number; dry_run: boolean }) =>
      isDryRun ? `${count} callbacks would be sent again` : `${count} callbacks are queued again`,
  });
}

/**
 * Waits until a worker has sent a test.
 * @returns its only attempt; undefined if no worker has taken it within 30 s.
 */
export async function awaitTest(context: Context, id: string): Promise<ReturnType<typeof presentAttempt> | undefined> {
  const endMs = context.timers.monotonicMs() + OUTCOME_MS_MAX;
  while (!context.signal.aborted && context.timers.monotonicMs() < endMs) {
    const { seq, state } = await findCallback(context.db, id);
    const [attempt] = state === 'pending' ? [] : await listAttempts(context.db, seq);
    if (attempt) return presentAttempt(attempt, { withBody: false });
    await context.timers.sleep(OUTCOME_POLL_MS);
  }
  return undefined;
}
