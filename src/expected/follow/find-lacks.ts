import type { Reader } from '../../database/reader.ts';
import { addDays, type Calendar, countDays, type Day } from '../../domain/calendar.ts';
import type { ProvenWindow } from '../../domain/late-days.ts';
import { compareText } from '../../domain/lists.ts';
import { readProvenWindows } from '../../reconciliation/numbers/read-coverage.ts';

export type Span = { from: Day; to: Day };
/** The proof that nobody paid needs each day from issue to end, by a reading asked after the end. */
export type Term = { issuedDay: Day; endDay: Day };

/** Reads the windows that may prove these terms. */
export async function readProofs(db: Reader, terms: Term[]): Promise<ProvenWindow[]> {
  const [first] = terms.map(({ issuedDay }) => issuedDay).sort();
  return first === undefined ? [] : await readProvenWindows(db, first);
}

/**
 * Returns the days of a term that lack a proof, as spans. A reading of a day that was asked for before the term ended may lack a
 * payment of a charge of that day, so it proves nothing here. Pure.
 */
export function findLacks(
  calendar: Pick<Calendar, 'provableFrom'>,
  { issuedDay, endDay }: Term,
  proofs: ProvenWindow[],
): Span[] {
  const since = calendar.provableFrom(endDay);
  const lacks: Span[] = [];
  let next = issuedDay;
  const windows = proofs.filter(({ askedAt, to }) => askedAt >= since && to >= issuedDay);
  for (const { from, to } of windows.sort((a, b) => compareText(a.from, b.from))) {
    if (from > endDay) break;
    if (from > next) lacks.push({ from: next, to: addDays(from, -1) });
    if (to >= next) next = addDays(to, 1);
  }
  if (next <= endDay) lacks.push({ from: next, to: endDay });
  return lacks;
}

/** Counts the days of spans: a source may state a day of long ago, so none is listed. */
export function sumDays(spans: Span[]): number {
  return spans.reduce((total, { from, to }) => total + countDays(from, to), 0);
}
