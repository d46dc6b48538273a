import type { WallTime } from '../../domain/calendar.ts';

/** Digest and creation of each row of a pass, as one flat string each: a day may hold a million rows. */
export type SeenRows = {
  readonly size: number;
  has(id: string): boolean;
  digestOf(id: string): string | undefined;
  /** Undefined where the creation could not be read. */
  createdWallOf(id: string): WallTime | undefined;
  /** A known creation stays known when `wall` is undefined. */
  set(id: string, digest: string, wall: WallTime | undefined): void;
  entries(): Iterable<{ id: string; digest: string; wall: WallTime | undefined }>;
};

export function createSeenRows(): SeenRows {
  const rows = new Map<string, string>();
  const wallIn = (row: string): WallTime | undefined => row.slice(row.indexOf('|') + 1) || undefined;
  const digestIn = (row: string): string => row.slice(0, row.indexOf('|'));
  const read = <T>(id: string, part: (row: string) => T): T | undefined => {
    const row = rows.get(id);
    return row === undefined ? undefined : part(row);
  };
  return {
    get size() {
      return rows.size;
    },
    has: (id) => rows.has(id),
    digestOf: (id) => read(id, digestIn),
    createdWallOf: (id) => read(id, wallIn),
    set(id, digest, wall) {
      // joined: `+` would keep both strings in memory
      rows.set(id, [digest, wall ?? read(id, wallIn) ?? ''].join('|'));
    },
    *entries() {
      for (const [id, row] of rows) yield { id, digest: digestIn(row), wall: wallIn(row) };
    },
  };
}
