import { addUp, type DesiredEntry, type Posting } from './plan-entries.ts';

/** An entry in force: neither a reversal nor reversed. */
export type EntryInForce = {
  seq: number;
  kind: string;
  eventSeq: number | null;
  atWall: string;
  platform: string;
  postings: Posting[];
};

export type Mending<E> = { reverse: EntryInForce[]; post: DesiredEntry<E>[] };

/**
 * What to reverse and what to post so that the entries in force are those that the history asks for. Pure. An event
 * whose entry lacks nothing but the commission gets the commission alone: its amount was right all along.
 */
export function mendJournal<E extends { seq: number | undefined }>(
  desired: DesiredEntry<E>[],
  inForce: EntryInForce[],
  commission: (platform: string) => Posting[],
): Mending<E> {
  const byEvent = Map.groupBy(inForce, (entry) => entry.eventSeq ?? 0);
  const mending: Mending<E> = { reverse: [], post: [] };
  for (const entry of desired) {
    const key = entry.event === undefined ? 0 : entry.event.seq;
    const standing = key === undefined ? [] : (byEvent.get(key) ?? []);
    if (key !== undefined) byEvent.delete(key);
    mendEntry(entry, standing, commission, mending);
  }
  for (const standing of byEvent.values()) mending.reverse.push(...standing);
  return mending;
}

function mendEntry<E>(
  entry: DesiredEntry<E>,
  standing: EntryInForce[],
  commission: (platform: string) => Posting[],
  mending: Mending<E>,
): void {
  const have = standing.flatMap((one) => one.postings);
  const placed = standing.length > 0 && standing.every((one) => samePlace(one, entry));
  if (placed && equal(have, entry.postings)) return;
  const charge = addUp(commission(entry.platform));
  if (placed && charge.length > 0 && equal([...have, ...charge], entry.postings)) {
    mending.post.push({ ...entry, kind: 'commission', postings: charge });
    return;
  }
  mending.reverse.push(...standing);
  mending.post.push(entry);
}

function samePlace(a: { atWall: string; platform: string }, b: { atWall: string; platform: string }): boolean {
  return a.atWall === b.atWall && a.platform === b.platform;
}

function equal(a: Posting[], b: Posting[]): boolean {
  const [left, right] = [addUp(a), addUp(b)];
  const cents = new Map(right.map((posting) => [posting.account, posting.cents]));
  return left.length === right.length && left.every((posting) => cents.get(posting.account) === posting.cents);
}
