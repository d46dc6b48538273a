import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { migrate } from '../embedded/migrations/migrate.ts';
import { previewMigrations } from '../embedded/migrations/preview-migrations.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';
import { MIGRATIONS } from '../src/database/open/bring-up-to-date.ts';
import type { Database } from '../src/database/tables.ts';
import { createLog } from '../src/log.ts';
import { type Figure, figure } from './figure.ts';

const ROWS = Number(process.env.MIGRATE_ROWS ?? 5_000_000);
const WRITE_EVERY_MS = 5;
/** Below the receiver's limit for a commit of 3 s, by far. */
const WAIT_MS_MAX = 1_000;
/** Migrations since 0.1.0 that change tables with many rows, and what undoes them. */
const CHANGES = [
  { file: '0072-add-trace-context.ts', undo: 'ALTER TABLE callbacks DROP COLUMN traceparent', table: 'callbacks' },
  {
    file: '0083-add-report-figures.ts',
    undo: 'ALTER TABLE mismatches DROP KEY mismatches_opened',
    table: 'mismatches',
  },
  {
    file: '0099-shorten-item-indexes.ts',
    undo: `ALTER TABLE webhook_items DROP KEY webhook_items_transaction, DROP KEY webhook_items_resolved,
      ADD KEY webhook_items_transaction (transaction_id, received_at), ADD KEY webhook_items_resolved (resolved_id, received_at)`,
    table: 'webhook_items',
  },
  {
    file: '0101-drop-unused-indexes.ts',
    undo: `ALTER TABLE transactions DROP KEY transactions_reference_day, DROP KEY transactions_e2e_day,
      ADD KEY transactions_reference_day (reference, created_wall), ADD KEY transactions_e2e_day (e2e_id, created_wall)`,
    table: 'transactions',
  },
] as const;

/** Real migrations on tables of five million rows, while a writer adds rows: how long they take, and how long the writer waits. */
export async function run(): Promise<Figure[]> {
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  const config = readConfig({ DATA_DIR: home, SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
  const log = createLog('silent', process.stderr);
  const context = await openContext(config, { log, signal: new AbortController().signal, migrates: true });
  const { db } = context;
  try {
    for (const { table } of CHANGES) await sql.raw(insert(table, 1, ROWS)).execute(db);
    const figures: Figure[] = [];
    for (const change of CHANGES) {
      const { seconds, estimated, worstMs, written } = await measure(db, change);
      const name = `${change.file} over ${ROWS.toLocaleString('en')} rows of ${change.table}`;
      figures.push(
        {
          figure: `${name}: time; estimated`,
          value: `${seconds.toFixed(1)} s; ${estimated} s`,
          target: 'none',
          ok: true,
        },
        figure(`… longest wait of a writer, of ${written} INSERTs meanwhile, in ms`, worstMs, WAIT_MS_MAX),
      );
    }
    return figures;
  } finally {
    await context[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  }
}

async function measure(db: Kysely<Database>, { file, undo, table }: (typeof CHANGES)[number]) {
  await sql.raw(undo).execute(db);
  await sql`DELETE FROM migrations WHERE name = ${file}`.execute(db);
  // the server's estimate of the number of rows, which the preview reads
  await sql`ANALYZE TABLE ${sql.table(table)}`.execute(db);
  const [preview] = await previewMigrations(db, { folder: MIGRATIONS });
  const estimated = preview?.statements.reduce((sum, { seconds }) => sum + seconds, 0) ?? 0;
  let going = true;
  const waits: number[] = [];
  const writing = (async () => {
    for (let n = 1; going; n++) {
      const began = performance.now();
      await sql.raw(insert(table, ROWS + n, ROWS + n)).execute(db);
      waits.push(performance.now() - began);
      await sleep(WRITE_EVERY_MS);
    }
  })();
  const began = performance.now();
  await migrate(db, { folder: MIGRATIONS, log: () => undefined });
  const seconds = (performance.now() - began) / 1000;
  going = false;
  await writing;
  await sql.raw(`DELETE FROM ${table} WHERE seq > ${ROWS}`).execute(db);
  return { seconds, estimated, worstMs: Math.max(...waits), written: waits.length };
}

const INSERTS: Record<(typeof CHANGES)[number]['table'], string> = {
  callbacks: `INSERT INTO callbacks (seq, webhook_id, merchant_seq, transaction_seq, event_seq, sequence, type, source, state, created_at)
    SELECT seq, CONCAT('msg_', MD5(seq)), 1 + seq % 20, seq DIV 2, seq, 1 + seq % 2, 'pix.cashin.paid', 'webhook', 'delivered',
      '2026-01-01' + INTERVAL seq SECOND`,
  mismatches: `INSERT INTO mismatches (seq, id, kind, severity, state, scope, opened_at)
    SELECT seq, CONCAT('mm_', MD5(seq)), 'webhook_lost', 'medium', 'resolved', MD5(seq), '2026-01-01' + INTERVAL seq SECOND`,
  webhook_items: `INSERT INTO webhook_items (seq, webhook_seq, position, received_at, transaction_id, resolved_id, state)
    SELECT seq, seq, 0, '2026-01-01' + INTERVAL seq SECOND, MD5(seq DIV 2), MD5(seq DIV 2), 'applied'`,
  transactions: `INSERT INTO transactions (seq, id, operation, status, status_wall, sequence, event_count, amount_cents, reference, e2e_id,
      created_wall, digest, asked_at, first_seen_at)
    SELECT seq, MD5(seq), 'cashin', 'paid', '2026-01-01' + INTERVAL seq SECOND, 1, 1, seq MOD 100000, CONCAT('pedido-', seq),
      CONCAT('E', LEFT(MD5(seq + 1), 31)), '2026-01-01' + INTERVAL seq SECOND, REPEAT('d', 32), NOW(3), NOW(3)`,
};

function insert(table: keyof typeof INSERTS, from: number, to: number): string {
  return `${INSERTS[table]} FROM seq_${from}_to_${to}`;
}
