import { AsyncLocalStorage } from 'node:async_hooks';

/** Upper bound on waiting for `parallelStartShare`: a stalled batch must not block the next one. */
export const PARALLEL_START_WAIT_MS_MAX = 100;

/**
 * Returns a function that adds an item to a queue and resolves with its result. While a batch runs, calls queue up; the
 * next batch takes them together. So one commit serves all callers of the commit before it, without a timer.
 * @returns rejects with the error of the batch, or at once when the queue is full.
 */
export function createBatcher<Item, Result>(options: {
  itemsMax: number;
  bytesMax: number;
  sizeOf: (item: Item) => number;
  /** Must return one result for each item, in order. */
  work: (items: Item[]) => Promise<Result[]>;
  /** How many batches may run at once. */
  inFlightMax: number;
  /**
   * A batch starts in parallel to others once the queue holds this share of their items, or its oldest item has waited
   * for PARALLEL_START_WAIT_MS_MAX. That gives fewer and larger batches, where each has a fixed cost.
   */
  parallelStartShare?: number;
  /** How long a batch collects items before it starts. By default it starts in the next turn of the event loop. */
  gatherMs?: number;
  /** Calls are rejected while the queue holds this many items, or bytes. */
  waitingMax?: number;
  waitingBytesMax?: number;
  /** Rounds the size of a batch down to a cheaper one; the rest goes with the next batch. */
  roundDown?: (count: number) => number;
}): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; sinceMs: number; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const queue: Waiting[] = [];
  let queuedBytes = 0;
  let running = 0;
  let inFlight = 0;
  let isScheduled = false;
  let waker: NodeJS.Timeout | undefined;
  // a batch belongs to no one call: it runs outside of the request and the span of the call that starts it
  const runDetached = AsyncLocalStorage.snapshot();

  function mayStart(): boolean {
    if (running === 0) return true;
    if (running >= options.inFlightMax) return false;
    return queue.length >= inFlight * (options.parallelStartShare ?? 0) || waitedMs() >= PARALLEL_START_WAIT_MS_MAX;
  }

  /** How long the oldest item has waited. */
  function waitedMs(): number {
    return queue[0] ? performance.now() - queue[0].sinceMs : 0;
  }

  /** Schedules a batch for when the oldest item has waited long enough. At inFlightMax, the end of a batch schedules it. */
  function wakeLater(): void {
    if (waker || queue.length === 0 || running >= options.inFlightMax) return;
    const wake = (): void => {
      waker = undefined;
      schedule();
    };
    waker = setTimeout(wake, Math.max(1, PARALLEL_START_WAIT_MS_MAX - waitedMs()));
  }

  function takeBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    while (count < queue.length && count < options.itemsMax) {
      const next = queue[count];
      if (!next) break;
      bytes += options.sizeOf(next.item);
      if (count > 0 && bytes > options.bytesMax) break;
      count++;
    }
    const batch = queue.splice(0, options.roundDown?.(count) ?? count);
    for (const { item } of batch) queuedBytes -= options.sizeOf(item);
    return batch;
  }

  async function run(): Promise<void> {
    if (queue.length === 0 || !mayStart()) {
      wakeLater();
      return;
    }
    const batch = takeBatch();
    running++;
    inFlight += batch.length;
    wakeLater();
    const settle = await work(batch);
    inFlight -= batch.length;
    running--;
    settle();
    if (options.gatherMs === undefined) void run();
    else schedule();
  }

  /** @returns a function that settles the call of each item. */
  async function work(batch: Waiting[]): Promise<() => void> {
    try {
      const results = await runDetached(
        options.work,
        batch.map((waiting) => waiting.item),
      );
      return () => {
        for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
      };
    } catch (error) {
      return () => {
        for (const waiting of batch) waiting.reject(error);
      };
    }
  }

  function schedule(): void {
    if (isScheduled || queue.length === 0) return;
    if (!mayStart()) {
      wakeLater();
      return;
    }
    isScheduled = true;
    const start = (): void => {
      isScheduled = false;
      void run();
      schedule();
    };
    if (options.gatherMs === undefined) setImmediate(start);
    else setTimeout(start, options.gatherMs);
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      const { waitingMax = Number.POSITIVE_INFINITY, waitingBytesMax = Number.POSITIVE_INFINITY } = options;
      if (queue.length >= waitingMax || queuedBytes >= waitingBytesMax) {
        reject(new Error(`the queue is full: ${queue.length} items (${queuedBytes} bytes) wait`));
        return;
      }
      queuedBytes += options.sizeOf(item);
      queue.push({ item, sinceMs: performance.now(), resolve, reject });
      // start in a later turn: calls of the same turn of the event loop share a batch
      schedule();
    });
}
