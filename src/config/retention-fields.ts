import { z } from 'zod';
import { DAY_MS } from '../domain/calendar.ts';
import { durationText, fault } from './fields.ts';

/** A payment changes up to 95 days later: until then its arrivals are compared, and its callbacks keep their order. */
const LATE_DAYS_MIN = 100;

/** `400d` → milliseconds, `off` keeps everything. */
function retentionText(daysMin: number) {
  return z.string().transform((text, context): number | 'off' => {
    if (text === 'off') return 'off';
    const ms = durationText.safeParse(text).data;
    return ms !== undefined && ms >= daysMin * DAY_MS
      ? ms
      : fault(context, `must be off, or a duration of at least ${daysMin}d`);
  });
}

/** For how long rows and files are kept that the books do not need. The ledger and runs have no such limit. */
export const retentionFields = {
  RETAIN_BODIES: retentionText(1).prefault('400d'),
  RETAIN_REPEATS: retentionText(LATE_DAYS_MIN).prefault('400d'),
  RETAIN_PAGES: retentionText(1).prefault('35d'),
  RETAIN_CALLBACKS: retentionText(LATE_DAYS_MIN).prefault('400d'),
  RETAIN_ATTEMPTS: retentionText(1).prefault('90d'),
  RETAIN_ALERTS: retentionText(1).prefault('180d'),
  RETAIN_TICKS: retentionText(1).prefault('30d'),
  RETAIN_REPORT_FILES: retentionText(1).prefault('off'),
};
