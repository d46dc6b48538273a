import type { Context } from '../../../context.ts';
import type { Day } from '../../../domain/calendar.ts';
import { startReport, waitFor } from '../../../operations/books/reports.ts';

/** The name of the notice about it. */
type Outcome = 'made' | 'made_many' | 'unchanged' | 'making' | 'made_some';

/**
 * Makes the next revisions of days, one after the other. A person does not wait for long: then the outcome is `making`.
 * @throws what a single day's report throws within that time.
 */
export async function makeDays(context: Context, days: readonly Day[]): Promise<Outcome> {
  const work = makeAll(context, days);
  // a failure after the answer is logged
  work.catch(() => undefined);
  return (await waitFor(context, work)) ?? 'making';
}

async function makeAll(context: Context, days: readonly Day[]): Promise<Outcome> {
  let made = 0;
  const failures: unknown[] = [];
  for (const day of days) {
    context.signal.throwIfAborted();
    try {
      const { changed } = await startReport(context, day);
      if (changed) made++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0 && days.length === 1) throw failures[0];
  if (failures.length > 0) return 'made_some';
  return made === 0 ? 'unchanged' : made === 1 ? 'made' : 'made_many';
}
