import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import type { ClaimedCallback } from '../queue/claimed-callback.ts';
import type { Attempt } from './send-attempt.ts';

/** The cause of a mail about answers that are no HTTP. */
const NO_HTTP = 'no_http';

/** A callback that failed for good, and why. */
export type Failed = { callback: Pick<ClaimedCallback, 'seq' | 'merchantSeq' | 'transactionSeq'>; cause: string };

/** A merchant is mailed that a callback failed for good, once a cause and day (`src/alerts/mail-failed-callbacks.ts`). */
export async function requestMails(
  context: Context,
  trx: Transaction<Database>,
  callbacks: Failed[],
  now: Date,
): Promise<void> {
  const failed = callbacks.filter(({ callback }) => callback.transactionSeq !== null);
  if (failed.length === 0) return;
  const day = context.calendar.dayOf(now);
  await trx
    .insertInto('merchant_mails')
    .values(
      failed.map(({ callback, cause }) => ({
        ...{ merchant_seq: callback.merchantSeq, day, cause, callback_seq: callback.seq },
        ...{ created_at: now, next_attempt_at: now },
      })),
    )
    .onDuplicateKeyUpdate((eb) => ({ cause: eb.ref('cause') }))
    .execute();
}

/** A merchant is mailed once that its answers are no HTTP: its server goes on to answer so until somebody corrects it. */
export async function requestNoHttpMails(
  context: Context,
  trx: Transaction<Database>,
  attempts: Attempt[],
  now: Date,
): Promise<void> {
  const odd = attempts.filter(({ response }) => response.isNoHttp === true).map(({ callback }) => callback);
  if (odd.length === 0) return;
  const rows = await trx
    .selectFrom('merchant_mails')
    .select('merchant_seq')
    .distinct()
    .where('merchant_seq', 'in', [...new Set(odd.map((callback) => callback.merchantSeq))])
    .where('cause', '=', NO_HTTP)
    .execute();
  const mailed = new Set(rows.map((row) => row.merchant_seq));
  const fresh = odd.filter((callback) => !mailed.has(callback.merchantSeq));
  await requestMails(
    context,
    trx,
    fresh.map((callback) => ({ callback, cause: NO_HTTP })),
    now,
  );
}
