import type { WallTime } from '../../domain/calendar.ts';

/** What is held of each row until a reading is judged, in one flat text each: a day may hold very many. */
export type SeenRows = {
  readonly size: number;
  has(id: string): boolean;
  /** The digest of what was shown of a row. */
  digestOf(id: string): string | undefined;
  /** Its creation; undefined where that could not be read. */
  createdWallOf(id: string): WallTime | undefined;
  /** A creation that is known stays known. */
  set(id: string, digest: string, wall: WallTime | undefined): void;
  entries(): Iterable<{ id: string; digest: string; wall: WallTime | undefined }>;
};

export function createSeenRows(): SeenRows {
  const marks = new Map<string, string>();
  const wallIn = (mark: string): WallTime | undefined => mark.slice(mark.indexOf('|') + 1) || undefined;
  const digestIn = (mark: string): string => mark.slice(0, mark.indexOf('|'));
  const look = <T>(id: string, read: (mark: string) => T): T | undefined => {
    const mark = marks.get(id);
    return mark === undefined ? undefined : read(mark);
  };
  return {
    get size() {
      return marks.size;
    },
    has: (id) => marks.has(id),
    digestOf: (id) => look(id, digestIn),
    createdWallOf: (id) => look(id, wallIn),
    set(id, digest, wall) {
      // joined, not added: a sum of two texts keeps both of them in memory
      marks.set(id, [digest, wall ?? look(id, wallIn) ?? ''].join('|'));
    },
    *entries() {
      for (const [id, mark] of marks) yield { id, digest: digestIn(mark), wall: wallIn(mark) };
    },
  };
}
