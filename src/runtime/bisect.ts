/**
 * Runs `work` on all items. If it fails with an error that `isSplittable` accepts, runs it on each half, down to single
 * items: so one bad item does not fail the others.
 * @param options.toResult the result of a single item that fails like this; without it the error is thrown.
 * @returns the results of all parts, in order.
 */
export async function bisect<Item, Result>(
  items: Item[],
  work: (some: Item[]) => Promise<Result[]>,
  options: {
    isSplittable: (error: unknown) => boolean;
    toResult?: (error: unknown, item: Item) => Result | Promise<Result>;
  },
): Promise<Result[]> {
  try {
    return await work(items);
  } catch (error) {
    if (!options.isSplittable(error)) throw error;
    const [item, second] = items;
    if (item === undefined) throw error;
    if (second === undefined && options.toResult) return [await options.toResult(error, item)];
    if (second === undefined) throw error;
    const middle = Math.ceil(items.length / 2);
    const first = await bisect(items.slice(0, middle), work, options);
    return [...first, ...(await bisect(items.slice(middle), work, options))];
  }
}
