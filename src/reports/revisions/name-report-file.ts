import type { Locale } from '../plan/report-plan.ts';
import { platformAccountSegment } from '../read/read-balances.ts';

/** `confere-2026-11-20-r3.xlsx`; what differs from the revision's own files says so; a range of days has no revision. */
export function nameReportFile(of: {
  /** Or a range, as `2026-11-01-2026-11-20`. */
  day: string;
  revision?: number;
  format: string;
  otherLocale?: Locale | undefined;
  platform: string | undefined;
  masked?: boolean;
}): string {
  // the platform last, spelt as in its accounts: no other one, and no other file, comes to the same name
  const parts = [
    of.day,
    of.revision === undefined ? undefined : `r${of.revision}`,
    of.otherLocale,
    of.masked ? 'masked' : undefined,
    of.platform === undefined ? undefined : `platform-${platformAccountSegment(of.platform)}`,
  ].filter((part) => part !== undefined);
  return `confere-${parts.join('-')}.${of.format}`;
}
