/** Runs `work` once one of its slots is free. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** @returns a semaphore with this many slots. They are granted in the order of the calls. */
export function createSemaphore(slots: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < slots) running++;
    // the call that ends passes its slot to the first that waits, so `running` stays as it is
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
