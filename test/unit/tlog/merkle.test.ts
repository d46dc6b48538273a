import { expect, test } from 'vitest';
import {
  hashLeaf,
  hashRange,
  hashTile,
  proveConsistency,
  proveInclusion,
  pushLeaf,
  type Range,
  type ReadNode,
  rootOf,
} from '../../../src/tlog/merkle.ts';
import { rootOfInclusion, rootsOfConsistency } from '../../support/verify-tree.ts';

/** The vectors of Certificate Transparency's reference implementation. */
const CONTENTS = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const PATHS: [leaf: number, size: number, path: string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];
const CONSISTENCIES: [old: number, size: number, path: string[]][] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];

const hex = (hashes: Buffer[]): string[] => hashes.map((hash) => hash.toString('hex'));
const leaves = CONTENTS.map((content) => hashLeaf(Buffer.from(content, 'hex')));

/** Stored hashes as the database holds them, from the leaves. */
function store(all: Buffer[]): ReadNode {
  const levels = [all];
  for (let below = all; below.length >= 256; ) {
    below = Array.from({ length: Math.floor(below.length / 256) }, (_, tile) =>
      hashTile(below.slice(tile * 256, (tile + 1) * 256)),
    );
    levels.push(below);
  }
  return (level, position) => levels[level]?.[position] ?? Buffer.alloc(0);
}

test('roots, inclusion and consistency are those of the published vectors', () => {
  const node = store(leaves);
  const range: Range = { size: 0, nodes: [] };
  for (const [size, root] of ROOTS.entries()) {
    expect(hashRange(0, size, node).toString('hex')).toBe(root);
    expect(rootOf(range).toString('hex')).toBe(root);
    const leaf = leaves[size];
    if (leaf) pushLeaf(range, leaf);
  }
  for (const [leaf, size, path] of PATHS) expect(hex(proveInclusion(leaf, size, node))).toEqual(path);
  for (const [old, size, path] of CONSISTENCIES) expect(hex(proveConsistency(old, size, node))).toEqual(path);
});

test('proofs over tiles verify, at the borders of tiles too', () => {
  const many = Array.from({ length: 65_793 }, (_, index) => hashLeaf(String(index)));
  const node = store(many);
  for (const size of [255, 256, 257, 512, 65_535, 65_536, 65_793]) {
    const root = hashRange(0, size, node);
    for (const leaf of [0, 255, 256, 65_536, size - 1].filter((one) => one < size))
      expect(rootOfInclusion(leaf, size, many[leaf] ?? root, proveInclusion(leaf, size, node))).toEqual(root);
    for (const old of [1, 3, 255, 256, 65_536, 65_600].filter((one) => one < size)) {
      const oldRoot = hashRange(0, old, node);
      const proof = proveConsistency(old, size, node);
      expect(rootsOfConsistency(old, size, oldRoot, proof), `${old} in ${size}`).toEqual([oldRoot, root]);
    }
  }
  const range: Range = { size: 0, nodes: [] };
  const completed = many.flatMap((leaf) => pushLeaf(range, leaf));
  expect(rootOf(range)).toEqual(hashRange(0, many.length, node));
  expect(completed).toHaveLength(257 + 1);
  expect(completed[256]).toEqual(node(2, 0));
});
