import type { Random } from './domain/random.ts';
import type { WallClock } from './domain/wall-clock.ts';
import type { Switches } from './faults/switches.ts';
import type { Database } from './store/tables.ts';
import type { Timers } from './timers.ts';

/** The context of a running sandbox, passed to every part of it. open-sandbox.ts makes it once. */
export type Sandbox = {
  db: Database;
  settings: Settings;
  /** the current switches; replaced as a whole, never changed in place */
  switches: { current: Switches };
  clock: WallClock;
  /** milliseconds since 1970 */
  now: () => number;
  timers: Timers;
  random: Random;
  /** the number of the next creation: each draws from a random stream of its own, independent of other work */
  nextCreationNumber: () => number;
  /** the number of the next notification; its webhook has it as `id` */
  nextNotificationId: () => number;
  log: (message: string) => void;
  /** aborts when the sandbox ends */
  signal: AbortSignal;
  /** called after steps or webhooks were stored, so that they do not wait for the next poll */
  wake: { steps: () => void; webhooks: () => void };
};

export type Settings = {
  apiKey: string;
  /** origin that clients call, set once it listens */
  url: string;
  /** a payment link is `${checkoutUrl}/transaction/<id>` */
  checkoutUrl: string;
  webhookUrl: string | undefined;
  webhookToken: string | undefined;
  seed: string;
};
