import { sql } from 'kysely';
import { endAlerts, raiseAlerts } from '../../alerts/raise-alerts.ts';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { transact } from '../../database/transact.ts';
import { describeError } from '../../log.ts';
import type { Reading } from '../../metrics/reading.ts';
import { summarize } from '../../texts/alerts/describe-alert.ts';
import { DROPPABLE, type Droppable, dropBodies } from './drop-bodies.ts';

const MEASURE_EVERY_MS = 1_000;
/** Pause after a measurement, in multiples of its duration: measuring uses at most 5 % of one connection. */
const PAUSE_FACTOR = 20;
/** Share of QUARANTINE_MAX_BYTES at which an alert fires. */
export const ALERT_SHARE = 0.8;
/** Share of QUARANTINE_MAX_BYTES down to which bodies are dropped, once the quarantine is full. */
export const DROP_TO_SHARE = 0.9;

const ALERT = { name: 'quarantine_full', scope: 'receiver' } as const;

export type QuarantineMeter = {
  /** Whether the quarantine has reached QUARANTINE_MAX_BYTES: then webhooks that name no transaction are refused. */
  isFull(): boolean;
  /** Counts a body that will be quarantined, before the next measurement sees it. */
  add(bytes: number): void;
};

/**
 * Measures the bytes of quarantined bodies in the background, through an index: once a second while webhooks arrive, less
 * often the longer it takes. No request waits for it; unreadable bodies are added in between. A nearly full quarantine
 * fires an alert. From a full one the oldest bodies are dropped.
 */
export function createQuarantineMeter(context: Context): QuarantineMeter {
  const maxBytes = context.config.QUARANTINE_MAX_BYTES;
  let measuredBytes = 0;
  let addedBytes = 0;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  /** Undefined until the first measurement: an earlier process may have left the alert firing. */
  let isAlerting: boolean | undefined;

  async function measure(): Promise<void> {
    const beganMs = context.timers.monotonicMs();
    nextAtMs = Number.POSITIVE_INFINITY;
    const before = addedBytes;
    try {
      const { quarantined, pending } = await measureBodies(context);
      // what was added before is in the sum, or in the next one
      measuredBytes = quarantined;
      addedBytes -= before;
      await updateAlert(measuredBytes >= maxBytes * ALERT_SHARE);
      if (quarantined >= maxBytes)
        measuredBytes -= await dropTo(context, ['garbage', 'denied', 'unasked', 'too_many_items'], quarantined);
      if (pending >= maxBytes) await dropTo(context, ['unproven'], pending);
    } catch (error) {
      context.log.warn({ error: describeError(error) }, 'the quarantine could not be measured; retrying');
    }
    nextAtMs =
      context.timers.monotonicMs() +
      Math.max(MEASURE_EVERY_MS, (context.timers.monotonicMs() - beganMs) * PAUSE_FACTOR);
  }

  /** Each process reports its own measurement; an alert that fires already is not raised again. */
  async function updateAlert(isNearlyFull: boolean): Promise<void> {
    if (isNearlyFull === isAlerting) return;
    const now = context.clock.now();
    const said = summarize(ALERT.name, { percent: ALERT_SHARE * 100, total: maxBytes });
    await transact(
      context.db,
      async (trx) => {
        if (isNearlyFull) await raiseAlerts(trx, [{ ...ALERT, severity: 'high', ...said }], now);
        else await endAlerts(trx, [ALERT], now);
      },
      { retryDuplicates: true },
    );
    isAlerting = isNearlyFull;
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

/** Reads only the index `webhooks_kept`, which has the lengths: no bodies, and no dropped rows. */
export function selectSizes(db: Reader) {
  return db
    .selectFrom('webhooks')
    .select(['state', sql<string | null>`SUM(body_bytes)`.as('bytes')])
    .where('state', 'in', ['quarantined', 'pending'])
    .where('dropped_at', 'is', null)
    .groupBy('state');
}

/** Bytes in the quarantine, and their limit. */
export async function readQuarantineMetrics(context: Context): Promise<Reading[]> {
  return [
    {
      name: 'confere_quarantine_bytes',
      help: 'Bytes of quarantined webhooks; at the limit, webhooks that name no transaction are refused.',
      values: (await measureBodies(context)).quarantined,
    },
    {
      name: 'confere_quarantine_limit_bytes',
      help: 'QUARANTINE_MAX_BYTES of this process.',
      values: context.config.QUARANTINE_MAX_BYTES,
    },
  ];
}

async function measureBodies({ db }: Context): Promise<{ quarantined: number; pending: number }> {
  const rows = await selectSizes(db).execute();
  const bytesOf = (state: string): number => Number(rows.find((row) => row.state === state)?.bytes ?? 0);
  return { quarantined: bytesOf('quarantined'), pending: bytesOf('pending') };
}

/** Drops bodies of these kinds until `bytes` would be DROP_TO_SHARE of the limit. @returns the bytes dropped. */
async function dropTo(context: Context, kinds: Droppable[], bytes: number): Promise<number> {
  const excess = bytes - context.config.QUARANTINE_MAX_BYTES * DROP_TO_SHARE;
  let dropped = 0;
  for (const kind of DROPPABLE.filter((kind) => kinds.includes(kind))) {
    if (dropped < excess) dropped += await dropBodies(context, kind, excess - dropped);
  }
  if (dropped > 0)
    context.log.warn({ bytes: dropped, kinds }, 'the quarantine is full; its oldest bodies were dropped');
  return dropped;
}
