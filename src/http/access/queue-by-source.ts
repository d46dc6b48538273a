/** Where an item came from. A site is an IPv6 /48, a source an IPv4 address or an IPv6 /64. */
export type Origin = { site: string; source: string };
type Waiting<T> = Origin & { item: T };

const LEVELS = ['site', 'source'] as const;

/**
 * A queue that serves one site after another, within a site one source after another, and a source's items in order. A
 * source that queues many items delays only itself. Each call scans the whole queue: keep `itemsMax` small.
 * @param itemsMax items in the queue, of all sources.
 */
export function createSourceQueue<T>(itemsMax: number) {
  const waiting: Waiting<T>[] = [];
  /** The turn in which each site and each source was last served, while items of it wait. */
  const lastTurns = new Map<string, number>();
  let turn = 0;

  function remove(entry: Waiting<T>): T {
    waiting.splice(waiting.indexOf(entry), 1);
    return entry.item;
  }

  return {
    /**
     * Adds an item. In a full queue it replaces the newest item of a site, or of a source of its own site, that has at
     * least two more than its own.
     * @returns the item that does not fit: the replaced one, or the new one itself; undefined where there was room.
     */
    push(origin: Origin, item: T): T | undefined {
      const replaced = waiting.length < itemsMax ? undefined : chooseReplaced(waiting, origin);
      if (replaced) remove(replaced);
      if (waiting.length >= itemsMax) return item;
      waiting.push({ ...origin, item });
      return replaced?.item;
    },
    /** @returns the next item; undefined where none waits. */
    shift(): T | undefined {
      const lastTurn = (name: string) => lastTurns.get(name) ?? 0;
      const [next] = waiting.toSorted(
        (a, b) => lastTurn(a.site) - lastTurn(b.site) || lastTurn(a.source) - lastTurn(b.source),
      );
      if (!next) return undefined;
      remove(next);
      turn++;
      for (const level of LEVELS) lastTurns.set(next[level], turn);
      const names = new Set(waiting.flatMap(({ site, source }) => [site, source]));
      for (const name of lastTurns.keys()) if (!names.has(name)) lastTurns.delete(name);
      return next.item;
    },
  };
}

function chooseReplaced<T>(waiting: Waiting<T>[], origin: Origin): Waiting<T> | undefined {
  let candidates = waiting;
  let isOver = false;
  for (const level of LEVELS) {
    const groups = Map.groupBy(candidates, (one) => one[level]);
    const own = groups.get(origin[level]) ?? [];
    // of several largest groups, the one that queued last
    const [largest = own] = [...groups.values()].toReversed().toSorted((a, b) => b.length - a.length);
    isOver ||= largest.length > own.length + 1;
    candidates = isOver ? largest : own;
  }
  return isOver ? candidates.at(-1) : undefined;
}
