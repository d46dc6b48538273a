/** Verifies proofs as RFC 9162, sections 2.1.3.2 and 2.1.4.2, describes it. Shares no code with Confere. */
import { createHash } from 'node:crypto';

const join = (left: Buffer, right: Buffer): Buffer =>
  createHash('sha256')
    .update(Buffer.from([1]))
    .update(left)
    .update(right)
    .digest();

export function rootOfInclusion(leaf: number, size: number, hash: Buffer, path: Buffer[]): Buffer {
  let [at, last, root] = [leaf, size - 1, hash];
  for (const sibling of path) {
    if (at % 2 === 1 || at === last) {
      root = join(sibling, root);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else root = join(root, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return root;
}

export function rootsOfConsistency(old: number, size: number, oldRoot: Buffer, path: Buffer[]): [Buffer, Buffer] {
  const isWhole = Number.isInteger(Math.log2(old));
  const [first = oldRoot, ...rest] = isWhole ? [oldRoot, ...path] : path;
  let [at, last] = [old - 1, size - 1];
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  let [before, after] = [first, first];
  for (const hash of rest) {
    if (at % 2 === 1 || at === last) {
      before = join(hash, before);
      after = join(hash, after);
      while (at % 2 === 0 && at !== 0) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
    } else after = join(after, hash);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return [before, after];
}
