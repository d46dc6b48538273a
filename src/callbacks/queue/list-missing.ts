import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import {
  type CallbackInsert,
  type Recipient,
  receivesCorrection,
  receivesEvent,
  toCorrectionRow,
  toEventRow,
} from './callback-rows.ts';
import { readHistories } from './read-histories.ts';
import { type LearntCause, type LearntHistory, replayHistory } from './replay-history.ts';

/**
 * Returns the callbacks that these merchants lack of these transactions: those that they would have received had they
 * been there, in the order in which the ledger learnt the events. The webhook-ids are the same. It leaves out what was learnt
 * before a merchant's delivered callbacks were deleted: nobody knows any more which of it the merchant was sent.
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
  const sent = await readSent(db, recipients, histories);
  const rows = histories.flatMap((history) => {
    const limit = options.before?.get(history.transaction.seq) ?? Number.POSITIVE_INFINITY;
    const causes = replayHistory(context.calendar, history).filter((cause) => cause.sequence < limit);
    const learntAt = new Map([
      ...history.events.map(({ sequence, seenAt }) => [sequence, seenAt] as const),
      ...history.corrections.map(({ sequence, at }) => [sequence, at] as const),
    ]);
    return recipients.flatMap((recipient) => {
      const has = (eventSeq: number): boolean => sent.has(`${recipient.seq} ${eventSeq}`);
      const { droppedTo } = recipient;
      const offered = causes.filter(({ sequence }) => !droppedTo || (learntAt.get(sequence) ?? droppedTo) > droppedTo);
      return chooseCauses(context, recipient, offered, has).map((cause) =>
        cause.event
          ? toEventRow(context, recipient, cause.event, options.dueAt)
          : toCorrectionRow(context, recipient, cause.correction, options.dueAt),
      );
    });
  });
  const known = await readKnown(
    db,
    rows.map((row) => row.webhook_id),
  );
  return rows.filter((row) => !known.has(row.webhook_id));
}

/**
 * Of an inferred event and the real one that replaced it, a merchant receives one: the inferred event and its correction,
 * or the real event if the inferred one did not match, or if the real one was sent already.
 */
function chooseCauses(
  context: Context,
  recipient: Recipient,
  causes: LearntCause[],
  has: (eventSeq: number) => boolean,
): LearntCause[] {
  const replacements = new Map(
    causes.flatMap(({ event: one }) => (one?.inPlaceOf === undefined ? [] : [[one.inPlaceOf, one.event.seq] as const])),
  );
  const chosen = new Set<number>();
  return causes.filter(({ event: one, correction }) => {
    if (!one) return correction !== undefined && receivesCorrection(context, recipient, correction);
    if (!receivesEvent(recipient, one)) return false;
    const { inPlaceOf } = one;
    if (inPlaceOf !== undefined && (chosen.has(inPlaceOf) || has(inPlaceOf))) return false;
    const replacement = replacements.get(one.event.seq);
    if (replacement !== undefined && has(replacement)) return false;
    chosen.add(one.event.seq);
    return true;
  });
}

/** @returns `<merchant> <event>` for each callback of transactions that have a correction. */
async function readSent(db: Reader, recipients: Recipient[], histories: LearntHistory[]): Promise<Set<string>> {
  const corrected = histories.filter((one) => one.corrections.length > 0).map((one) => one.transaction.seq);
  if (corrected.length === 0) return new Set();
  const rows = await db
    .selectFrom('callbacks')
    .select(['merchant_seq', 'event_seq'])
    .where('transaction_seq', 'in', corrected)
    .where(
      'merchant_seq',
      'in',
      recipients.map((one) => one.seq),
    )
    .where('event_seq', 'is not', null)
    .execute();
  return new Set(rows.map((row) => `${row.merchant_seq} ${row.event_seq}`));
}

async function readKnown(db: Reader, webhookIds: string[]): Promise<Set<string>> {
  if (webhookIds.length === 0) return new Set();
  const rows = await db.selectFrom('callbacks').select('webhook_id').where('webhook_id', 'in', webhookIds).execute();
  return new Set(rows.map((row) => row.webhook_id));
}
