import { sql, type Transaction } from 'kysely';
import { IS_NO_TEST } from '../callbacks/health/callback-sources.ts';
import type { Context } from '../context.ts';
import { readSetting } from '../database/keys/settings.ts';
import type { Reader } from '../database/reader.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { waitForInserted } from '../database/wait-for-writers.ts';
import { addDays, type Day, listDays } from '../domain/calendar.ts';
import { append, splitList } from '../domain/lists.ts';

/** The setting that says how far the callbacks were searched for days that changed, and when. */
const CURSOR = 'day_manifests_cursor';
const SCAN_ROWS = 5_000;
/** Read again, as far as they were new then: a node of a cluster may show rows of another one late, with lower numbers. */
const OVERLAP_ROWS = 10_000;
const OVERLAP_MS = 3_600_000;
/** Days without a message that are made up after a time without the job. */
const MISSED_DAYS_MAX = 95;
const INSERT_ROWS = 500;
const TRANSACTIONS_MAX = 1_000;

type MerchantDay = { merchant_seq: number; day: Day };
/** `recent`: since when to read again. */
type Cursor = { seq: number; recent: Date };
const BEGINNING: Cursor = { seq: 0, recent: new Date(0) };

const DAY_OF_EVENT = sql<Day>`SUBSTR(at_wall, 1, 10)`;

/**
 * Finds the ended days whose manifest is to be made or compared, and stores them as due: each ended day of each merchant, and
 * earlier days whose messages changed since the last call. The first call counts all as changed, but finds none in a database that an
 * older version made: in an upgrade without a stop, they would be sent by processes that do not know manifests.
 * @returns the cut: all callbacks up to this row number are committed.
 */
export async function findDueDays(context: Context): Promise<number> {
  const { db, calendar, clock } = context;
  const yesterday = addDays(calendar.dayOf(clock.now()), -1);
  const at = clock.now();
  const cut = await readCut(context);
  const cursor = await findCursor(db);
  const due = cursor ? await listDue(context, { yesterday, cursor, cut }) : [];
  await transact(db, async (trx) => {
    await insertDue(trx, due.filter(isEnded(context)));
    const value = Buffer.from(JSON.stringify({ seq: cut, at }));
    await trx.insertInto('settings').values({ name: CURSOR, value }).onDuplicateKeyUpdate({ value }).execute();
  });
  return cut;
}

/** Stores as due the ended days of one merchant's messages since the last call of `findDueDays`, and moves no cursor. @returns the cut. */
export async function findDueDaysOf(context: Context, merchantSeq: number): Promise<number> {
  const cut = await readCut(context);
  const cursor = await findCursor(context.db);
  const due = cursor ? await listSince(context, { cursor, cut, merchantSeq }) : [];
  await transact(context.db, (trx) => insertDue(trx, due.filter(isEnded(context))));
  return cut;
}

function isEnded({ calendar, clock }: Context): (one: MerchantDay) => boolean {
  const today = calendar.dayOf(clock.now());
  return ({ day }) => day < today;
}

async function listDue(
  context: Context,
  { yesterday, cursor, cut }: { yesterday: Day; cursor: Cursor; cut: number },
): Promise<MerchantDay[]> {
  const due = [...(await listEnded(context, yesterday)), ...(await listCorrected(context, cursor))];
  append(due, await listSince(context, { cursor, cut }));
  return due;
}

/** The days of the callbacks since the cursor; of one merchant, if it is given. */
async function listSince(
  context: Context,
  { cursor, cut, merchantSeq }: { cursor: Cursor; cut: number; merchantSeq?: number },
): Promise<MerchantDay[]> {
  const days: MerchantDay[] = [];
  for (let after = Math.max(0, cursor.seq - OVERLAP_ROWS); after < cut; ) {
    context.signal.throwIfAborted();
    const to = await findPageEnd(context.db, after, cut);
    append(days, await listNew(context, { after, to, cursor, merchantSeq }));
    after = to;
  }
  return days;
}

/** Stores days as due, each once. */
export async function insertDue(trx: Transaction<Database>, due: MerchantDay[]): Promise<void> {
  const unique = [...new Map(due.map((one) => [`${one.merchant_seq} ${one.day}`, one])).values()];
  for (const some of splitList(unique, INSERT_ROWS)) {
    await trx
      .insertInto('due_day_manifests')
      .values(some)
      .onDuplicateKeyUpdate((eb) => ({ day: eb.ref('day') }))
      .execute();
  }
}

/**
 * Returns the highest number of a callback once all up to it are committed. A callback is written with its event, its
 * correction or the page of its backfill: their writers are waited for, and callbacks in flight are not locked.
 */
async function readCut({ db }: Context): Promise<number> {
  const row = await db.selectFrom('callbacks').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  await waitForInserted(db, 'events');
  await waitForInserted(db, 'corrections');
  await sql`SELECT merchant_seq FROM backfills LOCK IN SHARE MODE`.execute(db);
  return row?.seq ?? 0;
}

async function findCursor(db: Reader): Promise<Cursor | undefined> {
  return (await readCursor(db)) ?? ((await isNewDatabase(db)) ? BEGINNING : undefined);
}

async function readCursor(db: Reader): Promise<Cursor | undefined> {
  const stored = await readSetting(db, CURSOR);
  if (!stored) return undefined;
  const { seq, at } = JSON.parse(stored.toString()) as { seq: number; at: string };
  return { seq, recent: new Date(Date.parse(at) - OVERLAP_MS) };
}

/** Whether the version that made the database knew manifests. */
async function isNewDatabase(db: Reader): Promise<boolean> {
  const { rows } = await sql<{ isNew: number }>`SELECT COUNT(*) AS isNew FROM migrations AS first
    JOIN migrations AS own ON own.version = first.version AND own.name LIKE '0094-%'
    WHERE first.name = (SELECT MIN(name) FROM migrations)`.execute(db);
  return Number(rows[0]?.isNew) > 0;
}

async function findPageEnd(db: Reader, after: number, cut: number): Promise<number> {
  const row = await db
    .selectFrom('callbacks')
    .select('seq')
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(1)
    .offset(SCAN_ROWS)
    .executeTakeFirst();
  return Math.min(row?.seq ?? cut, cut);
}

/** The days of the callbacks of a range. An example repeats a callback, whose row number is no event's. */
async function listNew(
  { db, calendar }: Context,
  { after, to, cursor, merchantSeq }: { after: number; to: number; cursor: Cursor; merchantSeq: number | undefined },
): Promise<MerchantDay[]> {
  const inRange = db
    .selectFrom('callbacks')
    .where('callbacks.seq', '>', after)
    .where('callbacks.seq', '<=', to)
    .where(IS_NO_TEST)
    .$if(merchantSeq !== undefined, (query) => query.where('merchant_seq', '=', merchantSeq ?? 0))
    .where((eb) => eb.or([eb('callbacks.seq', '>', cursor.seq), eb('callbacks.created_at', '>=', cursor.recent)]));
  const events = await inRange
    .innerJoin('events', 'events.seq', 'callbacks.event_seq')
    .select(['merchant_seq', DAY_OF_EVENT.as('day')])
    .distinct()
    .execute();
  const corrections = await inRange
    .innerJoin('corrections', (join) =>
      join
        .onRef('corrections.transaction_seq', '=', 'callbacks.transaction_seq')
        .onRef('corrections.sequence', '=', 'callbacks.sequence'),
    )
    .select(['merchant_seq', 'corrections.created_at as at'])
    .where('event_seq', 'is', null)
    .execute();
  return [...events, ...corrections.map(({ merchant_seq, at }) => ({ merchant_seq, day: calendar.dayOf(at) }))];
}

/** The days of the callbacks of transactions that were corrected: their amounts may be others. */
async function listCorrected({ db }: Context, { recent }: Cursor): Promise<MerchantDay[]> {
  const corrections = await db
    .selectFrom('corrections')
    .select('transaction_seq')
    .distinct()
    .where('created_at', '>=', recent)
    .execute();
  const days: MerchantDay[] = [];
  for (const some of splitList(corrections, TRANSACTIONS_MAX)) {
    const seqs = some.map((row) => row.transaction_seq);
    const rows = await db
      .selectFrom('callbacks')
      .innerJoin('events', 'events.seq', 'callbacks.event_seq')
      .select(['merchant_seq', DAY_OF_EVENT.as('day')])
      .distinct()
      .where('callbacks.transaction_seq', 'in', seqs)
      .execute();
    append(days, rows);
  }
  return days;
}

/**
 * Each merchant's days from the one after its newest manifest to yesterday; of a merchant without any, yesterday. None before
 * the merchant was there: a backfill may have brought manifests of earlier days.
 */
async function listEnded({ db, calendar }: Context, yesterday: Day): Promise<MerchantDay[]> {
  const merchants = await db
    .selectFrom('merchants')
    .select(['seq', 'created_at'])
    .select((eb) =>
      eb
        .selectFrom('day_manifests')
        .select((inner) => inner.fn.max('day').as('day'))
        .whereRef('day_manifests.merchant_seq', '=', 'merchants.seq')
        .as('newest'),
    )
    .where('deleted_at', 'is', null)
    .execute();
  const earliest = addDays(yesterday, 1 - MISSED_DAYS_MAX);
  return merchants.flatMap(({ seq, created_at: createdAt, newest }) => {
    const from = newest === null ? [yesterday] : [earliest, addDays(newest, 1)];
    return listDays(latestOf([...from, calendar.dayOf(createdAt)]), yesterday).map((day) => ({
      merchant_seq: seq,
      day,
    }));
  });
}

function latestOf(days: Day[]): Day {
  return [...days].sort().at(-1) ?? '';
}
