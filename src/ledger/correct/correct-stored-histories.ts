/**
 * Corrects histories that earlier versions stored: ordered by time against the provider's order; with inferred events
 * beside real ones; or with entries dated before those of the events they follow. The migration lists them. Each is
 * corrected once, by new entries and a recorded correction, logged and audited. Facts that those versions did not store
 * (the real time of an inferred event, an order with events in between) come from the next show of the transaction.
 */
import { sql, type Transaction } from 'kysely';
import { audit } from '../../access/audit.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { Source } from '../../domain/observation.ts';
import { flagClosedDays, transactWithAlerts } from '../../mismatches/flag-closed-days.ts';
import { type LoadedTransaction, loadStoredTransactions } from '../apply/load-stored-transactions.ts';
import { writeDoubtedStatus } from '../apply/write-doubts.ts';
import { compareHistories, countCorrection, writeHistoryChange } from '../apply/write-history-change.ts';
import { writeTransactions } from '../apply/write-transactions.ts';
import { dateInferred, supersedeInferred } from '../decide/extend-history.ts';
import { type StoredEvent, sortHistory } from '../decide/sort-history.ts';
import { countUsedSequences, type StoredTransaction, summarizeHistory } from '../decide/stored-transaction.ts';
import { diffEntries } from '../journal/diff-entries.ts';
import { planCommission, planEntries } from '../journal/plan-entries.ts';
import { type Policies, readPolicies } from '../journal/read-policies.ts';
import { writeEntries } from '../journal/write-entries.ts';

const BATCH_ROWS = 100;
/** Interval between the shows of these transactions, so that an upgrade does not exhaust the provider's rate limit. */
const ASKED_APART_MS = 1_000;

export type CorrectedHistories = {
  /** Corrected by this call. */
  corrected: number;
  /** Scheduled to be fetched by the worker, since a fact was not stored. */
  asked: number;
};

/** Corrects all remaining histories. Each batch is committed by itself and can be repeated after a kill. */
export async function correctStoredHistories(context: Context): Promise<CorrectedHistories> {
  const total: CorrectedHistories = { corrected: 0, asked: 0 };
  for (;;) {
    context.signal.throwIfAborted();
    const rows = await readLeft(context.db);
    if (rows.length === 0) break;
    const outcomes = await transactWithAlerts(context, (trx) => correctBatch(context, trx, rows, total.asked));
    total.corrected += outcomes.filter((one) => one.isCorrected).length;
    total.asked += outcomes.filter((one) => one.isScheduled).length;
  }
  if (total.corrected + total.asked > 0) {
    context.log.warn(total, 'histories of an earlier version were corrected; the audit log names them');
    context.wakeUps.callbacks.notify();
  }
  return total;
}

/** Counts histories that are uncorrected, corrected, and awaiting the provider's answer. */
export async function countCorrectedHistories(
  db: Reader,
): Promise<{ left: number; corrected: number; waiting: number }> {
  const rows = await db
    .selectFrom('histories_to_mend')
    .leftJoin('doubted_statuses', 'doubted_statuses.transaction_seq', 'histories_to_mend.transaction_seq')
    .select([
      sql<number>`COALESCE(SUM(mended_at IS NULL), 0)`.as('left'),
      sql<number>`COALESCE(SUM(outcome = 'mended'), 0)`.as('corrected'),
      sql<number>`COALESCE(SUM(mended_at IS NOT NULL AND doubted_statuses.due_at IS NOT NULL), 0)`.as('waiting'),
    ])
    .executeTakeFirst();
  return {
    left: Number(rows?.left ?? 0),
    corrected: Number(rows?.corrected ?? 0),
    waiting: Number(rows?.waiting ?? 0),
  };
}

/** `outcome`: of an earlier correction. */
type Left = { seq: number; id: string; reason: string; outcome: string | null };

async function readLeft(db: Reader): Promise<Left[]> {
  return await db
    .selectFrom('histories_to_mend')
    .innerJoin('transactions', 'transactions.seq', 'histories_to_mend.transaction_seq')
    .select(['transactions.seq', 'transactions.id', 'histories_to_mend.reason', 'histories_to_mend.outcome'])
    .where('mended_at', 'is', null)
    .orderBy('histories_to_mend.transaction_seq')
    .limit(BATCH_ROWS)
    .execute();
}

type Outcome = { isCorrected: boolean; isScheduled: boolean };

/** Corrects a batch. @param asked how many shows were scheduled before this batch. */
async function correctBatch(
  context: Context,
  trx: Transaction<Database>,
  rows: Left[],
  asked: number,
): Promise<Outcome[]> {
  const ids = rows.map((row) => row.id);
  const loaded = await loadStoredTransactions(trx, ids);
  const policies = await readPolicies(context, trx);
  const sources = await readSources(
    trx,
    rows.map((row) => row.seq),
  );
  const outcomes: Outcome[] = [];
  for (const { id, seq, reason, outcome: outcomeBefore } of rows) {
    const one = loaded.get(id);
    const isCorrected = one !== undefined && (await correctOne(context, trx, one, { reason, policies, sources }));
    const isScheduled = reason !== 'skewed' && reason !== 'dated' && one?.statusDoubt === undefined;
    if (isScheduled) {
      const count = outcomes.filter((outcome) => outcome.isScheduled).length;
      await scheduleShow(context, trx, { id, seq }, (asked + count) * ASKED_APART_MS);
    }
    const outcome = isCorrected ? 'mended' : isScheduled ? 'asked' : (outcomeBefore ?? 'unchanged');
    await trx
      .updateTable('histories_to_mend')
      .set({ mended_at: context.clock.now(), outcome })
      .where('transaction_seq', '=', seq)
      .execute();
    outcomes.push({ isCorrected, isScheduled });
  }
  return outcomes;
}

type Known = { reason: string; policies: Policies; sources: Map<number, Source> };

/** Corrects one history. @returns whether anything was wrong with it. */
async function correctOne(
  context: Context,
  trx: Transaction<Database>,
  loaded: LoadedTransaction,
  { reason, policies, sources }: Known,
): Promise<boolean> {
  const now = context.clock.now();
  const { seq } = loaded;
  const ordered = reason === 'dated' ? loaded.stored.events : orderByTime(loaded.stored.events);
  const before = { ...loaded, stored: { ...loaded.stored, events: ordered } };
  const learnt = countUsedSequences(loaded.stored);
  const { added, ...dated } = dateInferred(
    { ...supersedeInferred(loaded.stored), added: [] as StoredEvent[] },
    loaded.stored.createdWall,
    learnt,
  );
  const history = compareHistories(before, dated);
  const after = countCorrection(dated, history);
  const desired = planEntries(after, after.events, policies.forPlatform(after.platform));
  const diff = diffEntries(desired, loaded.entries, (platform) => planCommission(after, platform));
  if (!history.isCorrection && diff.reverse.length + diff.post.length === 0 && !isStale(loaded, after)) {
    return false;
  }
  const source = sources.get(after.events.at(-1)?.seq ?? 0) ?? { kind: 'show' };
  const { forgotten } = loaded;
  const eventSources = new Map(after.events.flatMap((event) => pair(event, findSource(event, loaded.stored, sources))));
  await writeTransactions(
    context,
    trx,
    [{ loaded: before, after, added, source, sources: eventSources, forgotten }],
    now,
  );
  await writeEntries(context, trx, [{ transactionSeq: seq, source, sources: eventSources, ...diff }], now);
  await writeHistoryChange(context, trx, { loaded: before, after, source, history }, now);
  await flagClosedDays(context, trx, [...diff.reverse, ...diff.post, ...history.inForceChanged], now);
  const detail = JSON.stringify({
    status: { before: loaded.row.status, after: after.events.at(-1)?.status },
    gave_way: history.inForceChanged.map((event) => event.status),
    entries: { reversed: diff.reverse.length, posted: diff.post.length },
  });
  await audit(
    { db: trx, clock: context.clock },
    { actor: 'confere', action: 'history.mend', target: after.id, detail },
  );
  return true;
}

/** Whether the row's status differs from its history's. */
function isStale({ row }: LoadedTransaction, after: StoredTransaction): boolean {
  const state = summarizeHistory(after);
  return state?.status !== row.status || state.status_wall !== row.status_wall;
}

/** Returns the source of an event; a re-dated event has the source of the event it replaces. */
function findSource(
  event: StoredEvent,
  { events }: StoredTransaction,
  sources: Map<number, Source>,
): Source | undefined {
  const of = event.seq === undefined ? events.find((one) => one.inferred && one.status === event.status) : event;
  return of?.seq === undefined ? undefined : sources.get(of.seq);
}

function pair(event: StoredEvent, source: Source | undefined): [StoredEvent, Source][] {
  return source ? [[event, source]] : [];
}

/** Returns the events in the order in which earlier versions stored a history. */
function orderByTime(events: StoredEvent[]): StoredEvent[] {
  const real = events.filter((event) => !event.inferred);
  real.sort((a, b) => (a.atWall < b.atWall ? -1 : a.atWall > b.atWall ? 1 : a.position - b.position));
  const placed = new Map(real.map((event, position) => [event, { ...event, position }]));
  const ordered = sortHistory(events.map((event) => placed.get(event) ?? event));
  return ordered.map((one) => events.find((event) => event.seq === one.seq) ?? one);
}

/** Returns the source of each event by its row number. */
async function readSources(trx: Transaction<Database>, transactionSeqs: number[]): Promise<Map<number, Source>> {
  const rows = await trx
    .selectFrom('events')
    .select(['seq', 'source_kind', 'source_webhook_seq', 'source_run_seq', 'source_page'])
    .where('transaction_seq', 'in', transactionSeqs)
    .execute();
  return new Map(rows.map((row) => [row.seq, toSource(row)]));
}

function toSource(row: {
  source_kind: string;
  source_webhook_seq: number | null;
  source_run_seq: number | null;
  source_page: number | null;
}): Source {
  if (row.source_kind === 'webhook')
    return {
      kind: 'webhook',
      webhook: { seq: requireRowNumber(row.source_webhook_seq, 'the webhook of an event'), id: '' },
    };
  if (row.source_run_seq === null) return { kind: 'show' };
  const run = { seq: row.source_run_seq, id: '' };
  return row.source_kind === 'list' ? { kind: 'list', run, page: row.source_page ?? 0 } : { kind: 'show', run };
}

/**
 * Schedules a show. The next observation is applied in full, even if it equals the last; if none comes, a show
 * is made.
 */
async function scheduleShow(
  context: Context,
  trx: Transaction<Database>,
  transaction: { id: string; seq: number },
  afterMs: number,
): Promise<void> {
  const now = context.clock.now();
  const doubt = { noticedAt: now, shownWithoutAt: null, isReported: false };
  await writeDoubtedStatus(trx, transaction, doubt, new Date(now.getTime() + afterMs));
}
