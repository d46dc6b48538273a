import type { Context } from '../../context.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep, walkRows } from '../../database/retention-step.ts';
import { transact } from '../../database/transact.ts';
import { largest } from '../../domain/lists.ts';

type Row = {
  seq: number;
  merchant_seq: number;
  transaction_seq: number | null;
  state: string;
  created_at: Date;
  delivered_at: Date | null;
};

/**
 * Deletes delivered callbacks, once a merchant was sent everything of their transaction that long ago: a later event would
 * otherwise compare with callbacks that are gone. Failed ones stay, so that they can be redelivered.
 * `merchants.callbacks_dropped_to` keeps a backfill from making the deleted ones again.
 */
export function callbackRetention(context: Context): RetentionStep {
  const { db, config } = context;
  return {
    name: 'callbacks',
    setting: 'RETAIN_CALLBACKS',
    keepMs: config.RETAIN_CALLBACKS,
    run: ({ before, write }) =>
      walkRows<Row>({
        read: (after) =>
          db
            .selectFrom('callbacks')
            .select(['seq', 'merchant_seq', 'transaction_seq', 'state', 'created_at', 'delivered_at'])
            .where('seq', '>', after)
            .orderBy('seq')
            .limit(RETENTION_BATCH_ROWS)
            .execute(),
        isOld: (row) => row.created_at < before,
        async drop(old) {
          const over = await excludeLive(context, old.filter(isDeliveredBefore(before)), before);
          return write ? await dropCallbacks(context, over) : over.length;
        },
      }),
  };
}

const isDeliveredBefore = (before: Date) => (row: Row) =>
  row.state === 'delivered' && row.delivered_at !== null && row.delivered_at < before;

/** Leaves out callbacks of a transaction that has a newer or undelivered one for the same merchant. */
async function excludeLive({ db }: Context, rows: Row[], before: Date): Promise<Row[]> {
  const transactions = [...new Set(rows.flatMap((row) => row.transaction_seq ?? []))];
  if (transactions.length === 0) return rows;
  const live = await db
    .selectFrom('callbacks')
    .select(['merchant_seq', 'transaction_seq'])
    .distinct()
    .where('transaction_seq', 'in', transactions)
    .where((eb) =>
      eb.or([
        eb('state', '<>', 'delivered'),
        eb('created_at', '>=', before),
        eb('delivered_at', '>=', before),
        eb('delivered_at', 'is', null),
      ]),
    )
    .execute();
  const pairs = new Set(live.map((row) => `${row.merchant_seq} ${row.transaction_seq}`));
  return rows.filter((row) => !pairs.has(`${row.merchant_seq} ${row.transaction_seq}`));
}

async function dropCallbacks({ db }: Context, rows: Row[]): Promise<number> {
  if (rows.length === 0) return 0;
  const seqs = rows.map(({ seq }) => seq);
  for (let count = RETENTION_BATCH_ROWS; count === RETENTION_BATCH_ROWS; ) {
    const { numDeletedRows } = await transact(db, (trx) =>
      trx
        .deleteFrom('callback_attempts')
        .where('callback_seq', 'in', seqs)
        .limit(RETENTION_BATCH_ROWS)
        .executeTakeFirstOrThrow(),
    );
    count = Number(numDeletedRows);
  }
  return await transact(db, async (trx) => {
    for (const [merchantSeq, theirs] of Map.groupBy(rows, (row) => row.merchant_seq)) {
      const to = new Date(largest(theirs.map((row) => row.created_at.getTime())));
      await trx
        .updateTable('merchants')
        .set({ callbacks_dropped_to: to })
        .where('seq', '=', merchantSeq)
        .where((eb) => eb.or([eb('callbacks_dropped_to', 'is', null), eb('callbacks_dropped_to', '<', to)]))
        .execute();
    }
    // not those that a person has redelivered meanwhile
    const { numDeletedRows } = await trx
      .deleteFrom('callbacks')
      .where('seq', 'in', seqs)
      .where('state', '=', 'delivered')
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  });
}
