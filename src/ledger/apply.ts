/**
 * THE writer of the ledger. Observations go in, and in one database transaction come out: transactions, events, the
 * entries that the histories ask for, the callbacks that merchants are owed and the mismatches that were found.
 *
 * What it guarantees: the same observations in any order, with any repeats, from any number of processes, end in the
 * same events and the same net postings; whatever is answered as applied is committed with everything it caused; one
 * row that the database refuses falls out alone, is kept raw, and the rest lands. What the caller must do: give each
 * observation the database's clock of when its request was sent.
 */
import type { Transaction } from 'kysely';
import { type CallbackCause, enqueueCallbacks } from '../callbacks/enqueue.ts';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { FoundMismatch, MismatchKind } from '../domain/mismatch.ts';
import type { Observation, Source } from '../domain/observation.ts';
import { isFinal } from '../domain/statuses.ts';
import { type Decision, decide, type HeldEvent, type HeldTransaction } from './decide.ts';
import { findDuplicateReferences } from './find-duplicate-references.ts';
import { type Loaded, loadHeld } from './load-held.ts';
import { mendJournal } from './mend-journal.ts';
import { raiseMismatches, resolveMismatches } from './mismatches.ts';
import { oweWebhooks } from './owe-webhooks.ts';
import { charge, listDesiredEntries } from './post.ts';
import { type Policies, readPolicies } from './read-policies.ts';
import { isRefusedByDatabase, refuseRow } from './refuse-row.ts';
import { writeEntries } from './write-entries.ts';
import { writeTransactions } from './write-transactions.ts';

export type Applied = {
  /** Ids of transactions that are new or changed. */
  changed: string[];
  /** Mismatches that these observations opened. */
  raised: FoundMismatch[];
};

const BATCH_MAX = 200;

/** Applies observations: any number, of any transactions. */
export async function applyObservations(context: Context, observations: Observation[]): Promise<Applied> {
  const applied: Applied = { changed: [], raised: [] };
  for (let start = 0; start < observations.length; start += BATCH_MAX) {
    const batch = await dropUnchanged(context, observations.slice(start, start + BATCH_MAX));
    if (batch.length > 0) add(applied, await applyBatch(context, batch));
  }
  if (applied.changed.length > 0) context.bells.callbacks.ring();
  if (applied.raised.length > 0) context.bells.alerts.ring();
  return applied;
}

/** Most looks bring nothing new: an equal digest is an equal answer, and is told without a lock. */
async function dropUnchanged(context: Context, observations: Observation[]): Promise<Observation[]> {
  const rows = await context.db
    .selectFrom('transactions')
    .select(['id', 'digest'])
    .where(
      'id',
      'in',
      observations.map((one) => one.transaction.id),
    )
    .execute();
  const digests = new Map(rows.map((row) => [row.id, row.digest]));
  return observations.filter((one) => !digests.get(one.transaction.id)?.equals(one.digest));
}

async function applyBatch(context: Context, batch: Observation[]): Promise<Applied> {
  try {
    return await transact(context.db, (trx) => applyInTransaction(context, trx, batch), { retryDuplicates: true });
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
    const [only] = batch;
    if (batch.length === 1 && only) return { changed: [], raised: await refuseRow(context, only, error) };
    // halves, so that the one poisoned row of a page is found in a few tries and the others land
    const middle = Math.ceil(batch.length / 2);
    const applied = await applyBatch(context, batch.slice(0, middle));
    return add(applied, await applyBatch(context, batch.slice(middle)));
  }
}

type Change = {
  loaded: Loaded | undefined;
  held: HeldTransaction;
  added: HeldEvent[];
  source: Source;
  changed: boolean;
  decisions: Decision[];
};

async function applyInTransaction(
  context: Context,
  trx: Transaction<Database>,
  batch: Observation[],
): Promise<Applied> {
  const now = context.clock.now();
  const loaded = await loadHeld(trx, [...new Set(batch.map((one) => one.transaction.id))]);
  // read after the rows are locked: an opening that is stated meanwhile waits for them, and reposts what we post
  const policies = await readPolicies(context, trx);
  const changes = foldObservations(batch, loaded);
  const seqs = await writeTransactions(
    trx,
    changes.map((change) => ({ ...change, seq: change.loaded?.seq })),
    now,
  );
  await writeEntries(
    context,
    trx,
    changes.map((change) => mendOne(change, seqs, policies)),
    now,
  );
  await enqueueCallbacks(
    context,
    trx,
    changes.flatMap((change) => listCauses(context, change, seqs)),
  );
  await oweWebhooks(
    context,
    trx,
    changes.map((change) => ({ ...change, seq: seqs.get(change.held.id) ?? 0 })),
    now,
  );
  const found = [
    ...changes.flatMap((change) => listFound(context, change, seqs.get(change.held.id) ?? 0)),
    ...(await findDuplicateReferences(context, trx, changes)),
  ];
  const raised = await raiseMismatches(trx, found, now);
  const over = changes.flatMap((change) => listOver(change));
  await resolveMismatches(trx, over, 'fresh_evidence', now);
  return { changed: changes.filter((change) => change.changed).map((change) => change.held.id), raised };
}

/** Several looks at one transaction in a batch are taken one after another. */
function foldObservations(batch: Observation[], loaded: Map<string, Loaded>): Change[] {
  const changes = new Map<string, Change>();
  for (const { transaction, askedAt, digest, source } of batch) {
    const before = changes.get(transaction.id);
    const decision = decide(before?.held ?? loaded.get(transaction.id)?.held, { transaction, askedAt, digest });
    changes.set(transaction.id, {
      loaded: loaded.get(transaction.id),
      held: decision.held,
      added: [...(before?.added ?? []), ...decision.added],
      source,
      changed: decision.changed || (before?.changed ?? false),
      decisions: [...(before?.decisions ?? []), decision],
    });
  }
  return [...changes.values()];
}

function mendOne(change: Change, seqs: Map<string, number>, policies: Policies) {
  const { held } = change;
  const desired = listDesiredEntries(held, held.events, policies.of(held.platform));
  const { reverse, post } = mendJournal(desired, change.loaded?.entries ?? [], (platform) => charge(held, platform));
  return { transactionSeq: seqs.get(held.id) ?? 0, source: change.source, reverse, post };
}

function listCauses(context: Context, change: Change, seqs: Map<string, number>): CallbackCause[] {
  const { held } = change;
  return change.added.map((event) => ({
    transaction: {
      seq: seqs.get(held.id) ?? 0,
      id: held.id,
      operation: held.operation,
      reference: held.reference,
      extra: held.extra,
      platform: held.platform,
    },
    event: {
      seq: event.seq ?? 0,
      status: event.status,
      at: context.calendar.toInstant(event.atWall),
      atWall: event.atWall,
      occurrence: event.occurrence,
      sequence: event.sequence,
    },
    previousStatus: held.events[held.events.indexOf(event) - 1]?.status ?? null,
    source: change.source.kind === 'webhook' ? 'webhook' : 'reconciliation',
  }));
}

function listFound(context: Context, change: Change, seq: number): FoundMismatch[] {
  const { held, source } = change;
  const createdAt = context.calendar.toInstant(held.createdWall);
  return change.decisions
    .flatMap((decision) => decision.found)
    .map((difference) => ({
      ...difference,
      scope: held.id,
      transactionSeq: seq,
      transactionId: held.id,
      reference: held.reference,
      amountCents: held.amountCents,
      baseline: createdAt < context.webhooksSince,
      ...(source.kind === 'webhook' ? { webhookSeq: source.webhook.seq } : {}),
      ...(source.kind !== 'webhook' && source.run ? { runSeq: source.run.seq } : {}),
    }));
}

/** What this look shows to be over: fresh evidence, whatever the mismatch was opened by. */
function listOver(change: Change): { kind: MismatchKind; scope: string }[] {
  const { held, decisions, added } = change;
  const last = decisions.at(-1);
  const found = new Set(last?.found.map((difference) => difference.kind));
  const status = held.events.at(-1)?.status ?? '';
  const kinds: MismatchKind[] = [...(last?.over ?? []), 'row_refused', 'missing_at_provider'];
  if (isFinal(status)) kinds.push('stuck');
  return [
    ...kinds.filter((kind) => !found.has(kind)).map((kind) => ({ kind, scope: held.id })),
    ...added.map((event) => ({ kind: 'webhook_contradiction' as const, scope: `${held.id} ${event.status}` })),
  ];
}

function add(applied: Applied, more: Applied): Applied {
  applied.changed.push(...more.changed);
  applied.raised.push(...more.raised);
  return applied;
}
