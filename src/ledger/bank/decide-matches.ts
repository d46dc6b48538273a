/**
 * Decides which lines of the bank's statement are which entries of the ledger. Pure, and independent of the order of lines and
 * entries. It never chooses between two: a pair is matched only if each side has no other candidate.
 *
 * A line and an entry are candidates for each other if their amounts are equal, their days are at most DAYS_APART_MAX apart, and the
 * entry names no other bank account.
 * A payment to somebody (a cashout) is a candidate only of a line that names it, by its id, end-to-end id or reference: by
 * amount and day alone, payments to strangers would pass for withdrawals.
 *
 * 1. By reference: a line that names exactly one candidate, which no other line names.
 * 2. By amount and day: among what is left, a line with exactly one candidate, which has no other line.
 */
import { addDays, type Day } from '../../domain/calendar.ts';
import { pairWithoutRival } from '../../domain/lists.ts';

export const DAYS_APART_MAX = 2;

/** A line without a match. */
export type OpenLine = {
  seq: number;
  account: string;
  day: Day;
  /** Positive: it came into the bank account. */
  cents: bigint;
  /** Its texts as one. */
  text: string;
  /** The bank's numbers of it: a note of an adjustment may repeat one. */
  numbers: ReadonlySet<string>;
  /** Words of its texts: the name of a cashout may be one. */
  words: ReadonlySet<string>;
  /** Words as they are written. */
  spelled: ReadonlySet<string>;
};

/** An entry without a match. */
export type OpenEntry = {
  seq: number;
  kind: 'adjustment' | 'cashout';
  day: Day;
  /** The bank account that it names; null: none. */
  account: string | null;
  /** As the bank sees it: positive came into the bank account. */
  cents: bigint;
  /** Names that a line may use. */
  names: ReadonlySet<string>;
};

export type Rule = 'reference' | 'amount';
export type DecidedMatch = { lineSeq: number; entrySeq: number; rule: Rule };
export type Candidate = { entry: OpenEntry; isNamed: boolean };

/** A shorter number, such as a year, occurs in a note by chance. */
const NUMBER_CHARS_MIN = 5;
/** A shorter word of a free text, such as a day or an account, is no name. */
const NAME_CHARS_MIN = 6;
/** A word of this length in a free text is a code, such as an end-to-end id. */
const CODE_CHARS_MIN = 16;
/** A shorter one is a code if it has letters too: digits alone may be a date, an account or a document. */
const LETTERED_CODE_CHARS_MIN = 10;
const WORD = /[\p{L}\p{N}_.-]+/gu;

/** The words of texts that may name something: those with a digit, as they are written. */
function listWords(texts: (string | null)[], charsMin: number): string[] {
  const words = texts.flatMap((text) => text?.match(WORD) ?? []).map((word) => word.replace(/^[.-]+|[.-]+$/g, ''));
  return words.filter((word) => /\d/.test(word) && normalizeName(word).length >= charsMin);
}

/** In lower case, and without the leading zeros that banks add. */
function normalizeName(word: string): string {
  return word.toLowerCase().replace(/^0+/, '');
}

/** The names in a line's numbers and texts. */
export function listLineNames(
  numbers: (string | null)[],
  texts: (string | null)[],
): Pick<OpenLine, 'numbers' | 'words' | 'spelled'> {
  const own = listWords(numbers, NUMBER_CHARS_MIN);
  const spelled = [...own, ...listWords(texts, NAME_CHARS_MIN)];
  const lettered = listWords(texts, LETTERED_CODE_CHARS_MIN).filter((word) => /^[a-z]+\d+$/i.test(word));
  return {
    numbers: new Set([...own, ...listWords(texts, CODE_CHARS_MIN), ...lettered].map(normalizeName)),
    words: new Set(spelled.map(normalizeName)),
    spelled: new Set(spelled),
  };
}

/** The names of an adjustment: its id, and the numbers in its note. */
export function listAdjustmentNames(id: string, note: string): Set<string> {
  return new Set(listWords([id, note], NUMBER_CHARS_MIN).map(normalizeName));
}

/** The names of a cashout: each as a whole. */
export function listCashoutNames(...names: (string | null)[]): Set<string> {
  return new Set(names.filter((name) => name !== null).map(normalizeName));
}

/** Returns the candidates of a line, those that it names first. */
export function listCandidates(line: OpenLine, entries: readonly OpenEntry[]): Candidate[] {
  const [from, to] = [addDays(line.day, -DAYS_APART_MAX), addDays(line.day, DAYS_APART_MAX)];
  const found = entries
    .filter(({ cents, day }) => cents === line.cents && day >= from && day <= to)
    .filter(({ account }) => account === null || account === line.account)
    .map((entry) => ({ entry, isNamed: namesIt(line, entry) }))
    .filter(({ entry, isNamed }) => isNamed || entry.kind === 'adjustment');
  return found.sort((a, b) => Number(b.isNamed) - Number(a.isNamed) || a.entry.seq - b.entry.seq);
}

/** A pair of a line and an entry, as a key. */
export function pairOf(lineSeq: number, entrySeq: number): string {
  return `${lineSeq} ${entrySeq}`;
}

function namesIt({ numbers, words }: OpenLine, { kind, names }: OpenEntry): boolean {
  const given = kind === 'adjustment' ? numbers : words;
  return [...names].some((name) => given.has(name));
}

/**
 * Returns the pairs that have no other candidate on either side.
 * @param undone pairs that a person undid, as `pairOf` writes them: never matched again, they still count as candidates.
 */
export function decideMatches(
  lines: readonly OpenLine[],
  entries: readonly OpenEntry[],
  undone: ReadonlySet<string> = new Set(),
): DecidedMatch[] {
  const byAmount = Map.groupBy(entries, ({ cents }) => cents);
  const all = lines.flatMap((line) =>
    listCandidates(line, byAmount.get(line.cents) ?? []).map(({ entry, isNamed }) => ({
      ...{ left: line.seq, right: entry.seq, isNamed },
    })),
  );
  const isUndone = ({ left, right }: { left: number; right: number }): boolean => undone.has(pairOf(left, right));
  const byReference = pairWithoutRival(
    all.filter(({ isNamed }) => isNamed),
    isUndone,
  );
  const [matched, taken] = [new Set(byReference.map(({ left }) => left)), new Set(byReference.map((one) => one.right))];
  const rest = all.filter(({ left, right }) => !matched.has(left) && !taken.has(right));
  return [...toMatches(byReference, 'reference'), ...toMatches(pairWithoutRival(rest, isUndone), 'amount')];
}

function toMatches(pairs: readonly { left: number; right: number }[], rule: Rule): DecidedMatch[] {
  return pairs.map(({ left, right }) => ({ lineSeq: left, entrySeq: right, rule }));
}
