/**
 * The alert `database_read_only`. Each process writes a heartbeat every ten seconds. Where that fails while a read succeeds, the
 * database takes no writes, so the outbox can't take the alert either: a worker sends it to the channels itself, and its end.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { AlertToSend, Channel } from '../src/alerts/channels/channel.ts';
import { storeEndedAlert } from '../src/alerts/raise-alerts.ts';
import type { Context } from '../src/context.ts';
import { isRefused } from '../src/database/transact.ts';
import { describeError } from '../src/log.ts';
import { databaseWritable } from '../src/metrics/metrics.ts';
import { recordHeartbeat, recordStop } from '../src/runtime/heartbeat.ts';
import { withTimeLimit } from '../src/runtime/time-limit.ts';
import { createWakeSignal, runWorkerLoop } from '../src/runtime/wake-signal.ts';
import { summarize } from '../src/texts/alerts/describe-alert.ts';

const PROBE_EVERY_MS = 10_000;
const PROBE_MS_MAX = 5_000;
/** A fail-over to another host takes less. */
const READ_ONLY_MS_MIN = 15_000;
/** How far a worker's last sign of life may lie before the first write that failed. */
const ALIVE_MS = 60_000;
const NAME = 'database_read_only';
const SCOPE = 'database';

/** Probes until the signal. @param channels of a worker; a web process only records the outcome. */
export async function watchWrites(context: Context, channels: Channel[] = []): Promise<void> {
  const sentAtMs = new Map<Channel, number>();
  let alert: AlertToSend | undefined;
  let writing: Promise<void> | undefined;
  await runWorkerLoop({
    ...{ name: 'probe of writes', wakeUp: createWakeSignal(context.timers), idleMs: PROBE_EVERY_MS, context },
    async work() {
      // one at a time: on a database that hangs they would fill the pool
      writing ??= recordHeartbeat(context, 'database').finally(() => {
        writing = undefined;
      });
      const error = await recordOutcome(context, writing);
      const since = context.writes.failingSince();
      if (since === undefined) {
        if (alert) {
          const endedAt = context.clock.now();
          await storeEndedAlert(context.db, { ...alert, endedAt });
          for (const channel of sentAtMs.keys()) await send(context, channel, { ...alert, endedAt, alreadySent: true });
        }
        alert = undefined;
        sentAtMs.clear();
        return false;
      }
      // a write that is only slow was not refused
      if (!alert && isRefused(error) && (await isReadOnly(context, since)) && (await isFirstSender(context, since)))
        alert = describe(since, error);
      for (const channel of alert ? channels : []) {
        const before = sentAtMs.get(channel);
        const nowMs = context.timers.monotonicMs();
        if (before !== undefined && nowMs - before < (channel.resendEveryMs ?? Number.POSITIVE_INFINITY)) continue;
        if (alert && (await send(context, channel, { ...alert, alreadySent: before !== undefined })))
          sentAtMs.set(channel, nowMs);
      }
      return false;
    },
  });
  // best effort: a process that could not say it is taken for lost
  if (context.writes.failingSince() === undefined)
    await withTimeLimit(PROBE_MS_MAX, () => recordStop(context)).catch(() => undefined);
}

/** Records whether a write succeeds in time. @returns its error. */
async function recordOutcome(context: Context, writing: Promise<void>): Promise<unknown> {
  const at = context.clock.now();
  const error = await withTimeLimit(PROBE_MS_MAX, () => writing).then(
    () => undefined,
    (failure: unknown) => failure ?? new Error('unknown'),
  );
  context.writes.record(error === undefined ? { failed: false } : { failed: true, at });
  databaseWritable.set(error === undefined ? 1 : 0);
  return error;
}

async function isReadOnly({ db, clock }: Context, since: Date): Promise<boolean> {
  if (clock.now().getTime() - since.getTime() < READ_ONLY_MS_MIN) return false;
  return await withTimeLimit(PROBE_MS_MAX, () => sql`SELECT 1`.execute(db)).then(
    () => true,
    () => false,
  );
}

/** One of the workers sends: the first by name of those alive as writes began to fail. */
async function isFirstSender({ db, holder }: Context, since: Date): Promise<boolean> {
  const row = await db
    .selectFrom('heartbeats')
    .select((eb) => eb.fn.min('holder').as('first'))
    .where('part', '=', 'alerts')
    .where('seen_at', '>=', new Date(since.getTime() - ALIVE_MS))
    .executeTakeFirst();
  return (row?.first ?? holder) === holder;
}

function describe(since: Date, error: unknown): AlertToSend {
  const { code, name } = describeError(error);
  return {
    ...{ seq: 0, id: `al_${randomUUID().replaceAll('-', '')}`, name: NAME, scope: SCOPE, severity: 'critical' },
    ...summarize(NAME, { since: since.toISOString(), error: String(code ?? name) }),
    ...{ mismatchId: null, transactionId: null, raisedAt: since, endedAt: null },
    ...{ platformName: undefined, alreadySent: false },
  };
}

/** @returns whether the channel accepted it; else the next round sends it again. */
async function send(context: Context, channel: Channel, alert: AlertToSend): Promise<boolean> {
  return await channel.send([alert]).then(
    () => true,
    (error: unknown) => {
      const about = { channel: channel.name, error: describeError(error) };
      context.log.warn(about, 'a channel did not accept database_read_only; it is sent again in 10 s');
      return false;
    },
  );
}
