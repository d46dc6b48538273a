import { type Kysely, type KyselyPlugin, sql } from 'kysely';
import type { Context } from '../../src/context.ts';
import type { Database } from '../../src/database/tables.ts';
import { APPEND_ONLY_TABLES } from '../../src/doctor/list-grants.ts';
import { readEventPositions } from '../../src/ledger/apply/read-event-positions.ts';
import { listMismatches } from '../../src/mismatches/read-mismatches.ts';
import { observe, type ShownTransaction } from './make-observations.ts';

let counter = 0;

/** A row of the provider's; its history oldest first, as `status@minute` of one evening. */
export function makeShownTransaction(history: string[], more: Partial<ShownTransaction> = {}): ShownTransaction {
  const events = history.map((text) => {
    const [status = '', minute = '0'] = text.split('@');
    return { status, date_created: `2026-11-20 23:${minute.padStart(2, '0')}:00` };
  });
  return {
    id: `0f0e0d0c-0000-4000-8000-${String(++counter).padStart(12, '0')}`,
    operation: 'cashin',
    status: events.at(-1)?.status ?? '',
    amount: '10.00',
    date_created: events[0]?.date_created ?? '',
    events: events.toReversed(),
    ...more,
  };
}

/** Observes a transaction now, or some seconds later: successive observations must not share an instant. */
export function observeNow(context: Context, row: ShownTransaction, seconds = 0) {
  return observe(row, new Date(context.clock.now().getTime() + seconds * 1000));
}

/** Everything that must not depend on who learnt what when. */
export async function readLedgerState(context: Context) {
  const stored = await context.db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['events.seq', 'events.transaction_seq', 'events.position'])
    .select(['transactions.id', 'events.status', 'events.at_wall'])
    .orderBy('transactions.id')
    .execute();
  const places = await readEventPositions(context.db, [...new Set(stored.map((event) => event.transaction_seq))]);
  const events = stored
    .map(({ seq, transaction_seq: _, position, ...event }) => ({ ...event, position: places.get(seq) ?? position }))
    .sort((x, y) => (x.id === y.id ? x.position - y.position : x.id < y.id ? -1 : 1));
  const transactions = await context.db
    .selectFrom('transactions')
    .select(['id', 'operation', 'status', 'status_wall', 'event_count', 'amount_cents', 'commission_cents'])
    .select(['reference', 'extra', 'platform'])
    .orderBy('id')
    .execute();
  const postings = await context.db
    .selectFrom('postings')
    .innerJoin('accounts', 'accounts.seq', 'postings.account_seq')
    .innerJoin('entries', 'entries.seq', 'postings.entry_seq')
    .leftJoin('transactions', 'transactions.seq', 'entries.transaction_seq')
    .select(['transactions.id', 'accounts.name', 'entries.at_wall', 'postings.amount_cents'])
    .execute();
  return { events, transactions, postings: addUp(postings) };
}

function addUp(rows: { id: string | null; name: string; at_wall: string; amount_cents: bigint }[]) {
  const totals = new Map<string, bigint>();
  for (const row of rows) {
    const key = `${row.id} ${row.name} @ ${row.at_wall}`;
    totals.set(key, (totals.get(key) ?? 0n) + row.amount_cents);
  }
  return Object.fromEntries([...totals].filter(([, cents]) => cents !== 0n).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the mismatches of a kind, the oldest first. */
export async function readMismatchRows(context: Context, kind?: string) {
  return (await listMismatches(context, { kind, limit: 200 })).toReversed();
}

/** Returns a context that calls `happens` once, right after a statement whose first row matches. */
export function interruptAfterRow(
  context: Context,
  at: (row: object) => boolean,
  happens: () => Promise<unknown>,
): Context {
  let done = false;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!done && result.rows[0] && at(result.rows[0])) {
        done = true;
        await happens();
      }
      return result;
    },
  };
  return { ...context, db: context.db.withPlugin(plugin) };
}

/** Drops the triggers of append-only tables, as a user with all privileges could. */
export async function dropTriggers(db: Kysely<Database>): Promise<void> {
  for (const table of APPEND_ONLY_TABLES) {
    for (const verb of ['update', 'delete']) await sql.raw(`DROP TRIGGER IF EXISTS ${table}_no_${verb}`).execute(db);
  }
}

/**
 * Copies all rows of the database. The triggers must be dropped first.
 * @returns a function that restores the rows. It does not reset the caches of a process.
 */
export async function backUpRows(db: Kysely<Database>): Promise<() => Promise<void>> {
  const { rows: tables } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`.execute(db);
  const filled = sql.raw<{ name: string }>(
    tables.map(({ name }) => `SELECT '${name}' AS name FROM DUAL WHERE EXISTS (SELECT 1 FROM ${name})`).join(' UNION '),
  );
  const { rows: kept } = await filled.execute(db);
  for (const { name } of kept) await sql.raw(`CREATE TABLE kept_${name} AS SELECT * FROM ${name}`).execute(db);
  return async () => {
    for (const { name } of (await filled.execute(db)).rows) await sql.raw(`DELETE FROM ${name}`).execute(db);
    for (const { name } of kept) await sql.raw(`INSERT INTO ${name} SELECT * FROM kept_${name}`).execute(db);
  };
}
