/**
 * Runs `work` on each item of `source`, up to `inFlightMax` at once, and yields the results as they finish. While all
 * slots are in use, no further item is taken from the source: that is the backpressure. A plain `for await` would wait
 * for the work on each item before it takes the next one.
 * @returns what the source returns.
 * @throws the first error of the source or of `work`, after all started work has ended and the source is closed.
 */
export async function* mapConcurrently<Item, Result, End>(
  source: AsyncGenerator<Item, End>,
  inFlightMax: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, End> {
  type Done = { slot: number; result: Result };
  const inFlight = new Map<number, Promise<Done>>();
  let hasFailed = false;
  const start = async (slot: number, item: Item): Promise<Done> => {
    try {
      return { slot, result: await work(item) };
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  let slots = 0;
  let next: Promise<{ item: IteratorResult<Item, End> }> | undefined;
  let end: { value: End } | undefined;
  try {
    while (!end || inFlight.size > 0) {
      if (!end && !hasFailed && inFlight.size < inFlightMax) next ??= source.next().then((item) => ({ item }));
      const first = await Promise.race([...inFlight.values(), ...(next ? [next] : [])]);
      if ('slot' in first) {
        inFlight.delete(first.slot);
        yield first.result;
        continue;
      }
      next = undefined;
      if (first.item.done) end = first.item;
      else inFlight.set(++slots, start(slots, first.item.value));
    }
    return end.value;
  } finally {
    // the value is not read: it only closes the source
    await Promise.allSettled([...inFlight.values(), source.return(undefined as End)]);
  }
}
