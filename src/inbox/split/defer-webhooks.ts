import { isServerError } from '../../database/transact.ts';
import type { Timers } from '../../timers.ts';

const DEFER_MS = 5_000;
/** With more failing webhooks than this the database is at fault: splitting pauses. */
const DEFERRED_MAX = 100;

/** Webhooks that this process failed to split a moment ago. Meanwhile they block no others. */
export type DeferredWebhooks = {
  /** @returns whether the webhook is deferred from now on; false where too many are. */
  add(seq: number, error: unknown): boolean;
  /** Webhooks whose failure was a server error: trying them with new ones would explain nothing. */
  listExcluded(): number[];
  /** Whether all of these are deferred. A webhook that failed for another reason is tried again with new ones. */
  includesAll(seqs: number[]): boolean;
  isEmpty(): boolean;
};

export function createDeferredWebhooks(timers: Timers): DeferredWebhooks {
  const deferred = new Map<number, { untilMs: number; isServerError: boolean }>();
  const dropExpired = (): void => {
    for (const [seq, { untilMs }] of deferred) if (untilMs <= timers.monotonicMs()) deferred.delete(seq);
  };
  return {
    add(seq, error) {
      if (deferred.size >= DEFERRED_MAX && !deferred.has(seq)) return false;
      deferred.set(seq, { untilMs: timers.monotonicMs() + DEFER_MS, isServerError: isServerError(error) });
      return true;
    },
    listExcluded() {
      dropExpired();
      return [...deferred].filter(([, one]) => one.isServerError).map(([seq]) => seq);
    },
    includesAll: (seqs) => seqs.every((seq) => deferred.has(seq)),
    isEmpty() {
      dropExpired();
      return deferred.size === 0;
    },
  };
}
