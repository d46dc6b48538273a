import { type ExpressionBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { caseBySeq } from '../../database/case-by-seq.ts';
import type { Reader } from '../../database/reader.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import { isAwaitingConfirmation } from '../../database/restores.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { renderRows } from '../render/render-bodies.ts';
import { failUnrenderable } from './fail-unrenderable.ts';

const NUMBERED_MAX = 1000;
const HELD_RETRY_S = 60;

export type FeedItem = { id: string; body: object };

/** `since`: only callbacks that were stored at or after; a webhook-id: not before that one. `peek`: the cursor acknowledges nothing. */
export type FeedPage = { after: number; limit: number; since?: Date | string | undefined; peek?: boolean };
type FeedReader = { seq: number; url: string | null; pulled_position: number };
type FeedRow = Selectable<Database['callbacks']>;

/**
 * Reads a merchant's callbacks in the order of their positions, for merchants that pull them. Positions are assigned here,
 * to committed rows only: a row that commits late gets a later position, so no reader skips it. The cursor acknowledges
 * what is before it: for a merchant without a URL, these callbacks are delivered.
 * An event that cannot be rendered is left out: it fails, and its callback stays failed.
 * @returns also the last position that was given out, and the one that the next page begins after: with `since`, an empty page may have one that is further.
 * @throws ConfereError `unavailable` until a restore is confirmed; `invalid_request` for a `since` that is no callback of the merchant.
 */
export async function readFeed(
  context: Context,
  merchant: FeedReader,
  page: FeedPage,
): Promise<{ items: FeedItem[]; next: number; last: number }> {
  const merchantSeq = merchant.seq;
  if (await isAwaitingConfirmation(context.db)) throw refuse('events_held', {}, { retryAfterS: HELD_RETRY_S });
  const since = await toInstant(context.db, merchantSeq, page.since);
  await numberNew(context, merchantSeq);
  if (!page.peek) await acknowledge(context, merchant, page.after);
  const { rows, last } = await transact(context.db, (trx) => readRows(trx, merchantSeq, { ...page, since }));
  const bodies = await renderRows(context, rows);
  const unrenderable = rows.filter((row) => !bodies.has(row.seq));
  // with a URL, its delivery fails them
  if (unrenderable.length > 0 && merchant.url === null) await failUnrenderable(context, unrenderable);
  const items = rows.flatMap((row) => {
    const body = bodies.get(row.seq);
    return body ? [{ id: row.webhook_id, body }] : [];
  });
  // less than a page of new events: the cursor passes the old ones up to the last position
  if (page.since !== undefined && rows.length < page.limit) return { items, next: Math.max(page.after, last), last };
  const row = rows.at(-1);
  return { items, next: row ? requireRowNumber(row.position, 'the feed') : page.after, last };
}

async function toInstant(db: Reader, merchantSeq: number, since: FeedPage['since']): Promise<Date | undefined> {
  if (typeof since !== 'string') return since;
  const row = await db
    .selectFrom('callbacks')
    .select('created_at')
    .where('webhook_id', '=', since)
    .where('merchant_seq', '=', merchantSeq)
    .executeTakeFirst();
  if (!row) throw refuseField('since', 'event_unknown');
  return row.created_at;
}

/** Reads the last position before the rows, on one connection: all rows up to it are seen. */
async function readRows(
  trx: Transaction<Database>,
  merchantSeq: number,
  { after, limit, since }: FeedPage & { since: Date | undefined },
): Promise<{ rows: FeedRow[]; last: number }> {
  const last = await readLastPosition(trx, merchantSeq);
  const rows = await trx
    .selectFrom('callbacks')
    .selectAll()
    .where('merchant_seq', '=', merchantSeq)
    .where('position', '>', after)
    .$if(since !== undefined, (query) => query.where('created_at', '>=', since ?? new Date(0)))
    .orderBy('position')
    .limit(limit)
    .execute();
  return { rows, last };
}

async function readLastPosition(db: Reader, merchantSeq: number): Promise<number> {
  const row = await db
    .selectFrom('merchants')
    .select('last_position')
    .where('seq', '=', merchantSeq)
    .executeTakeFirstOrThrow();
  return row.last_position;
}

/** Only positions that were given out: a cursor beyond them acknowledges nothing to come. */
async function acknowledge(context: Context, { seq, url, pulled_position: from }: FeedReader, after: number) {
  const now = context.clock.now();
  const to = Math.max(from, Math.min(after, await readLastPosition(context.db, seq)));
  // in parts: a merchant may have fetched for long before it acknowledges
  for (let done = from; url === null && done < to; ) {
    // a restore leaves a wide range of positions empty
    const next = await findNextPosition(context.db, seq, done);
    if (next === undefined || next > to) break;
    done = Math.min(to, next - 1 + NUMBERED_MAX);
    await context.db
      .updateTable('callbacks')
      .set({ state: 'delivered', delivered_at: now })
      .where('merchant_seq', '=', seq)
      .where('position', '>=', next)
      .where('position', '<=', done)
      .where('state', '<>', 'delivered')
      .where(isNotLeftOut)
      .execute();
  }
  const set = { pulled_position: to, pulled_at: now };
  await context.db.updateTable('merchants').set(set).where('seq', '=', seq).execute();
}

/** Whether a callback was in the feed: one that failed as a delivery was too. */
function isNotLeftOut(eb: ExpressionBuilder<Database, 'callbacks'>) {
  const leftOut = eb
    .selectFrom('callback_attempts')
    .select(sql.lit(1).as('one'))
    .whereRef('callback_seq', '=', 'callbacks.seq')
    .whereRef('number', '=', 'callbacks.attempts')
    .where('error_class', '=', 'not_renderable');
  return eb.or([eb('state', '<>', 'failed'), eb.not(eb.exists(leftOut))]);
}

async function findNextPosition(db: Context['db'], merchantSeq: number, after: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('callbacks')
    .select((eb) => eb.fn.min('position').as('position'))
    .where('merchant_seq', '=', merchantSeq)
    .where('position', '>', after)
    .executeTakeFirst();
  return row?.position ?? undefined;
}

async function numberNew(context: Context, merchantSeq: number): Promise<void> {
  const [first] = await selectNew(context.db, merchantSeq, 1);
  if (!first) return;
  await transact(context.db, async (trx) => {
    const { last_position: last } = await trx
      .selectFrom('merchants')
      .select('last_position')
      .where('seq', '=', merchantSeq)
      .forUpdate()
      .executeTakeFirstOrThrow();
    // a plain read sees committed rows and waits for no lock
    const rows = await selectNew(trx, merchantSeq, NUMBERED_MAX);
    if (rows.length === 0) return;
    await writePositions(
      trx,
      rows.map((row, index) => ({ seq: row.seq, position: last + 1 + index })),
    );
    const set = { last_position: last + rows.length };
    await trx.updateTable('merchants').set(set).where('seq', '=', merchantSeq).execute();
  });
}

function selectNew(db: Context['db'], merchantSeq: number, limit: number) {
  return db
    .selectFrom('callbacks')
    .select('seq')
    .where('merchant_seq', '=', merchantSeq)
    .where('position', 'is', null)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

async function writePositions(
  trx: Transaction<Database>,
  rows: Array<{ seq: number; position: number }>,
): Promise<void> {
  const position = caseBySeq<number, (typeof rows)[number]>(
    rows,
    (row) => row.seq,
    (row) => row.position,
  );
  const seqs = rows.map((row) => row.seq);
  await trx.updateTable('callbacks').set({ position }).where('seq', 'in', seqs).execute();
}
