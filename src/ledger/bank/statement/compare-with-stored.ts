/**
 * Compares the lines of a file with those that its account has. A line is known by what it is: its day, amount and text, counted
 * among equal ones; a FITID alone is no identity, as banks give new ones at each download, or number the lines of a day.
 *
 * 1. A line of the content and the FITID of a stored one is that one; so is one without FITID that is equal in all its texts.
 * 2. One of the content of a stored one that is left is that one: its FITID is new.
 * 3. One of the FITID, day and amount of a stored one that is left is that one: the bank changed its text.
 * 4. Any other is new. Where the file lacks a stored line that it may be, a person is asked: banks write one text in many ways,
 *    and move a line to another day.
 */

import type { Context } from '../../../context.ts';
import { addDays, type Day, listDays } from '../../../domain/calendar.ts';
import { append, splitList } from '../../../domain/lists.ts';
import { REMOVED } from '../../../domain/person/redact-text.ts';
import { mapInTurns } from '../../../runtime/take-turns.ts';
import { type BankLine, hashContent, hashRepeated, textOf } from './identify-lines.ts';
import type { StatementFault } from './statement-faults.ts';

const ROWS_AT_ONCE = 500;
/** A bank moves a line over a weekend. */
const DAYS_MOVED_MAX = 3;

export type Compared = {
  /** Lines that the account does not have, each with a hash that no other line has. */
  added: BankLine[];
  known: number;
  /** Known lines whose FITID is another one than was stored. */
  renumbered: number;
  /** Faults that a person must answer before the new lines are stored. */
  faults: StatementFault[];
};

/** `newest`: the number of the newest statement before this file. */
export type Shown = { lines: readonly BankLine[]; from: Day | null; to: Day | null; newest: number };

type Stored = {
  seq: number;
  statement: number;
  day: Day;
  cents: bigint;
  hash: string;
  content: string;
  hasNumber: boolean;
  /** Undefined: it was erased. */
  text: string | undefined;
};

export async function compareWithStored(
  { db, keys }: Pick<Context, 'db' | 'keys'>,
  account: string,
  shown: Shown,
): Promise<Compared> {
  const { lines } = shown;
  const span = spanOf(shown);
  const stored = span ? await readStored({ db, keys }, { account, lines, span }) : [];
  const { known, renumbered, left } = matchLines(lines, stored);
  const added = lines.filter((line) => !known.has(line));
  const faults = [
    ...findRepeated(added),
    ...(await findDoubtful(
      added,
      [...left],
      ({ day, statement }) => span !== undefined && span.from <= day && day <= span.to && statement <= shown.newest,
    )),
    ...findPartial(added, left, [...renumbered, ...lines.filter(({ occurrence }) => occurrence !== null)]),
  ];
  const first = [...new Map(faults.map((fault) => [fault.line, fault])).values()];
  return {
    added: withOwnHashes(keys, added, stored),
    known: known.size,
    renumbered: renumbered.filter(({ fitid }) => fitid !== '').length,
    faults: first.sort((a, b) => a.line - b.line),
  };
}

/** Finds the line that each line is, if the account has it. */
function matchLines(lines: readonly BankLine[], stored: readonly Stored[]) {
  const known = new Set<BankLine>();
  const left = new Set(stored);
  const renumbered: BankLine[] = [];
  const pair = (
    keyOf: (one: BankLine) => string,
    storedKey: (one: Stored) => string,
    found?: (line: BankLine) => void,
  ) => {
    const open = Map.groupBy(left, storedKey);
    for (const line of lines) {
      const one = known.has(line) ? undefined : open.get(keyOf(line))?.shift();
      if (!one) continue;
      known.add(line);
      left.delete(one);
      found?.(line);
    }
  };
  pair(
    (line) => (line.fitid === '' ? line.hash.toString('hex') : `${hexOf(line.hash)} ${hexOf(line.content)}`),
    (one) => (one.hasNumber ? `${one.hash} ${one.content}` : one.hash),
  );
  pair(
    ({ content }) => hexOf(content),
    ({ content }) => content,
    (line) => renumbered.push(line),
  );
  pair(
    ({ hash, day, cents }) => `${hexOf(hash)} ${day} ${cents}`,
    ({ hash, day, cents }) => `${hash} ${day} ${cents}`,
  );
  return { known, left, renumbered };
}

function hexOf(hash: Buffer): string {
  return hash.toString('hex');
}

/** New lines that are equal in all to an earlier one of the file: a bank may list one line twice, and give two lines one FITID. */
function findRepeated(added: readonly BankLine[]): StatementFault[] {
  const seen = new Map<string, number>();
  return added.flatMap(({ fitid, hash, content, line }): StatementFault[] => {
    const key = `${hexOf(hash)} ${hexOf(content)}`;
    const first = seen.get(key);
    seen.set(key, first ?? line);
    return first === undefined || fitid === '' ? [] : [{ line, kind: 'repeated', value: first }];
  });
}

/**
 * New lines that may be a stored one which the file lacks: of its FITID; of its day and amount with any text; or of its amount
 * and text and a day near it. A file may have 20,000 lines of one day and amount.
 */
async function findDoubtful(
  added: readonly BankLine[],
  left: readonly Stored[],
  isShown: (one: Stored) => boolean,
): Promise<StatementFault[]> {
  const byHash = Map.groupBy(left, ({ hash }) => hash);
  const ofDay = new Set(left.map(({ day, cents }) => `${day} ${cents}`));
  const shown = left.filter(isShown);
  const ofText = new Set(shown.map(({ day, cents, text = '' }) => `${day} ${cents} ${simplify(text)}`));
  const faults = await mapInTurns(added, (line): StatementFault[] => {
    const text = textOf(line);
    const ofFitid = line.fitid === '' ? [] : (byHash.get(hexOf(line.hash)) ?? []);
    const isChanged = ofFitid.some(
      (one) => one.day === line.day || (one.cents === line.cents && (one.text ?? text) === text),
    );
    if (isChanged) return [{ line: line.line, kind: 'changed' }];
    const isNear =
      shown.length > 0 && daysNear(line.day).some((day) => ofText.has(`${day} ${line.cents} ${simplify(text)}`));
    return isNear || ofDay.has(`${line.day} ${line.cents}`) ? [{ line: line.line, kind: 'lacking' }] : [];
  });
  return faults.flat();
}

function daysNear(day: Day): Day[] {
  return listDays(addDays(day, -DAYS_MOVED_MAX), addDays(day, DAYS_MOVED_MAX));
}

/** The letters of a text, without case and accents. */
function simplify(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^\p{L}]+/gu, '');
}

/**
 * Days of which the file is neither an earlier nor a later state than what is stored, and whose lines are known by counting: of
 * two equal lines one would be lost.
 * @param counted lines of the file that are known by counting.
 */
function findPartial(added: readonly BankLine[], left: ReadonlySet<Stored>, counted: BankLine[]): StatementFault[] {
  const leftOf = Map.groupBy(left, ({ day }) => day);
  const countedDays = new Set(counted.map(({ day }) => day));
  const days = new Map<Day, BankLine>();
  for (const line of added) if (!days.has(line.day)) days.set(line.day, line);
  return [...days].flatMap(([day, { line }]): StatementFault[] => {
    const own = leftOf.get(day) ?? [];
    const isCounted = countedDays.has(day) || own.some(({ hasNumber }) => !hasNumber);
    return isCounted && own.length > 0 ? [{ line, kind: 'partial' }] : [];
  });
}

/** Gives a line of a FITID that another line has a hash of its own: the hash is unique in an account. */
function withOwnHashes(keys: Context['keys'], added: readonly BankLine[], stored: readonly Stored[]): BankLine[] {
  const taken = new Set(stored.map(({ hash }) => hash));
  return added.map((line) => {
    let { hash } = line;
    for (let count = 1; taken.has(hexOf(hash)); count++) hash = hashRepeated(keys, line, count);
    taken.add(hexOf(hash));
    return { ...line, hash };
  });
}

type Span = { from: Day; to: Day };

/** The days of the lines, and those near them that the file shows. Undefined: it has no lines. */
function spanOf({ lines, from, to }: Shown): Span | undefined {
  const days = lines.map(({ day }) => day).sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const start = daysNear(first).find((day) => day === first || (from !== null && day >= from));
  const end = daysNear(last).findLast((day) => day === last || (to !== null && day <= to));
  return { from: start ?? first, to: end ?? last };
}

/** The lines of the account that have a day, or an identity, of the file. */
async function readStored(
  context: Pick<Context, 'db' | 'keys'>,
  { account, lines, span }: { account: string; lines: readonly BankLine[]; span: Span },
) {
  const select = () => selectStored(context.db).where('bank_lines.account', '=', account);
  const rows = await select().where('day', '>=', span.from).where('day', '<=', span.to).execute();
  const seqs = new Set(rows.map(({ seq }) => seq));
  for (const some of splitList(lines, ROWS_AT_ONCE)) {
    const hashes = some.map(({ hash }) => hash);
    const more = await select().where('fitid_hash', 'in', hashes).execute();
    append(
      rows,
      more.filter(({ seq }) => !seqs.has(seq) && seqs.add(seq)),
    );
  }
  return rows.map((row) => toStored(context.keys, row));
}

function selectStored(db: Context['db']) {
  return db
    .selectFrom('bank_lines')
    .innerJoin('bank_line_texts', 'bank_line_texts.line_seq', 'bank_lines.seq')
    .select(['seq', 'statement_seq as statement', 'day', 'amount_cents'])
    .select(['fitid_hash', 'occurrence', 'content_hash', 'name', 'memo'])
    .orderBy('seq');
}

function toStored(
  keys: Context['keys'],
  row: Awaited<ReturnType<ReturnType<typeof selectStored>['execute']>>[number],
): Stored {
  const { seq, statement, day, amount_cents: cents, fitid_hash, occurrence, name, memo } = row;
  const text = textOf({ name, memo });
  return {
    ...{ seq, statement, day, cents, hash: hexOf(fitid_hash), hasNumber: occurrence === null },
    // of a line of 0.1.0, or from before contents were stored
    content: hexOf(row.content_hash ?? hashContent(keys, { day, cents, name, memo })),
    text: text.includes(REMOVED) || (text === '' && row.content_hash === null) ? undefined : text,
  };
}
