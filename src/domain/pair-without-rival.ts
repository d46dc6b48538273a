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
