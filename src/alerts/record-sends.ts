import { type Insertable, sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { AlertToSend, Channel } from './channels/channel.ts';

/**
 * Records that a channel has accepted alerts. If an alert has ended meanwhile, its end is due at once. This locks the
 * sends first and reads the alerts after that; endAlerts writes in the other order. So one of the two sees the other.
 */
export async function recordSent(context: Context, channel: Channel, alerts: AlertToSend[]): Promise<void> {
  await transact(context.db, async (trx) => {
    const now = context.clock.now();
    const endedSince = await lockAndRead(trx, channel, alerts);
    const resendAt = channel.resendEveryMs === undefined ? null : new Date(now.getTime() + channel.resendEveryMs);
    const rows = alerts.map((alert): Insertable<Database['alert_sends']> => {
      const nextAt = alert.endedAt ? null : endedSince.has(alert.seq) ? now : resendAt;
      const base = { alert_seq: alert.seq, channel: channel.name, attempts: 0, error: null };
      return { ...base, next_attempt_at: nextAt, sent_at: now, end_sent_at: alert.endedAt ? now : null };
    });
    await write(trx, rows);
  });
}

/** Records that a channel has not accepted alerts: when to retry, and why. */
export async function recordSendFailure(
  context: Context,
  channel: Channel,
  alerts: AlertToSend[],
  failure: { pauseMs: number; error: string },
): Promise<void> {
  const nextAt = new Date(context.clock.now().getTime() + failure.pauseMs);
  await context.db
    .updateTable('alert_sends')
    .set((eb) => ({ next_attempt_at: nextAt, error: failure.error, attempts: eb('attempts', '+', 1) }))
    .where('channel', '=', channel.name)
    .where(
      'alert_seq',
      'in',
      alerts.map((alert) => alert.seq),
    )
    .execute();
}

async function lockAndRead(trx: Transaction<Database>, channel: Channel, alerts: AlertToSend[]): Promise<Set<number>> {
  const seqs = alerts.map((alert) => alert.seq);
  await trx
    .selectFrom('alert_sends')
    .select('alert_seq')
    .where('channel', '=', channel.name)
    .where('alert_seq', 'in', seqs)
    .orderBy('alert_seq')
    .forUpdate()
    .execute();
  const ended = await trx
    .selectFrom('alerts')
    .select('seq')
    .where('seq', 'in', seqs)
    .where('ended_at', 'is not', null)
    .execute();
  return new Set(ended.map((row) => row.seq));
}

async function write(trx: Transaction<Database>, rows: Insertable<Database['alert_sends']>[]): Promise<void> {
  await trx
    .insertInto('alert_sends')
    .values(rows)
    .onDuplicateKeyUpdate({
      attempts: sql`VALUES(attempts)`,
      error: sql`VALUES(error)`,
      next_attempt_at: sql`VALUES(next_attempt_at)`,
      sent_at: sql`VALUES(sent_at)`,
      end_sent_at: sql`VALUES(end_sent_at)`,
    })
    .execute();
}
