import { ConfereError } from '../domain/errors.ts';

/** The entries of a seal as text: ascending numbers, consecutive ones as ranges, `1-40,43`. Pure. */

/** @param seqs ascending, without duplicates. */
export function formatMembers(seqs: number[]): string {
  const runs: string[] = [];
  let first: number | undefined;
  let last = 0;
  const close = (): void => {
    if (first !== undefined) runs.push(first === last ? `${first}` : `${first}-${last}`);
  };
  for (const seq of seqs) {
    if (first === undefined || seq !== last + 1) {
      close();
      first = seq;
    }
    last = seq;
  }
  close();
  return runs.join(',');
}

/**
 * @param max the most numbers to accept: a text that was tampered with must not exhaust the memory.
 * @throws ConfereError `books_broken` for a text that `formatMembers` does not write.
 */
export function parseMembers(text: string, max: number): number[] {
  const seqs: number[] = [];
  if (text === '') return seqs;
  for (const run of text.split(',')) {
    const match = /^(\d{1,16})(?:-(\d{1,16}))?$/.exec(run);
    const first = Number(match?.[1]);
    const last = match?.[2] === undefined ? first : Number(match[2]);
    const ascending = first <= last && first > (seqs.at(-1) ?? 0);
    if (!match || !ascending)
      throw new ConfereError('books_broken', 'the list of its entries is not one that a sealer writes');
    if (seqs.length + last - first + 1 > max)
      throw new ConfereError('books_broken', `it names more than ${max} entries`);
    for (let seq = first; seq <= last; seq++) seqs.push(seq);
  }
  return seqs;
}
