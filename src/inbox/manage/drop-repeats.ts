import type { Context } from '../../context.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep, walkRows } from '../../database/retention-step.ts';
import { transact } from '../../database/transact.ts';

/** Deletes the times of repeats. A webhook keeps their number, and the watch needs them until a change can come no more. */
export function repeatRetention({ db, config }: Context): RetentionStep {
  return {
    name: 'webhook_repeats',
    setting: 'RETAIN_REPEATS',
    keepMs: config.RETAIN_REPEATS,
    run: ({ before, write }) =>
      walkRows({
        read: (after) =>
          db
            .selectFrom('webhook_repeats')
            .select(['seq', 'received_at'])
            .where('seq', '>', after)
            .orderBy('seq')
            .limit(RETENTION_BATCH_ROWS)
            .execute(),
        isOld: (row) => row.received_at < before,
        async drop(old) {
          const seqs = old.map(({ seq }) => seq);
          if (write) await transact(db, (trx) => trx.deleteFrom('webhook_repeats').where('seq', 'in', seqs).execute());
          return seqs.length;
        },
      }),
  };
}
