import type { Random } from './domain/random.ts';
import type { WallClock } from './domain/wall-clock.ts';
import type { Switches } from './faults/switches.ts';
import type { Database } from './store/tables.ts';
import type { Timers } from './timers.ts';

/** What every part of a running sandbox is handed. Opened once by open-sandbox.ts, disposed once. */
export type Sandbox = {
  db: Database;
  settings: Settings;
  /** the switches in force; replaced whole, never changed in place */
  switches: { current: Switches };
  clock: WallClock;
  /** milliseconds since 1970 */
  now: () => number;
  timers: Timers;
  random: Random;
  /** counts creations, so that each draws from a stream of its own whatever else goes on */
  nextCreationNumber: () => number;
  /** the number of the next notification, which its webhook carries as `id` */
  nextNotificationId: () => number;
  log: (message: string) => void;
  /** aborts when the sandbox ends */
  signal: AbortSignal;
  /** called after webhooks or steps were stored, so that they need not wait for the next look */
  wake: { lives: () => void; webhooks: () => void };
};

export type Settings = {
  apiKey: string;
  /** origin that clients call, set once it listens */
  url: string;
  /** where payment links begin; a payment link is `${checkoutUrl}/transaction/<id>` */
  checkoutUrl: string;
  webhookUrl: string | undefined;
  webhookToken: string | undefined;
  seed: string;
};
