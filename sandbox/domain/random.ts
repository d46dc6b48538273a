/**
 * A seeded random stream: everything that a run generates comes from one seed. `fork` returns an independent stream for a
 * name, so that the draws of one part never change those of another.
 */
export type Random = {
  /** a number from 0 (inclusive) to 1 (exclusive) */
  next(): number;
  /** a whole number from `min` to `max`, both inclusive */
  int(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
  /** `length` characters of an alphabet */
  text(alphabet: string, length: number): string;
  fork(name: string): Random;
};

/** Creates the random stream of a seed: the same seed gives the same stream. */
export function createRandom(seed: string): Random {
  const next = sfc32(hash(seed, 1), hash(seed, 2), hash(seed, 3), hash(seed, 4));
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    pick<T>(list: readonly T[]): T {
      const chosen = list[Math.floor(next() * list.length)];
      if (chosen === undefined) throw new RangeError('pick: the list is empty');
      return chosen;
    },
    chance: (probability) => next() < probability,
    text(alphabet, length) {
      let made = '';
      for (let i = 0; i < length; i++) made += alphabet[Math.floor(next() * alphabet.length)];
      return made;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A version 4 UUID. */
export function makeUuid(random: Random): string {
  let made = '';
  for (let i = 0; i < 16; i++) {
    let byte = Math.floor(random.next() * 256);
    if (i === 6) byte = 0x40 | (byte & 0x0f);
    if (i === 8) byte = 0x80 | (byte & 0x3f);
    made += HEX[byte];
    if (i === 3 || i === 5 || i === 7 || i === 9) made += '-';
  }
  return made;
}

function hash(text: string, salt: number): number {
  let value = (0x811c9dc5 ^ Math.imul(salt, 0x9e3779b1)) >>> 0;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

function sfc32(a0: number, b0: number, c0: number, d0: number): () => number {
  let [a, b, c, d] = [a0 | 0, b0 | 0, c0 | 0, d0 | 0];
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
  // skip the first draws: they are similar for similar seeds
  for (let i = 0; i < 12; i++) next();
  return next;
}
