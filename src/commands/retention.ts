import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { DAY_MS } from '../domain/calendar.ts';
import { applyRetention, type RetentionResult } from '../retention/apply-retention.ts';
import { print, type withContext } from './with-context.ts';

export function retentionCommand(program: Command, open: typeof withContext): void {
  program
    .command('retention')
    .description('delete rows and bodies that are older than their retention, as JOB_RETENTION does')
    .option('--dry-run', 'only count them')
    .option('--json', 'print one JSON object')
    .action(async ({ dryRun = false, json }: { dryRun?: boolean; json?: boolean }) => {
      await open({}, async (context: Context) => {
        const results = await applyRetention(context, { write: !dryRun });
        const steps = results.map(({ name, setting, keepMs, note, rows }) => ({
          name,
          setting: setting ?? null,
          keep_days: keepMs === 'off' ? null : keepMs / DAY_MS,
          rows,
          note: note ?? null,
        }));
        print(json, { dry_run: dryRun, steps }, describe(results, dryRun));
        return context.signal.aborted ? 1 : 0;
      });
    });
}

function describe(results: RetentionResult[], dryRun: boolean): string {
  const lines = results.map(({ name, setting, keepMs, note, rows }) => {
    const kept = keepMs === 'off' ? 'kept for ever' : `kept for ${keepMs / DAY_MS} days`;
    const by = setting === undefined ? kept : `${kept} (${setting})`;
    return `${name.padEnd(18)} ${String(rows).padStart(9)}  ${by}${note === undefined || keepMs === 'off' ? '' : `; ${note}`}`;
  });
  return [dryRun ? 'rows and files that would be deleted:' : 'rows and files that were deleted:', ...lines].join('\n');
}
