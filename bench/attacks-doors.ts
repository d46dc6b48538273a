import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApi, type Programs } from '../demo/start-programs.ts';
import { FILTER_LIMITS } from '../src/merchants/check-filter.ts';
import { completeFilter, matchesFilter } from '../src/merchants/match-filter.ts';
import { makeOfx } from '../test/support/make-ofx.ts';
import { packWorkbook } from '../test/support/pack-zip.ts';
import { measureFloods } from './attacks-floods.ts';
import { type Figure, figure } from './figure.ts';

/** How long /healthz may take beside each request. */
const HEALTH_MS_MAX = 300;
const EVERY_MS = 20;
/** A merchant may ask ten times a second. */
const MERCHANT_PAUSE_MS = 150;
const QUERY_CHARS = 2_048;
const MIB = 1024 * 1024;
const PLATFORM = '3b241101-e2bb-4255-8caf-4136c566a962';
/** Two pages of the provider's list, and one of ours. */
const ROWS = 200;
const EVENTS = 3_000;
const MATCHES = 1_000;
const EVENT_MS_MAX = 0.3;

type Role = 'viewer' | 'accountant' | 'admin' | 'merchant' | 'provider';
/** `expects`: the status of the answer. Another one means that the case does not reach the work that it is about. */
type Case = { by: Role; path: string; expects: number; method?: string; type?: string; body?: Buffer | string };

const search = (text: string) => `?extra=${encodeURIComponent(text.repeat(QUERY_CHARS).slice(0, QUERY_CHARS))}`;
const upload = (body: Buffer | string, expects: number): Case => ({
  ...{ by: 'accountant', method: 'POST', path: '/api/v1/imports/statements?dry_run=true', expects, body },
  type: 'application/octet-stream',
});
const workbook = (sheet: string) => upload(packWorkbook(`<sheetData>${sheet}</sheetData>`), 422);
const post = (by: Role, path: string, expects: number, body: unknown, method = 'POST'): Case => ({
  ...{ by, method, path, expects, type: 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** The largest filter that is taken: each key is in the extra of each event, so that all are compared. */
const KEYS = Array.from({ length: FILTER_LIMITS.matchKeysMax }, (_, index) => `k${index}`);
const PREFIXES = Array.from({ length: 150 }, (_, index) => `${'p'.repeat(80)}${index}`);
const FILTER = {
  operations: ['cashin'],
  reference_prefixes: [...PREFIXES, 'order-'],
  extra_match: Object.fromEntries(KEYS.map((key) => [key, 'v'])),
};
const EXTRA = JSON.stringify(FILTER.extra_match).slice(0, -1);

const line = (day: number, index: number) => ({
  ...{ day: `2026-10-${String(day).padStart(2, '0')}`, amount: '-1.00', fitid: `f${index}`, memo: 'm'.repeat(150) },
});
const statements = Array.from(
  { length: 2_000 },
  (_, row) =>
    `${PLATFORM};2026-10-${10 + (row % 9)} 10:${10 + (row % 49)}:${10 + (Math.floor(row / 49) % 49)};${row},00`,
);

/** Requests that are made to take long, each within the limits of its door or just beyond them. */
function listCases(merchant: string, day: string): Record<string, Case> {
  const range = { from: '2026-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z', dry_run: true };
  return {
    nothing: { by: 'viewer', path: '/api/v1/transactions?limit=1', expects: 200 },
    'a search of letters of the shape of digits': {
      by: 'viewer',
      path: `/api/v1/transactions${search('l')}`,
      expects: 200,
    },
    'a search of beginnings of numbers': {
      by: 'viewer',
      path: `/api/v1/transactions${search('comec_')}`,
      expects: 200,
    },
    'a search of a portal': { by: 'merchant', path: `/api/v1/portal/callbacks${search('l1')}`, expects: 200 },
    'a page of 200 rows of hostile texts': { by: 'viewer', path: '/api/v1/transactions?limit=200', expects: 200 },
    'a report of hostile texts': { by: 'viewer', path: `/api/v1/reports/${day}.csv`, expects: 200 },
    'a workbook of 1.5 KB': workbook(`<row><c ${'r '.repeat(700_000)}`),
    'a workbook of cells': workbook(`<row>${'<c/>'.repeat(3_000_000)}</row>`),
    'a workbook of rows': workbook('<row/>'.repeat(2_000_000)),
    'a workbook of entities': workbook(`<row><c t="inlineStr"><is><t>${'&amp;'.repeat(3_000_000)}</t></is></c></row>`),
    'a CSV of 2,000 rows': upload(`plataforma;instante;saldo\n${statements.join('\n')}`, 200),
    'a CSV of empty lines': upload('plataforma;instante;saldo\n'.padEnd(MIB, '\n'), 422),
    'a CSV of one field': upload('é'.repeat(MIB / 2), 422),
    'an OFX of 20,000 lines': {
      ...{ by: 'accountant', method: 'POST', path: '/api/v1/imports/bank?dry_run=true', expects: 200 },
      type: 'application/octet-stream',
      body: makeOfx({ lines: Array.from({ length: 20_000 }, (_, index) => line(1 + (index % 28), index)) }),
    },
    'a body of 15,000 keys': post(
      'admin',
      '/api/v1/merchants',
      422,
      `{${KEYS.map((key) => `"${key}":{}`)
        .join(',')
        .repeat(1)},${Array.from({ length: 15_000 }, (_, index) => `"${index}":1`).join(',')}}`,
    ),
    'a body with __proto__': post(
      'merchant',
      '/api/v1/portal/filter',
      422,
      `{"__proto__":{"filter":${'['.repeat(20)}${']'.repeat(20)}}}`,
      'PUT',
    ),
    'a webhook of 60,000 inexact numbers': post(
      'provider',
      '/webhooks/pix',
      200,
      `{"transaction_id":"${randomUUID()}","a":[${Array(60_000).fill('1e3').join(',')}]}`,
    ),
    'the preview of the largest filter': post(
      'merchant',
      '/api/v1/portal/filter',
      200,
      { filter: FILTER, dry_run: true },
      'PUT',
    ),
    'the largest filter stored': post('merchant', '/api/v1/portal/filter', 200, { filter: FILTER }, 'PUT'),
    'a replay counted': post('merchant', '/api/v1/portal/callbacks/replay', 200, range),
    'a backfill counted': post(
      'admin',
      `/api/v1/merchants/${merchant}`,
      200,
      { events_since: '2020-01-01T00:00:00Z', dry_run: true },
      'PATCH',
    ),
  };
}

/** The longest answer of /healthz beside each request, and what the largest filter costs an event. */
export async function measureDoors({ app, sandbox }: Pick<Programs, 'app' | 'sandbox'>): Promise<Figure[]> {
  const admin = createApi(app.url, '/api/v1', app.token);
  const { id: merchant } = await admin.call<{ id: string }>('POST', '/merchants', {
    ...{ name: 'Bench', url: 'http://127.0.0.1:9/', events_since: '2020-01-01T00:00:00Z' },
  });
  const tokens: Record<Role, string> = {
    ...{ admin: app.token, provider: app.webhookSecret },
    viewer: await createToken(admin, { role: 'viewer' }),
    accountant: await createToken(admin, { role: 'accountant' }),
    merchant: await createToken(admin, { role: 'merchant', merchant }),
  };
  const { day, took } = await readHostileList({ app, sandbox });
  const figures = [figure('beside the reading of a list of hostile texts: /healthz, longest, ms', took, HEALTH_MS_MAX)];
  for (const [title, one] of Object.entries(listCases(merchant, day))) {
    const answer = send(app.url, one, tokens[one.by]);
    const longestMs = await watchHealth(app.url, answer);
    const { status, text } = await answer;
    if (status !== one.expects) throw new Error(`${title}: ${status} instead of ${one.expects}: ${text.slice(0, 300)}`);
    figures.push(figure(`beside ${title}: /healthz, longest, ms`, longestMs, HEALTH_MS_MAX));
    if (one.by === 'merchant') await sleep(MERCHANT_PAUSE_MS);
  }
  const target = { port: Number(new URL(app.url).port), viewer: tokens.viewer, secret: app.webhookSecret };
  const floods = await measureFloods(target, (work) => watchHealth(app.url, work));
  return [...figures, ...floods, measureFilter()];
}

async function createToken(admin: ReturnType<typeof createApi>, role: object): Promise<string> {
  const name = `bench-${randomBytes(4).toString('hex')}`;
  return (await admin.call<{ token: string }>('POST', '/tokens', { name, ...role })).token;
}

/** Adds transactions whose texts a payer's shop chose, and reads the provider's list. @returns its day. */
async function readHostileList({ app, sandbox }: Pick<Programs, 'app' | 'sandbox'>) {
  const texts = ['l1', '1111111111a', 'aA1+/', '٣', '½ ', 'comec_'];
  const person = {
    name: 'Joao Silva',
    email: 'joao.silva@example.com',
    phone: '+5511912345678',
    document: '52998224725',
  };
  const hostile = Array.from({ length: ROWS }, (_, row) => {
    const text = `${row}${texts[row % texts.length]?.repeat(4_000)}`;
    return { extra: text.slice(0, 255), description: text.slice(0, 4_000) };
  });
  const name = randomUUID().slice(0, 8);
  const plain = Array.from({ length: EVENTS }, (_, row) => ({
    reference: `order-${name}-${row}`,
    extra: EXTRA.slice(0, 255),
  }));
  const { transactions } = await sandbox.call<{ transactions: { date_created: string }[] }>(
    'POST',
    '/sandbox/transactions',
    {
      transactions: [...plain, ...hostile].map((one) => ({
        ...{ operation: 'cashin', amount: '1.00', platform: PLATFORM, ...person, ...one },
      })),
    },
  );
  const day = transactions[0]?.date_created.slice(0, 10) ?? '';
  const { id } = await app.call<{ id: string }>('POST', '/reconciliations', { from: day, to: day });
  const run = (async () => {
    for (;;) {
      const { state } = await app.call<{ state: string }>('GET', `/reconciliations/${id}`);
      if (state !== 'queued' && state !== 'running') return state;
      await sleep(EVERY_MS);
    }
  })();
  const took = await watchHealth(app.url, run);
  const state = await run;
  if (state !== 'complete') throw new Error(`the reading of the list ended ${state}`);
  await app.call('POST', '/reports', { day });
  return { day, took };
}

/** @returns how long the longest answer of /healthz takes until `work` is done. */
async function watchHealth(url: string, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  let longestMs = 0;
  do {
    const beganMs = performance.now();
    await (await fetch(`${url}/healthz`)).text();
    longestMs = Math.max(longestMs, performance.now() - beganMs);
    await sleep(EVERY_MS);
  } while (!isOver);
  return longestMs;
}

async function send(url: string, { path, method = 'GET', type, body }: Case, token: string) {
  const headers = { authorization: `Bearer ${token}`, ...(type === undefined ? {} : { 'content-type': type }) };
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) };
  const response = await fetch(`${url}${path}`, { method, headers, ...sent });
  return { status: response.status, text: await response.text() };
}

/** An event is compared with the filters of all merchants in the transaction that books it. */
function measureFilter(): Figure {
  const filter = completeFilter(FILTER);
  const extra = `${EXTRA},"pad":"${'x'.repeat(1_000)}"}`;
  const facts = {
    ...{ operation: 'cashin' as const, status: 'paid', platform: PLATFORM },
    reference: 'order-1',
    extra,
  };
  const beganMs = performance.now();
  for (let event = 0; event < MATCHES; event++)
    if (!matchesFilter(filter, facts)) throw new Error('the filter matches no event');
  const ms = (performance.now() - beganMs) / MATCHES;
  return figure('an event compared with the largest filter of one merchant, ms', ms, EVENT_MS_MAX);
}
