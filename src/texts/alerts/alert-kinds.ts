import { MISMATCH_SEVERITY, type MismatchKind } from '../../domain/mismatch.ts';

/** All alerts: each kind of mismatch, and other conditions. docs/runbooks.md has a section for each. */
export const ALERT_KINDS = [
  ...(Object.keys(MISMATCH_SEVERITY) as MismatchKind[]),
  'address_change_waits',
  'baseline_mismatches',
  'callback_failed',
  'callbacks_behind',
  'clock_differs',
  'database_read_only',
  'disk_full',
  'expected_behind',
  'inbound_silence',
  'inbox_behind',
  'job_failed',
  'job_overdue',
  'merchant_disabled',
  'merchant_failing',
  'no_complete_run',
  'opening_to_come',
  'provider_failing',
  'provider_unauthorized',
  'quarantine_full',
  'report_differs',
  'report_missing',
  'restore_unconfirmed',
  'run_failed',
  'time_zone_differs',
  'two_writers',
  'webhook_loss_rate',
  'witness_away',
  'witness_refused',
  'worker_dead',
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];
