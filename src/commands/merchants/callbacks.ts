import type { Command } from 'commander';
import { audit, auditChange, auditParts } from '../../access/audit.ts';
import { presentAttempt, presentCallback } from '../../callbacks/manage/present-callback.ts';
import {
  CALLBACK_STATES,
  type CallbackState,
  findCallback,
  listAttempts,
  listCallbacks,
} from '../../callbacks/manage/read-callbacks.ts';
import { redeliver } from '../../callbacks/manage/redeliver.ts';
import { assertReplays, replay } from '../../callbacks/manage/replay.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { parseInstant, parseLimit } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';

const ACTOR = 'command';
const LIST_MAX = 200;
const OUTCOME_MS_MAX = 30_000;
const OUTCOME_POLL_MS = 100;

type Output = { json?: boolean };
type ListOptions = Output & { merchant?: string; transaction?: string; state?: string; limit: string };
type ReplayOptions = Output & { merchant: string; from: string; to: string; state?: string; dryRun?: boolean };

/** `confere callbacks …`: lists callbacks, and sends them again. */
export function callbacksCommand(program: Command): void {
  const callbacks = program.command('callbacks').description('messages to merchants');
  callbacks
    .command('list')
    .description('the newest callbacks')
    .option('--merchant <id>', 'only of this merchant')
    .option('--transaction <id>', 'only of this transaction')
    .option('--state <state>', `only ${CALLBACK_STATES.join(', ')}`)
    .option('--limit <count>', `rows at most, up to ${LIST_MAX}`, '50')
    .option('--json', 'print one JSON object')
    .action((options: ListOptions) => list(options));
  callbacks
    .command('redeliver <id>')
    .description('send a callback once more, with its webhook-id (a running worker delivers it)')
    .option('--json', 'print one JSON object')
    .action((id: string, { json }: Output) =>
      withContext({}, async (context) => {
        const done = { actor: ACTOR, action: 'callback.redelivered', target: id };
        const callback = presentCallback(await auditChange(context, (inner) => redeliver(inner, id), done));
        print(json, callback, `${callback.id} is queued again`);
      }),
    );
  callbacks
    .command('replay')
    .description("send a merchant's delivered and failed callbacks of a range again, with their webhook-ids")
    .requiredOption('--merchant <id>', 'whose')
    .requiredOption('--from <instant>', 'created at or after, such as 2026-11-21T00:00:00-03:00')
    .requiredOption('--to <instant>', 'created before')
    .option('--state <state>', 'only delivered, or only failed')
    .option('--dry-run', 'only count them')
    .option('--json', 'print one JSON object')
    .action((options: ReplayOptions) => replayRange(options));
}

async function list({ merchant, transaction: transactionId, state, limit, json }: ListOptions): Promise<void> {
  const wanted = parseState(state, CALLBACK_STATES);
  const count = parseLimit(limit, LIST_MAX);
  await withContext({}, async (context) => {
    const page = { limit: count, before: undefined };
    const rows = await listCallbacks(context.db, { merchant, transactionId, state: wanted }, page);
    const callbacks = rows.map(presentCallback);
    const lines = callbacks.map(
      (one) =>
        `${one.id}  ${one.state.padEnd(9)}  ${one.type}  ${one.merchant_id}  ${one.transaction_id ?? one.source}  ${one.attempts} attempts`,
    );
    print(json, { callbacks }, lines.join('\n') || 'none');
  });
}

async function replayRange({ merchant, state, dryRun = false, json, ...range }: ReplayOptions): Promise<void> {
  const [from, to] = [parseInstant('--from', range.from), parseInstant('--to', range.to)];
  const only = parseState(state, ['delivered', 'failed']);
  if (!from || !to || from >= to) throw new ConfereError('wrong_use', '--to must be after --from');
  await withContext({}, async (context) => {
    const request = { merchant, from, to, dryRun, ...(only ? { states: [only] } : {}) };
    const asked = JSON.stringify({ from, to, dry_run: dryRun });
    const done = { actor: ACTOR, action: 'callbacks.replay_requested', target: merchant, detail: asked };
    if (dryRun) await audit(context, done);
    else await auditChange(context, (inner) => assertReplays(inner, merchant), done);
    const inParts = auditParts(context, (count) => {
      const detail = JSON.stringify({ from, to, count });
      return { actor: ACTOR, action: 'callbacks.replayed', target: merchant, detail };
    });
    const count = await replay(context, request, dryRun ? undefined : inParts);
    const text = dryRun ? `${count} callbacks would be sent again` : `${count} callbacks are queued again`;
    print(json, { merchant, count, dry_run: dryRun }, text);
  });
}

function parseState<State extends CallbackState>(
  text: string | undefined,
  states: readonly State[],
): State | undefined {
  const state = states.find((one) => one === text);
  if (text !== undefined && !state) throw new ConfereError('wrong_use', `--state must be one of ${states.join(', ')}`);
  return state;
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
