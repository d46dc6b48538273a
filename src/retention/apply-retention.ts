/**
 * Deletes what is older than its retention, or counts it. Each step deletes in batches of at most 1,000 rows or files, each in a
 * transaction of its own, so an interrupted run continues the next time.
 */
import { keyRetention } from '../access/kept-answers.ts';
import { callbackRetention } from '../callbacks/manage/drop-delivered.ts';
import type { Context } from '../context.ts';
import type { RetentionStep } from '../database/retention-step.ts';
import { ConfereError } from '../domain/errors.ts';
import { bodyRetention } from '../inbox/manage/drop-old-bodies.ts';
import { repeatRetention } from '../inbox/manage/drop-repeats.ts';
import { describeError } from '../log.ts';
import { type Retained, retentionRemoved } from '../metrics/metrics.ts';
import { pageRetention } from '../reconciliation/numbers/fold-pages.ts';
import { reportFileRetention } from '../reports/serve/drop-report-files.ts';
import { endedRows } from './ended-rows.ts';

export type RetentionResult = Pick<RetentionStep, 'name' | 'setting' | 'keepMs' | 'note'> & {
  /** How many rows or files were deleted; with `write: false`, how many would be. */
  rows: number;
};

/**
 * @param options.write false only counts.
 * @returns the result of each step. Stops early on the context's signal.
 * A step that this user may not do is skipped, with a note.
 * @throws ConfereError `unavailable` after all steps, naming those that failed.
 */
export async function applyRetention(
  context: Context,
  { write }: { write: boolean } = { write: true },
): Promise<RetentionResult[]> {
  const now = context.clock.now().getTime();
  const results: RetentionResult[] = [];
  const failed: { name: string; error: unknown }[] = [];
  for (const { run, ...step } of listSteps(context)) {
    const result: RetentionResult = { ...step, rows: 0 };
    results.push(result);
    if (step.keepMs === 'off' || context.signal.aborted) continue;
    try {
      for await (const rows of run({ before: new Date(now - step.keepMs), write })) {
        result.rows += rows;
        if (write) retentionRemoved.inc({ rows: step.name as Retained }, rows);
        if (context.signal.aborted) break;
      }
    } catch (error) {
      if (error instanceof ConfereError && error.code === 'forbidden') {
        // each night again until a person decides: no failure of the job, which would alert each night
        result.note = error.message;
        context.log.warn({ step: step.name }, error.message);
        continue;
      }
      context.log.error({ step: step.name, error: describeError(error) }, 'retention failed; the other tables go on');
      failed.push({ name: step.name, error });
    }
  }
  const [first] = failed;
  if (!first) return results;
  const { code } = first.error as { code?: string };
  const says = first.error instanceof ConfereError ? `: ${first.error.message}` : code ? ` (${code})` : '';
  throw new ConfereError('unavailable', `retention of ${failed.map(({ name }) => name).join(', ')} failed${says}`, {
    cause: first.error,
  });
}

function listSteps(context: Context): RetentionStep[] {
  return [
    bodyRetention(context),
    repeatRetention(context),
    pageRetention(context),
    callbackRetention(context),
    keyRetention(context),
    reportFileRetention(context),
    ...endedRows(context),
  ];
}
