/**
 * Fills a database as five million transactions of a year leave it: every table that a page of the console reads, in the
 * form that the program writes, by INSERT … SELECT. Indexes are built afterwards. MariaDB only.
 */
import { crc32 } from 'node:zlib';
import { type Kysely, sql } from 'kysely';
import type { Context } from '../src/context.ts';
import { hashDocument } from '../src/database/keys/index-person.ts';
import type { Database } from '../src/database/tables.ts';
import { addDays, type Day } from '../src/domain/calendar.ts';
import { createMerchant } from '../src/merchants/change-merchants.ts';
import { makeReport } from '../src/reports/revisions/make-report.ts';
import { dropKeys } from './drop-keys.ts';

const CHUNK_ROWS = 250_000;
export const DAYS = 365;
export const PLATFORMS = 20;
const MERCHANTS = 4;
/** Transactions a seal. */
const PER_SEAL = 2_000;
const REPORTED_DAYS = 120;
const FEE_CENTS = 50;
const TABLES = 'transactions parties events entries postings webhooks webhook_items callbacks callback_attempts';

/** How many rows of each kind. */
export type Sizes = ReturnType<typeof sizesOf>;

/** The newest days, of which each has as many rows, however many there are before them. */
export type EvenDays = { days: number; rowsADay: number };

/** @param even by default all days of the year have as many rows. */
export function sizesOf(rows: number, even: EvenDays = { days: DAYS, rowsADay: rows / DAYS }) {
  return {
    rows,
    newest: { days: even.days, share: (even.days * even.rowsADay) / rows },
    people: Math.max(1_000, Math.round(rows / 25)),
    webhooks: Math.round(rows / 10),
    callbacks: Math.round(rows / 2),
    /** Every five minutes of the year. */
    runs: Math.min(DAYS * 288, rows),
    mismatches: Math.round(rows / 250),
    open: Math.min(300, Math.round(rows / 250)),
    alerts: Math.round(rows / 1_000),
    audit: Math.round(rows / 5),
  };
}

/** The id of the n-th transaction, from 1 on. */
export function idOf(n: number): string {
  return `${crc32(String(n)).toString(16).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

export function platformOf(n: number): string {
  return `6f9619ff-8b86-4d01-b42d-${String(n % PLATFORMS).padStart(12, '0')}`;
}

/** Fills the database. The last transaction was created a moment ago. */
export async function loadYear(context: Context, rows: number): Promise<Sizes> {
  const sizes = sizesOf(rows);
  await loadTables(context, sizes);
  for (const text of sumsOf(sizes)) await sql.raw(text).execute(context.db);
  await analyzeTables(context);
  process.stderr.write('reports …\n');
  await loadReports(context, context.db);
  return sizes;
}

/** Fills all tables but those of seals and reports. */
export async function loadTables(context: Context, sizes: Sizes): Promise<void> {
  const { rows } = sizes;
  const { db, clock, calendar } = context;
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const run = (text: string) => sql.raw(text).execute(db);
  await run('SET GLOBAL innodb_flush_log_at_trx_commit = 0');
  await hashPeople(context, sizes.people);
  const restore = await dropKeys(db, TABLES.split(' '));
  const now = calendar.toWallTime(clock.now());
  for (const text of accountsAndMerchants()) await run(text);
  for (let n = 0; n < MERCHANTS; n++)
    await createMerchant(context, { name: `Loja ${n}`, url: `https://shop${n}.example/`, eventsSince: new Date(0) });
  for (let from = 1; from <= rows; from += CHUNK_ROWS) {
    const to = Math.min(from + CHUNK_ROWS - 1, rows);
    for (const text of ledgerOf({ from, to }, sizes, now)) await run(text);
    say(`loaded ${to} of ${rows} transactions`);
  }
  for (const text of deliveriesOf(sizes)) await run(text);
  say('indexing …');
  await restore();
  say('runs, mismatches, alerts, audit …');
  for (const text of operationsOf(sizes)) await run(text);
  await run('DROP TABLE bench_people');
}

/** As the server does by itself after a while. */
export async function analyzeTables({ db }: Context): Promise<void> {
  const { rows: tables } = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`.execute(db);
  for (const { name } of tables) await sql.raw(`ANALYZE TABLE ${name}`).execute(db);
}

/** SQL can't compute the keyed hashes: makes a table of them to join. */
async function hashPeople({ db, keys }: Context, people: number): Promise<void> {
  await sql`CREATE TABLE bench_people (n INT NOT NULL PRIMARY KEY, hash BINARY(32) NOT NULL)`.execute(db);
  for (let start = 0; start < people; start += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, people - start) }, (_, i) => {
      const hash = hashDocument(keys, String(start + i).padStart(11, '0'));
      return sql`(${start + i}, ${hash})`;
    });
    await sql`INSERT INTO bench_people (n, hash) VALUES ${sql.join(rows)}`.execute(db);
  }
}

const ACCOUNTS = [
  ...['Assets:Provider:Available', 'Assets:Provider:Held', 'Expenses:Commission:Cashin'],
  ...['Expenses:Commission:Cashout', 'Liabilities:Receipts', 'Liabilities:Payables'],
];
const PLATFORM = (n: string) => `CONCAT('6f9619ff-8b86-4d01-b42d-', LPAD(${n} MOD ${PLATFORMS}, 12, '0'))`;
const ID = (n: string) => `CONCAT(LOWER(LPAD(HEX(CRC32(${n})), 8, '0')), '-0000-4000-8000-', LPAD(${n}, 12, '0'))`;
/** Every tenth is a cashout. */
const IS_OUT = 'n MOD 10 = 0';
const STATUS = `IF(${IS_OUT} OR n MOD 1000 <= 950, 'paid', IF(n MOD 1000 > 990, 'denied', 'expired'))`;
const AMOUNT = '100 + (n * 7919) MOD 100000';
/** The account of the k-th name of a transaction's platform. */
const account = (k: number) => `(n MOD ${PLATFORMS}) * ${ACCOUNTS.length} + ${k + 1}`;

function accountsAndMerchants(): string[] {
  const names = ACCOUNTS.map((name, k) => `WHEN ${k} THEN '${name}:'`).join(' ');
  const count = PLATFORMS * ACCOUNTS.length;
  return [
    `INSERT INTO accounts (seq, name) SELECT seq, CONCAT(CASE (seq - 1) MOD ${ACCOUNTS.length} ${names} END,
      ${PLATFORM(`((seq - 1) DIV ${ACCOUNTS.length})`)}) FROM seq_1_to_${count}`,
    `INSERT INTO platform_names (platform, name, created_at, actor) SELECT ${PLATFORM('seq')}, CONCAT('Plataforma ', seq),
      UTC_TIMESTAMP(3), 'bench' FROM seq_1_to_${PLATFORMS}`,
  ];
}

/** How many seconds ago the n-th of these rows happened, the last one now. */
function secondsAgo(n: string, count: number, { newest: { days, share } }: Sizes): string {
  const newest = Math.round(count * share);
  const [newestS, restS] = [days * 86_400, (DAYS - days) * 86_400];
  const within = `(${count} - ${n}) * ${newestS / newest}`;
  if (newest === count) return `CEIL(${within})`;
  const before = count - newest;
  return `CEIL(IF(${n} > ${before}, ${within}, ${newestS} + (${before} - ${n}) * ${restS / before}))`;
}

/** The number of entries of the first n transactions: a cashout has two, a paid cashin one. By thousands, then within one. */
const ENTRIES_TO = (n: string) => {
  const [last, outs] = [`${n} MOD 1000`, `${n} MOD 1000 DIV 10`];
  // no difference below zero: the numbers are unsigned
  return `(1055 * (${n} DIV 1000) + ${last} + 2 * (${outs}) + 855 - GREATEST(855 + ${outs}, ${last}))`;
};

/** Transactions with their people, two events each, and the entries of those that moved money. */
function ledgerOf({ from, to }: { from: number; to: number }, sizes: Sizes, now: string): string[] {
  const { rows, people } = sizes;
  const at = (seconds: number, n = 'n') =>
    `DATE_FORMAT('${now}' - INTERVAL ${secondsAgo(n, rows, sizes)} SECOND - INTERVAL ${60 - seconds} SECOND, '%Y-%m-%d %H:%i:%s')`;
  const seen = `UTC_TIMESTAMP(3) - INTERVAL ${secondsAgo('n', rows, sizes)} SECOND`;
  const source = `(SELECT seq AS n FROM seq_${from}_to_${to}) numbers`;
  const person = `(n * 7919) MOD ${people}`;
  const entry = (number: string, event: string, wall: string, where: string) =>
    `INSERT INTO entries (seq, kind, transaction_seq, event_seq, platform, at_wall, recorded_at, source_kind, source_run_seq, source_page)
    SELECT ${number}, 'event', n, ${event}, ${PLATFORM('n')}, ${wall}, ${seen}, 'list', 1, 1 FROM ${source} WHERE ${where} ORDER BY n`;
  const postings = (number: string, wall: string, where: string, legs: [k: number, cents: string][]) =>
    `INSERT INTO postings (entry_seq, position, account_seq, at_wall, amount_cents)
    SELECT ${number}, p, CASE p ${legs.map(([k], p) => `WHEN ${p} THEN ${account(k)}`).join(' ')} END, ${wall},
      CASE p ${legs.map(([, cents], p) => `WHEN ${p} THEN ${cents}`).join(' ')} END
    FROM ${source} JOIN (SELECT seq AS p FROM seq_0_to_${legs.length - 1}) legs WHERE ${where} ORDER BY n, p`;
  const [isIn, isOut] = [`NOT (${IS_OUT}) AND ${STATUS} = 'paid'`, IS_OUT];
  return [
    `INSERT INTO transactions (seq, id, operation, status, status_wall, sequence, event_count, amount_cents, commission_cents,
      reference, extra, extra_hash, platform, e2e_id, created_wall, digest, asked_at, first_seen_at)
    SELECT n, ${ID('n')}, IF(${IS_OUT}, 'cashout', 'cashin'), ${STATUS}, ${at(30)}, 2, 2, ${AMOUNT},
      IF(${STATUS} = 'paid', ${FEE_CENTS}, NULL), CONCAT('pedido-', n), CONCAT('loja-', n MOD 50),
      UNHEX(SHA2(CONCAT('loja-', n MOD 50), 256)), ${PLATFORM('n')}, CONCAT('E', LPAD(n, 31, '0')), ${at(0)},
      REPEAT('x', 32), ${seen}, ${seen} FROM ${source} ORDER BY n`,
    `INSERT INTO parties (transaction_seq, name, document, document_hash, name_folded, created_wall)
    SELECT numbers.n, CONCAT(IF(numbers.n MOD 2, 'Maria ', 'José '), ${person.replace('n ', 'numbers.n ')}),
      LPAD(p.n, 11, '0'), p.hash, CONCAT(IF(numbers.n MOD 2, 'maria ', 'jose '), p.n), ${at(0, 'numbers.n')}
    FROM ${source} JOIN bench_people p ON p.n = ${person.replace('n ', 'numbers.n ')} ORDER BY numbers.n`,
    ...[
      [`n * 2 - 1`, `'pending'`, at(0), 1],
      [`n * 2`, STATUS, at(30), 2],
    ].map(
      ([
        number,
        status,
        wall,
        sequence,
      ]) => `INSERT INTO events (seq, transaction_seq, status, at_wall, occurrence, position, sequence, inferred, seen_at,
      source_kind, source_run_seq, source_page)
    SELECT ${number}, n, ${status}, ${wall}, 0, ${Number(sequence) - 1}, ${sequence}, 0, ${seen}, 'list', 1, 1 FROM ${source} ORDER BY n`,
    ),
    entry(`${ENTRIES_TO('n')} - 1`, 'n * 2 - 1', at(0), isOut),
    entry(ENTRIES_TO('n'), 'n * 2', at(30), `(${isIn}) OR ${isOut}`),
    postings(ENTRIES_TO('n'), at(30), isIn, [
      [0, `${AMOUNT} - ${FEE_CENTS}`],
      [2, `${FEE_CENTS}`],
      [4, `-(${AMOUNT})`],
    ]),
    postings(`${ENTRIES_TO('n')} - 1`, at(0), isOut, [
      [1, AMOUNT],
      [0, `-(${AMOUNT})`],
    ]),
    postings(ENTRIES_TO('n'), at(30), isOut, [
      [5, AMOUNT],
      [1, `-(${AMOUNT})`],
      [3, `${FEE_CENTS}`],
      [0, `-${FEE_CENTS}`],
    ]),
  ];
}

/** When the n-th of these rows happened. */
const instantOf = (sizes: Sizes) => (count: number) =>
  `UTC_TIMESTAMP(3) - INTERVAL ${secondsAgo('seq', count, sizes)} SECOND`;

/** Webhooks with their items, and callbacks with an attempt each; some wait, are held, or failed. */
function deliveriesOf(sizes: Sizes): string[] {
  const { rows, webhooks, callbacks } = sizes;
  const instant = instantOf(sizes);
  const named = `(seq * ${Math.round(rows / webhooks)})`;
  const isQuarantined = `seq MOD 500 = 0`;
  const about = `(seq * ${Math.round(rows / callbacks)})`;
  const state = `CASE WHEN seq > ${callbacks - 50} THEN 'pending' WHEN seq MOD 50000 = 1 THEN 'failed' ELSE 'delivered' END`;
  return [
    `INSERT INTO webhooks (seq, hash, body, received_at, source_address, headers, state, reason, items)
    SELECT seq, UNHEX(SHA2(seq, 256)), CONCAT('{"id":', seq, ',"transaction_id":"', ${ID(named)}, '","status":"paid"}'),
      ${instant(webhooks)}, '127.0.0.1', '{}', IF(${isQuarantined}, 'quarantined', 'applied'),
      IF(${isQuarantined}, 'not_json', NULL), 1 FROM seq_1_to_${webhooks}`,
    `INSERT INTO webhook_items (seq, webhook_seq, position, received_at, transaction_id, claimed_status, resolved_id, state, looks)
    SELECT seq, seq, 0, ${instant(webhooks)}, ${ID(named)}, 'paid', ${ID(named)}, 'applied', 1
    FROM seq_1_to_${webhooks} WHERE NOT (${isQuarantined})`,
    `INSERT INTO callbacks (seq, webhook_id, merchant_seq, transaction_seq, event_seq, sequence, type, previous_status, source,
      state, attempts, next_attempt_at, position, created_at, delivered_at)
    SELECT seq, CONCAT('msg_', LPAD(seq, 28, '0')), 1 + seq MOD ${MERCHANTS}, ${about}, ${about} * 2, 2, 'pix.cashin.paid',
      'pending', 'webhook', ${state}, 1, IF(${state} = 'pending', UTC_TIMESTAMP(3) + INTERVAL 1 HOUR, NULL), seq,
      ${instant(callbacks)}, IF(${state} = 'delivered', ${instant(callbacks)}, NULL) FROM seq_1_to_${callbacks}`,
    `INSERT INTO callback_attempts (callback_seq, number, started_at, duration_ms, response_status, error_class, request_headers)
    SELECT seq, 1, ${instant(callbacks)}, 20 + seq MOD 400, IF(${state} = 'delivered', 200, 503),
      IF(${state} = 'delivered', NULL, 'http_status'), '{}' FROM seq_1_to_${callbacks}`,
  ];
}

/** What the sealer sums up, and its chain. */
function sumsOf(sizes: Sizes): string[] {
  const seals = Math.floor(sizes.rows / PER_SEAL);
  const instant = instantOf(sizes);
  const spans = Object.entries({ month: 7, day: 10, hour: 13 }).map(
    ([grain, chars]) => `INSERT INTO balance_spans SELECT '${grain}', LEFT(at_wall, ${chars}) AS span, account_seq,
      SUM(amount_cents) FROM postings GROUP BY span, account_seq`,
  );
  return [
    ...spans,
    `INSERT INTO seals (position, entry_seq, event_seq, mismatch_change_seq, members, entries, stragglers, previous_hash, hash,
      sealed_at) SELECT seq, ${ENTRIES_TO(`(seq * ${PER_SEAL})`)}, seq * 2 * ${PER_SEAL}, 0,
      CONCAT(${ENTRIES_TO(`((seq - 1) * ${PER_SEAL})`)} + 1, '-', ${ENTRIES_TO(`(seq * ${PER_SEAL})`)}), ${PER_SEAL * 1.055}, 0, REPEAT('x', 32), REPEAT('x', 32), ${instant(seals)} FROM seq_1_to_${seals}`,
    ...Object.entries({ day: 10, hour: 13 }).map(
      ([grain, chars]) => `INSERT INTO refund_spans SELECT '${grain}', LEFT(p.at_wall, ${chars}) AS span, p.account_seq,
      SUM(p.amount_cents) FROM entries e STRAIGHT_JOIN events v ON v.seq = e.event_seq AND v.status <> 'paid'
      STRAIGHT_JOIN postings p ON p.entry_seq = e.seq STRAIGHT_JOIN accounts a ON a.seq = p.account_seq
      WHERE a.name LIKE 'Liabilities:%' GROUP BY span, p.account_seq`,
    ),
    `UPDATE sealing SET refunds_position = ${seals}`,
  ];
}

/** Runs of today and yesterday every five minutes, mismatches, alerts, how webhooks came, the audit. */
function operationsOf(sizes: Sizes): string[] {
  const { rows, runs, mismatches, open, alerts, audit } = sizes;
  const instant = instantOf(sizes);
  const day = (count: number) => `DATE(${instant(count)} - INTERVAL 3 HOUR)`;
  const isOpen = `seq > ${mismatches - open}`;
  const about = `(seq * ${Math.floor(rows / mismatches)})`;
  const kind = `ELT(1 + seq MOD 4, 'webhook_lost', 'stuck', 'amount_differs', 'commission_differs')`;
  const severity = `ELT(1 + seq MOD 4, 'medium', 'critical', 'critical', 'medium')`;
  const state = `IF(${isOpen}, 'open', 'resolved')`;
  const isFiring = `seq > ${alerts - 20}`;
  return [
    `INSERT INTO runs (seq, id, \`trigger\`, state, from_day, to_day, pages, passes, total, seen, applied, created_at, created_by,
      started_at, finished_at) SELECT seq, CONCAT('run_', LPAD(seq, 32, '0')), 'reconcile_recent', 'complete',
      ${day(runs)} - INTERVAL 1 DAY, ${day(runs)}, 280, 1, 27400, 27400, 40, ${instant(runs)}, 'job', ${instant(runs)}, ${instant(runs)}
    FROM seq_1_to_${runs}`,
    `INSERT INTO run_windows (seq, run_seq, from_day, to_day, state, pages, passes, total, seen, applied, asked_at)
    SELECT seq, seq, ${day(runs)} - INTERVAL 1 DAY, ${day(runs)}, 'complete', 280, 1, 27400, 27400, 40, ${instant(runs)}
    FROM seq_1_to_${runs}`,
    `INSERT INTO mismatches (seq, id, kind, severity, state, scope, open_scope, transaction_seq, transaction_id, amount_cents,
      expected, actual, opened_at, resolved_at, resolution) SELECT seq, CONCAT('mm_', LPAD(seq, 32, '0')), ${kind}, ${severity},
      ${state}, ${ID(about)}, IF(${isOpen}, CONCAT(${kind}, ' ', ${ID(about)}), NULL), ${about}, ${ID(about)}, 100 + seq,
      '{"amount":"10.00"}', '{"amount":"11.00"}', ${instant(mismatches)}, IF(${isOpen}, NULL, ${instant(mismatches)}),
      IF(${isOpen}, NULL, 'fresh_evidence') FROM seq_1_to_${mismatches}`,
    `INSERT INTO mismatch_changes (mismatch_seq, at, state, actor, opened_at, expected, actual, amount_cents)
    SELECT seq, opened_at, state, 'confere', opened_at, expected, actual, amount_cents FROM mismatches`,
    `INSERT INTO mismatch_causes (mismatch_seq, alert_name, alert_scope)
    SELECT seq, kind, CONCAT('run_', LPAD(seq DIV 50, 32, '0')) FROM mismatches`,
    `INSERT INTO alerts (seq, id, name, severity, scope, firing_scope, summary, facts, raised_at, ended_at, spread_at)
    SELECT seq, CONCAT('al_', LPAD(seq, 32, '0')), 'stuck', 'critical', CONCAT('run_', seq), IF(${isFiring}, CONCAT('stuck run_', seq), NULL),
      'stuck: 2 of one cause', '{"count":2,"cents":"1000","cause":"run_1","about":"x"}', ${instant(alerts)},
      IF(${isFiring}, NULL, ${instant(alerts)}), ${instant(alerts)} FROM seq_1_to_${alerts}`,
    `INSERT INTO alert_sends (alert_seq, channel, attempts, sent_at) SELECT seq, 'log', 1, raised_at FROM alerts`,
    `INSERT INTO webhook_days (day, announced, lost, waiting, late_p50_s, late_p95_s, late_max_s, counted_at)
    SELECT DATE(UTC_TIMESTAMP() - INTERVAL 3 HOUR) - INTERVAL (seq - 1) DAY, 13000, 12, 0, 2, 9, 60, UTC_TIMESTAMP(3) FROM seq_1_to_${DAYS}`,
    `INSERT INTO audit (at, actor, action, target, detail, id) SELECT ${instant(audit)}, CONCAT('tok_', seq MOD 20),
      ELT(1 + seq MOD 3, 'transactions.list', 'transactions.show', 'console.login'), ${ID('seq')}, 'console', CONCAT('au_', seq)
    FROM seq_1_to_${audit}`,
  ];
}

/** Two revisions of yesterday as the program makes them, and copies of them for the days before. */
async function loadReports(context: Context, db: Kysely<Database>): Promise<void> {
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  await makeReport(context, yesterday);
  const columns = await sql<{ name: string }>`SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'reports' AND column_name NOT IN ('seq', 'day')`.execute(db);
  const names = columns.rows.map(({ name }) => name).join(', ');
  const first: Day = addDays(yesterday, -REPORTED_DAYS);
  await sql
    .raw(`INSERT INTO reports (day, ${names}) SELECT DATE('${first}') + INTERVAL (numbers.seq - 1) DAY, ${names}
    FROM seq_1_to_${REPORTED_DAYS} numbers JOIN (SELECT ${names} FROM reports WHERE day = '${yesterday}') made`)
    .execute(db);
}
