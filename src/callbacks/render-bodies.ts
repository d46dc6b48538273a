import type { Context } from '../context.ts';
import { selectTransactions, toLedgerTransaction } from '../database/read-transactions.ts';
import type { CorrectedFacts } from '../domain/corrected-facts.ts';
import { type LedgerTransaction, presentTransaction } from '../domain/present-transaction.ts';

export const TEST_TYPE = 'confere.test';

export type Renderable = {
  seq: number;
  transactionSeq: number | null;
  /** Null: of a correction, which is told by its sequence. */
  eventSeq: number | null;
  sequence: number;
  type: string;
  previousStatus: string | null;
  source: string;
  createdAt: Date;
};

type EventFacts = { seq: number; status: string; at_wall: string; sequence: number };

/**
 * The bodies of callbacks, from the ledger as it is now: personal data stands in one place only, and a late attempt
 * tells the current status.
 * @returns each body by the callback's seq, the same object for all merchants of an event; none for an event that the ledger does not hold.
 */
export async function renderBodies(context: Context, callbacks: Renderable[]): Promise<Map<number, object>> {
  const corrected = callbacks.filter((callback) => callback.eventSeq === null);
  const [transactions, events, corrections] = await Promise.all([
    readTransactions(context, listSeqs(callbacks, 'transactionSeq')),
    readEvents(context, listSeqs(callbacks, 'eventSeq')),
    readCorrections(context, corrected),
  ]);
  const bodies = new Map<number, object>();
  // an event that goes to many merchants is rendered once
  const rendered = new Map<string, object>();
  for (const callback of callbacks) {
    if (callback.transactionSeq === null) {
      bodies.set(callback.seq, renderTest(callback));
      continue;
    }
    const transaction = transactions.get(callback.transactionSeq);
    const correction =
      callback.eventSeq === null ? corrections.get(`${callback.transactionSeq} ${callback.sequence}`) : undefined;
    if (transaction && correction) {
      bodies.set(callback.seq, renderCorrection(context, callback, transaction, correction));
      continue;
    }
    const event = callback.eventSeq === null ? undefined : events.get(callback.eventSeq);
    if (!transaction || !event) continue;
    const key = `${event.seq} ${callback.type} ${callback.previousStatus} ${callback.source}`;
    const body = rendered.get(key) ?? renderEvent(context, callback, transaction, event);
    rendered.set(key, body);
    bodies.set(callback.seq, body);
  }
  return bodies;
}

function renderEvent(
  context: Context,
  callback: Renderable,
  transaction: LedgerTransaction,
  event: EventFacts,
): object {
  const at = context.calendar.toIso(event.at_wall);
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

type Correction = { at: Date; before: CorrectedFacts; after: CorrectedFacts };

/** What the transaction was and what it is: both as of the correction, whatever came after. */
function renderCorrection(
  context: Context,
  callback: Renderable,
  transaction: LedgerTransaction,
  { at, before, after }: Correction,
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
  const rows = await context.db
    .selectFrom('corrections')
    .select(['transaction_seq', 'sequence', 'before_facts', 'after_facts', 'created_at'])
    .where('transaction_seq', 'in', seqs)
    .execute();
  return new Map(
    rows.map((row) => [
      `${row.transaction_seq} ${row.sequence}`,
      {
        at: row.created_at,
        before: JSON.parse(row.before_facts) as CorrectedFacts,
        after: JSON.parse(row.after_facts) as CorrectedFacts,
      },
    ]),
  );
}

function renderTest(callback: Renderable): object {
  return {
    type: TEST_TYPE,
    timestamp: callback.createdAt.toISOString(),
    data: { message: 'A test. Nothing was paid.' },
  };
}

function listSeqs(callbacks: Renderable[], field: 'transactionSeq' | 'eventSeq'): number[] {
  return [...new Set(callbacks.map((callback) => callback[field]))].filter((seq) => seq !== null);
}

async function readTransactions(context: Context, seqs: number[]): Promise<Map<number, LedgerTransaction>> {
  if (seqs.length === 0) return new Map();
  const rows = await selectTransactions(context.db).where('transactions.seq', 'in', seqs).execute();
  return new Map(rows.map((row) => [row.seq, toLedgerTransaction(row)]));
}

async function readEvents(context: Context, seqs: number[]): Promise<Map<number, EventFacts>> {
  if (seqs.length === 0) return new Map();
  const rows = await context.db
    .selectFrom('events')
    .select(['seq', 'status', 'at_wall', 'sequence'])
    .where('seq', 'in', seqs)
    .execute();
  return new Map(rows.map((row) => [row.seq, row]));
}
