/**
 * The rows of `books_checks`: proofs, and the whole check that is not finished yet. Each is signed with a key that the
 * database has encrypted alone: someone who can write the table can not make a proof, nor let a whole check skip rows.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Context } from '../context.ts';
import { requireRowNumber } from '../database/require-row-number.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { DAY_MS } from '../domain/calendar.ts';
import { ConfereError } from '../domain/errors.ts';
import { VERSION } from '../domain/version.ts';
import { type CheckState, formatState, parseState, startState } from './check-state.ts';

/** A check that was not continued for this long begins anew. */
const RESUME_MS_MAX = 7 * DAY_MS;
/** So does one that began this long ago: an earlier state that was put back by hand is of no use for longer. */
const WHOLE_MS_MAX = 28 * DAY_MS;
/** How many rows are tried, in case the newest was written by a version with another form of the state. */
const PROOFS_TRIED_MAX = 5;

/** `transactions`: how many are proven in all. */
export type Proof = { seq: number; transactions: number; state: CheckState };
/** A whole check that runs. `saves`: how often it was saved. */
export type WholeCheck = { seq: number; startedAt: Date; saves: number; state: CheckState };

/** Another process continues the whole check. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOver';
}

/** Returns the proof that reaches furthest along the chain. */
export async function readProof(context: Context): Promise<Proof | undefined> {
  const rows = await context.db
    .selectFrom('books_checks')
    .selectAll()
    .where('finished_at', 'is not', null)
    .where('broken', '=', 0)
    .orderBy('position', 'desc')
    .orderBy('seq', 'desc')
    .limit(PROOFS_TRIED_MAX)
    .execute();
  for (const row of rows) {
    const state = isSigned(context, row) ? parseState(row.state) : undefined;
    if (state?.broken === 0) return { seq: row.seq, transactions: row.transactions, state };
  }
  return undefined;
}

/**
 * Ensures that whole checks are finished, unless their job is off.
 * @throws ConfereError `books_broken` if the newest one began longer ago than WHOLE_MS_MAX.
 */
export async function requireRecentWhole(context: Context): Promise<void> {
  const { db, clock, config } = context;
  if (config.JOB_CHECK_ALL_BOOKS === 'off') return;
  const rows = await db
    .selectFrom('books_checks')
    .selectAll()
    .where('finished_at', 'is not', null)
    .where('since_seq', 'is', null)
    .orderBy('started_at', 'desc')
    .limit(PROOFS_TRIED_MAX)
    .execute();
  const newest = rows.find((row) => isSigned(context, row));
  if (newest && newest.started_at.getTime() > clock.now().getTime() - WHOLE_MS_MAX) return;
  const since = newest ? ` since the one of ${newest.started_at.toISOString()}` : '';
  throw new ConfereError('books_broken', `no check of the whole books was finished${since}: see job check_all_books`);
}

/** Records a finished check that continued a proof. */
export async function recordCheck(context: Context, proof: Proof, startedAt: Date, state: CheckState): Promise<void> {
  const now = context.clock.now();
  const times = { since_seq: proof.seq, started_at: startedAt, saved_at: now, finished_at: now };
  const row = toRow(context, times, state, proof.transactions);
  await context.db.insertInto('books_checks').values(row).execute();
}

/** Continues the whole check where it was interrupted, or begins one. */
export async function openWholeCheck(context: Context): Promise<WholeCheck> {
  const { db, clock, log } = context;
  const now = clock.now();
  const open = await db
    .selectFrom('books_checks')
    .selectAll()
    .where('finished_at', 'is', null)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const isWithin = (at: Date, ms: number): boolean => at.getTime() > now.getTime() - ms;
  const isRecent = open && isWithin(open.saved_at, RESUME_MS_MAX) && isWithin(open.started_at, WHOLE_MS_MAX);
  const state = isRecent && isSigned(context, open) ? parseState(open.state) : undefined;
  if (open && state) {
    log.info({ check: open.seq, step: state.step, position: state.walk.position }, 'the whole books check continues');
    return { seq: open.seq, startedAt: open.started_at, saves: open.saves, state };
  }
  return await transact(db, async (trx) => {
    await trx.deleteFrom('books_checks').where('finished_at', 'is', null).execute();
    const begun = await startState(trx);
    const times = { since_seq: null, started_at: now, saved_at: now, finished_at: null };
    const { insertId } = await trx
      .insertInto('books_checks')
      .values(toRow(context, times, begun))
      .executeTakeFirstOrThrow();
    return { seq: requireRowNumber(insertId, 'a books check'), startedAt: now, saves: 0, state: begun };
  });
}

/** Saves how far a whole check is. @throws TakenOverError if another process saved it in between. */
export async function saveWholeCheck(
  context: Context,
  check: WholeCheck,
  end: 'open' | 'finished' = 'open',
): Promise<void> {
  const now = context.clock.now();
  const finished = end === 'finished' ? now : null;
  const times = { since_seq: null, started_at: check.startedAt, saved_at: now, finished_at: finished };
  const result = await context.db
    .updateTable('books_checks')
    .set({ ...toRow(context, times, check.state), saves: check.saves + 1 })
    .where('seq', '=', check.seq)
    .where('saves', '=', check.saves)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw new TakenOverError('another process continues the whole books check');
  check.saves++;
}

type Row = Selectable<Database['books_checks']>;
type Times = Pick<Row, 'since_seq' | 'started_at' | 'saved_at' | 'finished_at'>;

/** @param transactions how many were proven before. */
function toRow(context: Context, times: Times, state: CheckState, transactions = 0) {
  const row = { ...times, transactions: transactions + state.histories.count, state: formatState(state) };
  return {
    ...row,
    version: VERSION,
    position: state.walk.position,
    hash: Buffer.from(state.walk.hash, 'hex'),
    entries: state.walk.sealed,
    broken: state.broken,
    signature: sign(context, row),
  };
}

function isSigned(context: Context, row: Row): boolean {
  if (timingSafeEqual(sign(context, row), row.signature)) return true;
  context.log.warn({ check: row.seq }, 'a row of books_checks was not written by Confere, and is not used');
  return false;
}

/** HMAC-SHA-256 of what a later check continues from. The other columns are for people. */
function sign({ keys }: Context, row: Times & Pick<Row, 'transactions' | 'state'>): Buffer {
  const times = [row.started_at, row.saved_at, row.finished_at].map((at) => at?.getTime() ?? null);
  const text = JSON.stringify(['books check', row.since_seq, ...times, row.transactions, row.state]);
  return createHmac('sha256', keys.search).update(text).digest();
}
