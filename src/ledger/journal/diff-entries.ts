import { append } from '../../domain/lists.ts';
import { mergePostings, type PlannedEntry, type Posting } from './plan-entries.ts';

/** An entry in force: neither a reversal nor reversed. */
export type EntryInForce = {
  seq: number;
  kind: string;
  eventSeq: number | null;
  atWall: string;
  platform: string;
  postings: Posting[];
};

export type EntryDiff<E> = { reverse: EntryInForce[]; post: PlannedEntry<E>[] };

/**
 * Returns the reversals and postings that make the entries in force equal to the desired ones. Pure. An event whose
 * entry lacks only the commission gets an entry for the commission alone, since its amount was right.
 */
export function diffEntries<E extends { seq: number | undefined }>(
  desired: PlannedEntry<E>[],
  inForce: EntryInForce[],
  commission: (platform: string) => Posting[],
): EntryDiff<E> {
  // 0 is no row number: it stands for the entries that no event caused
  const byEvent = Map.groupBy(inForce, (entry) => entry.eventSeq ?? 0);
  const diff: EntryDiff<E> = { reverse: [], post: [] };
  for (const entry of desired) {
    const key = entry.event === undefined ? 0 : entry.event.seq;
    const current = key === undefined ? [] : (byEvent.get(key) ?? []);
    if (key !== undefined) byEvent.delete(key);
    diffEntry(entry, current, commission, diff);
  }
  for (const current of byEvent.values()) append(diff.reverse, current);
  return diff;
}

function diffEntry<E>(
  entry: PlannedEntry<E>,
  current: EntryInForce[],
  commission: (platform: string) => Posting[],
  diff: EntryDiff<E>,
): void {
  const have = current.flatMap((one) => one.postings);
  const isInPlace = current.length > 0 && current.every((one) => sameTimeAndPlatform(one, entry));
  if (isInPlace && equal(have, entry.postings)) return;
  const charge = mergePostings(commission(entry.platform));
  if (isInPlace && charge.length > 0 && equal([...have, ...charge], entry.postings)) {
    diff.post.push({ ...entry, kind: 'commission', postings: charge });
    return;
  }
  append(diff.reverse, current);
  diff.post.push(entry);
}

function sameTimeAndPlatform(
  a: { atWall: string; platform: string },
  b: { atWall: string; platform: string },
): boolean {
  return a.atWall === b.atWall && a.platform === b.platform;
}

function equal(a: Posting[], b: Posting[]): boolean {
  const [left, right] = [mergePostings(a), mergePostings(b)];
  const cents = new Map(right.map((posting) => [posting.account, posting.cents]));
  return left.length === right.length && left.every((posting) => cents.get(posting.account) === posting.cents);
}
