import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import type { Day } from '../../domain/calendar.ts';
import { summarize } from '../../texts/alerts/describe-alert.ts';
import { ReadBackError } from './read-back.ts';

/** `isKept`: a revision, which is made again until it agrees; any other file is made on request. */
type Made = { from: Day; to: Day; isKept: boolean };

const NAME = 'report_differs';
/** Requests for a file that differs raise one alert in this time. */
const QUIET_MS = 3_600_000;

/**
 * Makes a report, and raises an alert with the sheet if it differs from the ledger. The alert of a revision ends once the
 * day's report is made; that of a file on request ends at once, as nobody may ask for the file again.
 * @throws the errors of `make`.
 */
export async function alertDifferingReport<T>(context: Context, made: Made, make: () => Promise<T>): Promise<T> {
  try {
    const result = await make();
    if (made.isKept) await endAlert(context, made);
    return result;
  } catch (error) {
    if (error instanceof ReadBackError) await raiseAlert(context, made, error);
    throw error;
  }
}

function scopeOf({ from, to, isKept }: Made): string {
  return isKept ? from : `${from}..${to}`;
}

async function raiseAlert(context: Context, made: Made, { message, faults: [fault] }: ReadBackError): Promise<void> {
  const { from, to, isKept } = made;
  const scope = scopeOf(made);
  context.log.error({ from, to, fault: message }, 'a report differs from the ledger and is not published');
  const days = from === to ? [from] : [from, to];
  const said = summarize(NAME, { days, ...(fault ? { sheet: fault.sheet, error: fault.text } : {}) });
  await transact(
    context.db,
    async (trx) => {
      const now = context.clock.now();
      const recent = isKept
        ? undefined
        : await trx
            .selectFrom('alerts')
            .select('seq')
            .where('name', '=', NAME)
            .where('scope', '=', scope)
            .where('raised_at', '>', new Date(now.getTime() - QUIET_MS))
            .executeTakeFirst();
      if (recent) return;
      await raiseAlerts(trx, [{ name: NAME, scope, severity: 'high', ...said, ended: !isKept }], now);
    },
    { retryDuplicates: true },
  );
  context.wakeUps.alerts.notify();
}

async function endAlert(context: Context, made: Made): Promise<void> {
  await transact(context.db, (trx) => endAlerts(trx, [{ name: NAME, scope: scopeOf(made) }], context.clock.now()));
  context.wakeUps.alerts.notify();
}
