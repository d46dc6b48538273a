/**
 * Folds the evidence of the pages of a window into one digest beside the window's counts, and deletes the pages. Today and yesterday
 * are read again and again: of a day of 20,000, each page left hundreds of rows. A window is folded
 *
 * - a day after its run ended, once a later complete reading superseded it;
 * - after RETAIN_PAGES, if all of its days were proven after their end.
 *
 * The digest is stored first. So a step that was interrupted deletes the rest the next time.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep } from '../../database/retention-step.ts';
import { transact } from '../../database/transact.ts';
import { type Day, listDays, PIX_DAY_MIN } from '../../domain/calendar.ts';
import { type ProvenWindow, provesDay } from '../../domain/late-days.ts';
import { readNewestWindows } from './read-coverage.ts';
import { presentPage, selectPages } from './read-pages.ts';

/** The pages of a run are there for a person who examines it the same day. */
const SUPERSEDED_KEPT_MS = 86_400_000;
const WINDOWS_A_TIME = 200;

export function pageRetention(context: Context): RetentionStep {
  return {
    name: 'run_pages',
    setting: 'RETAIN_PAGES',
    keepMs: context.config.RETAIN_PAGES,
    async *run({ before, write }) {
      const mayFold = await decideFolding(context, before);
      for (let seqs = await listWithPages(context, 0); seqs.length > 0; ) {
        for (const window of (await readWindows(context, seqs)).filter(mayFold)) {
          if (write) yield* fold(context, window);
          else yield await countPages(context, window.seq);
        }
        seqs = await listWithPages(context, seqs.at(-1) ?? 0);
      }
    },
  };
}

/** The numbers of windows that still have pages, above a number. */
async function listWithPages({ db }: Context, after: number): Promise<number[]> {
  const rows = await db
    .selectFrom('run_pages')
    .select('window_seq')
    .distinct()
    .where('window_seq', '>', after)
    .orderBy('window_seq')
    .limit(WINDOWS_A_TIME)
    .execute();
  return rows.map((row) => row.window_seq);
}

type Window = Awaited<ReturnType<typeof readWindows>>[number];

async function readWindows({ db }: Context, seqs: number[]) {
  return await db
    .selectFrom('run_windows')
    .innerJoin('runs', 'runs.seq', 'run_windows.run_seq')
    .select(['run_windows.seq', 'run_windows.from_day', 'run_windows.to_day', 'run_windows.state'])
    .select(['asked_at', 'pages_digest', 'finished_at'])
    .where('run_windows.seq', 'in', seqs)
    .execute();
}

/** @param before runs that ended before this instant are older than RETAIN_PAGES. @returns whether a window may be folded. */
async function decideFolding({ db, calendar, clock }: Context, before: Date): Promise<(window: Window) => boolean> {
  const complete = await readNewestWindows(db, 'complete', PIX_DAY_MIN);
  const proven = [...complete, ...(await readNewestWindows(db, 'counted', PIX_DAY_MIN))];
  const supersededBefore = new Date(Math.max(before.getTime(), clock.now().getTime() - SUPERSEDED_KEPT_MS));
  const coversAll = (by: ProvenWindow[], { from_day, to_day }: Window, since: (day: Day) => Date): boolean =>
    listDays(from_day, to_day).every((day) => by.some((one) => provesDay(one, day, since(day))));
  return (window) => {
    const { state, asked_at: askedAt, finished_at: finishedAt } = window;
    if (!finishedAt) return false;
    if (finishedAt < before && coversAll(proven, window, (day) => calendar.provableFrom(day))) return true;
    // an incomplete reading keeps its pages: they say why
    if (!askedAt || finishedAt >= supersededBefore || !['complete', 'counted', 'recent'].includes(state)) return false;
    const later = new Date(askedAt.getTime() + 1);
    return coversAll(complete, window, () => later);
  };
}

async function countPages({ db }: Context, windowSeq: number): Promise<number> {
  const { count } = await db
    .selectFrom('run_pages')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('window_seq', '=', windowSeq)
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function* fold(context: Context, window: Window): AsyncGenerator<number, void, undefined> {
  if (window.pages_digest === null) {
    const change = { pages_digest: await digestPages(context, window.seq), folded_at: context.clock.now() };
    await transact(context.db, (trx) =>
      trx.updateTable('run_windows').set(change).where('seq', '=', window.seq).execute(),
    );
  }
  for (let count = RETENTION_BATCH_ROWS; count === RETENTION_BATCH_ROWS; ) {
    const dropped = await transact(context.db, (trx) =>
      trx
        .deleteFrom('run_pages')
        .where('window_seq', '=', window.seq)
        .limit(RETENTION_BATCH_ROWS)
        .executeTakeFirstOrThrow(),
    );
    count = Number(dropped.numDeletedRows);
    yield count;
  }
}

/**
 * SHA-256 over the pages as `GET /api/v1/reconciliations/:id/pages` lists them: the values of each as a JSON array, a line each, in the
 * order in which they were stored.
 */
async function digestPages({ db }: Context, windowSeq: number): Promise<Buffer> {
  const digest = createHash('sha256');
  for (let after = 0; ; ) {
    const rows = await selectPages(db, RETENTION_BATCH_ROWS, after).where('window_seq', '=', windowSeq).execute();
    for (const row of rows) digest.update(`${JSON.stringify(Object.values(presentPage(row)))}\n`);
    const last = rows.at(-1);
    if (!last || rows.length < RETENTION_BATCH_ROWS) return digest.digest();
    after = last.seq;
  }
}
