import type { Context } from '../../context.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep, walkRows } from '../../database/retention-step.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day, listDays, PIX_DAY_MIN } from '../../domain/calendar.ts';
import { type ProvenWindow, provesDay } from '../../domain/late-days.ts';
import { readProvenWindows } from './read-coverage.ts';

/**
 * Deletes the evidence of each page (totals and hashes) of finished runs, where every day that the page belongs to was proven
 * after its end. The run and its windows keep their results. A day that is not proven keeps its pages: they say why.
 */
export function pageRetention(context: Context): RetentionStep {
  const { db, config } = context;
  return {
    name: 'run_pages',
    setting: 'RETAIN_PAGES',
    keepMs: config.RETAIN_PAGES,
    async *run({ before, write }) {
      const isProven = rememberProven(context, await readProvenWindows(db, PIX_DAY_MIN));
      yield* walkRows({
        read: (after) =>
          db
            .selectFrom('run_pages')
            .select(['seq', 'window_seq', 'asked_at'])
            .where('seq', '>', after)
            .orderBy('seq')
            .limit(RETENTION_BATCH_ROWS)
            .execute(),
        isOld: (row) => row.asked_at < before,
        async drop(old) {
          const windows = await readFinished(context, [...new Set(old.map((row) => row.window_seq))], before);
          const over = new Set(
            windows.filter((one) => listDays(one.from_day, one.to_day).every(isProven)).map(({ seq }) => seq),
          );
          const seqs = old.filter((row) => over.has(row.window_seq)).map(({ seq }) => seq);
          if (write && seqs.length > 0)
            await transact(db, (trx) => trx.deleteFrom('run_pages').where('seq', 'in', seqs).execute());
          return seqs.length;
        },
      });
    },
  };
}

/** The windows among these whose run ended before an instant. */
async function readFinished({ db }: Context, windowSeqs: number[], before: Date) {
  return await db
    .selectFrom('run_windows')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select(['run_windows.seq', 'run_windows.from_day', 'run_windows.to_day'])
    .where('run_windows.seq', 'in', windowSeqs)
    .where('runs.finished_at', '<', before)
    .execute();
}

/** Whether any window proves a day after its end; asks once for each day. */
function rememberProven({ calendar }: Context, windows: ProvenWindow[]): (day: Day) => boolean {
  const known = new Map<Day, boolean>();
  return (day) => {
    const proven =
      known.get(day) ?? windows.some((window) => provesDay(window, day, calendar.startOfDay(addDays(day, 1))));
    known.set(day, proven);
    return proven;
  };
}
