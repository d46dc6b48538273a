/** No share is waited for any longer: a batch that stands still holds up none of the others. */
export const PARALLEL_START_WAIT_MS_MAX = 100;

/**
 * Joins calls that come while one is under way: the next one takes all that wait, together. So one commit serves as
 * many callers as came during the commit before it, and nobody waits for a timer while commits go on.
 */
export function createBatcher<Item, Result>(options: {
  itemsMax: number;
  bytesMax: number;
  sizeOf: (item: Item) => number;
  work: (items: Item[]) => Promise<Result[]>;
  /** How many batches may be under way at once. */
  inFlightMax: number;
  /**
   * One starts beside others only once so large a share of what they hold waits, or the oldest has waited for
   * BESIDE_WAIT_MS_MAX: fewer and larger, where each costs by itself.
   */
  parallelStartShare?: number;
  /** A batch gathers so long before it starts, where nobody is kept waiting by that; by default until the next turn. */
  gatherMs?: number;
  /** More than so many, or so much, that wait are refused at once. */
  waitingMax?: number;
  waitingBytesMax?: number;
  /** How many of so many to take, where some counts are cheaper than others; the rest goes with the next batch. */
  roundDown?: (count: number) => number;
}): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; sinceMs: number; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const queue: Waiting[] = [];
  let queuedBytes = 0;
  let running = 0;
  let underWay = 0;
  let isScheduled = false;
  let waker: NodeJS.Timeout | undefined;

  function mayStart(): boolean {
    if (running === 0) return true;
    if (running >= options.inFlightMax) return false;
    return queue.length >= underWay * (options.parallelStartShare ?? 0) || waitedMs() >= PARALLEL_START_WAIT_MS_MAX;
  }

  /** How long the oldest has waited. */
  function waitedMs(): number {
    return queue[0] ? performance.now() - queue[0].sinceMs : 0;
  }

  /** Looks again once the oldest has waited for long enough. Where nothing more may start, what ends looks again. */
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
    underWay += batch.length;
    wakeLater();
    const answer = await work(batch);
    underWay -= batch.length;
    running--;
    answer();
    if (options.gatherMs === undefined) void run();
    else schedule();
  }

  /** @returns what tells each caller what became of it. */
  async function work(batch: Waiting[]): Promise<() => void> {
    try {
      const results = await options.work(batch.map((waiting) => waiting.item));
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
        reject(new Error(`${queue.length} (${queuedBytes} bytes) wait already`));
        return;
      }
      queuedBytes += options.sizeOf(item);
      queue.push({ item, sinceMs: performance.now(), resolve, reject });
      // started in a later turn, so that what arrived in the same tick of the event loop goes together
      schedule();
    });
}
