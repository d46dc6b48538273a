import { sql } from 'kysely';
import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import { describeError } from '../../log.ts';
import { quarantineBytes } from '../../metrics/metrics.ts';
import { DROPPABLE, type Droppable, dropBodies } from './drop-bodies.ts';

const MEASURE_EVERY_MS = 1_000;
/** However many rows are quarantined, measuring takes at most a twentieth of one connection's time. */
const REST_TIMES = 20;
/** Of QUARANTINE_MAX_BYTES: from here on somebody is told. */
export const ALERT_SHARE = 0.8;
/** Of QUARANTINE_MAX_BYTES: once it is full, bodies are dropped down to this. */
export const DROP_TO_SHARE = 0.9;

const ALERT = { name: 'quarantine_full', scope: 'receiver' } as const;

export type QuarantineMeter = {
  /** Whether the quarantine has reached QUARANTINE_MAX_BYTES: then nothing is taken that names no transaction. */
  isFull(): boolean;
  /** A body that is bound for the quarantine: counted at once, before it is measured. */
  add(bytes: number): void;
};

/**
 * How many bytes of bodies are quarantined. Nobody waits for the sum: it is measured aside, by an index,
 * once a second while webhooks come, more seldom the longer it takes. What is refused at once is added in between. One
 * that is nearly full is an alert, and so is its end; of a full one the oldest bodies are dropped.
 */
export function createQuarantineMeter(context: Context): QuarantineMeter {
  const maxBytes = context.config.QUARANTINE_MAX_BYTES;
  let measuredBytes = 0;
  let addedBytes = 0;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  /** Undefined until the first measure: the process before may have left it firing. */
  let told: boolean | undefined;

  async function measure(): Promise<void> {
    const beganMs = context.timers.monotonicMs();
    nextAtMs = Number.POSITIVE_INFINITY;
    const before = addedBytes;
    try {
      const { quarantined, pending } = await measureBodies(context);
      // what was added before stands in the sum, or comes into it with the next one
      measuredBytes = quarantined;
      addedBytes -= before;
      await tell(measuredBytes >= maxBytes * ALERT_SHARE);
      if (quarantined >= maxBytes)
        measuredBytes -= await dropTo(context, ['garbage', 'denied', 'unasked', 'too_many_items'], quarantined);
      if (pending >= maxBytes) await dropTo(context, ['unproven'], pending);
      quarantineBytes.set(measuredBytes);
    } catch (error) {
      context.log.warn({ error: describeError(error) }, 'the quarantine could not be measured');
    }
    nextAtMs =
      context.timers.monotonicMs() + Math.max(MEASURE_EVERY_MS, (context.timers.monotonicMs() - beganMs) * REST_TIMES);
  }

  /** Each process says what it finds; the alert is one, and one that fires already is not raised again. */
  async function tell(nearlyFull: boolean): Promise<void> {
    if (nearlyFull === told) return;
    const now = context.clock.now();
    const summary = `the quarantine holds ${ALERT_SHARE * 100} % of QUARANTINE_MAX_BYTES (${maxBytes}): once it is full, webhooks that name no transaction are answered 503, and the oldest of them are dropped`;
    await transact(
      context.db,
      async (trx) => {
        if (nearlyFull) await raiseAlerts(trx, [{ ...ALERT, severity: 'high', summary }], now);
        else await endAlerts(trx, [ALERT], now);
      },
      { retryDuplicates: true },
    );
    told = nearlyFull;
    context.wakeUps.alerts.notify();
  }

  return {
    isFull() {
      if (context.timers.monotonicMs() >= nextAtMs) void measure();
      return measuredBytes + addedBytes >= maxBytes;
    },
    add(bytes) {
      addedBytes += bytes;
    },
  };
}

/** By the index `webhooks_kept`, which holds the lengths: no body is read, and nothing that was dropped. */
export function selectSizes(db: Reader) {
  return db
    .selectFrom('webhooks')
    .select(['state', sql<string | null>`SUM(body_bytes)`.as('bytes')])
    .where('state', 'in', ['quarantined', 'pending'])
    .where('dropped_at', 'is', null)
    .groupBy('state');
}

async function measureBodies({ db }: Context): Promise<{ quarantined: number; pending: number }> {
  const rows = await selectSizes(db).execute();
  const bytesOf = (state: string): number => Number(rows.find((row) => row.state === state)?.bytes ?? 0);
  return { quarantined: bytesOf('quarantined'), pending: bytesOf('pending') };
}

/** @returns how many bytes were dropped. */
async function dropTo(context: Context, kinds: Droppable[], bytes: number): Promise<number> {
  const excess = bytes - context.config.QUARANTINE_MAX_BYTES * DROP_TO_SHARE;
  let dropped = 0;
  for (const kind of DROPPABLE.filter((one) => kinds.includes(one))) {
    if (dropped < excess) dropped += await dropBodies(context, kind, excess - dropped);
  }
  if (dropped > 0)
    context.log.warn({ bytes: dropped, kinds }, 'the quarantine is full: its oldest bodies were dropped');
  return dropped;
}
