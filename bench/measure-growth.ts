/** Measures how the time of a path grows with the size of the tables: the slope of log time on log size, by medians. */
import { sql } from 'kysely';
import type { Context } from '../src/context.ts';
import { type Figure, quantile } from './figure.ts';

/** Exponents of a path that reads a part whose size does not grow, and of one that reads all. */
const PART_MAX = 0.05;
const ALL_MAX = 1.05;

/** `reads` decides the goal. `before` is not timed. */
export type Path = {
  name: string;
  reads: 'a part' | 'all';
  tries: number;
  run: (n: number) => Promise<unknown>;
  before?: (n: number) => Promise<unknown>;
};
/** `spread`: the middle half of the tries against the median. */
export type Measured = { ms: number; spread: number; rows: number };

/** Takes what was measured of a path at this size. */
export type Recorder = (name: string, measured: Measured) => void;

/** @param measureSize measures each path at a size. @returns how each path grows over the sizes. */
export async function measureSizes(
  { min, max, step }: { min: number; max: number; step: number },
  measureSize: (rows: number, record: Recorder) => Promise<Path[]>,
): Promise<Figure[]> {
  const found = new Map<string, Measured[]>();
  const sizes: number[] = [];
  let paths: Path[] = [];
  for (let rows = min; rows <= max; rows *= step) {
    sizes.push(rows);
    paths = await measureSize(rows, (name, measured) => {
      const { ms, spread } = measured;
      process.stderr.write(
        `${rows} ${name}: ${ms.toFixed(1)} ms ± ${(50 * spread).toFixed(0)} %, ${measured.rows} rows\n`,
      );
      found.set(name, [...(found.get(name) ?? []), measured]);
    });
  }
  return paths.map(({ name, reads }) => toFigure(name, reads, sizes, found.get(name) ?? []));
}

/** The first try warms caches and is left out, unless it is the only one. */
export async function measure(context: Context, { tries, run: work, before }: Path): Promise<Measured> {
  const [took, read]: [number[], number[]] = [[], []];
  for (let n = 0; n < tries; n++) {
    await before?.(n);
    const rows = await countRows(context);
    const began = performance.now();
    await work(n);
    const ms = performance.now() - began;
    if (n === 0 && tries > 1) continue;
    took.push(ms);
    read.push((await countRows(context)) - rows);
  }
  const ms = quantile(took, 0.5);
  return { ms, spread: (quantile(took, 0.75) - quantile(took, 0.25)) / ms, rows: quantile(read, 0.5) };
}

/** Rows and keys that the server has read, for all connections. Counting reads some itself, always as many. */
async function countRows({ db }: Context): Promise<number> {
  const { rows } = await sql<{ Value: string }>`SHOW GLOBAL STATUS LIKE 'Handler_read%'`.execute(db);
  return rows.reduce((sum, row) => sum + Number(row.Value), 0);
}

function toFigure(name: string, reads: Path['reads'], sizes: number[], measured: Measured[]): Figure {
  const max = reads === 'all' ? ALL_MAX : PART_MAX;
  const exponent = slope(
    sizes,
    measured.map(({ ms }) => ms),
  );
  const ofRows = slope(
    sizes,
    measured.map(({ rows }) => Math.max(1, rows)),
  );
  // by how much the slope moves if one end does by half of its spread
  const widest = Math.max(...measured.map(({ spread }) => spread));
  const noise = Math.log(1 + widest / 2) / Math.log((sizes.at(-1) ?? 1) / (sizes[0] ?? 1));
  const times = measured.map(({ ms }) => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0))).join(', ');
  return {
    figure: `growth of ${name}`,
    value: `${exponent.toFixed(2)} ± ${noise.toFixed(2)} (${times} ms; rows read ${ofRows.toFixed(2)})`,
    target: `≤ ${max}`,
    ok: exponent - noise <= max,
  };
}

/** The least squares' slope of log value on log size. */
function slope(sizes: number[], values: number[]): number {
  const [x, y] = [sizes.map(Math.log), values.map(Math.log)];
  const mean = (of: number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length;
  const [meanX, meanY] = [mean(x), mean(y)];
  const over = x.reduce((sum, one, n) => sum + (one - meanX) * ((y[n] ?? 0) - meanY), 0);
  return over / x.reduce((sum, one) => sum + (one - meanX) ** 2, 0);
}
