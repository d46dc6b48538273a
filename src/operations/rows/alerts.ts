import { z } from 'zod';
import { ALERT_STATES } from '../../alerts/read/read-alerts.ts';
import { ALERT_KINDS } from '../../texts/alerts/alert-kinds.ts';
import { amount, components, instant, nullableInstant, nullableText } from './row-fields.ts';

const send = z.object({
  channel: z.string().describe('log, email, slack, pagerduty, alertmanager or merchant_email'),
  sent_at: nullableInstant.describe('null: not accepted yet'),
  end_sent_at: nullableInstant,
  attempts: z.int().describe('failed in a row'),
  error: nullableText.describe('why the channel did not accept it'),
});

export const alert = z
  .object({
    id: z.string(),
    kind: z.enum(ALERT_KINDS),
    severity: z.enum(['medium', 'high', 'critical']),
    state: z.enum(ALERT_STATES),
    scope: z.string().describe('unique with the kind while the alert fires'),
    summary: z.string(),
    at_stake: amount.nullable().describe('of its mismatches; null where it is no matter of money'),
    mismatch_id: nullableText.describe('one of its mismatches'),
    transaction_id: nullableText,
    run_id: nullableText,
    merchant_id: nullableText,
    days: z.array(z.iso.date()),
    raised_at: instant,
    ended_at: nullableInstant,
    runbook: z.string().describe('the path of what to do'),
    channels: z.array(send),
  })
  .register(components, { id: 'Alert' });
