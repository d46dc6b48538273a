/**
 * Proves a settled day by counts, at a request for the day and one for each status that we hold there: where the day's
 * own total and those of our statuses are the ledger's, and add up, nothing else exists. The first pages that carry the
 * totals are applied like any page, and so mend what changed in small statuses before the counts are compared. What does
 * not add up, for whatever reason, proves nothing: the day is then read whole. Counts can hide a swap: days are read
 * whole at longer intervals regardless.
 */
import type { Context } from '../../context.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { isKnownStatus, STATUSES } from '../../domain/statuses.ts';
import type { ListPage, ListQuery, ProviderClient } from '../../provider/client.ts';
import { ProviderError } from '../../provider/provider-error.ts';
import { applyPage, createAppliedCounter } from './apply-page.ts';
import { readBounds } from './learn-bounds.ts';
import { isInWindow, toQueryDates } from './plan-windows.ts';
import type { ReadOptions } from './read-window.ts';
import { resolveSeenMismatches } from './resolve-seen-mismatches.ts';
import type { RunRef, WindowRef, WindowResult } from './run-ref.ts';
import { createEvidenceWriter } from './store-pages.ts';

/** Evidence of a count stands beside that of passes, which begin at 1. */
const COUNT_PASS = 0;

/** @returns undefined where counts can't be used, or do not add up. */
export async function countWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  options: Pick<ReadOptions, 'checkLease' | 'onPage'>,
): Promise<WindowResult | undefined> {
  const bounds = await readBounds(context);
  const today = context.calendar.dayOf(context.clock.now());
  if (!bounds || run.how === 'read' || !isSettled(window, today)) return undefined;
  const asked = toQueryDates(window, bounds);
  const query: ListQuery = { ...asked, ...(run.platform ? { platform: run.platform } : {}) };
  const evidence = createEvidenceWriter(context, run, window, 'count');
  const [seen, refused] = [new Set<string>(), new Set<string>()];
  const count = createAppliedCounter(context, window);
  const askedAt = context.clock.now();
  let pages = 0;
  const ask = async (status?: string): Promise<ListPage | undefined> => {
    const page = await askFirstPage(client, { ...query, ...(status === undefined ? {} : { status }) });
    if (!page) return undefined;
    options.checkLease();
    pages++;
    await count(await applyPage(context, run, window, page, refused));
    for (const row of page.rows)
      if (row.ok && isInWindow(window, row.transaction.createdWall)) seen.add(row.transaction.id);
    await evidence({ ...page, pass: COUNT_PASS, ...(status === undefined ? {} : { status }) });
    options.onPage(page.rows.length);
    return page;
  };
  const why = await compareCounts(window, ask, () => countHeld(context, run, window.fromDay));
  const readable = seen.difference(refused);
  await resolveSeenMismatches(context, { readable, listed: new Set(), askedAt });
  if (typeof why === 'string') {
    context.log.info({ run: run.id, day: window.fromDay, why }, 'a day is read whole: its counts do not prove it');
    return undefined;
  }
  return {
    state: 'counted',
    reason: undefined,
    passes: 0,
    pages,
    total: why.total,
    seen: seen.size,
    surplus: 0,
    askedAt,
  };
}

/** A single day that ended before yesterday began: yesterday's payments still settle. */
function isSettled(window: WindowRef, today: Day): boolean {
  return window.fromDay === window.toDay && window.toDay < addDays(today, -1);
}

/** A provider that refuses the filter can't be counted by it. */
async function askFirstPage(client: ProviderClient, query: ListQuery): Promise<ListPage | undefined> {
  try {
    return await client.listPage(query, 1);
  } catch (error) {
    const refused = error instanceof ProviderError && ['provider_not_found', 'provider_rejected'].includes(error.code);
    if (refused) return undefined;
    throw error;
  }
}

/** @returns the day's total where the counts prove it; else why they do not. */
async function compareCounts(
  window: WindowRef,
  ask: (status?: string) => Promise<ListPage | undefined>,
  readHeld: () => Promise<Map<string, number>>,
): Promise<{ total: number } | string> {
  const day = await ask();
  if (!day || !holdsOnly(day, window)) return 'the day can not be asked for alone';
  const before = await readHeld();
  if (sum(before.values()) !== day.total) return `the provider counts ${day.total}, we hold ${sum(before.values())}`;
  const totals = new Map<string, number>();
  const statuses = [...before.keys(), ...chooseProbe(before)];
  const answers = await Promise.all(statuses.map(async (status) => ({ status, page: await ask(status) })));
  for (const { status, page } of answers) {
    const trusted = page && holdsOnly(page, window, status);
    if (!trusted) return `the list can not be filtered by ${isKnownStatus(status) ? status : 'an unknown status'}`;
    totals.set(status, page.total);
  }
  const held = await readHeld();
  if (sum(totals.values()) !== day.total) return `the statuses' counts add up to ${sum(totals.values())}`;
  const astray = [...new Set([...totals.keys(), ...held.keys()])].filter(
    (status) => (totals.get(status) ?? 0) !== (held.get(status) ?? 0),
  );
  return astray.length > 0 ? `${astray.length} statuses' counts differ` : { total: day.total };
}

/** Of a day in one status, another one is asked for too: a server that ignores the filter would answer all of the day. */
function chooseProbe(held: Map<string, number>): string[] {
  if (held.size !== 1) return [];
  const other = STATUSES.find((status) => !held.has(status));
  return other === undefined ? [] : [other];
}

function holdsOnly(page: ListPage, window: WindowRef, status?: string): boolean {
  return page.rows.every((row) => {
    if (!row.ok) return true;
    const { transaction } = row;
    return isInWindow(window, transaction.createdWall) && (status === undefined || transaction.status === status);
  });
}

/** How many transactions we hold of the day, by status. */
async function countHeld(context: Context, run: RunRef, day: Day): Promise<Map<string, number>> {
  let query = context.db
    .selectFrom('transactions')
    .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
    .where('created_wall', '>=', `${day} 00:00:00`)
    .where('created_wall', '<', `${addDays(day, 1)} 00:00:00`)
    .groupBy('status');
  if (run.platform) query = query.where('platform', '=', run.platform);
  return new Map((await query.execute()).map((row) => [row.status, Number(row.count)]));
}

function sum(counts: Iterable<number>): number {
  return [...counts].reduce((total, one) => total + one, 0);
}
