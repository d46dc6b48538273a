import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openSession } from '../src/access/sessions.ts';
import { createToken } from '../src/access/tokens.ts';
import { readConfig } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import { addDays } from '../src/domain/calendar.ts';
import { HTTP_LIMITS, serveHttp } from '../src/http/connections/serve-http.ts';
import { createApp } from '../src/http/create-app.ts';
import { createLog } from '../src/log.ts';
import { type Figure, quantile } from './figure.ts';
import { idOf, loadYear, platformOf, type Sizes } from './pages-load.ts';

const ROWS = Number(process.env.PAGES_ROWS ?? 5_000_000);
const TRIES = 20;
/** A page of the console, from the request to the last byte. */
const PAGE_MS = 150;

/**
 * Every page of the console over HTTP, over five million transactions of a year and what belongs to them: each with other
 * values in each try, the first one left out. `PAGES_ROWS=50000 npm run bench -- pages` is a short run.
 */
export async function run(): Promise<Figure[]> {
  const home = mkdtempSync(path.join(tmpdir(), 'confere-pages-'));
  const context = await open(home);
  try {
    const sizes = await loadYear(context, ROWS);
    await using server = await serveHttp(context, createApp(context), HTTP_LIMITS);
    const { token } = await createToken(context, { name: 'bench', role: 'admin' });
    const headers = { cookie: `confere_session=${await openSession(context, token)}` };
    const figures: Figure[] = [];
    const merchants = await context.db.selectFrom('merchants').select('id').execute();
    for (const [name, addressOf] of listPages(
      context,
      sizes,
      merchants.map(({ id }) => id),
    ))
      figures.push(await measure(`http://127.0.0.1:${server.port}`, headers, { name, addressOf }));
    return figures;
  } finally {
    await context[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  }
}

type Page = [name: string, addressOf: (n: number) => string];

function listPages({ calendar, clock }: Context, sizes: Sizes, merchants: string[]): Page[] {
  const today = calendar.dayOf(clock.now());
  const random = (n: number, below: number): number => ((n * 2_654_435_761) % 2 ** 32) % below;
  const padded = (prefix: string, n: number): string => `${prefix}${String(n).padStart(32, '0')}`;
  const month = (n: number): string => {
    const from = addDays(today, -40 - random(n, 300));
    return `from=${from}&to=${addDays(from, 34)}`;
  };
  const merchantOf = (n: number): string => merchants[n % merchants.length] ?? '';
  const some = (n: number): number => random(n, sizes.rows) + 1;
  const search = (query: (n: number) => Record<string, string>) => (n: number) =>
    `/transactions?${new URLSearchParams(query(n)).toString()}`;
  const other = (name: string, address: string): Page => [name, () => address];
  return [
    other('the overview', '/'),
    other('transactions', '/transactions'),
    ['transactions, a deep page of a status', (n) => `/transactions?status=paid&${month(n)}`],
    ['the search box, an id', search((n) => ({ q: idOf(some(n)) }))],
    ['the search box, the beginning of an id', search((n) => ({ q: idOf(some(n)).slice(0, 8) }))],
    ['the search box, a reference', search((n) => ({ q: `pedido-${some(n)}` }))],
    ['the search box, an extra that 1 in 50 share', search((n) => ({ q: `loja-${n % 50}` }))],
    ['the search box, a CPF', search((n) => ({ q: String(random(n, sizes.people)).padStart(11, '0') }))],
    ['the search box, a rare name', search((n) => ({ q: `maria ${random(n, sizes.people)}` }))],
    ['the search box, a name that 1 in 20 bear', search((n) => ({ q: `maria ${n % 10}` }))],
    ['the search box, an amount', search((n) => ({ q: `R$ ${100 + random(n, 900)},${10 + (n % 90)}` }))],
    ['an amount by the day of its status', search((n) => ({ amount: `${300 + n},00`, by: 'status' }))],
    ['a platform and a frequent status', search((n) => ({ platform: platformOf(n), status: 'paid' }))],
    ['a platform and a rare status', search((n) => ({ platform: platformOf(n), status: 'denied' }))],
    ['transactions of a merchant', search((n) => ({ merchant: merchantOf(n) }))],
    ['a transaction', (n) => `/transactions/${idOf(some(n))}`],
    other('balances', '/balances'),
    ['balances at an instant', (n) => `/balances?at=${addDays(today, -random(n, 360))}T12:00:00`],
    other('stated balances', '/balances/statements'),
    other('adjustments', '/balances/adjustments'),
    other('openings', '/balances/openings'),
    other('the form of an adjustment', '/balances/adjustments/new'),
    other('names of platforms', '/balances/platforms'),
    other('charts by day', '/charts'),
    [
      'charts of 92 days of a platform',
      (n) => `/charts?from=${addDays(today, -91)}&to=${today}&platform=${platformOf(n)}`,
    ],
    ['charts by hour', (n) => `/charts/hours?day=${addDays(today, -random(n, 300))}`],
    other('charts of webhooks', '/charts/webhooks'),
    other('charts of callbacks', '/charts/callbacks'),
    ['charts of callbacks of a day', (n) => `/charts/callbacks?from=${addDays(today, -n)}&to=${addDays(today, -n)}`],
    other('alerts', '/alerts'),
    other('alerts of the past', '/alerts?state=ended&kind=stuck'),
    other('mismatches', '/mismatches'),
    other('all mismatches', '/mismatches?state=all'),
    other('resolved mismatches of a kind', '/mismatches?state=resolved&kind=stuck'),
    ['a mismatch', (n) => `/mismatches/${padded('mm_', random(n, sizes.mismatches) + 1)}`],
    other('webhooks', '/inbox'),
    other('the quarantine', '/inbox?state=quarantined'),
    ['webhooks of a transaction', (n) => `/inbox?transaction_id=${idOf(10 * (random(n, sizes.webhooks) + 1))}`],
    other('runs', '/reconciliations'),
    ['a run', (n) => `/reconciliations/${padded('run_', random(n, sizes.runs) + 1)}`],
    other('a month of reports', '/reports'),
    ['a past month of reports', (n) => `/reports?month=${addDays(today, -30 * (n % 11)).slice(0, 7)}`],
    ['a day of reports', (n) => `/reports/${addDays(today, -1 - (n % 100))}`],
    other('the account map', '/reports/accounts'),
    other('merchants', '/merchants'),
    ['a merchant', (n) => `/merchants/${merchantOf(n)}`],
    ['callbacks of a merchant', (n) => `/callbacks?merchant=${merchantOf(n)}`],
    other('callbacks', '/callbacks'),
    other('callbacks that failed', '/callbacks?state=failed'),
    ['a callback', (n) => `/callbacks/cb_${random(n, sizes.callbacks) + 1}`],
    other('the system', '/system'),
    other('tokens', '/tokens'),
    other('people', '/users'),
    other('the audit', '/audit'),
    ['the audit of an action', (n) => `/audit?actor=tok_${n % 20}&action=transactions.show`],
    ['the audit of a day', (n) => `/audit?from=${addDays(today, -n - 1)}&to=${addDays(today, -n)}`],
    other('a runbook', '/runbooks/stuck'),
  ];
}

/** Times a page, following what it redirects to. @throws if it is no page. */
async function measure(
  url: string,
  headers: Record<string, string>,
  { name, addressOf }: { name: string; addressOf: (n: number) => string },
): Promise<Figure> {
  const took: number[] = [];
  for (let n = 0; n <= TRIES; n++) {
    const address = addressOf(n);
    const began = performance.now();
    const response = await fetch(`${url}${address}`, { headers });
    const text = await response.text();
    if (response.status !== 200 || !text.includes('</html>'))
      throw new Error(`${address} is answered ${response.status}: ${text.slice(0, 200)}`);
    if (n > 0) took.push(performance.now() - began);
  }
  const [p50, p95] = [quantile(took, 0.5), quantile(took, 0.95)];
  return {
    figure: `page: ${name}`,
    value: `${p50.toFixed(0)} ms p50, ${p95.toFixed(0)} ms p95`,
    target: `p95 ≤ ${PAGE_MS} ms over ${ROWS.toLocaleString('en')} transactions`,
    ok: p95 <= PAGE_MS,
  };
}

async function open(home: string): Promise<Context> {
  const config = readConfig({ DATA_DIR: home, SECRET_KEY: randomBytes(32).toString('base64') });
  const log = createLog('error', process.stderr);
  return await openContext(config, { log, signal: new AbortController().signal, migrates: true });
}
