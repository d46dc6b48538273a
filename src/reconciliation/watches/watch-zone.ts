import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import { isZoneAlertFiring, ZONE_ALERT } from '../../alerts/zone-alert.ts';
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { parseE2eId } from '../../domain/e2e-id.ts';
import { summarize } from '../../texts/alerts/describe-alert.ts';
import { checkZone, type ZoneSample, type ZoneVerdict } from './check-zone.ts';

const PAYMENTS = 200;
/** Limit of events to read: ids may be absent or malformed, and events of other statuses lie between. */
const EVENTS_MAX = 2_000;

/**
 * Compares the configured time zone with the minutes inside the end-to-end ids of recent payments. While they disagree
 * an alert fires, and no report is closed: each payment may be on the wrong day.
 */
export async function watchZone(context: Context): Promise<void> {
  const verdict = checkZone(context.calendar.zone, await readPayments(context));
  if (verdict.state === 'unknown') return;
  const firing = await isZoneAlertFiring(context.db);
  if (firing === (verdict.state === 'differs')) return;
  const now = context.clock.now();
  await transact(
    context.db,
    async (trx) => {
      if (verdict.state === 'fits') await endAlerts(trx, [ZONE_ALERT], now);
      else
        await raiseAlerts(
          trx,
          [{ ...ZONE_ALERT, severity: 'critical', ...describe(context.calendar.zone, verdict) }],
          now,
        );
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

async function readPayments(context: Context): Promise<ZoneSample[]> {
  const newest = context.db
    .selectFrom('events')
    .select(['seq', 'transaction_seq', 'status', 'at_wall'])
    .orderBy('seq', 'desc')
    .limit(EVENTS_MAX);
  const rows = await context.db
    .selectFrom(newest.as('newest'))
    .innerJoin('transactions', 'transactions.seq', 'newest.transaction_seq')
    .select(['newest.at_wall', 'transactions.e2e_id'])
    .where('newest.status', '=', 'paid')
    .where('transactions.e2e_id', 'is not', null)
    .orderBy('newest.seq', 'desc')
    .limit(PAYMENTS)
    .execute();
  return rows.flatMap((row) => {
    const parsed = parseE2eId(row.e2e_id);
    return parsed?.of === 'payment' ? [{ wall: row.at_wall, minute: parsed.minute }] : [];
  });
}

function describe(zone: string, verdict: Extract<ZoneVerdict, { state: 'differs' }>) {
  const minutes = Math.round(Math.abs(verdict.medianMs) / 60_000);
  const hours = Math.round(verdict.offsetMs / 360_000) / 10;
  const fits = verdict.zone ?? `none of Brazil's: the provider's clock is UTC${hours < 0 ? '' : '+'}${hours} h`;
  return summarize(ZONE_ALERT.name, { zone, minutes, fits });
}
