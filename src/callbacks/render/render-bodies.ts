import type { Context } from '../../context.ts';
import { compileOnce } from '../../database/compile-once.ts';
import { selectTransactions, toLedgerTransaction } from '../../database/shared/read-transactions.ts';
import { seqsOf } from '../../domain/lists.ts';
import type { CorrectedFacts } from '../../domain/observation.ts';
import { type LedgerTransaction, presentTransaction } from '../../domain/present-transaction.ts';
import { EXPECTED_SOURCE, MANIFEST_SOURCE, TEST_SOURCE } from '../health/callback-sources.ts';
import { renderExamples } from './render-examples.ts';
import { renderExpected } from './render-expected.ts';
import { renderManifests } from './render-manifests.ts';
import { type Renderable, type RenderableRow, TEST_TYPE, toRenderable } from './renderable.ts';

type Event = { seq: number; status: string; atWall: string; sequence: number; transaction: LedgerTransaction };

/**
 * Renders the bodies of callbacks from the current ledger. So personal data is stored in one place only, and a late
 * attempt has the current status.
 * @returns bodies by the callback's row number, the same object for all merchants of an event; none for an unknown event.
 */
export async function renderBodies(context: Context, callbacks: Renderable[]): Promise<Map<number, object>> {
  const ofSource = (source: string) => callbacks.filter((callback) => callback.source === source);
  const [manifests, expected] = [ofSource(MANIFEST_SOURCE), ofSource(EXPECTED_SOURCE)];
  const bodies = new Map([
    ...(await renderManifests(context, seqsOf(manifests))),
    ...(await renderExpected(context.db, expected)),
    ...(await renderExamples(context, callbacks.filter(isExample), (rows) => renderRows(context, rows))),
  ]);
  const others = callbacks.filter(
    (one) => one.source !== MANIFEST_SOURCE && one.source !== EXPECTED_SOURCE && !isExample(one),
  );
  const events = await readEvents(context, listSeqs(others, 'eventSeq'));
  const corrections = await readCorrections(
    context,
    others.filter((callback) => callback.eventSeq === null),
  );
  // an event for many merchants is rendered once
  const rendered = new Map<string, object>();
  for (const callback of others) {
    if (callback.transactionSeq === null) {
      bodies.set(callback.seq, renderTest(context, callback));
      continue;
    }
    const correction =
      callback.eventSeq === null ? corrections.get(`${callback.transactionSeq} ${callback.sequence}`) : undefined;
    if (correction) {
      bodies.set(callback.seq, renderCorrection(context, callback, correction));
      continue;
    }
    const event = callback.eventSeq === null ? undefined : events.get(callback.eventSeq);
    if (!event) continue;
    const key = `${event.seq} ${callback.type} ${callback.previousStatus} ${callback.source}`;
    const body = rendered.get(key) ?? renderEvent(context, callback, event);
    rendered.set(key, body);
    bodies.set(callback.seq, body);
  }
  return bodies;
}

/** Renders the bodies of stored callbacks as they would be sent now. @returns bodies by the callback's row number. */
export async function renderRows(context: Context, rows: RenderableRow[]): Promise<Map<number, object>> {
  return await renderBodies(context, rows.map(toRenderable));
}

function isExample({ source, type }: Renderable): boolean {
  return source === TEST_SOURCE && type !== TEST_TYPE;
}

function renderEvent(context: Context, callback: Renderable, { transaction, ...event }: Event): object {
  const at = context.calendar.toIso(event.atWall);
  return {
    type: callback.type,
    timestamp: at,
    data: {
      transaction: {
        ...presentTransaction(transaction, context.calendar),
        status: event.status,
        status_at: at,
        sequence: event.sequence,
        current_status: transaction.status,
      },
      previous_status: callback.previousStatus,
      source: callback.source,
    },
  };
}

type Correction = { at: Date; before: CorrectedFacts; after: CorrectedFacts; transaction: LedgerTransaction };

/** `before` and `after` are as of the correction; later changes do not alter them. */
function renderCorrection(
  context: Context,
  callback: Renderable,
  { at, before, after, transaction }: Correction,
): object {
  return {
    type: callback.type,
    timestamp: at.toISOString(),
    data: {
      transaction: {
        ...presentTransaction(transaction, context.calendar),
        status: after.status,
        status_at: after.status_at,
        sequence: callback.sequence,
        current_status: transaction.status,
      },
      previous_status: callback.previousStatus,
      source: callback.source,
      before,
      after,
    },
  };
}

async function readCorrections(context: Context, callbacks: Renderable[]): Promise<Map<string, Correction>> {
  const seqs = listSeqs(callbacks, 'transactionSeq');
  if (seqs.length === 0) return new Map();
  const rows = await selectTransactions(context.db)
    .innerJoin('corrections', 'corrections.transaction_seq', 'transactions.seq')
    .select(['corrections.sequence as corrected_sequence', 'before_facts', 'after_facts', 'created_at'])
    .where('transactions.seq', 'in', seqs)
    .execute();
  return new Map(
    rows.map((row) => [
      `${row.seq} ${row.corrected_sequence}`,
      {
        at: row.created_at,
        before: JSON.parse(row.before_facts) as CorrectedFacts,
        after: JSON.parse(row.after_facts) as CorrectedFacts,
        transaction: toLedgerTransaction(row),
      },
    ]),
  );
}

function renderTest({ calendar }: Context, callback: Renderable): object {
  return {
    type: TEST_TYPE,
    timestamp: calendar.toIso(calendar.toWallTime(callback.createdAt)),
    test: true,
    data: { message: 'A test. Nothing was paid.' },
  };
}

function listSeqs(callbacks: Renderable[], field: 'transactionSeq' | 'eventSeq'): number[] {
  return [...new Set(callbacks.map((callback) => callback[field]))].filter((seq) => seq !== null);
}

/** Events with their transactions, in one query: this runs thousands of times a second. */
async function readEvents(context: Context, seqs: number[]): Promise<Map<number, Event>> {
  if (seqs.length === 0) return new Map();
  const { rows } = await selectEvents(context.db, { seqs });
  return new Map(
    rows.map((row) => [
      row.event_seq,
      {
        ...{ seq: row.event_seq, status: row.event_status, atWall: row.at_wall, sequence: row.event_sequence },
        transaction: toLedgerTransaction(row),
      },
    ]),
  );
}

const selectEvents = compileOnce((db, { seqs }: { seqs: number[] }) =>
  selectTransactions(db)
    .innerJoin('events', 'events.transaction_seq', 'transactions.seq')
    .select(['events.seq as event_seq', 'events.status as event_status', 'events.at_wall'])
    .select('events.sequence as event_sequence')
    .where('events.seq', 'in', seqs),
);
