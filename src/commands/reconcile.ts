import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { openClient } from '../provider/open-client.ts';
import { claimRun } from '../reconciliation/claim-run.ts';
import { findRun, type PresentedRun } from '../reconciliation/read-runs.ts';
import { checkDays, startRun } from '../reconciliation/start-run.ts';
import { executeRun, type Progress } from '../reconciliation/work-runs.ts';
import { print, withContext } from './with-context.ts';

const POLL_MS = 500;

type Options = { from: string; to: string; platform?: string; json?: boolean };

export function reconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description("read days of the provider's list completely and mend the ledger by them")
    .requiredOption('--from <day>', 'first day, YYYY-MM-DD')
    .requiredOption('--to <day>', 'last day, YYYY-MM-DD')
    .option('--platform <id>', 'only this platform')
    .option('--json', 'print one JSON object')
    .action(async (options: Options) => {
      checkDays(options);
      await withContext({ provider: true }, async (context) => {
        const run = await reconcile(context, options);
        print(options.json, run, describe(run));
        return run.state === 'complete' ? 0 : 1;
      });
    });
}

async function reconcile(context: Context, options: Options): Promise<PresentedRun> {
  await using client = openClient(context);
  const { id } = await startRun(context, { ...options, trigger: 'command', createdBy: 'command' });
  for (;;) {
    // a worker beside us may have been quicker: then we wait for it, and take the run up if it dies
    const claimed = await claimRun(context, id);
    if (claimed) await executeRun(context, client, claimed, showProgress());
    const run = await findRun(context.db, id);
    if (!run) throw new Error(`run ${id} is gone`);
    const { seq: _, ...shown } = run;
    if (!['queued', 'running'].includes(run.state) || context.signal.aborted) return shown;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function showProgress(): Progress {
  const began = Date.now();
  let seen = 0;
  return (done) => {
    seen += done.seen;
    if (!process.stderr.isTTY) return;
    const seconds = Math.max(1, Math.round((Date.now() - began) / 1000));
    const left = Math.round((seconds / done.windows) * (done.of - done.windows));
    const end = done.windows === done.of ? '\n' : '';
    process.stderr.write(
      `\r${done.windows}/${done.of} windows, ${seen} transactions, ${Math.round(seen / seconds)}/s, ${left} s left   ${end}`,
    );
  };
}

function describe(run: PresentedRun): string {
  const kinds = Object.entries(run.by_kind).map(([kind, count]) => `${count} ${kind}`);
  return [
    `${run.id}: ${run.state}, ${run.from} to ${run.to}`,
    `  ${run.seen} transactions seen in ${run.pages} pages, at most ${run.passes} passes a day`,
    `  ${run.applied} new or changed, ${run.mismatches} mismatches${kinds.length > 0 ? ` (${kinds.join(', ')})` : ''}`,
    ...(run.error ? [`  ${run.error}`] : []),
  ].join('\n');
}
