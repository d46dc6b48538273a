/**
 * The one writer of what is observed. It turns observations into transactions, events, journal entries, callbacks and
 * mismatches, all in one database transaction. Start reading the ledger here.
 *
 * In: any number of observations, each with the database clock at which its request was sent (`askedAt`). Out: the ids
 * of the transactions that changed, and the mismatches that were opened.
 *
 * Guarantees:
 * - Convergence: the same observations, in any order, repeated, from any number of processes, end in the same events
 *   and the same net postings.
 * - Atomicity: an observation that is reported as applied is committed together with everything it causes.
 * - Isolation: a row that the database refuses is stored raw by itself; the rest of the batch is committed.
 *
 * The steps of `applyInTransaction`: lock and load the transactions; fold the observations into one change each
 * (decide/, pure); write facts and events; diff the journal against the history and append entries (journal/); enqueue
 * callbacks; raise and resolve mismatches. Statements that need no result of each other go to the server together.
 */

import type { Transaction } from 'kysely';
import type { CallbackCause, Recipient } from '../../callbacks/queue/callback-rows.ts';
import { type InsertClaims, openInsertClaims } from '../../callbacks/queue/claim-with-insert.ts';
import { type EnqueuedCallback, enqueueCallbacks } from '../../callbacks/queue/enqueue-callbacks.ts';
import { readRecipients } from '../../callbacks/queue/read-recipients.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { runTogether } from '../../database/run-together.ts';
import { leaveExpectedWork } from '../../database/shared/leave-expected-work.ts';
import type { Database } from '../../database/tables.ts';
import { isDataError, transact } from '../../database/transact.ts';
import { append } from '../../domain/lists.ts';
import type { FoundMismatch } from '../../domain/mismatch.ts';
import type { Observation } from '../../domain/observation.ts';
import { findNamedPeople, redactObservations } from '../../privacy/redact-observations.ts';
import { bisect } from '../../runtime/bisect.ts';
import { diffEntries } from '../journal/diff-entries.ts';
import { planCommission, planEntries } from '../journal/plan-entries.ts';
import { type Policies, readPolicies } from '../journal/read-policies.ts';
import { type JournalChange, writeEntries } from '../journal/write-entries.ts';
import { compareReferences } from './compare-references.ts';
import { dropUnchanged, keepChanged } from './drop-unchanged.ts';
import { foldObservations, type TransactionChange } from './fold-observations.ts';
import { listCallbackCauses } from './list-callback-causes.ts';
import { loadStoredTransactions } from './load-stored-transactions.ts';
import { reportApplied } from './report-applied.ts';
import { findJsonExtras, storeRefusedObservation, storeUnreadableRows } from './store-refused-rows.ts';
import { updateMismatches } from './update-mismatches.ts';
import { compareHistories, countCorrection, type HistoryChange, writeHistoryChange } from './write-history-change.ts';
import { numberTransactions, writeTransactions } from './write-transactions.ts';

export type ApplyResult = {
  /** Ids of transactions that are new or changed. */
  changed: string[];
  /** Mismatches that these observations opened. */
  raised: FoundMismatch[];
  enqueued: EnqueuedCallback[];
};

/** `hasUnclaimed`: whether there are callbacks that the delivery loop still has to claim. */
type Applied = ApplyResult & { hasUnclaimed: boolean };

type Changed = TransactionChange & { history: HistoryChange };

/** Rows that belong to observations and are committed with them, both or neither. Opened for each attempt of a transaction. */
export type Companion = {
  /** Locks its rows. Sent once the payments are locked: all writers take them in this order. */
  lock(trx: Transaction<Database>): Promise<void>;
  /** Writes its rows. Sent with the last of the ledger's own. */
  write(trx: Transaction<Database>): Promise<void>;
  /** Called after the commit. */
  committed(): void;
};

type OpenCompanion = (observations: Observation[]) => Companion;

const BATCH_MAX = 200;

/**
 * Applies observations: any number, of any transactions.
 * @param openCompanion what belongs to these of them. It is not committed with a row that the database refuses.
 */
export async function applyObservations(
  context: Context,
  observations: Observation[],
  openCompanion?: OpenCompanion,
): Promise<ApplyResult> {
  const { hasUnclaimed, ...applied } = await applyBatches(context, observations, openCompanion);
  if (hasUnclaimed) context.wakeUps.callbacks.notify();
  if (applied.raised.length > 0) context.wakeUps.alerts.notify();
  return applied;
}

async function applyBatches(
  context: Context,
  observations: Observation[],
  openCompanion: OpenCompanion | undefined,
): Promise<Applied> {
  const applied = createResult();
  for (let start = 0; start < observations.length; start += BATCH_MAX) {
    const startMs = Date.now();
    const given = observations.slice(start, start + BATCH_MAX);
    // what a webhook has fetched is nearly always news: the rest is dropped under the lock
    const isNews = given.every(({ source }) => source.kind === 'webhook');
    const batch = isNews ? given : await dropUnchanged(context, given);
    const result = batch.length > 0 ? await applyBatch(context, batch, openCompanion) : createResult();
    reportApplied(context, given, result, startMs);
    add(applied, result);
  }
  return applied;
}

async function applyBatch(
  context: Context,
  batch: Observation[],
  openCompanion: OpenCompanion | undefined,
): Promise<Applied> {
  // finds the refused row of a page in a few attempts, and commits the others
  const parts = await bisect(batch, async (some) => [await applyTogether(context, some, openCompanion)], {
    isSplittable: isDataError,
    toResult: async (error, only) =>
      // what belongs to it may be what was refused
      openCompanion
        ? await applyBatch(context, [only], undefined)
        : { ...createResult(), raised: await storeRefusedObservation(context, only, error) },
  });
  return parts.reduce((applied, part) => add(applied, part));
}

/** Applies all in one transaction, and passes the callbacks that it claimed to the delivery loop. */
async function applyTogether(
  context: Context,
  batch: Observation[],
  openCompanion: OpenCompanion | undefined,
): Promise<Applied> {
  using claims = openInsertClaims(context);
  let companion: Companion | undefined;
  const work = (trx: Transaction<Database>): Promise<Applied> => {
    claims?.restart();
    companion = openCompanion?.(batch);
    return applyInTransaction(context, trx, batch, { claims, companion });
  };
  const applied = await transact(context.ledgerDb, work, { retryDuplicates: true });
  companion?.committed();
  await claims?.handOver();
  return applied;
}

async function applyInTransaction(
  context: Context,
  trx: Transaction<Database>,
  given: Observation[],
  { claims, companion }: { claims: InsertClaims | undefined; companion: Companion | undefined },
): Promise<Applied> {
  const now = context.clock.now();
  const ids = [...new Set(given.map((one) => one.transaction.id))];
  const [loaded, policies, named] = await runTogether(trx, [
    (together) => loadStoredTransactions(together, ids),
    // sent after the statement that locks the stored rows: stating an opening, or forgetting a person, waits for these
    // locks, and then corrects what this writes. New rows have no lock: forgetting waits for their writers by itself
    (together) => readPolicies(context, together),
    (together) => findNamedPeople(context.keys, together, given),
  ]);
  const digests = [...loaded.values()].map(
    ({ stored, isAwaited }) => [stored.id, isAwaited ? null : stored.digest] as const,
  );
  const batch = keepChanged(context.keys, given, new Map(digests));
  if (batch.length === 0) {
    await companion?.lock(trx);
    await companion?.write(trx);
    return createResult();
  }
  const { batch: shown, people, extras } = await redactObservations(context.keys, trx, batch, { loaded, named });
  const changes = foldObservations(shown, loaded).map(withHistory);
  const writes = changes.map((change) => ({
    ...change,
    forgotten: people.get(change.after.id),
    isReordered: change.history.repositioned.length > 0,
  }));
  const seqs = await numberTransactions(context, trx, writes, now);
  const [, recipients, references, jsonExtras] = await runTogether(trx, [
    (together) => writeTransactions(context, together, { changes: writes, seqs }, now),
    (together) => readRecipients(together),
    (together) =>
      compareReferences(
        context,
        together,
        changes.map((change) => ({ ...change, before: change.loaded?.stored })),
      ),
    (together) => findJsonExtras(together, batch),
    (together) => leaveExpectedWork(together, policies.expectsPayments ? listChanged(changes, seqs) : [], now),
    async (together) => companion?.lock(together),
  ]);
  const diffs = changes.map((change) => diffTransaction(change, seqs, policies));
  const causes = changes.flatMap((change) => listCallbackCauses(context, change, { seqs, extras }));
  const [, , , enqueued, raised] = await runTogether(trx, [
    (together) => writeEntries(context, together, diffs, now),
    (together) => storeUnreadableRows(context, together, batch, now),
    async (together) => companion?.write(together),
    (together) => notifyMerchants(context, together, changes, { causes, recipients, claims, now }),
    (together) =>
      updateMismatches(context, together, changes, {
        seqs,
        diffs,
        references,
        found: jsonExtras,
        now,
      }),
  ]);
  const hasUnclaimed =
    enqueued.length > (claims?.count() ?? 0) || changes.some((change) => change.history.isCorrection);
  const changed = changes.filter((change) => change.isChanged).map((change) => change.after.id);
  return { changed, raised, enqueued, hasUnclaimed };
}

/** Writes the callbacks of new events, and then those of corrections beside what they correct. */
async function notifyMerchants(
  context: Context,
  trx: Transaction<Database>,
  changes: Changed[],
  given: { causes: CallbackCause[]; recipients: Recipient[]; claims: InsertClaims | undefined; now: Date },
): Promise<EnqueuedCallback[]> {
  const { causes, recipients, claims, now } = given;
  const enqueued = await enqueueCallbacks(context, trx, { causes, recipients }, claims);
  for (const change of changes) await writeHistoryChange(context, trx, change, now);
  return enqueued;
}

/** Work for the follower of expected payments: a new party can match too. */
function listChanged(changes: Changed[], seqs: Map<string, number>): { transaction_seq: number }[] {
  return changes.flatMap(({ after }) => ({ transaction_seq: requireRowNumber(seqs.get(after.id), after.id) }));
}

function diffTransaction(change: TransactionChange, seqs: Map<string, number>, policies: Policies): JournalChange {
  const { after } = change;
  const desired = planEntries(after, after.events, policies.forPlatform(after.platform));
  const { reverse, post } = diffEntries(desired, change.loaded?.entries ?? [], (platform) =>
    planCommission(after, platform),
  );
  return {
    transactionSeq: requireRowNumber(seqs.get(after.id), `transaction ${after.id}`),
    source: change.source,
    sources: change.sources,
    reverse,
    post,
  };
}

/** Adds how a change affects events that were known before. */
function withHistory(change: TransactionChange): Changed {
  const history = compareHistories(change.loaded, change.after);
  return { ...change, history, after: countCorrection(change.after, history) };
}

function createResult(): Applied {
  return { changed: [], raised: [], enqueued: [], hasUnclaimed: false };
}

function add(applied: Applied, more: Applied): Applied {
  append(applied.changed, more.changed);
  append(applied.raised, more.raised);
  append(applied.enqueued, more.enqueued);
  applied.hasUnclaimed ||= more.hasUnclaimed;
  return applied;
}
