/** Finds names in the environment that are nearly ours: a mistyped variable would silently leave its default in force. */
import { environment } from './environment.ts';

/** Shorter names are near too many words of others: HOST, POST. */
const CHARS_MIN = 6;
/** From this length on two mistakes are allowed, else one. */
const LONG_CHARS_MIN = 10;
/** OpenTelemetry's names for logs, two letters from those for spans. */
const OTHERS = /^OTEL_BLRP_/;

export type MistypedName = { name: string; near: string };

/** @returns each unknown name that is a typing mistake or two from one of ours, with that one; also in lower case. */
export function findMistypedNames(env: NodeJS.ProcessEnv): MistypedName[] {
  const own = Object.keys(environment.shape).flatMap((name) => [name, `${name}_FILE`]);
  const known = new Set(own);
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || name.length < CHARS_MIN || OTHERS.test(name)) return [];
    const allowed = name.length < LONG_CHARS_MIN ? 1 : 2;
    const near = findNearest(name.toUpperCase(), own, allowed);
    return near === undefined ? [] : [{ name, near }];
  });
}

function findNearest(name: string, own: string[], allowed: number): string | undefined {
  const distances = own
    .filter((one) => one.length >= CHARS_MIN && Math.abs(one.length - name.length) <= allowed)
    .map((one) => ({ one, distance: countMistakes(name, one) }))
    .sort((a, b) => a.distance - b.distance);
  const [first] = distances;
  return first && first.distance <= allowed ? first.one : undefined;
}

/** Letters to add, drop, replace or swap with their neighbour (Damerau–Levenshtein, optimal string alignment). */
function countMistakes(a: string, b: string): number {
  // rows[i][j]: from the first i letters of a to the first j of b
  const rows: number[][] = [];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 0; row <= a.length; row++) {
    rows.push([]);
    for (let column = 0; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const ways = [
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        ...(isSwap ? [at(row - 2, column - 2) + 1] : []),
      ];
      rows[row]?.push(row === 0 || column === 0 ? row + column : Math.min(...ways));
    }
  }
  return at(a.length, b.length);
}
