/**
 * How merchants answered over time, from a sample of attempts. `callback_attempts` has no index on its time, which would
 * slow each attempt down; but its numbers grow with time. So single numbers are probed, spread over all of them, and then
 * more closely where a slot has too few: each round narrows the gaps, and no round reads more than ATTEMPTS_MAX rows.
 */
import type { Reader } from '../../database/reader.ts';

/** Rows that a round reads at most. */
const ATTEMPTS_MAX = 4_000;
/** Of these, the first round: enough to find each slot. */
const FIRST_PROBES = 1_000;
const ROUNDS_MAX = 3;

/** Attempts of one slot: counts, and percentiles of their durations in milliseconds; undefined without attempts. */
export type AttemptFigures = { attempts: number; delivered: number; p50?: number; p95?: number };
export type AttemptSlot = AttemptFigures & { start: Date };
export type SampledAttempt = { seq: number; started_at: Date; duration_ms: number; error_class: string | null };

/** Attempts of a slot that are sampled at most. */
export function sampleSizeOf(slots: number): number {
  return Math.floor(ATTEMPTS_MAX / Math.max(slots, 1));
}

/** Samples the attempts of adjacent slots. @param starts of the slots, ascending. @param end of the last one. */
export async function sampleAttempts(db: Reader, starts: readonly Date[], end: Date): Promise<AttemptSlot[]> {
  const bounds = await db
    .selectFrom('callback_attempts')
    .select((eb) => [eb.fn.min('seq').as('first'), eb.fn.max('seq').as('last')])
    .executeTakeFirst();
  const [first, last] = [Number(bounds?.first ?? 0), Number(bounds?.last ?? 0)];
  const found = new Map<number, SampledAttempt>();
  const tried = new Set<number>();
  let probes = last === 0 ? [] : spread(first, last, FIRST_PROBES);
  for (let round = 0; round < ROUNDS_MAX && probes.length > 0; round++) {
    for (const seq of probes) tried.add(seq);
    for (const row of await readAttempts(db, probes)) found.set(row.seq, row);
    const rows = [...found.values()].sort((a, b) => a.seq - b.seq);
    probes = planProbes(rows, { first, last, starts, end }).filter((seq) => !tried.has(seq));
  }
  return starts.map((start, index) => {
    const until = starts[index + 1] ?? end;
    const own = [...found.values()].filter(({ started_at: at }) => at >= start && at < until);
    return { start, ...summarizeAttempts(own) };
  });
}

/** The counts and percentiles of some attempts. */
export function summarizeAttempts(own: readonly Pick<SampledAttempt, 'duration_ms' | 'error_class'>[]): AttemptFigures {
  const durations = own.map((one) => one.duration_ms).sort((a, b) => a - b);
  const at = (share: number): number => durations[Math.ceil(durations.length * share) - 1] ?? 0;
  const delivered = own.filter((one) => one.error_class === null).length;
  return { attempts: own.length, delivered, ...(own.length === 0 ? {} : { p50: at(0.5), p95: at(0.95) }) };
}

/**
 * Plans the next numbers to probe: for each slot with too few attempts, spread over the numbers between its neighbours.
 * @param rows those found so far, ascending. Their times ascend nearly: an attempt is stored once it has ended.
 */
export function planProbes(
  rows: readonly SampledAttempt[],
  range: { first: number; last: number; starts: readonly Date[]; end: Date },
): number[] {
  const { first, last, starts, end } = range;
  const wanted = sampleSizeOf(starts.length);
  return starts.flatMap((start, index) => {
    const until = starts[index + 1] ?? end;
    const own = rows.filter(({ started_at: at }) => at >= start && at < until).length;
    if (own >= wanted) return [];
    const from = rows.findIndex(({ started_at: at }) => at >= start);
    const before = from < 0 ? rows.at(-1) : rows[from - 1];
    const after = rows[rows.findLastIndex(({ started_at: at }) => at < until) + 1];
    return spread(before?.seq ?? first, after?.seq ?? last, wanted);
  });
}

/** At most `count` different numbers from `first` to `last`, both included, evenly apart. */
export function spread(first: number, last: number, count: number): number[] {
  const size = last - first + 1;
  if (size <= 0) return [];
  if (size <= count) return Array.from({ length: size }, (_, index) => first + index);
  return Array.from({ length: count }, (_, index) => first + Math.floor((index * (size - 1)) / Math.max(count - 1, 1)));
}

async function readAttempts(db: Reader, seqs: number[]): Promise<SampledAttempt[]> {
  return await db
    .selectFrom('callback_attempts')
    .select(['seq', 'started_at', 'duration_ms', 'error_class'])
    .where('seq', 'in', seqs)
    .execute();
}
