/**
 * How merchants answered over time, from a sample of attempts. `callback_attempts` has no index on its time, which would
 * slow each attempt down; but its numbers grow with time. So single numbers are probed, spread over all of them, and then
 * more closely where a slot has too few: each round narrows the gaps, and no round reads more than ATTEMPTS_MAX rows.
 */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { IS_NO_TEST } from '../health/callback-sources.ts';

/** Rows that a round reads at most. */
const ATTEMPTS_MAX = 4_000;
/** Rows of the first round: enough to find each slot. */
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

/**
 * Samples the attempts of adjacent slots. @param starts of the slots, ascending. @param end of the last one.
 * @param merchantSeq samples those to one merchant, without tests: the fewer are its own, the smaller the sample.
 */
export async function sampleAttempts(
  db: Reader,
  starts: readonly Date[],
  end: Date,
  merchantSeq?: number,
): Promise<AttemptSlot[]> {
  const bounds = await db
    .selectFrom('callback_attempts')
    .select((eb) => [eb.fn.min('seq').as('first'), eb.fn.max('seq').as('last')])
    .executeTakeFirst();
  const [first, last] = [Number(bounds?.first ?? 0), Number(bounds?.last ?? 0)];
  const found = new Map<number, SampledAttempt>();
  const tried = new Set<number>();
  const limits = [...starts, end].map((at) => at.getTime());
  let slots = assignSlots([], limits);
  let probes = last === 0 ? [] : spread(first, last, FIRST_PROBES);
  for (let round = 0; round < ROUNDS_MAX && probes.length > 0; round++) {
    for (const seq of probes) tried.add(seq);
    for (const row of await readAttempts(db, probes, merchantSeq)) found.set(row.seq, row);
    const rows = [...found.values()].sort((a, b) => a.seq - b.seq);
    slots = assignSlots(rows, limits);
    probes = planProbes(slots, { first, last }).filter((seq) => !tried.has(seq));
  }
  const size = sampleSizeOf(starts.length);
  return starts.map((start, index) => ({ start, ...summarizeAttempts(thin(slots[index]?.own ?? [], size)) }));
}

/** At most `count` of some items, evenly apart. Rounds add up: a slot can have found more than its sample. */
function thin<T>(items: readonly T[], count: number): T[] {
  return spread(0, items.length - 1, count).flatMap((index) => items[index] ?? []);
}

/** The counts and percentiles of some attempts. */
export function summarizeAttempts(own: readonly Pick<SampledAttempt, 'duration_ms' | 'error_class'>[]): AttemptFigures {
  const durations = own.map((one) => one.duration_ms).sort((a, b) => a - b);
  const at = (share: number): number => durations[Math.ceil(durations.length * share) - 1] ?? 0;
  const delivered = own.filter((one) => one.error_class === null).length;
  return { attempts: own.length, delivered, ...(own.length === 0 ? {} : { p50: at(0.5), p95: at(0.95) }) };
}

/** The found attempts of a slot, and the numbers of the nearest ones that are surely before and after it. */
export type FoundSlot = { own: SampledAttempt[]; before: number | undefined; after: number | undefined };

/**
 * Assigns attempts to slots by their times.
 * @param rows ascending by number. Their times ascend nearly: an attempt is stored once it has ended.
 * @param limits the slots' starts and the end of the last one, ascending, in ms.
 */
export function assignSlots(rows: readonly SampledAttempt[], limits: readonly number[]): FoundSlot[] {
  const times = rows.map(({ started_at: at }) => at.getTime());
  return limits.slice(0, -1).map((start, index) => {
    const end = limits[index + 1] ?? start;
    const [from, until] = [times.findIndex((at) => at >= start), times.findLastIndex((at) => at < end) + 1];
    const begin = from < 0 ? rows.length : from;
    return {
      own: rows.slice(begin, until).filter((_, at) => isBetween(times[begin + at], start, end)),
      before: rows[begin - 1]?.seq,
      after: rows[until]?.seq,
    };
  });
}

function isBetween(at: number | undefined, start: number, end: number): boolean {
  return at !== undefined && at >= start && at < end;
}

/** Plans the next numbers to probe: for each slot with too few attempts, spread over the numbers between its neighbours. */
export function planProbes(slots: readonly FoundSlot[], { first, last }: { first: number; last: number }): number[] {
  const wanted = sampleSizeOf(slots.length);
  return slots.flatMap(({ own, before, after }) =>
    own.length >= wanted ? [] : spread(before ?? first, after ?? last, wanted),
  );
}

/** At most `count` different numbers from `first` to `last`, both included, evenly apart. */
export function spread(first: number, last: number, count: number): number[] {
  const size = last - first + 1;
  if (size <= 0) return [];
  if (size <= count) return Array.from({ length: size }, (_, index) => first + index);
  return Array.from({ length: count }, (_, index) => first + Math.floor((index * (size - 1)) / Math.max(count - 1, 1)));
}

async function readAttempts(db: Reader, seqs: number[], merchantSeq: number | undefined): Promise<SampledAttempt[]> {
  const probed = db
    .selectFrom('callback_attempts as one')
    .select(['one.seq', 'started_at', 'duration_ms', 'error_class'])
    .where('one.seq', 'in', seqs);
  if (merchantSeq === undefined) return await probed.execute();
  return await probed
    .modifyFront(sql`STRAIGHT_JOIN`)
    .innerJoin('callbacks', 'callbacks.seq', 'callback_seq')
    .where('merchant_seq', '=', merchantSeq)
    .where(IS_NO_TEST)
    .execute();
}
