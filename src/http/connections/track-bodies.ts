/**
 * The bodies that are being read, oldest first, with counts by source. It is a linked list with counters that stay: a Set
 * or Map that changes with each request leaves old hash tables behind, which retain bodies until the next full collection.
 */

/** Beyond this number, sources without a body under way are removed. */
const SOURCES_MAX = 4_096;

export type SourceUsage = { count: number; bytes: number };
export type TrackedBody = {
  source: SourceUsage;
  bytes: number;
  sinceMs: number;
  /** Stops reading; the rest stays unread. */
  abort(): void;
  older: TrackedBody | undefined;
  newer: TrackedBody | undefined;
};

export function createBodyTracker() {
  const sources = new Map<string, SourceUsage>();
  let oldest: TrackedBody | undefined;
  let newest: TrackedBody | undefined;
  const all: SourceUsage = { count: 0, bytes: 0 };

  function sourceOf(name: string): SourceUsage {
    const known = sources.get(name);
    if (known) return known;
    if (sources.size >= SOURCES_MAX) for (const [other, { count }] of sources) if (count === 0) sources.delete(other);
    const fresh = { count: 0, bytes: 0 };
    sources.set(name, fresh);
    return fresh;
  }

  return {
    /** Totals of all sources. */
    all,
    enter(name: string, abort: () => void): TrackedBody {
      const source = sourceOf(name);
      const reading = { source, bytes: 0, sinceMs: performance.now(), abort, older: newest, newer: undefined };
      if (newest) newest.newer = reading;
      newest = reading;
      oldest ??= reading;
      source.count++;
      all.count++;
      return reading;
    },
    grow(reading: TrackedBody, bytes: number): void {
      for (const one of [reading, reading.source, all]) one.bytes += bytes;
    },
    leave(reading: TrackedBody): void {
      for (const one of [reading.source, all]) {
        one.count--;
        one.bytes -= reading.bytes;
      }
      const { older, newer } = reading;
      if (older) older.newer = newer;
      else oldest = newer;
      if (newer) newer.older = older;
      else newest = older;
      reading.older = undefined;
      reading.newer = undefined;
    },
    /**
     * Aborts the oldest body that has taken at least `stalledMs`, except one.
     * @param source only its bodies; undefined for all.
     * @returns whether there was one.
     */
    abortOldest(stalledMs: number, except: TrackedBody | undefined, source?: SourceUsage): boolean {
      const untilMs = performance.now() - stalledMs;
      for (let one = oldest; one && one.sinceMs <= untilMs; one = one.newer) {
        if (one === except || (source && one.source !== source)) continue;
        one.abort();
        return true;
      }
      return false;
    },
  };
}
