import { MISMATCH_SEVERITY, type MismatchKind } from '../domain/mismatch.ts';

/** All alerts: each kind of mismatch, and other conditions. docs/runbooks.md has a section for each. */
export const ALERT_KINDS = [
  ...(Object.keys(MISMATCH_SEVERITY) as MismatchKind[]),
  'baseline_mismatches',
  'inbound_silence',
  'job_failed',
  'job_overdue',
  'merchant_disabled',
  'merchant_failing',
  'opening_to_come',
  'provider_unauthorized',
  'quarantine_full',
  'run_failed',
  'time_zone_differs',
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];
