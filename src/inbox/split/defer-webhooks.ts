import { isServerError } from '../../database/transact.ts';
import type { Timers } from '../../timers.ts';

const PUT_OFF_MS = 5_000;
/** Of more than so many it is the database that fails: taking apart pauses. */
const PUT_OFF_MAX = 100;

/** Webhooks that could not be taken apart just now, by this process: they hold up nothing else meanwhile. */
export type DeferredWebhooks = {
  /** Whether it is put off from now on; not where there are too many already. */
  add(seq: number, error: unknown): boolean;
  /** Those with which the server was in trouble of its own: nothing that comes with them can tell more. */
  listExcluded(): number[];
  /** Whether all of these are put off. One that failed for another reason is tried again with whatever comes. */
  includesAll(seqs: number[]): boolean;
};

export function createDeferredWebhooks(timers: Timers): DeferredWebhooks {
  const kept = new Map<number, { untilMs: number; isServers: boolean }>();
  const forgetOver = (): void => {
    for (const [seq, { untilMs }] of kept) if (untilMs <= timers.monotonicMs()) kept.delete(seq);
  };
  return {
    add(seq, error) {
      if (kept.size >= PUT_OFF_MAX && !kept.has(seq)) return false;
      kept.set(seq, { untilMs: timers.monotonicMs() + PUT_OFF_MS, isServers: isServerError(error) });
      return true;
    },
    listExcluded() {
      forgetOver();
      return [...kept].filter(([, { isServers }]) => isServers).map(([seq]) => seq);
    },
    includesAll: (seqs) => seqs.every((seq) => kept.has(seq)),
  };
}
