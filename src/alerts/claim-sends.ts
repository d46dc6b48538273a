import { sql, type Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import type { AlertToSend, Channel } from './channel.ts';

/** Longer than any channel takes. What a killed process had claimed is due again after it. */
const LEASE_MS = 90_000;

/** Takes what is due on a channel: leased in a short transaction, so that no row is locked while the network is waited for. */
export async function claimSends(context: Context, channel: Channel): Promise<AlertToSend[]> {
  const now = context.clock.now();
  const candidates = await context.db
    .selectFrom('alert_sends')
    .select('alert_seq')
    .where('channel', '=', channel.name)
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(channel.batchMax)
    .execute();
  if (candidates.length === 0) return [];
  return transact(context.db, async (trx) => {
    const due = await lockDue(trx, channel, { seqs: candidates.map((row) => row.alert_seq), now });
    if (due.length === 0) return [];
    const seqs = due.map((row) => row.alert_seq);
    await trx
      .updateTable('alert_sends')
      .set({ next_attempt_at: new Date(now.getTime() + LEASE_MS) })
      .where('channel', '=', channel.name)
      .where('alert_seq', 'in', seqs)
      .execute();
    const alerts = await trx.selectFrom('alerts').selectAll().where('seq', 'in', seqs).orderBy('seq').execute();
    const alreadySent = new Set(due.filter((row) => row.sent_at !== null).map((row) => row.alert_seq));
    return alerts.map((row) => ({
      seq: row.seq,
      id: row.id,
      name: row.name,
      severity: row.severity,
      scope: row.scope,
      summary: row.summary,
      mismatchId: row.mismatch_id,
      transactionId: row.transaction_id,
      raisedAt: row.raised_at,
      endedAt: row.ended_at,
      alreadySent: alreadySent.has(row.seq),
    }));
  });
}

/**
 * By the whole primary key: a lock over a range of what is due also takes the row behind it, which is another channel's,
 * and two channels that look at once skip each other's.
 */
async function lockDue(
  trx: Transaction<Database>,
  channel: Channel,
  wanted: { seqs: number[]; now: Date },
): Promise<{ alert_seq: number; sent_at: Date | null }[]> {
  const { rows } = await sql<{ alert_seq: number; sent_at: Date | null }>`
    SELECT alert_seq, sent_at FROM alert_sends FORCE INDEX (PRIMARY)
    WHERE alert_seq IN (${sql.join(wanted.seqs)}) AND channel = ${channel.name} AND next_attempt_at <= ${wanted.now}
    FOR UPDATE SKIP LOCKED`.execute(trx);
  return rows;
}
