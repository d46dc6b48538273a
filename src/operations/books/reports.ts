/** Reports: the revisions of each day, and the next one. */
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { limitReads } from '../../database/limit-statement-time.ts';
import type { Day } from '../../domain/calendar.ts';
import { PLATFORM_CHARS_MAX } from '../../domain/platform.ts';
import { describeError } from '../../log.ts';
import { type MadeReport, makeReport } from '../../reports/revisions/make-report.ts';
import { buildOnce } from '../../reports/serve/build-once.ts';
import { listReports } from '../../reports/serve/list-reports.ts';
import { authorizePlatform } from '../choose-platform.ts';
import { defineChange } from '../define-change.ts';
import { defineSearch } from '../define-list.ts';
import { accepted, created, ok } from '../describe-operation.ts';
import { day } from '../fields.ts';
import { report } from '../rows/reports.ts';

/** A day of 100,000 transactions took 6.6 s on two busy cores. A request waits no longer than this. */
const WAIT_MS = 20_000;
const [OK, CREATED, ACCEPTED] = [200, 201, 202];

export const reportPlatform = z
  .string()
  .min(1)
  .max(PLATFORM_CHARS_MAX)
  .optional()
  .describe('none: what has no platform');

export const reports = defineSearch({
  name: 'reports',
  roles: ['viewer'],
  route: '/reports',
  row: report,
  filters: z.object({
    platform: reportPlatform.describe('whose figures the list shows; none: what has no platform'),
  }),
  async find(context, page, { platform }, caller) {
    authorizePlatform(caller, platform);
    const found = await listReports(limitReads(context), page, platform);
    return { rows: found.reports, next: found.next ?? undefined };
  },
});

export const makeOneReport = defineChange<{ day: Day }, Day, MadeReport | undefined>({
  name: 'reports.make',
  // accounting makes a day's next revision after its own adjustment
  roles: ['operator', 'accountant'],
  route: 'POST /reports',
  summary: "Make a day's report",
  input: z.object({ day }),
  answers: {
    ...ok('Nothing has changed: the newest revision', report),
    ...created('A new revision', report),
    ...accepted('Being made', z.object({ day: z.iso.date(), state: z.literal('being_made') })),
  },
  // audited first: a report takes long, and the timetable makes the same one
  change: async (_inner, given) => given.day,
  after: (context, _made, given) => waitFor(context, startReport(context, given.day)),
  status: (_day, followed) => (followed ? (followed.changed ? CREATED : OK) : ACCEPTED),
  answer: async (_context, of, { followed }) => followed?.report ?? { day: of, state: 'being_made' },
});

/** Makes the next revision of a day, once for all who ask at the time. A failure is logged too: an answer may not wait for it. */
export function startReport(context: Context, of: Day): Promise<MadeReport> {
  const work = buildOnce(context, `day ${of}`, () => makeReport(context, of));
  work.catch((error: unknown) => {
    context.log.error({ error: describeError(error), day: of }, 'a report could not be made');
  });
  return work;
}

/** Waits for work that goes on anyway. @returns undefined if it takes longer than `waitMs`. */
export async function waitFor<T>({ timers }: Context, work: Promise<T>, waitMs = WAIT_MS): Promise<T | undefined> {
  const waiting = new AbortController();
  const end = (): undefined => undefined;
  try {
    return await Promise.race([work, timers.sleep(waitMs, { signal: waiting.signal, ref: false }).then(end, end)]);
  } finally {
    waiting.abort();
  }
}
