export const VERSION_MAX = 20;

// Correction level M, by version: codewords of correction a block, and blocks.
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
const FORMAT_M_MASK_0 = 0b101010000010010;

/** What all QR codes of one version (level M, mask 0) share. */
export type QrLayout = {
  size: number;
  /** bits of the length field */
  countBits: number;
  dataCodewords: number;
  correctionCodewords: number;
  blocks: number;
  /** finder, alignment, timing, format and version patterns, and the mask where data will be */
  blank: Uint8Array;
  /** where the data bits go, in order */
  positions: Uint16Array;
};

const layouts = new Map<number, QrLayout>();

/** The layout of a version from 1 to 20, made once. */
export function qrLayoutOf(version: number): QrLayout {
  let layout = layouts.get(version);
  if (layout === undefined) {
    layout = layOut(version);
    layouts.set(version, layout);
  }
  return layout;
}

function layOut(version: number): QrLayout {
  const size = version * 4 + 17;
  const blank = new Uint8Array(size * size);
  const taken = new Uint8Array(size * size);
  const set = (row: number, column: number, dark: boolean): void => {
    if (row < 0 || column < 0 || row >= size || column >= size) return;
    blank[row * size + column] = dark ? 1 : 0;
    taken[row * size + column] = 1;
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    drawSquare(set, row, column, 4, 2);
  for (const [row, column] of alignments(version, size)) drawSquare(set, row, column, 2, 1);
  drawFormat(set, size);
  if (version >= 7) drawVersion(set, size, version);
  const positions = zigzag(size, taken);
  for (const at of positions) if ((Math.floor(at / size) + (at % size)) % 2 === 0) blank[at] = 1;
  const correctionCodewords = CORRECTION[version - 1] ?? 0;
  const blocks = BLOCKS[version - 1] ?? 0;
  return {
    size,
    countBits: version < 10 ? 8 : 16,
    dataCodewords: (positions.length >> 3) - correctionCodewords * blocks,
    correctionCodewords,
    blocks,
    blank,
    positions,
  };
}

type Set = (row: number, column: number, dark: boolean) => void;

/** Rings around a centre: all dark but the one at `light` and, for finders, the outermost. */
function drawSquare(set: Set, row: number, column: number, reach: number, light: number): void {
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      set(row + dy, column + dx, ring !== light && ring !== 4);
    }
  }
}

function alignments(version: number, size: number): Array<[number, number]> {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
  const centres = [6, ...Array.from({ length: count - 1 }, (_, i) => size - 7 - (count - 2 - i) * step)];
  const last = size - 7;
  return centres
    .flatMap((row) => centres.map((column): [number, number] => [row, column]))
    .filter(([row, column]) => !((row === 6 && (column === 6 || column === last)) || (row === last && column === 6)));
}

function drawFormat(set: Set, size: number): void {
  for (let i = 0; i < 15; i++) {
    const dark = ((FORMAT_M_MASK_0 >> i) & 1) === 1;
    set(i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, 8, dark);
    set(8, i < 8 ? size - 1 - i : i === 8 ? 7 : 14 - i, dark);
  }
  set(size - 8, 8, true);
}

function drawVersion(set: Set, size: number, version: number): void {
  let rest = version;
  for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let i = 0; i < 18; i++) {
    const dark = ((bits >> i) & 1) === 1;
    set(Math.floor(i / 3), size - 11 + (i % 3), dark);
    set(size - 11 + (i % 3), Math.floor(i / 3), dark);
  }
}

/** Free modules, two columns at a time from the right, up and down in turn, around the vertical timing pattern. */
function zigzag(size: number, taken: Uint8Array): Uint16Array {
  const order: number[] = [];
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right = 5;
    for (let i = 0; i < size; i++) {
      const row = up ? size - 1 - i : i;
      for (const at of [row * size + right, row * size + right - 1]) if (taken[at] === 0) order.push(at);
    }
  }
  return Uint16Array.from(order);
}
