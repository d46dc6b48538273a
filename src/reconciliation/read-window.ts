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
import { type PageRead, readList } from '../provider/read-list.ts';
import { learnBounds, readBounds } from './learn-bounds.ts';
import { askFor, isInWindow, type Window } from './plan-windows.ts';
import { settleAbsent } from './settle-absent.ts';

/** The provider's clock and ours may differ by this much when new rows are told from old ones. */
const CLOCK_LEEWAY_MS = 5 * 60_000;

export type RunRef = { seq: number; id: string; platform: string | null };
export type WindowRef = Window & { seq: number };

export type WindowResult = {
  complete: boolean;
  why: string | undefined;
  pages: number;
  passes: number;
  /** Distinct transactions of the window at the provider. */
  total: number;
  applied: number;
  askedAt: Date;
};

export async function readWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
): Promise<WindowResult> {
  const bounds = await readBounds(context);
  const asked = askFor(window, bounds);
  const changed = new Set<string>();
  const reading = await readList(
    client,
    { ...asked, ...(run.platform ? { platform: run.platform } : {}) },
    {
      now: () => context.clock.now(),
      growsSince: (began) => growsSince(context, asked.finalDate, began),
      onPage: async (page) => {
        for (const id of await applyPage(context, run, window, page)) changed.add(id);
        await keepEvidence(context, run, window, page);
      },
    },
  );
  const inside = new Map([...reading.ids].filter(([, wall]) => wall === undefined || isInWindow(window, wall)));
  if (reading.complete) {
    const found = await settleAbsent(context, client, run, window, { ids: inside, askedAt: reading.askedAt });
    for (const id of found) changed.add(id);
    if (!bounds && !run.platform) await learnBounds(context, client, reading.ids);
  }
  transactionsApplied.inc({ source: 'list' }, changed.size);
  return {
    complete: reading.complete,
    why: reading.why,
    pages: reading.pages,
    passes: reading.passes,
    total: inside.size,
    applied: changed.size,
    askedAt: reading.askedAt,
  };
}

/** The wall clock since when new rows are growth; undefined where the range asked for is over. */
function growsSince(context: Context, finalDate: string, began: Date): Wall | undefined {
  const today = context.calendar.dayOf(began);
  return finalDate < today ? undefined : context.calendar.toWall(new Date(began.getTime() - CLOCK_LEEWAY_MS));
}

async function applyPage(context: Context, run: RunRef, window: Window, page: PageRead): Promise<string[]> {
  const source: Source = { kind: 'list', run: { seq: run.seq, id: run.id }, page: page.page };
  const rows = page.rows.filter((row) => !row.ok || isInWindow(window, row.transaction.createdWall));
  const readable = rows.flatMap((row) => (row.ok ? [row] : []));
  const refused = rows.flatMap((row): RefusedRow[] => (row.ok ? [] : [{ ...row, source }]));
  const { changed } = await applyObservations(
    context,
    readable.map((row) => ({ transaction: row.transaction, digest: row.digest, askedAt: page.askedAt, source })),
  );
  await refuseRows(context, refused);
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
