/** Groups a value of each row by a key; values keep the order of the rows. */
export function groupValues<T, K, V>(rows: Iterable<T>, key: (row: T) => K, value: (row: T) => V): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(value(row));
    else groups.set(key(row), [value(row)]);
  }
  return groups;
}

/** Splits a list into parts of at most `size` items, in its order: a statement or a transaction each. */
export function* splitList<T>(list: readonly T[], size: number): Generator<T[], void, undefined> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}

/** Compares texts by their code units: the order is the same in every language. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

// A call takes some 100,000 arguments at most: `push(...rows)` and `Math.max(...values)` throw RangeError beyond.

/** Appends items to a list, however many they are. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** @returns the largest value; -Infinity without one. */
export function largest(values: Iterable<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** @returns the smallest value; Infinity without one. */
export function smallest(values: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const value of values) least = Math.min(least, value);
  return least;
}

/** Two things that may belong together, by their numbers. */
export type Candidate = { left: number; right: number };

/**
 * Returns the candidates of which neither side has another one. A barred pair, which a person undid, is not returned and still
 * counts: otherwise its two sides would be paired with others by elimination, which is a guess. Independent of the order. Pure.
 */
export function pairWithoutRival<C extends Candidate>(candidates: readonly C[], isBarred: (one: C) => boolean): C[] {
  const [lefts, rights] = [new Map<number, number>(), new Map<number, number>()];
  for (const { left, right } of candidates) {
    lefts.set(left, (lefts.get(left) ?? 0) + 1);
    rights.set(right, (rights.get(right) ?? 0) + 1);
  }
  return candidates.filter((one) => lefts.get(one.left) === 1 && rights.get(one.right) === 1 && !isBarred(one));
}

/** Returns the row numbers of rows. */
export function seqsOf(rows: readonly { seq: number }[]): number[] {
  return rows.map(({ seq }) => seq);
}
