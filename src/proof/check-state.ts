/**
 * The state of a books check between two batches: plain data, so that an interrupted check resumes, and a later one
 * continues from a proof. A check that found no break leaves its last state as the proof.
 */
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { parseJson } from '../domain/person/tokenize-json.ts';
import { GENESIS_HASH } from '../seal/hash-seal.ts';
import type { ReportBreak } from './collect-breaks.ts';

/** The order of the steps. A step reads batches until it is done. */
export const STEP_NAMES = [
  'chain',
  'anchors',
  'log',
  'balances',
  'events',
  'entries',
  'late',
  'stated',
  'months',
  'histories',
  'touched',
  'platforms',
  'expected',
] as const;
export type StepName = (typeof STEP_NAMES)[number];

/** A row of these tables concerns the history of a transaction that may be old. */
export const HISTORY_TABLES = [
  'events',
  'entries',
  'fact_changes',
  'corrections',
  'event_standings',
  'event_places',
] as const;

/** Numbers of rows that no seal contained so far, and when they were written, in ms. */
const unsealed = z.array(z.tuple([z.int(), z.int()])).transform((pairs) => new Map(pairs));
const cursor = z.object({ after: z.int(), count: z.int() });

const startLog = () => ({ size: 0, nodes: [], seal: 0, days: 0, unverified: 0 });

const STATE = z.object({
  format: z.literal(1),
  step: z.enum(STEP_NAMES),
  /** The highest number of each table when the check began. */
  highest: z.record(z.enum(HISTORY_TABLES), z.int()),
  /** The day of each platform's opening when the check began; null: its entries were being reposted, and not verified. */
  openings: z.record(z.string(), z.string().nullable()),
  /** The walk along the chain, as of its position. `sealed`: entries up to it. */
  walk: z.object({
    position: z.int(),
    hash: z.hex(),
    entrySeq: z.int(),
    sealed: z.int(),
    uncovered: unsealed,
    audit: z.object({ seq: z.int(), unsealed, caughtUpAt: z.int().nullable() }),
  }),
  /**
   * The walk along the log: its leaves, the hashes of the range, the last position of the chain, the number of a day manifest up
   * to which all have leaves, and the cosignatures of keys that are not configured. One from before had none.
   */
  log: z
    .object({
      ...{ size: z.int(), nodes: z.array(z.hex()), seal: z.int() },
      ...{ days: z.int().default(0), unverified: z.int().default(0) },
    })
    .default(startLog),
  /** The last month whose balances were verified; the digest of each month's balances as of the walk's position. */
  balances: z.object({ after: z.string(), digests: z.record(z.string(), z.string()) }),
  events: cursor,
  entries: cursor,
  late: z.object({ after: z.int() }),
  /** The newest close of a month whose balances were read again. */
  monthClose: z.int(),
  histories: cursor,
  /** Old transactions: those of new rows, by table, then those of platforms with another opening. */
  touched: z.object({ source: z.int(), after: z.int(), count: z.int() }),
  platforms: z.object({ index: z.int(), wall: z.string(), after: z.int() }),
  /** Expected payments; a state of a version before has none. */
  expected: cursor.default({ after: 0, count: 0 }),
  broken: z.int(),
  breaks: z.array(z.object({ scope: z.string(), says: z.string(), transactionId: z.string().optional() })),
});
export type CheckState = z.infer<typeof STATE>;

/** A step's input. It verifies its next batch, changes the state, and returns whether there is more. */
export type Verification = {
  context: Context;
  state: CheckState;
  /** The state that is proven already, and not read again; undefined: everything is read. */
  proof: CheckState | undefined;
  report: ReportBreak;
  /** Rows that a step reads once for all batches. */
  scratch: { posted?: Map<string, bigint> };
};
export type Step = (verification: Verification) => Promise<boolean>;

/** Starts a check of everything. */
export async function startState(db: Reader): Promise<CheckState> {
  return {
    format: 1,
    step: 'chain',
    highest: await readHighest(db),
    openings: await readOpeningDays(db),
    walk: {
      position: 0,
      hash: GENESIS_HASH.toString('hex'),
      entrySeq: 0,
      sealed: 0,
      uncovered: new Map(),
      audit: { seq: 0, unsealed: new Map(), caughtUpAt: null },
    },
    log: startLog(),
    balances: { after: '', digests: {} },
    events: { after: 0, count: 0 },
    entries: { after: 0, count: 0 },
    late: { after: 0 },
    monthClose: 0,
    histories: { after: 0, count: 0 },
    touched: { source: 0, after: 0, count: 0 },
    platforms: { index: 0, wall: '', after: 0 },
    expected: { after: 0, count: 0 },
    broken: 0,
    breaks: [],
  };
}

/** Starts a check of what came after a proof. It counts what it reads itself. */
export async function continueState(db: Reader, proof: CheckState): Promise<CheckState> {
  const { walk, log, monthClose, histories } = structuredClone(proof);
  const fresh = await startState(db);
  return {
    ...fresh,
    ...{ walk, log: { ...log, unverified: 0 }, monthClose },
    events: { after: startOf(proof, 'events'), count: 0 },
    entries: { after: walk.entrySeq, count: 0 },
    histories: { after: histories.after, count: 0 },
    touched: { source: 0, after: startOf(proof, HISTORY_TABLES[0]), count: 0 },
  };
}

/**
 * A row gets its number when it is written, and is visible when it is committed: this many numbers below the highest one
 * are read again. More than all processes write at once, as for the sealer's search.
 */
export const UNCOMMITTED_MAX = 20_000;

/** The number after which a table is read again. */
export function startOf(proof: CheckState, table: (typeof HISTORY_TABLES)[number]): number {
  return Math.max(0, proof.highest[table] - UNCOMMITTED_MAX);
}

export function formatState(state: CheckState): string {
  return JSON.stringify(state, (_, value: unknown) => (value instanceof Map ? [...value] : value));
}

/** @returns undefined for a text that this version did not write. */
export function parseState(text: string): CheckState | undefined {
  return STATE.safeParse(parseJson(text)).data;
}

async function readHighest(db: Reader): Promise<CheckState['highest']> {
  const found: [string, number][] = [];
  for (const table of HISTORY_TABLES) {
    const row = await db.selectFrom(table).select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
    found.push([table, row?.seq ?? 0]);
  }
  return Object.fromEntries(found) as CheckState['highest'];
}

async function readOpeningDays(db: Reader): Promise<CheckState['openings']> {
  const rows = await db
    .selectFrom('openings')
    .select(['platform', 'day', 'reposted_at'])
    .where((eb) => eb.or([eb('in_force', '=', 1), eb('reposted_at', 'is', null)]))
    .execute();
  const days: CheckState['openings'] = {};
  for (const { platform, day, reposted_at: repostedAt } of rows)
    days[platform] = repostedAt === null || days[platform] === null ? null : day;
  return days;
}
