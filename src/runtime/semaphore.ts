/** Lets so many in at a time. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** Whoever asks first is let in first. */
export function createSemaphore(places: number): Semaphore {
  const waiting: (() => void)[] = [];
  let under = 0;
  return async (work) => {
    if (under < places) under++;
    // whoever leaves hands its place on
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else under--;
    }
  };
}
