import type { Context } from '../../context.ts';
import { readSetting } from '../../database/keys/settings.ts';
import type { Reader } from '../../database/reader.ts';
import { RETENTION_BATCH_ROWS, type RetentionStep } from '../../database/retention-step.ts';
import { transact } from '../../database/transact.ts';
import { clearBodies } from '../receive/drop-bodies.ts';

/** The row number up to which bodies were deleted, in `settings`. */
const DROPPED_TO = 'bodies_dropped_to';

/**
 * Deletes bodies of applied webhooks. The row stays, with its hash, keys and outcome: the same bytes are still a repeat. A run
 * continues above the last row of the run before it: a webhook below it that is applied only now, after months in quarantine,
 * keeps its body.
 */
export function bodyRetention({ db, config, clock }: Context): RetentionStep {
  return {
    name: 'webhook_bodies',
    setting: 'RETAIN_BODIES',
    keepMs: config.RETAIN_BODIES,
    async *run({ before, write }) {
      for (let after = await readDroppedTo(db); ; ) {
        const rows = await readRows(db, after);
        const young = rows.findIndex((row) => row.received_at >= before);
        const old = young < 0 ? rows : rows.slice(0, young);
        const last = old.at(-1);
        if (!last) return;
        const seqs = old.filter((row) => row.state === 'applied' && row.dropped_at === null).map(({ seq }) => seq);
        if (write) {
          await transact(db, async (trx) => {
            if (seqs.length > 0) await clearBodies(trx, seqs, clock.now());
            const value = Buffer.from(String(last.seq));
            await trx
              .insertInto('settings')
              .values({ name: DROPPED_TO, value })
              .onDuplicateKeyUpdate({ value })
              .execute();
          });
        }
        if (seqs.length > 0) yield seqs.length;
        if (young >= 0 || rows.length < RETENTION_BATCH_ROWS) return;
        after = last.seq;
      }
    },
  };
}

async function readDroppedTo(db: Reader): Promise<number> {
  return Number((await readSetting(db, DROPPED_TO)) ?? 0);
}

async function readRows(db: Reader, after: number) {
  return await db
    .selectFrom('webhooks')
    .select(['seq', 'received_at', 'state', 'dropped_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(RETENTION_BATCH_ROWS)
    .execute();
}
