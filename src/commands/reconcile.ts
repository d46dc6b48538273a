import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { COMMAND, makeChange } from '../operations/define-change.ts';
import { startOneRun } from '../operations/runs.ts';
import { openClient } from '../provider/open-client.ts';
import { findRun, type PresentedRun } from '../reconciliation/numbers/read-runs.ts';
import { claimRun } from '../reconciliation/runs/claim-run.ts';
import { executeRun } from '../reconciliation/runs/process-runs.ts';
import type { OnProgress } from '../reconciliation/runs/process-windows.ts';
import { checkRequest, resumeRun } from '../reconciliation/runs/start-run.ts';
import { print, withContext } from './with-context.ts';

/**
 * V8 lets a heap grow to several times its live size before it collects: a backfill's garbage took 400 MiB. With this flag
 * it collects once the heap has grown by 30 %, so memory follows the live size. A fixed limit would kill the run of a very
 * large day instead. A V8 without the flag reports that on standard error and continues.
 */
const COLLECT_EARLY = '--heap-growing-percent=30';
const POLL_MS = 500;
const DRAW_EVERY_MS = 200;
const BAR_WIDTH = 30;
const LINE_CHARS = 100;

type Options = { from: string; to: string; platform?: string; fresh?: boolean; json?: boolean };

export function reconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description("read days of the provider's list completely and correct the ledger")
    .requiredOption('--from <day>', 'first day, YYYY-MM-DD')
    .requiredOption('--to <day>', 'last day, YYYY-MM-DD')
    .option('--platform <id>', 'only this platform')
    .option('--fresh', 'start a new run instead of resuming an interrupted one of these days')
    .option('--json', 'print one JSON object')
    .action(async (options: Options) => {
      checkRequest(options);
      setFlagsFromString(COLLECT_EARLY);
      await withContext({ provider: true }, async (context) => {
        const run = await reconcile(context, options);
        print(options.json, run, describeRun(run));
        return run.state === 'complete' ? 0 : 1;
      });
    });
}

async function reconcile(context: Context, options: Options): Promise<PresentedRun> {
  await using client = openClient(context);
  const id = await findOrStart(context, options);
  for (;;) {
    // a worker may have claimed the run first: then wait, and take it over if the worker dies
    const claimed = await claimRun(context, { id });
    if (claimed) await executeRun(context, client, claimed, { onProgress: showProgress() });
    const run = await findRun(context.db, id);
    if (!run) throw new Error(`run ${id} is gone`);
    const { seq: _, ...shown } = run;
    if (!['queued', 'running'].includes(run.state) || context.signal.aborted) return shown;
    await context.timers.sleep(POLL_MS);
  }
}

async function findOrStart(context: Context, { fresh, json: _, ...days }: Options): Promise<string> {
  const interrupted = fresh ? undefined : await resumeRun(context, { ...days, trigger: 'command' });
  if (!interrupted) {
    const { made } = await makeChange(context, startOneRun, { given: days, by: { caller: COMMAND, id: '' } });
    return made?.id ?? '';
  }
  process.stderr.write(
    `resuming ${interrupted.id}: ${interrupted.proven} of ${interrupted.windows} parts of its days are done\n`,
  );
  return interrupted.id;
}

/** Shows a bar, the rate and the time left on a terminal; nothing elsewhere. */
function showProgress(): OnProgress {
  if (!process.stderr.isTTY) return () => undefined;
  const began = Date.now();
  let begunAt: number | undefined;
  let drawnAt = 0;
  return ({ windows, of, seen, waits }) => {
    begunAt ??= windows;
    const isLast = windows === of;
    if (!isLast && Date.now() - drawnAt < DRAW_EVERY_MS) return;
    drawnAt = Date.now();
    const line = formatProgress({ windows, of, seen, waits, begunAt, ms: drawnAt - began });
    process.stderr.write(`\r${line}${isLast ? '\n' : ''}`);
  };
}

/** Formats one line of progress. Pure. @param done.begunAt the windows that were done before this process began. */
export function formatProgress(done: Parameters<OnProgress>[0] & { begunAt: number; ms: number }): string {
  const seconds = Math.max(1, done.ms / 1000);
  const filled = Math.floor((BAR_WIDTH * done.windows) / Math.max(1, done.of));
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
  const fresh = done.windows - done.begunAt;
  const left = fresh > 0 ? `${formatSpan((seconds / fresh) * (done.of - done.windows))} left` : '';
  if (done.waits)
    return `${bar} ${done.windows}/${done.of} parts, waits for another run of these days`.padEnd(LINE_CHARS);
  const rate = `${Math.round(done.seen / seconds)}/s`;
  return `${bar} ${done.windows}/${done.of} parts, ${done.seen} transactions, ${rate}, ${left}`.padEnd(LINE_CHARS);
}

function formatSpan(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${Math.round(seconds)} s`;
}

/** Describes a run for people. Pure. */
export function describeRun(run: PresentedRun): string {
  const kinds = Object.entries(run.by_kind).map(([kind, count]) => `${count} ${kind}`);
  const isOpen = run.state === 'queued' || run.state === 'running';
  return [
    `${run.id}: ${isOpen ? 'interrupted' : run.state}, ${run.from} to ${run.to}`,
    `  ${run.seen} transactions read${isOpen ? ' so far' : ''}, in ${run.pages} pages and ${run.requests} requests`,
    `  ${run.applied} of them new or changed, ${run.mismatches} mismatches${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`,
    ...(run.days_counted > 0 ? [`  ${run.days_counted} days proven by counting, without reading them whole`] : []),
    ...(run.passes > 1 ? [`  the list changed while it was read: the worst day was read ${run.passes} times`] : []),
    ...(run.error ? [`  ${run.error}`] : []),
    ...(isOpen ? ['  what was read is stored: the same command continues from there'] : []),
  ].join('\n');
}
