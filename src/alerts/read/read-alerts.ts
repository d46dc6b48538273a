import type { Reader } from '../../database/reader.ts';
import { formatAmount } from '../../domain/money.ts';
import { parseFacts } from '../../texts/alerts/describe-alert.ts';

export const ALERT_STATES = ['firing', 'ended'] as const;

export type AlertQuery = {
  state?: (typeof ALERT_STATES)[number] | undefined;
  kind?: string | undefined;
  severity?: string | undefined;
  limit: number;
  after?: number | undefined;
};

export type ListedAlert = Awaited<ReturnType<typeof listAlerts>>[number];

/** Lists matching alerts, newest first, each with the channels that were notified. */
export async function listAlerts(db: Reader, query: AlertQuery) {
  const { state, kind, severity, limit, after } = query;
  const rows = await selectAlerts(db)
    .$if(state !== undefined, (select) =>
      select.where(state === 'firing' ? 'firing_scope' : 'ended_at', 'is not', null),
    )
    .$if(kind !== undefined, (select) => select.where('name', '=', kind ?? ''))
    .$if(severity !== undefined, (select) => select.where('severity', '=', severity ?? ''))
    .$if(after !== undefined, (select) => select.where('seq', '<', after ?? 0))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  const seqs = rows.map((row) => row.seq);
  const sends =
    seqs.length === 0
      ? []
      : await db.selectFrom('alert_sends').selectAll().where('alert_seq', 'in', seqs).orderBy('channel').execute();
  return rows.map((row) => ({
    ...row,
    facts: parseFacts(row.facts),
    sends: sends.filter((send) => send.alert_seq === row.seq),
  }));
}

export function selectAlerts(db: Reader) {
  return db
    .selectFrom('alerts')
    .select(['seq', 'id', 'name', 'severity', 'scope', 'summary', 'facts', 'mismatch_id as mismatchId'])
    .select(['transaction_id as transactionId', 'raised_at as raisedAt', 'ended_at as endedAt']);
}

/** How many alerts fire, by severity. */
export type AlertCounts = ReadonlyMap<string, number>;

/** @param raised `since` an instant, or before `until`; default: at any time. */
export async function countFiring(
  db: Reader,
  { since, until }: { since?: Date | undefined; until?: Date } = {},
): Promise<AlertCounts> {
  let query = db
    .selectFrom('alerts')
    .select(['severity', (eb) => eb.fn.countAll<number>().as('count')])
    .where('firing_scope', 'is not', null)
    .groupBy('severity');
  if (since) query = query.where('raised_at', '>=', since);
  if (until) query = query.where('raised_at', '<', until);
  return new Map((await query.execute()).map(({ severity, count }) => [severity, Number(count)]));
}

/** An alert as the API shows it. */
export function presentAlert(alert: ListedAlert) {
  const { facts } = alert;
  return {
    id: alert.id,
    kind: alert.name,
    severity: alert.severity,
    state: alert.endedAt ? 'ended' : 'firing',
    scope: alert.scope,
    summary: alert.summary,
    at_stake: facts?.cents === undefined ? null : formatAmount(BigInt(facts.cents)),
    mismatch_id: alert.mismatchId,
    transaction_id: alert.transactionId,
    run_id: facts?.run ?? null,
    merchant_id: facts?.merchant ?? null,
    days: facts?.days ?? [],
    raised_at: alert.raisedAt.toISOString(),
    ended_at: alert.endedAt?.toISOString() ?? null,
    runbook: `/runbooks/${alert.name}`,
    channels: alert.sends.map((send) => ({
      channel: send.channel,
      sent_at: send.sent_at?.toISOString() ?? null,
      end_sent_at: send.end_sent_at?.toISOString() ?? null,
      attempts: send.attempts,
      error: send.error,
    })),
  };
}
