import type { FaultTallies } from '../faults/choose-fault.ts';
import type { FlushSignal } from '../webhooks/run-webhooks.ts';

/** What the routes share beside the sandbox: the wake-up signal of the webhook sender, and how often each fault was chosen. */
export type AppState = { flushSignal: FlushSignal; tallies: FaultTallies };
