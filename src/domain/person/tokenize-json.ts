import type { PersonMatcher } from './match-person.ts';

const HAS_DIGIT = /\d/;
/** A string or a number of a JSON text. */
export const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

export type Token = { value: string; isText: boolean; start: number };
type Placed = Pick<Token, 'value' | 'start'>;

/** All tokens of a JSON text: also field names, and values that a later field of the same name hides from a parser. */
export function listTokens(text: string): Token[] {
  return Array.from(text.matchAll(TOKEN), ({ 0: token, index }) => ({ ...readToken(token), start: index }));
}

export function readToken(token: string): Omit<Token, 'start'> {
  if (token.startsWith('"')) return { value: (parseJson(token) as string | undefined) ?? token, isText: true };
  const number = Number(token);
  // 1.2e10 and 12000000000.0 are one number; a longer one would lose digits
  return { value: Number.isSafeInteger(number) ? String(number) : token, isText: false };
}

/** Joins the values that hold digits: a document may be split over several, such as the elements of a list. */
export function joinDigits(tokens: Placed[]): { joined: string; starts: number[]; parts: Placed[] } {
  const parts = tokens.filter(({ value }) => HAS_DIGIT.test(value));
  const starts: number[] = [];
  let length = 0;
  for (const { value } of parts) {
    starts.push(length);
    length += value.length + 1;
  }
  return { joined: parts.map(({ value }) => value).join(' '), starts, parts };
}

/** @returns where the tokens start over which a document is split. */
export function findSplitDocuments(tokens: Placed[], matcher: PersonMatcher): Set<number> {
  const { joined, starts, parts } = joinDigits(tokens);
  const split = new Set<number>();
  let at = 0;
  for (const [start, end] of matcher.findDocument(joined).sort(([one], [other]) => one - other)) {
    while (at + 1 < starts.length && (starts[at + 1] ?? 0) <= start) at++;
    // within one value it is not split
    if ((starts[at + 1] ?? Number.POSITIVE_INFINITY) >= end) continue;
    for (let next = at; (starts[next] ?? Number.POSITIVE_INFINITY) < end; next++) split.add(parts[next]?.start ?? -1);
  }
  return split;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
