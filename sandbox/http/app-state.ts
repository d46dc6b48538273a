import type { FaultTallies } from '../faults/choose-fault.ts';
import type { FlushSignal } from '../webhooks/run-webhooks.ts';

/** State that routes share beside the sandbox: the flush signal of the webhook sender, and the counters of each fault. */
export type AppState = { flushSignal: FlushSignal; tallies: FaultTallies };
