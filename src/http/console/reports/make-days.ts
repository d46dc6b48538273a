import type { Context } from '../../../context.ts';
import type { Day } from '../../../domain/calendar.ts';
import { describeError } from '../../../log.ts';
import { makeReport } from '../../../reports/revisions/make-report.ts';
import { buildOnce } from '../../../reports/serve/build-once.ts';

/** A day of 100,000 transactions takes some seconds: a person who chose several does not wait for all. */
const WAIT_MS = 20_000;

/** The name of the notice about it. */
type Outcome = 'made' | 'made_many' | 'unchanged' | 'making' | 'made_some';

/**
 * Makes the next revisions of days, one after the other. The work continues after `waitMs`; then the outcome is `making`.
 * @throws what a single day's report throws within that time.
 */
export async function makeDays(context: Context, days: readonly Day[], waitMs = WAIT_MS): Promise<Outcome> {
  const waiting = new AbortController();
  const work = makeAll(context, days);
  // a failure after the answer is logged
  work.catch(() => undefined);
  try {
    const waited = context.timers
      .sleep(waitMs, { signal: waiting.signal, ref: false })
      .then((): Outcome => 'making')
      .catch((): Outcome => 'making');
    return await Promise.race([work, waited]);
  } finally {
    waiting.abort();
  }
}

async function makeAll(context: Context, days: readonly Day[]): Promise<Outcome> {
  let made = 0;
  const failures: unknown[] = [];
  for (const day of days) {
    context.signal.throwIfAborted();
    try {
      const { changed } = await buildOnce(context, `day ${day}`, () => makeReport(context, day));
      if (changed) made++;
    } catch (error) {
      context.log.error({ error: describeError(error), day }, 'a report could not be made');
      failures.push(error);
    }
  }
  if (failures.length > 0 && days.length === 1) throw failures[0];
  if (failures.length > 0) return 'made_some';
  return made === 0 ? 'unchanged' : made === 1 ? 'made' : 'made_many';
}
