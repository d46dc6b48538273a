/**
 * The Merkle tree of RFC 6962 (section 2.1), over hashes of subtrees that are stored: those of 1, 256, 65,536… leaves, as
 * tlog-tiles of C2SP serves them. Pure.
 */
import { hash } from 'node:crypto';

export const TILE_WIDTH = 256;
const [LEAF, NODE] = [Buffer.from([0]), Buffer.from([1])];

/** Returns the hash of the leaves from `position · 256^level` on, 256^level of them. */
export type ReadNode = (level: number, position: number) => Buffer;

export function hashLeaf(content: Buffer | string): Buffer {
  return hashOf(LEAF, Buffer.from(content));
}

function hashNode(left: Buffer, right: Buffer): Buffer {
  return hashOf(NODE, left, right);
}

function hashOf(...parts: Buffer[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

/** Hashes the leaves from `start` to before `end`, which is a subtree; SHA-256 of nothing if there is none. */
export function hashRange(start: number, end: number, node: ReadNode): Buffer {
  const size = end - start;
  if (size === 0) return hashOf();
  const level = levelOf(size);
  if (level !== undefined) return node(level, start / size);
  const middle = start + splitOf(size);
  return hashNode(hashRange(start, middle, node), hashRange(middle, end, node));
}

/** The hash of 256 hashes of one level. */
export function hashTile(hashes: readonly Buffer[]): Buffer {
  const [only] = hashes;
  if (only && hashes.length === 1) return only;
  return hashNode(hashTile(hashes.slice(0, hashes.length / 2)), hashTile(hashes.slice(hashes.length / 2)));
}

/** Returns the hashes from the leaf's sibling up to the root's child, by which the leaf is proven to be in the tree. */
export function proveInclusion(leaf: number, size: number, node: ReadNode): Buffer[] {
  return descend(leaf, size, node, (start, end) => end - start <= 1).path;
}

/** Returns the hashes by which the tree of the first `old` leaves is proven to be a part of this one. */
export function proveConsistency(old: number, size: number, node: ReadNode): Buffer[] {
  if (old === 0) return [];
  const { path, start, end } = descend(old - 1, size, node, (_, end) => end === old);
  return start === 0 ? path : [hashRange(start, end, node), ...path];
}

/** Goes from the root towards a leaf, until a subtree is the wanted one. @returns it, and the hashes beside the way, the last first. */
function descend(leaf: number, size: number, node: ReadNode, isWanted: (start: number, end: number) => boolean) {
  const path: Buffer[] = [];
  let [start, end] = [0, size];
  while (!isWanted(start, end)) {
    const middle = start + splitOf(end - start);
    path.unshift(leaf < middle ? hashRange(middle, end, node) : hashRange(start, middle, node));
    if (leaf < middle) end = middle;
    else start = middle;
  }
  return { path, start, end };
}

/** The subtrees of a tree that grows by one leaf after another: from the left, each of a power of two of leaves. */
export type Range = { size: number; nodes: Buffer[] };

/** Appends a leaf. @returns the stored hashes that it completes: of level 1, 2…. */
export function pushLeaf(range: Range, leaf: Buffer): Buffer[] {
  const completed: Buffer[] = [];
  let [top, width] = [leaf, 1];
  for (range.size++; range.size % (width * 2) === 0; ) {
    top = hashNode(range.nodes.pop() ?? leaf, top);
    width *= 2;
    if (levelOf(width) !== undefined) completed.push(top);
  }
  range.nodes.push(top);
  return completed;
}

export function rootOf({ nodes }: Range): Buffer {
  if (nodes.length === 0) return hashRange(0, 0, () => Buffer.alloc(0));
  return nodes.reduceRight((right, left) => hashNode(left, right));
}

/** The largest power of two below the size. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The level on which subtrees of this size are stored, if they are. */
function levelOf(size: number): number | undefined {
  let [level, width] = [0, 1];
  while (width < size) {
    level++;
    width *= TILE_WIDTH;
  }
  return width === size ? level : undefined;
}
