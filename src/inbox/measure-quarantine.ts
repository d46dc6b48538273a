import { sql } from 'kysely';
import { endAlerts, raiseAlerts } from '../alerts/raise.ts';
import type { Context } from '../context.ts';
import { transact } from '../database/transact.ts';
import { describeError } from '../log.ts';
import { quarantineBytes } from '../metrics/metrics.ts';

const MEASURE_EVERY_MS = 1_000;
/** However many rows are quarantined, measuring takes at most a twentieth of one connection's time. */
const REST_TIMES = 20;

const ALERT = { name: 'quarantine_full', scope: 'receiver' } as const;

export type QuarantineMeter = {
  /** Whether the quarantine has reached QUARANTINE_MAX_BYTES: then nothing more is taken. */
  isFull(): boolean;
  /** A body that is bound for the quarantine: counted at once, before it is measured. */
  add(bytes: number): void;
};

/**
 * How many bytes of bodies are quarantined. Nobody waits for the sum: it is measured aside, by the index of states,
 * once a second while webhooks come, more seldom the longer it takes. What is refused at once is added in between. A full
 * one is an alert, and so is its end.
 */
export function createQuarantineMeter(context: Context): QuarantineMeter {
  let measuredBytes = 0;
  let addedBytes = 0;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  /** Undefined until the first measure: the process before may have left it firing. */
  let told: boolean | undefined;

  async function measure(): Promise<void> {
    const beganMs = context.timers.elapsed();
    nextAtMs = Number.POSITIVE_INFINITY;
    const before = addedBytes;
    try {
      const row = await context.db
        .selectFrom('webhooks')
        .select(sql<string | null>`SUM(LENGTH(body))`.as('bytes'))
        .where('state', '=', 'quarantined')
        .executeTakeFirst();
      // what was added before stands in the sum, or comes into it with the next one
      measuredBytes = Number(row?.bytes ?? 0);
      addedBytes -= before;
      quarantineBytes.set(measuredBytes);
      await tell(measuredBytes >= context.config.QUARANTINE_MAX_BYTES);
    } catch (error) {
      context.log.warn({ error: describeError(error) }, 'the quarantine could not be measured');
    }
    nextAtMs = context.timers.elapsed() + Math.max(MEASURE_EVERY_MS, (context.timers.elapsed() - beganMs) * REST_TIMES);
  }

  /** Each process says what it finds; the alert is one, and one that fires already is not raised again. */
  async function tell(full: boolean): Promise<void> {
    if (full === told) return;
    const now = context.clock.now();
    const summary = `the quarantine holds ${context.config.QUARANTINE_MAX_BYTES} bytes: every webhook is answered 503`;
    await transact(
      context.db,
      async (trx) => {
        if (full) await raiseAlerts(trx, [{ ...ALERT, severity: 'critical', summary }], now);
        else await endAlerts(trx, [ALERT], now);
      },
      { retryDuplicates: true },
    );
    told = full;
    context.bells.alerts.ring();
  }

  return {
    isFull() {
      if (context.timers.elapsed() >= nextAtMs) void measure();
      return measuredBytes + addedBytes >= context.config.QUARANTINE_MAX_BYTES;
    },
    add(bytes) {
      addedBytes += bytes;
    },
  };
}
