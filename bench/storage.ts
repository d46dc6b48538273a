import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { Agent } from 'undici';
import { type Figure, figure, QUICK } from './figure.ts';
import { type MeasuredChain, startOurs } from './start-chain.ts';

const TRANSACTIONS = QUICK ? 4_200 : 21_000;
const CHUNK = 2_100;
const CONNECTIONS = 32;
const BODY_BYTES = 1024;
const WAIT_MS_MAX = 120_000;
const PAGE_BYTES = 16_384;
/** Unit of `blocks` in a file's status. */
const BLOCK_BYTES = 512;
/** Old versions of rows that InnoDB may still hold when pages are counted. */
const UNPURGED_MAX = 50;
/** Below it a table or an index is not printed. */
const SHOWN_BYTES = 2;

export const quick = true;

/**
 * Bytes of the database for a transaction of two events and four postings on average, with its webhook of 1 KB and one callback, by
 * table and index. Webhooks take their whole way through `serve`. It counts the leaf pages that InnoDB uses, with the free
 * room that inserts leave in them; what is above the leaves is below 1 %.
 */
export async function run(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const merchant = stack.use(await openMerchant());
  const { chain, programs, socketPath } = await startOurs(stack, home, merchant.url);
  const connection = await mysql.createConnection({ socketPath, user: 'root' });
  stack.defer(() => connection.end());
  const ask: Ask = async (statement) => (await connection.query<RowDataPacket[]>(statement))[0];
  const [found] = await ask(`SELECT table_schema AS name FROM information_schema.tables WHERE table_name = 'postings'`);
  await ask(`USE \`${found?.name}\``);
  await compressPages(ask);
  const empty = await countDiskBytes(ask);
  for (let made = 0; made < TRANSACTIONS; made += CHUNK) {
    const shown = await programs.sandbox.call<{ transactions: Shown[] }>('POST', '/sandbox/transactions', {
      transactions: Array.from({ length: CHUNK }, (_, index) => describePayment(made + index)),
    });
    await announce(chain, shown.transactions);
    await merchant.receive(made + CHUNK);
  }
  await waitUntilQuiet(ask);
  const disk = (await countDiskBytes(ask)) - empty;
  return [
    figure('bytes in the database a transaction, with webhook and callback', await measure(ask), BYTES_MAX),
    figure('… on disk, with compressed pages', disk / TRANSACTIONS, BYTES_MAX),
  ];
}

type Ask = (statement: string) => Promise<RowDataPacket[]>;

/** As docs/configure.md says, before the first row. InnoDB compresses what it writes to disk: its pages stay as many. */
async function compressPages(ask: Ask): Promise<void> {
  await ask('SET GLOBAL innodb_compression_level = 1');
  for (const table of COMPRESSED)
    await ask(`ALTER TABLE ${table} PAGE_COMPRESSED = 1, ALGORITHM = INPLACE, LOCK = NONE`);
}

const COMPRESSED = 'webhooks transactions postings events webhook_items callbacks parties entries'.split(' ');

/** Bytes that the file system holds for the tables, once all their pages are written. */
async function countDiskBytes(ask: Ask): Promise<number> {
  const [tables] = await ask(`SELECT GROUP_CONCAT(table_name) AS names, DATABASE() AS db, @@datadir AS dir
    FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'`);
  const names = String(tables?.names).split(',');
  // writes all pages of these tables
  await ask(`FLUSH TABLES ${names.join(', ')} FOR EXPORT`);
  const bytes = names.map((name) => statSync(path.join(tables?.dir, tables?.db, `${name}.ibd`)).blocks * BLOCK_BYTES);
  await ask('UNLOCK TABLES');
  return bytes.reduce((all, one) => all + one, 0);
}

type Shown = { id: string; operation: string; amount: string; name: string; document: string; reference: string };

/** Two receipts (one entry, three postings) and a payment (two entries, six postings), as a shop has them. */
function describePayment(index: number) {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const clock = new Date((index * 4_000) % 82_800_000).toISOString().slice(11, 19);
  return {
    ...{ operation: index % 3 === 0 ? 'cashout' : 'cashin', status: 'paid', date_created: `${day} ${clock}` },
    ...{
      amount: `${10 + (index % 900)}.50`,
      commission: '0.99',
      extra: JSON.stringify({ order: 700_000 + index, store: index % 40 }),
    },
  };
}

/** Makes a flat body of 1 KB: the facts, a QR code's text, and a token that does not compress. */
function makeBody(shown: Shown): string {
  const fields = {
    ...{ id: 30, transaction_id: shown.id, transaction_amount: shown.amount, transaction_reference: shown.reference },
    ...{
      transaction_operation: shown.operation === 'cashin' ? 'in' : 'out',
      status: 'paid',
      date_created: new Date().toISOString().slice(0, 19).replace('T', ' '),
    },
    path: `/api/v1/transaction/${shown.id}`,
    payer: {
      name: shown.name,
      document: shown.document,
      bank: { ispb: '18236120', agency: '0001', account: shown.document },
    },
    qr_code: `00020126580014br.gov.bcb.pix0136${shown.id}520400005303986540${shown.amount}5802BR6009SAO PAULO62070503***6304`,
  };
  const room = BODY_BYTES - Buffer.byteLength(JSON.stringify({ ...fields, token: '' }));
  return JSON.stringify({ ...fields, token: randomBytes(BODY_BYTES).toString('base64').slice(0, Math.max(0, room)) });
}

async function announce({ url, secret }: MeasuredChain, transactions: Shown[]): Promise<void> {
  const agent = new Agent({ connections: CONNECTIONS });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  // in the order of their times, as they come
  const waiting = transactions.map(makeBody).values();
  const send = async (): Promise<void> => {
    for (const body of waiting) {
      const answer = await agent.request({ origin: url, path: '/webhooks/pix', method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`a webhook was answered ${answer.statusCode}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
  } finally {
    await agent.close();
  }
}

/** A merchant that answers 200 with a short text. `receive` waits until that many callbacks have come. */
async function openMerchant() {
  const delivered = new Set<unknown>();
  const server = createServer((request, response) => {
    delivered.add(request.headers['webhook-id']);
    request.resume().on('end', () => response.end('ok'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    receive: async (count: number) => {
      for (const endMs = Date.now() + WAIT_MS_MAX; delivered.size < count; await sleep(50))
        if (Date.now() > endMs) throw new Error(`${count - delivered.size} callbacks were not delivered`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Counts the leaf pages of all indexes and prints them. @returns their bytes a transaction. */
async function measure(ask: Ask): Promise<number> {
  const tables = await ask(`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()`);
  // of an index with fewer pages than a sample has, ANALYZE says that it has one
  await ask('SET GLOBAL innodb_stats_persistent_sample_pages = 1');
  await ask(`ANALYZE TABLE ${tables.map((one) => `\`${one.name}\``).join(', ')}`);
  for (const [table, each] of Object.entries(WHOLE_WAY)) {
    const [counted] = await ask(`SELECT COUNT(*) AS count FROM ${table}`);
    if (counted?.count !== each * TRANSACTIONS) throw new Error(`${table} has ${counted?.count} rows`);
  }
  const pages =
    await ask(`SELECT table_name AS tbl, index_name AS idx, stat_value AS pages FROM mysql.innodb_index_stats
    WHERE database_name = DATABASE() AND stat_name = 'n_leaf_pages'`);
  const sizes = pages
    // an empty index has one page
    .filter((one) => Number(one.pages) > 1)
    .map((one) => ({ ...one, bytes: (Number(one.pages) * PAGE_BYTES) / TRANSACTIONS }) as Size);
  printSizes(sizes);
  return sum(sizes);
}

/** Rows of one transaction: its webhook is applied and its callback delivered. */
const WHOLE_WAY = {
  ...{ webhooks: 1, webhook_items: 1, transactions: 1, events: 2, entries: 4 / 3, postings: 4, callbacks: 1 },
  ...{ 'callbacks WHERE state = "delivered"': 1, 'webhooks WHERE state = "applied"': 1, callback_attempts: 1 },
};
/** 70 % of the 5,880 bytes at the first measurement. */
const BYTES_MAX = 4_116;

/** Waits until all attempts are recorded, all entries sealed, and old versions of rows purged. */
async function waitUntilQuiet(ask: Ask): Promise<void> {
  for (const endMs = Date.now() + WAIT_MS_MAX; ; await sleep(250)) {
    const [state] =
      await ask(`SELECT (SELECT COUNT(*) FROM callback_attempts) AS attempts, (SELECT COUNT(*) FROM entries) AS entries,
      (SELECT COALESCE(SUM(entries), 0) FROM seals) AS sealed,
      (SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len') AS unpurged`);
    const isRecorded = state?.attempts >= TRANSACTIONS && Number(state?.sealed) === state?.entries;
    if (isRecorded && state?.unpurged <= UNPURGED_MAX) return;
    if (Date.now() > endMs) throw new Error(`not quiet: ${JSON.stringify(state)}`);
  }
}

type Size = { tbl: string; idx: string; bytes: number };

const sum = (sizes: Size[]): number => sizes.reduce((all, { bytes }) => all + bytes, 0);

function printSizes(sizes: Size[]): void {
  const byTable = [...Map.groupBy(sizes, ({ tbl }) => tbl).entries()].toSorted(([, a], [, b]) => sum(b) - sum(a));
  for (const [table, parts] of byTable) {
    if (sum(parts) < SHOWN_BYTES) continue;
    const shown = parts
      .filter(({ bytes }) => bytes >= SHOWN_BYTES)
      .toSorted((a, b) => b.bytes - a.bytes)
      .map(({ idx, bytes }) => `${idx} ${bytes.toFixed(0)}`);
    process.stderr.write(`  ${table} ${sum(parts).toFixed(0)}: ${shown.join(', ')}\n`);
  }
}
