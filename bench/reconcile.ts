import { readList } from '../src/provider/list/read-list.ts';
import type { ListClient } from '../src/provider/list/run-pass.ts';
import { createDriftingList, type Quirks, readToEnd, STABLE_LIST } from '../test/unit/provider/drifting-list.ts';
import { type Figure, QUICK } from './figure.ts';
import { type Bench, openBench } from './reconcile-setup.ts';

const DAYS = QUICK ? 2 : 6;
const PER_DAY = 20_000;
const FIRST_TARGET = 5_000;
const UNCHANGED_TARGET = 40_000;
const DELAY_MS = 50;
const IN_FLIGHT = 8;
const WAITING_TARGET = 1.15;
const SEEDS = QUICK ? 10 : 200;
const DRIFT_ROWS = 2_500;

export const quick = true;

/**
 * Speed of reading days from a provider that is never the bottleneck: all rows new, all rows known, and against fetching
 * pages of 50 ms alone. And the rows that a drifting list hides from a run and from a single pass.
 */
export async function run(): Promise<Figure[]> {
  const figures = await compareDrift();
  await using bench = await openBench({ days: DAYS, perDay: PER_DAY });
  return [...(await timeReading(bench)), ...figures];
}

async function timeReading(bench: Bench): Promise<Figure[]> {
  const range = { from: bench.firstDay, to: bench.lastDay };
  const rows = DAYS * PER_DAY;
  const first = await bench.work(range);
  if (first.run.applied !== rows) throw new Error(`${first.run.applied} rows were applied, not ${rows}`);
  // repeated: the first run learnt the bounds in one wide window
  const again = await bench.work(range);
  const perSecond = (ms: number): number => Math.round((rows / ms) * 1000);
  await bench.delay(DELAY_MS);
  const waitingMs = await waitAlone(bench);
  const slow = await bench.work(range);
  const ratio = slow.ms / waitingMs;
  return [
    atLeast('transactions a second, all new', perSecond(first.ms), FIRST_TARGET),
    atLeast('transactions a second, all unchanged', perSecond(again.ms), UNCHANGED_TARGET),
    {
      figure: `${rows / 100} pages at ${DELAY_MS} ms, ${IN_FLIGHT} in flight, against fetching them alone`,
      value: `${ratio.toFixed(3)} (${Math.round(slow.ms)} ms : ${Math.round(waitingMs)} ms)`,
      target: `≤ ${WAITING_TARGET}`,
      ok: ratio <= WAITING_TARGET,
    },
  ];
}

/** Fetches the same pages at the same concurrency and discards them. */
async function waitAlone(bench: Bench): Promise<number> {
  const pages = (DAYS * PER_DAY) / 100;
  let next = 1;
  const began = performance.now();
  const worker = async (): Promise<void> => {
    for (let page = next++; page <= pages; page = next++)
      await (await fetch(`${bench.url}/api/v1/transactions?page=${page}`)).arrayBuffer();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return performance.now() - began;
}

const DRIFTS: [string, Partial<Quirks>][] = [
  ['inserts at the head', { insertsPerPage: 2 }],
  ['rows jumping to the head', { jumpsPerPage: 2 }],
  ['random order', { order: 'random' }],
];

/** In memory: this measures which rows of a changing list are seen, not speed. */
async function compareDrift(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, drift] of DRIFTS) {
    let [falselyComplete, complete, missedByOne] = [0, 0, 0];
    for (let seed = 0; seed < SEEDS; seed++) {
      const quirks = { ...STABLE_LIST, ...drift, rows: DRIFT_ROWS, seed };
      const ours = createDriftingList(quirks);
      const options = { now: () => new Date(), growsSince: () => undefined };
      const reading = await readToEnd(readList(ours.client, {}, options));
      const missed = ours.held.filter((id) => !reading.seenRows.has(id));
      if (reading.complete) complete++;
      if (reading.complete && missed.length > 0) falselyComplete++;
      missedByOne += await countMissedByOnePass(createDriftingList(quirks));
    }
    figures.push({
      figure: `drift, ${name}: of ${SEEDS} runs called complete with a row missed (complete: ${complete}; one pass misses ${Math.round(missedByOne / SEEDS)} rows a run)`,
      value: String(falselyComplete),
      target: '0',
      ok: falselyComplete === 0,
    });
  }
  return figures;
}

async function countMissedByOnePass({ client, held }: { client: ListClient; held: string[] }): Promise<number> {
  const ids = new Set<string | null>();
  for (let page = 1; page <= DRIFT_ROWS / 100; page++) {
    const answer = await client.listPage({}, page);
    for (const row of answer?.rows ?? []) ids.add(row.ok ? row.transaction.id : row.id);
  }
  return held.filter((id) => !ids.has(id)).length;
}

function atLeast(figure: string, value: number, target: number): Figure {
  return { figure, value: value.toLocaleString('en'), target: `≥ ${target.toLocaleString('en')}`, ok: value >= target };
}
