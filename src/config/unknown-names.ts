/**
 * Finds names in the environment that are unknown, and meant for us: a mistyped variable would silently leave its default in force.
 * Meant for us are names that are nearly ours, and all that begin as two or more of ours do (`RETAIN_`, `JOB_`).
 */
import { smallest } from '../domain/lists.ts';
import { environment } from './environment.ts';

/** Shorter names are near too many words of others: HOST, POST. */
const CHARS_MIN = 6;
/** From this length on two mistakes are allowed, else one. */
const LONG_CHARS_MIN = 10;
/** One of ours alone is no family: others too have DATABASE_HOST, SMTP_USER or LOG_FILE. */
const FAMILY_MIN = 2;
/**
 * Names of others in our families: OpenTelemetry's and those of logs, which all programs share; the jobs of Jenkins, Kubernetes and other CI systems; what Kubernetes and
 * Docker say of a service that is called `webhook` or `provider`.
 */
const OTHERS =
  /^OTEL_|^LOG_|^JOB_(?:ID|NAME|BASE_NAME|URL|DISPLAY_URL|COMPLETION_INDEX)$|_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)(?:_\w+)?)?)$/;
/** OpenTelemetry's names for logs, two letters from those for spans. */
const NEAR_OTHERS = /^OTEL_BLRP_/;

/** `near` is the nearest of our names; undefined if none is near. */
export type UnknownName = { name: string; near: string | undefined };

const own = Object.keys(environment.shape).flatMap((name) => [name, `${name}_FILE`]);
const families = findFamilies();

/** @returns each unknown name that is a typing mistake or two from one of ours, also in lower case, or of one of our families. */
export function findUnknownNames(env: NodeJS.ProcessEnv): UnknownName[] {
  const known = new Set(own);
  return Object.keys(env).flatMap((name) => {
    if (known.has(name)) return [];
    const near = findMistyped(name);
    if (near === undefined && !isOfFamily(name)) return [];
    return [{ name, near: near ?? findSimilar(name) }];
  });
}

/** The first words of our names, with the underscore, that several share. */
function findFamilies(): Set<string> {
  const first = Object.keys(environment.shape).map(firstWord);
  return new Set(first.filter((word) => first.filter((other) => other === word).length >= FAMILY_MIN));
}

/** `JOB_` of `JOB_WATCH`; the whole name if it has one word. */
function firstWord(name: string): string {
  return name.slice(0, name.indexOf('_') + 1 || undefined);
}

function isOfFamily(name: string): boolean {
  return families.has(firstWord(name)) && !OTHERS.test(name);
}

function findMistyped(name: string): string | undefined {
  if (name.length < CHARS_MIN || NEAR_OTHERS.test(name)) return undefined;
  const allowed = name.length < LONG_CHARS_MIN ? 1 : 2;
  const near = own.filter((one) => one.length >= CHARS_MIN && Math.abs(one.length - name.length) <= allowed);
  return findNearest(name.toUpperCase(), near, () => allowed);
}

/** Finds the name of the same family that has its other words too, as JOB_DAILY_REPORT for JOB_REPORT; else one of which half is the same. */
function findSimilar(name: string): string | undefined {
  const family = firstWord(name);
  const rest = (one: string): string => one.slice(family.length);
  const others = own.filter((one) => one.startsWith(family));
  const words = rest(name).split('_');
  const longer = others.find((one) => words.every((word) => rest(one).split('_').includes(word)));
  return longer ?? findNearest(name, others, (one) => Math.floor(Math.max(rest(one).length, rest(name).length) / 2));
}

/** @param allowed how many mistakes. */
function findNearest(name: string, names: string[], allowed: (one: string) => number): string | undefined {
  const [first] = names
    .map((one) => ({ one, distance: countMistakes(name, one) }))
    .filter(({ one, distance }) => distance <= allowed(one))
    .sort((a, b) => a.distance - b.distance);
  return first?.one;
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
      rows[row]?.push(row === 0 || column === 0 ? row + column : smallest(ways));
    }
  }
  return at(a.length, b.length);
}
