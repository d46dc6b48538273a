import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { METRIC_READERS } from '../../../src/commands/serve/metric-readers.ts';
import type { Context } from '../../../src/context.ts';
import { countPaidToday } from '../../../src/http/console/overview/read-overview.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { countReads } from '../../support/count-reads.ts';
import { openEnvironment } from '../../support/open-environment.ts';

/** Rows of each table, nearly all of them finished. */
const ROWS = 20_000;
/** Fewer than a scan of one table reads. */
const READS_MAX = ROWS / 4;
const NOW = 'UTC_TIMESTAMP(3)';
const WALL = `DATE_FORMAT(${NOW} - INTERVAL n * 10 SECOND, '%Y-%m-%d %H:%i:%s')`;
/** Postings of a day, among all platforms: more than there are entries. */
const PLATFORMS = 4;
const A_DAY = PLATFORMS * 8_640;
/** When the n-th run or window was made: one in three minutes. */
const AT = `${NOW} - INTERVAL (${ROWS} - n) * 3 MINUTE`;

const env = closeAfterAll(await openEnvironment({ PROVIDER_RATE: '600/m' }));
beforeAll(async () => {
  const digit = `(${[...'0123456789'].map((digit) => `SELECT ${digit} d`).join(' UNION ALL ')})`;
  const number = 'a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d';
  for (const text of [
    'CREATE TABLE numbers (n INT PRIMARY KEY)',
    `INSERT INTO numbers SELECT n FROM (SELECT ${number} AS n FROM ${[...'abcef'].map((one) => `${digit} ${one}`).join()}) each_number WHERE n < ${ROWS}`,
    `INSERT INTO callbacks (webhook_id, merchant_seq, type, source, state, next_attempt_at, created_at)
      SELECT n, n % 20, 'pix.cashin.paid', 'webhook', IF(n % 100 = 1, 'pending', 'delivered'), ${NOW}, ${NOW} FROM numbers`,
    `INSERT INTO webhooks (hash, body, received_at, source_address, headers, state)
      SELECT UNHEX(SHA2(n, 256)), '{}', ${NOW}, '192.0.2.1', '{}', IF(n % 100 = 1, 'quarantined', 'applied') FROM numbers`,
    `INSERT INTO webhook_items (webhook_seq, position, received_at, state, next_look_at)
      SELECT n, 0, ${NOW}, IF(n % 100 = 1, 'pending', 'applied'), IF(n % 100 = 1, ${NOW}, NULL) FROM numbers`,
    `INSERT INTO runs (id, \`trigger\`, state, from_day, to_day, created_at, created_by, started_at)
      SELECT n, 'reconcile_recent', 'complete', DATE(${AT}), DATE(${AT}), ${AT}, 'confere', ${AT} FROM numbers ORDER BY n`,
    `INSERT INTO run_windows (run_seq, from_day, to_day, state, asked_at)
      SELECT n, DATE(${AT}), DATE(${AT}), 'complete', ${AT} FROM numbers ORDER BY n`,
    // the nightly job proves all days again
    `INSERT INTO run_windows (run_seq, from_day, to_day, state, asked_at)
      SELECT ${ROWS}, DATE(${NOW} - INTERVAL n DAY), DATE(${NOW} - INTERVAL n DAY), 'counted', ${NOW} FROM numbers WHERE n < 100`,
    `INSERT INTO mismatches (id, kind, severity, state, scope, opened_at)
      SELECT n, 'stuck', 'medium', IF(n % 100 = 1, 'open', 'resolved'), n, ${NOW} FROM numbers`,
    `INSERT INTO transactions (id, operation, status, status_wall, sequence, event_count, amount_cents, created_wall, digest, asked_at, first_seen_at)
      SELECT n, 'cashin', 'paid', ${WALL}, 1, 1, 100, ${WALL}, '', ${NOW}, ${NOW} FROM numbers`,
    `INSERT INTO entries (kind, platform, at_wall, recorded_at, source_kind)
      SELECT 'event', 'p', ${WALL}, ${NOW}, 'webhook' FROM numbers`,
    `INSERT INTO accounts (name) SELECT CONCAT('Liabilities:Receipts:', n) FROM numbers WHERE n < ${PLATFORMS}`,
    `INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
      SELECT entries.seq, accounts.seq, accounts.seq, at_wall, -100 FROM entries, accounts`,
    `INSERT INTO receiver_minutes SELECT DATE_FORMAT(${NOW} - INTERVAL n MINUTE, '%Y-%m-%d %H:%i:00'), ${NOW} FROM numbers`,
    `INSERT INTO alerts (id, name, severity, scope, firing_scope, summary, raised_at)
      SELECT n, 'stuck', 'medium', n, IF(n % 100 = 1, n, NULL), '', ${NOW} FROM numbers`,
    `INSERT INTO expected_payments (id, source, number, operation, created_at, created_day, version, version_seq, amount_cents,
        issued_day, due_day, end_day, state, state_at, look_at)
      SELECT n, 'shop', n, 'cashin', ${NOW}, ${NOW}, 1, n, 100, ${NOW}, ${NOW}, ${NOW}, IF(n % 100 = 1, 'unpaid', 'paid'), ${NOW},
        IF(n % 100 = 2, ${NOW} - INTERVAL 1 MINUTE, NULL) FROM numbers`,
    'DROP TABLE numbers',
    'ANALYZE TABLE expected_payments, callbacks, webhooks, webhook_items, runs, run_windows, mismatches, transactions, entries, postings, alerts',
  ])
    await sql.raw(text).execute(env.context.db);
  await sealNow(env.context);
});

// announcements are left out: they read the changes of two days, once a minute
const readers = Object.entries(METRIC_READERS).filter(([reader]) => reader !== 'announcements');

it.each(readers)('the reader %s reads what is open or new, not all rows of a table', async (_, read) => {
  expect(await countReads(env.context.db, (db) => read({ ...env.context, db }))).toBeLessThan(READS_MAX);
});

it('the mismatches of one transaction are read by its id, not among all', async () => {
  const one = env.context.db.selectFrom('transactions').select('id').limit(1).executeTakeFirstOrThrow();
  const { id: transactionId } = await one;
  const reads = await countReads(env.context.db, (db) =>
    listMismatches({ ...env.context, db }, { transactionId, limit: 50 }),
  );
  expect(reads).toBeLessThan(READS_MAX / 100);
});

it('what was paid on a day is counted among the postings of that day, not among all entries', async () => {
  const yesterday = { ...env.context.clock, now: () => new Date(Date.now() - 86_400_000) };
  const count = (context: Context) => countPaidToday({ ...context, clock: yesterday });
  expect(await count(env.context)).toEqual({ receipts: A_DAY, payments: 0 });
  // those of either sign
  expect(await countReads(env.context.db, (db) => count({ ...env.context, db }))).toBeLessThan(
    2 * A_DAY + READS_MAX / 100,
  );
});
