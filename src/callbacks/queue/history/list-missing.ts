import { sql, type Transaction } from 'kysely';
import type { Context } from '../../../context.ts';
import type { Reader } from '../../../database/reader.ts';
import type { Database } from '../../../database/tables.ts';
import {
  type CallbackCause,
  type CallbackInsert,
  type Recipient,
  receivesCorrection,
  receivesEvent,
  toCorrectionRow,
  toEventRow,
} from '../callback-rows.ts';
import { readHistories } from './read-histories.ts';
import { type LearntCause, replayHistory } from './replay-history.ts';

/**
 * Returns the callbacks that these merchants lack of these transactions: those that they would have received had they
 * been there, in the order in which the ledger learnt the events. Which ones a merchant has is known by the event, not by the
 * webhook-id. It leaves out what was learnt before a merchant's delivered callbacks were deleted: nobody knows any more which of
 * it the merchant was sent.
 * @param options.before only callbacks with a lower sequence number, by the transaction's row number.
 */
export async function listMissing(
  context: Context,
  db: Reader,
  recipients: Recipient[],
  transactionSeqs: number[],
  options: { dueAt: Date; before?: Map<number, number> },
): Promise<CallbackInsert[]> {
  const histories = await readHistories(db, transactionSeqs);
  const sent = await readSent(db, recipients, transactionSeqs);
  return histories.flatMap((history) => {
    const { seq } = history.transaction;
    const limit = options.before?.get(seq) ?? Number.POSITIVE_INFINITY;
    const causes = replayHistory(context.calendar, history);
    return recipients.flatMap((recipient) =>
      chooseCauses(context, recipient, causes, sent.get(`${recipient.seq} ${seq}`))
        .filter((cause) => cause.sequence < limit)
        .map((cause) =>
          cause.event
            ? toEventRow(context, recipient, cause.event, options.dueAt)
            : toCorrectionRow(context, recipient, cause.correction, options.dueAt),
        ),
    );
  });
}

/**
 * Chooses one of an inferred event and those that replaced it: the first that matches, and then the corrections, unless the
 * merchant was sent another of them already.
 */
function chooseCauses(
  context: Context,
  recipient: Recipient,
  causes: LearntCause[],
  sent: Sent = { events: new Set(), others: new Set() },
): LearntCause[] {
  const isKnown = ({ event, learntAt }: LearntCause): boolean =>
    event !== undefined && (sent.events.has(event.event.seq) || mayHaveBeenSent(recipient, event, learntAt));
  const notified = new Set(causes.filter(isKnown).map(({ message }) => message));
  return causes.filter(({ event, correction, sequence, learntAt, message }) => {
    if (isDropped(recipient, learntAt)) return false;
    if (correction) return !sent.others.has(sequence) && receivesCorrection(context, recipient, correction);
    if (notified.has(message) || !receivesEvent(recipient, event)) return false;
    notified.add(message);
    return true;
  });
}

/** Whether callbacks of what was learnt then may have been delivered, and deleted since. */
export function isDropped({ droppedTo }: Recipient, learntAt: Date): boolean {
  return droppedTo !== null && learntAt <= droppedTo;
}

function mayHaveBeenSent(recipient: Recipient, cause: CallbackCause, learntAt: Date): boolean {
  return isDropped(recipient, learntAt) && receivesEvent(recipient, cause);
}

/**
 * Reads which merchants count as notified of the inferred events that new ones replace: those that were sent a callback of any, or
 * whose callback may have been deleted since.
 */
export async function readNotified(
  context: Context,
  trx: Transaction<Database>,
  causes: CallbackCause[],
): Promise<(recipient: Recipient, cause: CallbackCause) => boolean> {
  const replaced = causes.flatMap(({ inPlaceOf = [] }) => inPlaceOf);
  if (replaced.length === 0) return () => false;
  const rows = await trx
    .selectFrom('events')
    .leftJoin('callbacks', (join) =>
      join.onRef('callbacks.transaction_seq', '=', 'events.transaction_seq').onRef('event_seq', '=', 'events.seq'),
    )
    .select(['events.seq', 'at_wall', 'seen_at', 'merchant_seq'])
    .where('events.seq', 'in', replaced)
    .execute();
  return (recipient, cause) =>
    rows.some((row) => {
      if (!cause.inPlaceOf?.includes(row.seq)) return false;
      const event = { ...cause.event, at: context.calendar.toInstant(row.at_wall) };
      return row.merchant_seq === recipient.seq || mayHaveBeenSent(recipient, { ...cause, event }, row.seen_at);
    });
}

/** Row numbers of the events, and sequence numbers of the other callbacks, that a merchant has of a transaction or an expected payment. */
type Sent = { events: Set<number>; others: Set<number> };

/** @returns by `<merchant> <transaction>`. The index is forced: otherwise the optimizer may read all callbacks of a merchant. */
export async function readSent(
  db: Reader,
  recipients: Recipient[],
  transactionSeqs: number[],
): Promise<Map<string, Sent>> {
  const sent = new Map<string, Sent>();
  if (transactionSeqs.length === 0 || recipients.length === 0) return sent;
  const merchants = sql.join(recipients.map(({ seq }) => seq));
  type Row = { merchant_seq: number; transaction_seq: number; event_seq: number | null; sequence: number };
  const { rows } = await sql<Row>`SELECT merchant_seq, transaction_seq, event_seq, sequence
    FROM callbacks FORCE INDEX (callbacks_order)
    WHERE transaction_seq IN (${sql.join(transactionSeqs)}) AND merchant_seq IN (${merchants})`.execute(db);
  for (const { merchant_seq: merchant, transaction_seq: transaction, event_seq: event, sequence } of rows) {
    const one = sent.get(`${merchant} ${transaction}`) ?? { events: new Set(), others: new Set() };
    if (event === null) one.others.add(sequence);
    else one.events.add(event);
    sent.set(`${merchant} ${transaction}`, one);
  }
  return sent;
}
