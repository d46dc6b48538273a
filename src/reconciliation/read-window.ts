/**
 * Reads one window of days completely, or says that it could not: every page is applied as it comes, its evidence is
 * kept, and only a reading that proved itself concludes anything about what is absent from it.
 */
import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Wall } from '../domain/calendar.ts';
import type { Source } from '../domain/observation.ts';
import { applyObservations } from '../ledger/apply.ts';
import { type RefusedRow, refuseRows } from '../ledger/refuse-row.ts';
import { transactionsApplied } from '../metrics/metrics.ts';
import type { ProviderClient } from '../provider/client.ts';
import type { PageRead } from '../provider/make-pass.ts';
import { readList } from '../provider/read-list.ts';
import { learnBounds, readBounds } from './learn-bounds.ts';
import { askFor, isInWindow, type Window } from './plan-windows.ts';
import { resolveSeen } from './resolve-seen.ts';
import { settleAbsent } from './settle-absent.ts';

/** The provider's clock and ours may differ by this much when new rows are told from old ones. */
const CLOCK_LEEWAY_MS = 5 * 60_000;

export type RunRef = { seq: number; id: string; platform: string | null; trigger: string };
export type WindowRef = Window & { seq: number };

export type WindowResult = {
  complete: boolean;
  why: string | undefined;
  passes: number;
  pages: number;
  /** Distinct transactions of the window at the provider. */
  total: number;
  askedAt: Date;
};

/** @param checkLease throws once another process has taken the run up: then nothing more is applied. */
export async function readWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  checkLease: () => void,
): Promise<WindowResult> {
  const bounds = await readBounds(context);
  const asked = askFor(window, bounds);
  const readable = new Set<string>();
  const count = countApplied(context, window);
  const reading = await readList(
    client,
    { ...asked, ...(run.platform ? { platform: run.platform } : {}) },
    {
      now: () => context.clock.now(),
      growsSince: (began) => growsSince(context, asked.finalDate, began),
      onPage: async (page) => {
        checkLease();
        await count(await applyPage(context, run, window, page, readable));
        await keepEvidence(context, run, window, page);
      },
    },
  );
  checkLease();
  const inside = new Map([...reading.ids].filter(([, wall]) => wall === undefined || isInWindow(window, wall)));
  await resolveSeen(context, { readable, listed: reading.complete ? inside : new Map() });
  if (reading.complete) {
    await count(await settleAbsent(context, client, run, window, { ids: inside, askedAt: reading.askedAt }));
    if (!bounds && !run.platform) await learnBounds(context, client, reading.ids);
  }
  const { complete, why, passes, pages, askedAt } = reading;
  return { complete, why, passes, pages, total: inside.size, askedAt };
}

/** The wall clock since when new rows are growth; undefined where the range asked for is over. */
function growsSince(context: Context, finalDate: string, began: Date): Wall | undefined {
  const today = context.calendar.dayOf(began);
  return finalDate < today ? undefined : context.calendar.toWall(new Date(began.getTime() - CLOCK_LEEWAY_MS));
}

/** Counts each transaction once, and at once: what a killed process applied stands in the run that goes on. */
function countApplied(context: Context, window: WindowRef): (ids: string[]) => Promise<void> {
  const changed = new Set<string>();
  return async (ids) => {
    const before = changed.size;
    for (const id of ids) changed.add(id);
    const fresh = changed.size - before;
    if (fresh === 0) return;
    transactionsApplied.inc({ source: 'list' }, fresh);
    await context.db
      .updateTable('run_windows')
      .set((eb) => ({ applied: eb('applied', '+', fresh) }))
      .where('seq', '=', window.seq)
      .execute();
  };
}

/** @param readable what could be read by the newest look, kept up to date. @returns ids that are new or changed. */
async function applyPage(
  context: Context,
  run: RunRef,
  window: Window,
  page: PageRead,
  readable: Set<string>,
): Promise<string[]> {
  const source: Source = { kind: 'list', run: { seq: run.seq, id: run.id }, page: page.page };
  const rows = page.rows.filter((row) => {
    const wall = row.ok ? row.transaction.createdWall : row.createdWall;
    return wall === undefined || isInWindow(window, wall);
  });
  const taken = rows.flatMap((row) => (row.ok ? [row] : []));
  const refused = rows.flatMap((row): RefusedRow[] => (row.ok ? [] : [{ ...row, source }]));
  const { changed } = await applyObservations(
    context,
    taken.map((row) => ({ transaction: row.transaction, digest: row.digest, askedAt: page.askedAt, source })),
  );
  await refuseRows(context, refused);
  for (const row of taken) readable.add(row.transaction.id);
  for (const row of refused) if (row.id !== null) readable.delete(row.id);
  return changed;
}

async function keepEvidence(context: Context, run: RunRef, window: WindowRef, page: PageRead): Promise<void> {
  const ids = createHash('sha256');
  for (const row of page.rows) ids.update(`${row.ok ? row.transaction.id : row.id}\n`);
  await context.db
    .insertInto('run_pages')
    .values({
      run_seq: run.seq,
      window_seq: window.seq,
      pass: page.pass,
      page: page.page,
      total: page.total,
      row_count: page.rows.length,
      body_hash: createHash('sha256').update(page.text).digest(),
      ids_digest: ids.digest(),
      asked_at: page.askedAt,
    })
    .execute();
}
