import type { Transaction } from 'kysely';
import { type CorrectionContent, digestContent } from '../../callbacks/queue/derive-webhook-id.ts';
import type { Context } from '../../context.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import type { StoredEvent } from '../../domain/sort-history.ts';
import { describeFacts } from '../decide/correct-transaction.ts';
import type { StoredTransaction } from '../decide/stored-transaction.ts';
import type { LoadedTransaction } from './load-stored-transactions.ts';

type Correction = {
  loaded: LoadedTransaction;
  /** With the sequence number of the correction. */
  after: StoredTransaction;
  /** Events that go out of force, or back in force. */
  inForceChanged: StoredEvent[];
  mismatchSeq: number;
  actor: string;
};

/**
 * Writes a correction of a transaction, and which events it takes out of force or puts back. The caller has locked the
 * transaction, and enqueues the callbacks. @returns the content, from which their ids are derived.
 */
export async function writeCorrection(
  context: Context,
  trx: Transaction<Database>,
  { loaded, after, inForceChanged, mismatchSeq, actor }: Correction,
  now: Date,
): Promise<CorrectionContent> {
  const [before, corrected] = [loaded.stored, after].map((one) => JSON.stringify(describeFacts(context.calendar, one)));
  const facts = { before_facts: before ?? '', after_facts: corrected ?? '' };
  const hash = digestContent(context.keys.callbackIds, { before: facts.before_facts, after: facts.after_facts });
  const { times } = await trx
    .selectFrom('corrections')
    .select((eb) => eb.fn.countAll<number>().as('times'))
    .where('transaction_seq', '=', loaded.seq)
    .where('content_hash', '=', hash)
    .executeTakeFirstOrThrow();
  const { insertId } = await trx
    .insertInto('corrections')
    .values({
      transaction_seq: loaded.seq,
      mismatch_seq: mismatchSeq,
      sequence: requireRowNumber(after.corrections?.sequence, `the correction of ${after.id}`),
      ...facts,
      content_hash: hash,
      created_at: now,
      actor,
    })
    .executeTakeFirstOrThrow();
  if (inForceChanged.length > 0) {
    const changes = inForceChanged.map((event) => ({
      transaction_seq: loaded.seq,
      event_seq: requireRowNumber(event.seq, 'a known event'),
      in_force: after.outOfForce.includes(event) ? 0 : 1,
      correction_seq: requireRowNumber(insertId, 'a correction'),
    }));
    await trx.insertInto('event_standings').values(changes).execute();
  }
  return { hash, number: Number(times) + 1 };
}
