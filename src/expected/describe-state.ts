import type { Day } from '../domain/calendar.ts';

const REASONS = new Map([
  ['underpaid', 'less than the amount was paid'],
  ['overpaid', 'more than the amount was paid'],
  ['paid_twice', 'two payments or more were made, which sum to twice the amount or more'],
  ['partly_refunded', 'a part of what was paid was refunded'],
  ['refunded', 'what was paid was refunded'],
  ['cancelled', 'it was cancelled'],
  ['paid_after_cancel', 'it was cancelled, and is paid'],
  ['unpaid', 'no payment was made until its end: each day was read whole after it'],
  ['unpaid_candidates', 'no payment is surely its own: a person must decide about its candidates'],
]);

/** Returns why an expected payment has its state, without anybody's data; null for those that need no reason. Pure. */
export function describeState(row: {
  reason_code: string | null;
  first_lack: Day | null;
  last_lack: Day | null;
  lacks: number;
}): string | null {
  const { reason_code: code, first_lack: from, last_lack: to, lacks } = row;
  if (code === null) return null;
  if (from === null || to === null) return REASONS.get(code) ?? code;
  const days = lacks === 1 ? `${from} is` : `${lacks} days from ${from} to ${to} are`;
  const decide = code.endsWith('_candidates') ? '; a person may decide about its candidates' : '';
  return `no payment is known, and ${days} not proven by a reading after its end${decide}`;
}
