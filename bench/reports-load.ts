import { type Kysely, sql } from 'kysely';
import type { Database } from '../src/database/tables.ts';

const PLATFORM = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const CHUNK_ROWS = 100_000;
const SECONDS_A_DAY = 86_400;

/** The first day, how many days, and how many rows in all. */
export type Load = { day: string; days: number; rows: number };

/**
 * Fills days with paid cashins in the form that applying them writes, by INSERT … SELECT: a million takes a minute. MariaDB
 * only.
 */
export async function loadDays(db: Kysely<Database>, { day, days, rows }: Load): Promise<void> {
  for (const [seq, name] of [
    'Assets:Provider:Available',
    'Expenses:Commission:Cashin',
    'Liabilities:Receipts',
  ].entries()) {
    const account = `${name}:${PLATFORM}`;
    await sql`INSERT INTO accounts (seq, name) VALUES (${seq + 1}, ${account}) ON DUPLICATE KEY UPDATE seq = seq`.execute(
      db,
    );
  }
  for (let start = 0; start < rows; start += CHUNK_ROWS) {
    const from = start + 1;
    const to = from + Math.min(CHUNK_ROWS, rows - start) - 1;
    await loadChunk(db, { day, seconds: days * SECONDS_A_DAY, from, to, rows });
  }
  for (const table of ['transactions', 'parties', 'events', 'entries', 'postings'])
    await sql`ANALYZE TABLE ${sql.table(table)}`.execute(db);
}

async function loadChunk(
  db: Kysely<Database>,
  { day, seconds, from, to, rows }: { day: string; seconds: number; from: number; to: number; rows: number },
): Promise<void> {
  const sequence = sql.raw(`seq_${from}_to_${to}`);
  const at = sql`DATE_FORMAT(${`${day} 00:00:00`} + INTERVAL FLOOR((seq - 1) * ${seconds} / ${rows}) SECOND, '%Y-%m-%d %H:%i:%s')`;
  const id = sql`CONCAT('0f0e0d0c-0000-4000-8000-', LPAD(seq, 12, '0'))`;
  const amount = sql`(seq * 7919) MOD 500000 + 100`;
  const created = `${day} 00:00:00`;
  await sql`INSERT INTO transactions (seq, id, operation, status, status_wall, sequence, event_count, amount_cents,
      commission_cents, reference, extra, platform, e2e_id, created_wall, digest, asked_at, first_seen_at)
    SELECT seq, ${id}, 'cashin', 'paid', ${at}, 2, 2, ${amount}, 50, CONCAT('pedido-', seq), NULL, ${PLATFORM},
      CONCAT('E12345678202603111200', LPAD(seq, 11, '0')), ${created}, REPEAT('x', 32), NOW(3), NOW(3)
    FROM ${sequence}`.execute(db);
  await sql`INSERT INTO parties (transaction_seq, name, document)
    SELECT seq, CONCAT('Maria da Conceição ', seq), '12345678909' FROM ${sequence}`.execute(db);
  await sql`INSERT INTO events (seq, transaction_seq, status, at_wall, occurrence, position, sequence, inferred, seen_at,
      source_kind)
    SELECT seq, seq, 'paid', ${at}, 0, 1, 2, 0, NOW(3), 'show' FROM ${sequence}`.execute(db);
  await sql`INSERT INTO entries (seq, kind, transaction_seq, event_seq, platform, at_wall, recorded_at, source_kind)
    SELECT seq, 'event', seq, seq, ${PLATFORM}, ${at}, NOW(3), 'show' FROM ${sequence}`.execute(db);
  const legs = [
    [0, 1, sql`${amount} - 50`],
    [1, 2, sql`50`],
    [2, 3, sql`-(${amount})`],
  ] as const;
  for (const [position, account, cents] of legs) {
    await sql`INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
      SELECT seq, ${position}, ${account}, ${at}, ${cents} FROM ${sequence}`.execute(db);
  }
}
