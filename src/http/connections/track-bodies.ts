/**
 * The bodies that are being read, the oldest first, counted by source. A linked list and counts that stay: a Set or Map
 * that changes with every request leaves old tables behind, which keep bodies until the next full collection.
 */

/** Beyond so many sources those that have nothing under way are forgotten. */
const SOURCES_KEPT_MAX = 4_096;

export type SourceUsage = { count: number; bytes: number };
export type TrackedBody = {
  source: SourceUsage;
  bytes: number;
  sinceMs: number;
  /** Ends the reading, with its rest unread. */
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
    if (sources.size >= SOURCES_KEPT_MAX)
      for (const [other, { count }] of sources) if (count === 0) sources.delete(other);
    const fresh = { count: 0, bytes: 0 };
    sources.set(name, fresh);
    return fresh;
  }

  return {
    /** Of all sources together. */
    all,
    enter(name: string, giveWay: () => void): TrackedBody {
      const source = sourceOf(name);
      const reading = { source, bytes: 0, sinceMs: performance.now(), abort: giveWay, older: newest, newer: undefined };
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
    /** Ends the oldest that takes longer than so many ms, of one source or of all. @returns whether there was one. */
    cutOldest(stalledMs: number, but: TrackedBody | undefined, source?: SourceUsage): boolean {
      const untilMs = performance.now() - stalledMs;
      for (let one = oldest; one && one.sinceMs <= untilMs; one = one.newer) {
        if (one === but || (source && one.source !== source)) continue;
        one.abort();
        return true;
      }
      return false;
    },
  };
}
