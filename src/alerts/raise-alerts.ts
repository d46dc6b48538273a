import type { Transaction } from 'kysely';
import type { Context } from '../context.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { createId } from '../domain/ids.ts';
import type { Severity } from '../domain/mismatch.ts';
import type { AlertFacts } from '../texts/alerts/alert-facts.ts';
import type { AlertKind } from '../texts/alerts/alert-kinds.ts';
import type { AlertToSend } from './channels/channel.ts';

export type NewAlert = {
  /** A mismatch's kind, or another condition. */
  name: AlertKind;
  severity: Severity;
  /** Unique with the name while the alert fires. */
  scope: string;
  /** One sentence in English for the log and the API: no name, document, key, e-mail, phone or free text. */
  summary: string;
  /** Facts for its texts for people; see `summarize`. */
  facts?: AlertFacts;
  mismatchId?: string;
  transactionId?: string | null;
  /** The alert ends as soon as it is raised. */
  ended?: boolean;
};

/** An alert of a known kind. */
export type AlertOfKind = Pick<NewAlert, 'scope' | 'severity' | 'summary' | 'facts'>;

/**
 * Writes alerts to the outbox, in the transaction that causes them. An alert that fires already is not raised again.
 * @returns how many are new.
 */
export async function raiseAlerts(trx: Transaction<Database>, alerts: NewAlert[], now: Date): Promise<number> {
  if (alerts.length === 0) return 0;
  const scopes = alerts.map(firingScope);
  const firing = await trx.selectFrom('alerts').select('firing_scope').where('firing_scope', 'in', scopes).execute();
  const known = new Set(firing.map((row) => row.firing_scope));
  const fresh = alerts.filter((alert) => !known.has(firingScope(alert)));
  if (fresh.length === 0) return 0;
  await trx
    .insertInto('alerts')
    .values(
      fresh.map((alert) => ({
        id: createId('al'),
        name: alert.name,
        severity: alert.severity,
        scope: alert.scope,
        firing_scope: alert.ended ? null : firingScope(alert),
        summary: alert.summary,
        facts: alert.facts ? JSON.stringify(alert.facts) : null,
        mismatch_id: alert.mismatchId ?? null,
        transaction_id: alert.transactionId ?? null,
        raised_at: now,
        ended_at: alert.ended ? now : null,
      })),
    )
    .execute();
  return fresh.length;
}

/** Stores an alert that was sent otherwise while the database took no writes, and has ended. */
export async function storeEndedAlert(db: Context['db'], alert: AlertToSend): Promise<void> {
  const { id, name, severity, scope, summary, facts, raisedAt, endedAt } = alert;
  await db
    .insertInto('alerts')
    .values({
      ...{ id, name, severity, scope, summary, facts: JSON.stringify(facts), firing_scope: null },
      ...{ mismatch_id: null, transaction_id: null, raised_at: raisedAt, ended_at: endedAt, spread_at: endedAt },
    })
    .execute();
}

/** Updates the summary, the facts and the mismatch, if one is given, of a firing alert: channels that resend it use the new ones. */
export async function updateAlertSummary(
  trx: Transaction<Database>,
  alert: Pick<NewAlert, 'scope' | 'summary' | 'facts' | 'mismatchId' | 'transactionId'> & { name: string },
): Promise<void> {
  await trx
    .updateTable('alerts')
    .set({ summary: alert.summary, facts: alert.facts ? JSON.stringify(alert.facts) : null })
    .$if(alert.mismatchId !== undefined, (update) =>
      update.set({ mismatch_id: alert.mismatchId ?? null, transaction_id: alert.transactionId ?? null }),
    )
    .where('firing_scope', '=', firingScope(alert))
    .execute();
}

/**
 * Makes the alerts of a name be exactly these: raises new ones, updates the summaries of those that fire, ends all others.
 * Any number of replicas may call it with the same alerts.
 */
export async function syncAlerts(context: Context, name: AlertKind, current: AlertOfKind[]): Promise<void> {
  const firing = await context.db
    .selectFrom('alerts')
    .select(['scope', 'summary'])
    .where('firing_scope', '>=', `${name} `)
    .where('firing_scope', '<', `${name}!`)
    .execute();
  const summaries = new Map(firing.map((row) => [row.scope, row.summary]));
  const scopes = new Set(current.map(({ scope }) => scope));
  const ended = firing.filter(({ scope }) => !scopes.has(scope)).map(({ scope }) => ({ name, scope }));
  const changed = current.filter(({ scope, summary }) => summaries.get(scope) !== summary);
  if (ended.length === 0 && changed.length === 0) return;
  await transact(
    context.db,
    async (trx) => {
      const now = context.clock.now();
      await endAlerts(trx, ended, now);
      await raiseAlerts(
        trx,
        changed.map((alert) => ({ name, ...alert })),
        now,
      );
      for (const alert of changed) if (summaries.has(alert.scope)) await updateAlertSummary(trx, { name, ...alert });
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

/** Ends alerts with these names and scopes: their end becomes due on each channel. */
export async function endAlerts(
  trx: Transaction<Database>,
  ends: { name: string; scope: string }[],
  now: Date,
): Promise<void> {
  if (ends.length === 0) return;
  const firing = await trx
    .selectFrom('alerts')
    .select('seq')
    .where('firing_scope', 'in', ends.map(firingScope))
    .orderBy('seq')
    .forUpdate()
    .execute();
  if (firing.length === 0) return;
  const seqs = firing.map((row) => row.seq);
  await trx.updateTable('alerts').set({ ended_at: now, firing_scope: null }).where('seq', 'in', seqs).execute();
  // after the alerts: recordSent locks these rows first, then reads whether the alert has ended
  await trx
    .updateTable('alert_sends')
    .set({ next_attempt_at: now })
    .where('alert_seq', 'in', seqs)
    .where('end_sent_at', 'is', null)
    .execute();
}

function firingScope(alert: { name: string; scope: string }): string {
  return `${alert.name} ${alert.scope}`.slice(0, SCOPE_CHARS_MAX);
}

const SCOPE_CHARS_MAX = 200;
