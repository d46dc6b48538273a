import type { Selectable } from 'kysely';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { seqsOf } from '../../domain/lists.ts';
import { callbackAttempts } from '../../metrics/metrics.ts';
import { requestMails } from '../deliver/request-mails.ts';

const CAUSE = 'not_renderable';

type Row = Pick<Selectable<Database['callbacks']>, 'seq' | 'webhook_id' | 'merchant_seq' | 'transaction_seq'>;

/**
 * Records that callbacks could not be given to a merchant that fetches its events, since the ledger lacks what they are
 * about. They fail as deliveries of them do: with an attempt, and so with the alert `callback_failed`. A callback fails once,
 * however often it is read.
 */
export async function failUnrenderable(context: Context, rows: Row[]): Promise<void> {
  const now = context.clock.now();
  const failed = await transact(context.db, async (trx) => {
    const open = await trx
      .selectFrom('callbacks')
      .select(['seq', 'webhook_id', 'merchant_seq', 'transaction_seq', 'attempts'])
      .where('seq', 'in', seqsOf(rows))
      .where('state', 'not in', ['failed', 'delivered'])
      .orderBy('seq')
      .forUpdate()
      .execute();
    if (open.length === 0) return open;
    const seqs = open.map(({ seq }) => seq);
    await trx
      .updateTable('callbacks')
      .set((eb) => ({
        ...{ state: 'failed', next_attempt_at: null, lease_holder: null, lease_until: null },
        attempts: eb('attempts', '+', 1),
        first_failed_at: eb.fn.coalesce('first_failed_at', eb.val(now)),
      }))
      .where('seq', 'in', seqs)
      .execute();
    const attempts = open.map(({ seq, attempts: before }) => ({
      ...{ callback_seq: seq, number: before + 1, started_at: now, duration_ms: 0 },
      ...{ response_status: null, error_class: CAUSE, response_body: null, request_headers: '{}' },
    }));
    await trx.insertInto('callback_attempts').values(attempts).execute();
    const callbacks = open.map(({ seq, merchant_seq: merchantSeq, transaction_seq: transactionSeq }) => ({
      callback: { seq, merchantSeq, transactionSeq },
      cause: CAUSE,
    }));
    await requestMails(context, trx, callbacks, now);
    return open;
  });
  if (failed.length === 0) return;
  callbackAttempts.inc({ outcome: CAUSE }, failed.length);
  context.log.error(
    { callbacks: failed.map((row) => row.webhook_id) },
    'events of a feed could not be rendered: the ledger lacks them. They are left out of it, and have failed',
  );
}
