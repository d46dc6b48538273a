/**
 * Hands the outbox of alerts on. The log is told of each alert once; Alertmanager of each while it fires, again every
 * minute, and once of its end. A channel that is away is tried again at the next look: nothing is lost, since what is
 * firing is read anew each time.
 */
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { poll } from '../database/poll.ts';
import { isDuplicate } from '../database/transact.ts';
import { type AlertToSend, sendToAlertmanager } from './send-alertmanager.ts';

const IDLE_MS = 5_000;
const BATCH_ROWS = 500;
const SEND_AGAIN_MS = 60_000;
/** Beside several replicas, one that was told a moment ago need not be told by the next one. */
const SEND_AGAIN_SLACK_MS = 5_000;

export async function sendAlerts(context: Context): Promise<void> {
  await poll({
    name: 'alerts',
    bell: context.bells.alerts,
    idleMs: IDLE_MS,
    log: context.log,
    signal: context.signal,
    work: async () => {
      const logged = await tellLog(context);
      if (context.config.ALERTMANAGER_URL) await tellAlertmanager(context, context.config.ALERTMANAGER_URL);
      return logged === BATCH_ROWS;
    },
  });
}

/** One line an alert. The row that says so is written first: two replicas never tell the same one. */
async function tellLog(context: Context): Promise<number> {
  const rows = await selectAlerts(context, 'log').where('alert_sends.alert_seq', 'is', null).execute();
  for (const row of rows) {
    try {
      await context.db
        .insertInto('alert_sends')
        .values({ alert_seq: row.seq, channel: 'log', attempts: 1, sent_at: context.clock.now() })
        .execute();
    } catch (error) {
      if (isDuplicate(error)) continue;
      throw error;
    }
    const level = row.severity === 'medium' ? 'warn' : 'error';
    context.log[level]({ alert: row.name, severity: row.severity, mismatch: row.mismatch_id }, row.summary);
  }
  return rows.length;
}

async function tellAlertmanager(context: Context, url: string): Promise<void> {
  const now = context.clock.now();
  const again = new Date(now.getTime() - SEND_AGAIN_MS + SEND_AGAIN_SLACK_MS);
  const rows = await selectAlerts(context, 'alertmanager')
    .where((eb) =>
      eb.or([
        eb('alert_sends.alert_seq', 'is', null),
        eb.and([eb('alerts.ended_at', 'is', null), eb('alert_sends.sent_at', '<', again)]),
        eb.and([eb('alerts.ended_at', 'is not', null), eb('alert_sends.end_sent_at', 'is', null)]),
      ]),
    )
    .execute();
  if (rows.length === 0) return;
  const alerts = rows.map(
    (row): AlertToSend => ({
      name: row.name,
      severity: row.severity,
      scope: row.scope,
      summary: row.summary,
      mismatchId: row.mismatch_id,
      transactionId: row.transaction_id,
      raisedAt: row.raised_at,
      endedAt: row.ended_at,
    }),
  );
  await sendToAlertmanager(url, context.config.PUBLIC_URL, alerts);
  await context.db
    .insertInto('alert_sends')
    .values(
      rows.map((row) => ({
        alert_seq: row.seq,
        channel: 'alertmanager',
        attempts: 1,
        sent_at: now,
        end_sent_at: row.ended_at ? now : null,
      })),
    )
    .onDuplicateKeyUpdate({
      attempts: sql`attempts + 1`,
      sent_at: sql`VALUES(sent_at)`,
      end_sent_at: sql`VALUES(end_sent_at)`,
    })
    .execute();
}

function selectAlerts(context: Context, channel: 'log' | 'alertmanager') {
  return context.db
    .selectFrom('alerts')
    .leftJoin('alert_sends', (join) =>
      join.onRef('alert_sends.alert_seq', '=', 'alerts.seq').on('alert_sends.channel', '=', channel),
    )
    .selectAll('alerts')
    .orderBy('alerts.seq')
    .limit(BATCH_ROWS);
}
