import type { Sandbox, Settings } from './context.ts';
import { createRandom } from './domain/random.ts';
import { createWallClock } from './domain/wall-clock.ts';
import type { Switches } from './faults/switches.ts';
import type { Database } from './store/tables.ts';
import type { Timers } from './timers.ts';

/** Makes the context of a sandbox on an open, migrated database. */
export async function openSandbox(parts: {
  db: Database;
  settings: Settings;
  switches: Switches;
  timeZone: string;
  log: (message: string) => void;
  signal: AbortSignal;
  timers: Timers;
}): Promise<Sandbox> {
  const { db, settings, log, signal, timers } = parts;
  const [lastWebhook, lastTransaction] = await Promise.all([
    db
      .selectFrom('webhooks')
      .select((eb) => eb.fn.max('id').as('id'))
      .executeTakeFirst(),
    db
      .selectFrom('transactions')
      .select((eb) => eb.fn.max('seq').as('seq'))
      .executeTakeFirst(),
  ]);
  // each notification has at least one row, so the highest key is not below the last used number
  let notification = Number(lastWebhook?.id ?? 0);
  let creation = 0;
  // on an empty database the seed decides the whole run; on another, the stream must not repeat ids
  const seen = Number(lastTransaction?.seq ?? 0);
  const seeded = createRandom(settings.seed);
  const live = seen === 0 ? seeded.fork('live') : seeded.fork(`live/${seen}`);
  const nothing = (): void => undefined;
  return {
    db,
    settings,
    switches: { current: parts.switches },
    clock: createWallClock(parts.timeZone),
    now: () => timers.now(),
    timers,
    random: { ...live, fork: (name) => (name.startsWith('history/') ? seeded.fork(name) : live.fork(name)) },
    nextCreationNumber: () => ++creation,
    nextNotificationId: () => ++notification,
    log,
    signal,
    wake: { steps: nothing, webhooks: nothing },
  };
}
