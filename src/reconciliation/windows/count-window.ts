/**
 * Proves a settled day by counts. It sends one request for the day and one for each status that the ledger has there.
 * If the day's total and the totals of its statuses equal the ledger's, and add up, the provider lists nothing else.
 *
 * The first pages that carry the totals are applied like any page: they correct small statuses before the counts are
 * compared. Counts that do not add up prove nothing, and the day is read whole. Counts
 * can hide a swap: days are read whole at longer intervals regardless.
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
import type { RunHow, RunRef, WindowRef, WindowResult } from './run-ref.ts';
import { createEvidenceWriter } from './store-pages.ts';

/** Evidence of a count has this pass number; passes of a reading begin at 1. */
const COUNT_PASS = 0;
const COUNTING: RunHow[] = ['count', 'open'];

/**
 * `result`: undefined where counts can't be used, or do not add up. `rows`: how many rows the pages held.
 * @throws LeaseLost; then nothing more is applied.
 */
export async function countWindow(
  context: Context,
  client: ProviderClient,
  run: RunRef,
  window: WindowRef,
  { checkLease }: Pick<ReadOptions, 'checkLease'>,
): Promise<{ result: WindowResult | undefined; rows: number }> {
  const bounds = await readBounds(context);
  const today = context.calendar.dayOf(context.clock.now());
  if (!bounds || !COUNTING.includes(run.how) || !isSettled(window, today)) return { result: undefined, rows: 0 };
  const query: ListQuery = { ...toQueryDates(window, bounds), ...(run.platform ? { platform: run.platform } : {}) };
  const storeEvidence = createEvidenceWriter(context, run, window, 'count');
  const [seen, unreadable] = [new Set<string>(), new Set<string>()];
  const countApplied = createAppliedCounter(context, window);
  const askedAt = context.clock.now();
  let [pages, rows] = [0, 0];
  const fetchAndApplyPage: FetchPage = async (status) => {
    const page = await fetchFirstPage(client, { ...query, ...(status === undefined ? {} : { status }) });
    if (!page) return undefined;
    checkLease();
    pages++;
    rows += page.rows.length;
    await countApplied(await applyPage(context, run, window, page, unreadable));
    for (const row of page.rows)
      if (row.ok && isInWindow(window, row.transaction.createdWall)) seen.add(row.transaction.id);
    await storeEvidence({ ...page, pass: COUNT_PASS, ...(status === undefined ? {} : { status }) });
    return page;
  };
  const compared = await compareCounts(window, fetchAndApplyPage, () => countStored(context, run, window.fromDay));
  const readable = seen.difference(unreadable);
  await resolveSeenMismatches(context, { readable, listed: new Set(), askedAt });
  if (typeof compared === 'string') {
    const details = { run: run.id, day: window.fromDay, reason: compared };
    context.log.info(details, 'the counts of a day prove nothing; reading it whole');
    return { result: undefined, rows };
  }
  const result = { state: 'counted' as const, reason: undefined, passes: 0, pages, surplus: 0, askedAt };
  return { result: { ...result, total: compared.total, seen: seen.size }, rows };
}

/** A single day that ended before yesterday began: yesterday's payments still change. */
function isSettled(window: WindowRef, today: Day): boolean {
  return window.fromDay === window.toDay && window.toDay < addDays(today, -1);
}

/** @returns undefined where the provider rejects the filter: it can't be counted by it. */
async function fetchFirstPage(client: ProviderClient, query: ListQuery): Promise<ListPage | undefined> {
  try {
    return await client.listPage(query, 1);
  } catch (error) {
    const isRejected =
      error instanceof ProviderError && ['provider_not_found', 'provider_rejected'].includes(error.code);
    if (isRejected) return undefined;
    throw error;
  }
}

/** Requests, applies and records the first page of a status, or of the whole day. */
type FetchPage = (status?: string) => Promise<ListPage | undefined>;

/** @returns the day's total where the counts prove it; else why they do not. */
async function compareCounts(
  window: WindowRef,
  fetchPage: FetchPage,
  readStored: () => Promise<Map<string, number>>,
): Promise<{ total: number } | string> {
  const day = await fetchPage();
  if (!day || !holdsOnly(day, window)) return 'the list can not be filtered by the day alone';
  const before = await readStored();
  if (sum(before.values()) !== day.total)
    return `the provider counts ${day.total}, the ledger has ${sum(before.values())}`;
  const totals = new Map<string, number>();
  const statuses = [...before.keys(), ...chooseProbe(before)];
  const answers = await Promise.all(statuses.map(async (status) => ({ status, page: await fetchPage(status) })));
  for (const { status, page } of answers) {
    const trusted = page && holdsOnly(page, window, status);
    if (!trusted) return `the list can not be filtered by ${isKnownStatus(status) ? status : 'an unknown status'}`;
    totals.set(status, page.total);
  }
  const after = await readStored();
  if (sum(totals.values()) !== day.total) return `the statuses' counts add up to ${sum(totals.values())}`;
  const differing = [...new Set([...totals.keys(), ...after.keys()])].filter(
    (status) => (totals.get(status) ?? 0) !== (after.get(status) ?? 0),
  );
  return differing.length > 0 ? `${differing.length} statuses' counts differ` : { total: day.total };
}

/** Adds a second status where the day has one alone: a server that ignores the filter would answer the whole day. */
function chooseProbe(stored: Map<string, number>): string[] {
  if (stored.size !== 1) return [];
  const other = STATUSES.find((status) => !stored.has(status));
  return other === undefined ? [] : [other];
}

function holdsOnly(page: ListPage, window: WindowRef, status?: string): boolean {
  return page.rows.every((row) => {
    if (!row.ok) return true;
    const { transaction } = row;
    return isInWindow(window, transaction.createdWall) && (status === undefined || transaction.status === status);
  });
}

/** How many transactions of the day the ledger has, by status. */
async function countStored(context: Context, run: RunRef, day: Day): Promise<Map<string, number>> {
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
