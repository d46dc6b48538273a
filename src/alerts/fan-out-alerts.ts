import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { Channel } from './channels/channel.ts';

const BATCH_ROWS = 500;

/**
 * Creates a due send on each configured channel for new alerts.
 * @returns whether there may be more.
 */
export async function fanOutAlerts(context: Context, channels: Channel[]): Promise<boolean> {
  return transact(context.db, async (trx) => {
    // the index is forced: a full scan of a small table would skip rows that another writer has locked
    const { rows: alerts } = await sql<{ seq: number; name: string; ended: number }>`
      SELECT seq, name, COALESCE(ended_at = raised_at, 0) AS ended FROM alerts FORCE INDEX (alerts_spread)
      WHERE spread_at IS NULL ORDER BY seq LIMIT ${sql.lit(BATCH_ROWS)} FOR UPDATE SKIP LOCKED`.execute(trx);
    if (alerts.length === 0) return false;
    const now = context.clock.now();
    await insertSends(trx, alerts, channels, now);
    const seqs = alerts.map((alert) => alert.seq);
    await trx.updateTable('alerts').set({ spread_at: now }).where('seq', 'in', seqs).execute();
    return alerts.length === BATCH_ROWS;
  });
}

/** Creates sends of alerts that fire already, for channels configured since. Runs once, at the start. */
export async function fanOutFiringAlerts(context: Context, channels: Channel[]): Promise<void> {
  for (let after = 0; ; ) {
    const alerts = await context.db
      .selectFrom('alerts')
      .select(['seq', 'name'])
      .where('firing_scope', 'is not', null)
      .where('spread_at', 'is not', null)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(BATCH_ROWS)
      .execute();
    if (alerts.length > 0) {
      await transact(context.db, (trx) =>
        insertSends(
          trx,
          alerts.map((alert) => ({ ...alert, ended: 0 })),
          channels,
          context.clock.now(),
        ),
      );
    }
    const last = alerts.at(-1);
    if (!last || alerts.length < BATCH_ROWS) return;
    after = last.seq;
  }
}

async function insertSends(
  trx: Transaction<Database>,
  alerts: { seq: number; name: string; ended: number }[],
  channels: Channel[],
  now: Date,
): Promise<void> {
  for (const channel of channels) {
    const rows = alerts
      .filter((alert) => channel.accepts?.({ name: alert.name, ended: Number(alert.ended) === 1 }) ?? true)
      .map(({ seq }) => ({ alert_seq: seq, channel: channel.name, next_attempt_at: now }));
    if (rows.length === 0) continue;
    await trx
      .insertInto('alert_sends')
      .values(rows)
      .onDuplicateKeyUpdate((eb) => ({ alert_seq: eb.ref('alert_seq') }))
      .execute();
  }
}
