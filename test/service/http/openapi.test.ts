import { randomUUID } from 'node:crypto';
import type { Express } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { createPortalDocument } from '../../../src/http/openapi/create-documents.ts';
import { makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { SUBJECTS } from '../../../src/operations/catalogue.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { makeCheckpoint } from '../../../src/tlog/checkpoints.ts';
import { listChangeExamples } from '../../support/change-examples.ts';
import { makeOfx } from '../../support/make-ofx.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { runBackfills } from '../../support/work-backfills.ts';

type Json = Record<string, unknown>;
type Documented = {
  parameters?: { name: string }[];
  responses: Record<string, { description: string; content?: Record<string, { schema?: Json }> }>;
  security: Json[];
};
type Document = { paths: Record<string, Record<string, Documented>>; components: { schemas: Record<string, Json> } };

let env: ConsoleEnvironment;
let document: Document;
let examples: ReturnType<typeof listChangeExamples>;
/** Operations that the real service answered at least once, as documented. */
const answered = new Set<string>();
/** Those that take an idempotency key and answered its repetition as the first time. */
const replayed = new Set<string>();

beforeAll(async () => {
  env = await openConsoleEnvironment();
  examples = listChangeExamples(env);
  const response = await fetch(`${env.url}/api/v1/openapi.json`, { headers: bearer(env.tokens.viewer) });
  document = (await response.json()) as Document;
});
afterAll(() => env[Symbol.asyncDispose]());

test('an OpenAPI 3.1 document is served for any valid token, and not without one', async () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Confere' } });
  expect((await fetch(`${env.url}/api/v1/openapi.json`)).status).toBe(401);
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref);
  expect(refs.length).toBeGreaterThan(20);
  for (const ref of new Set(refs)) {
    expect(Object.keys(document.components.schemas)).toContain(ref?.replace('#/components/schemas/', ''));
  }
});

test('a page shows the document to a session alone, with a policy that differs in contained pictures alone', async () => {
  const session = await openSession(env.context, env.tokens.viewer);
  const open = (address: string, cookie = `confere_session=${session}`) =>
    fetch(`${env.url}${address}`, { headers: { cookie }, redirect: 'manual' });
  const policy = (answer: Response) => answer.headers.get('content-security-policy');
  const page = await open('/openapi');
  const strict = policy(await open('/system'));
  expect(strict).not.toContain('data:');
  expect(policy(page)).toBe(strict?.replace("img-src 'self'", "img-src 'self' data:"));
  const loads = [...(await page.text()).matchAll(/(?:src|data-document|rel="stylesheet" href)="([^"]+)"/g)];
  for (const [, address = ''] of loads) {
    const answer = await open(address);
    expect([address, answer.status, policy(answer)]).toEqual([address, 200, strict]);
    expect((await open(address, '')).status).toBe(address.startsWith('/console/') ? 200 : 303);
  }
  expect(loads).toHaveLength(4);
  const { servers, ...shown } = (await (await open('/openapi/document.json')).json()) as Json;
  const { servers: _, ...served } = document as unknown as Json;
  expect([servers, shown]).toEqual([[{ url: '/' }], served]);
  expect(await (await open('/system')).text()).toContain('<a href="/openapi">API</a>');
});

test.each(['/api/v1/openapi.json', '/openapi/document.json', '/openapi/swagger-ui.css', '/console/console.css'])(
  '%s is encoded once for all requests, and not sent again to a client that has it',
  async (address) => {
    const session = await openSession(env.context, env.tokens.viewer);
    const headers = { ...bearer(env.tokens.viewer), cookie: `confere_session=${session}` };
    const ask = async (more: Record<string, string>) => {
      const answer = await fetch(`${env.url}${address}`, { headers: { ...headers, ...more } });
      return { answer, text: await answer.text(), etag: answer.headers.get('etag') ?? '' };
    };
    const [plain, gzipped] = [
      await ask({ 'accept-encoding': 'identity' }),
      await ask({ 'accept-encoding': 'br, gzip' }),
    ];
    expect(plain.text.length).toBeGreaterThan(1_000);
    expect([gzipped.text === plain.text, gzipped.answer.headers.get('content-encoding')]).toEqual([true, 'gzip']);
    expect(plain.etag).not.toBe(gzipped.etag);
    for (const { etag } of [plain, gzipped]) {
      const known = {
        'if-none-match': `"other", ${etag}`,
        'accept-encoding': etag === plain.etag ? 'identity' : 'gzip',
      };
      const again = await ask(known);
      expect([again.answer.status, again.text.length, again.etag]).toEqual([304, 0, etag]);
    }
  },
);

test('a merchant’s token gets the document of what merchants call', async () => {
  const { id } = await readRow(env.context.db, 'merchants', ['id'], { name: 'Livraria do Largo' });
  const { token } = await createToken(env.context, { name: 'Ana', role: 'merchant', merchant: id });
  const answer = await fetch(`${env.url}/api/v1/openapi.json`, { headers: bearer(token) });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual(JSON.parse(createPortalDocument(env.context.config.PUBLIC_URL)()));
  expect((await fetch(`${env.url}/api/v1/openapi.json`, { headers: bearer(`${token}x`) })).status).toBe(401);
});

test('the document of the portal has what merchants call and receive, and each component that it names', () => {
  const text = createPortalDocument('/')();
  const { paths, components, webhooks } = JSON.parse(text) as Document & { webhooks: Json };
  expect(
    Object.keys(paths).filter((one) => !/^\/api\/v1\/(?:portal|events|manifests|expected-payments)/.test(one)),
  ).toEqual(['/.well-known/confere-manifest-keys.json', '/api/v1/openapi.json']);
  expect(Object.keys(paths)).toHaveLength(
    // people alone match
    Object.keys(document.paths).filter((one) =>
      /\/(?:portal|events|manifests|confere-manifest-keys|openapi.json|expected-payments(?!.*match$))/.test(one),
    ).length,
  );
  expect(Object.keys(webhooks)).toContain('pix.cashin.paid');
  const refs = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, id]) => id));
  expect(new Set(Object.keys(components.schemas))).toEqual(refs);
});

test('the document has all mounted routes and no other', () => {
  expect(listDocumented()).toEqual(listMounted(createApp(env.context).app));
});

test('the real service answers every operation as documented', async () => {
  await askLedger();
  await askRunsAndMismatches();
  await askWebhooks();
  await askMerchants();
  await askPortal();
  await askRest();
  await askDeclared();
  expect([...answered].sort()).toEqual(listDocumented().filter((one) => one !== 'post /webhooks/pix/{token}'));
  // each change is asked for twice
}, 180_000);

test('every operation that changes something takes an idempotency key, and a repetition changes nothing', () => {
  const changing = listDocumented().filter((one) => /^(?:post|put|patch|delete) \/api\/v1\//.test(one));
  const takes = ({ parameters = [] }: Documented) => parameters.some(({ name }) => name === 'Idempotency-Key');
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, one]) => (takes(one) ? [`${method} ${path}`] : [])),
  );
  expect(documented.sort()).toEqual(changing);
  expect([...replayed].sort()).toEqual(changing);
});

async function askLedger(): Promise<void> {
  await ask('get', '/api/v1/transactions');
  await ask('get', '/api/v1/transactions/{id}', { path: { id: env.paid.id } });
  await ask('get', '/api/v1/transactions/{id}', { path: { id: env.changed.id } });
  await ask('get', '/api/v1/transactions/{id}', { path: { id: 'none' }, status: 404 });
  await ask('get', `/api/v1/transactions/proof?day=${env.today}&amount=${env.paid.amount}`);
  await ask('get', '/api/v1/transactions/proof', { status: 422 });
  await ask('get', `/api/v1/series/money?day=${env.today}`);
  await ask('get', `/api/v1/series/money?platform=${env.paid.platform}`);
  await ask('get', '/api/v1/series/money?platform=unknown', { status: 422 });
  await ask('get', '/api/v1/series/money?from=2026-02-01&to=2026-01-01', { status: 422 });
  const body = { platform: 'p', day: env.today, balance: '-12.30', new_platform: true };
  await ask('post', '/api/v1/openings', { body, status: 201 });
  await ask('post', '/api/v1/openings', { body: { ...body, balance: '1e3' }, status: 422 });
  await ask('post', '/api/v1/openings', { body: { ...body, new_platform: false }, status: 422 });
  const fee = { platform: 'p', day: env.today, kind: 'fee', amount: '-1.50', note: 'tariff', new_platform: true };
  const adjustment = await ask('post', '/api/v1/adjustments', { body: fee, status: 201 });
  await ask('post', '/api/v1/adjustments', { body: { reverses: adjustment.id, note: 'twice' }, status: 201 });
  await askBank();
  await askExpected();
  const contract = { operation: 'cashin', fixed: '0.10', basis_points: 99, from: env.today };
  const price = await ask('post', '/api/v1/commissions', { body: contract, status: 201 });
  await ask('post', '/api/v1/commissions', { body: { ...contract, basis_points: 0.5 }, status: 422 });
  await ask('post', '/api/v1/commissions', { body: { withdraws: price.id }, status: 201 });
  await ask('post', '/api/v1/commissions', { body: { withdraws: price.id }, status: 409 });
  await ask('get', '/api/v1/fees?month=2026-10');
  await ask('get', '/api/v1/fees?month=x', { status: 422 });
}

async function askBank(): Promise<void> {
  const day = env.today;
  const withdrawn = { platform: 'p', day, kind: 'bank', amount: '-9.00', note: 'to the bank', new_platform: true };
  for (const amount of ['-9.00', '-8.00', '-8.00'])
    await ask('post', '/api/v1/adjustments', { body: { ...withdrawn, amount }, status: 201 });
  const lines = [9, 8].map((amount) => ({ day, amount: `${amount}.00`, fitid: `f${amount}` }));
  const body = makeOfx({ lines, balance: { amount: '17.00', day } });
  await ask('post', '/api/v1/bank/imports?dry_run=true', { body });
  await ask('post', '/api/v1/bank/imports', { body, status: 201 });
  await ask('post', '/api/v1/bank/imports', { body });
  await ask('post', '/api/v1/bank/imports', { body: 'no OFX', status: 422 });
  const { lines: open } = await ask('get', '/api/v1/bank/lines?state=open');
  await ask('get', '/api/v1/bank/lines?account=x');
  const { entries } = await ask('get', '/api/v1/bank/entries');
  const [line, entry] = [(open as Json[])[0], (entries as Json[])[0]];
  const picked = { line_id: line?.id, adjustment_id: entry?.adjustment_id };
  const match = await ask('post', '/api/v1/bank/matches', { body: picked, status: 201 });
  await ask('post', '/api/v1/bank/matches', { body: picked, status: 409 });
  const path = { id: match.id };
  await ask('post', '/api/v1/bank/matches/{id}/undo', { path, body: { note: 'wrong' }, status: 201 });
  await ask('post', '/api/v1/bank/matches/{id}/undo', { path, body: { note: 'wrong' }, status: 409 });
  const [other] = (await ask('get', '/api/v1/bank/lines?state=open')).lines as Json[];
  const noted = { path: { id: other?.id }, body: { note: 'n' } };
  await ask('post', '/api/v1/bank/lines/{id}/mark', { ...noted, status: 201 });
  await ask('post', '/api/v1/bank/lines/{id}/mark', { ...noted, status: 409 });
  await ask('post', '/api/v1/bank/lines/{id}/unmark', { ...noted, status: 201 });
  await ask('post', '/api/v1/bank/lines/{id}/unmark', { ...noted, status: 409 });
  const named = { account: '341/56789-0', name: 'Itaú', not_pix: { begins: ['TAR'], contains: [] } };
  await ask('put', '/api/v1/bank/accounts', { body: named });
  await ask('put', '/api/v1/bank/accounts', { body: { ...named, account: '1/1' }, status: 422 });
}

async function askExpected(): Promise<void> {
  const facts = { operation: 'cashin', amount: '4.00', due_day: env.today, references: ['asked-1'] };
  const paid = transactionOf('cashin', 400n, [['paid', `${env.today} 00:00:00`]]);
  await applyTransactions(env.context, [paid]);
  const [byKey, key] = ['/api/v1/expected-payments/{source}/{number}', { source: 'shop', number: '1' }];
  const { id } = await ask('put', byKey, { path: key, body: facts, status: 201 });
  await ask('put', byKey, { path: key, body: { ...facts, amount: '5.00' } });
  await ask('put', byKey, { path: key, body: { ...facts, amount: 'x' }, status: 422 });
  const many = { expected_payments: [{ ...facts, source: 'shop', number: '2' }, { source: 'shop' }] };
  await ask('post', '/api/v1/expected-payments', { body: many });
  await ask('get', '/api/v1/expected-payments?state=open');
  await ask('get', '/api/v1/expected-payments.csv');
  const path = { id };
  await ask('get', byKey, { path: key });
  await ask('get', '/api/v1/expected-payments/{id}', { path });
  const [match, note] = [{ transaction_id: paid.id, note: 'seen' }, { note: 'seen' }];
  await ask('post', '/api/v1/expected-payments/{id}/match', { path, body: match });
  await ask('post', '/api/v1/expected-payments/{id}/match', { path, body: match, status: 409 });
  await ask('post', '/api/v1/expected-payments/{id}/unmatch', { path, body: match });
  await ask('post', '/api/v1/expected-payments/{id}/unmatch', { path, body: match, status: 409 });
  await ask('delete', byKey, { path: key });
  await ask('put', byKey, { path: key, body: facts, status: 409 });
  await ask('post', '/api/v1/expected-payments/{id}/reopen', { path, body: note });
}

async function askRunsAndMismatches(): Promise<void> {
  const range = { from: env.today, to: env.today };
  const run = await ask('post', '/api/v1/reconciliations', { body: range, status: 202 });
  await ask('get', '/api/v1/reconciliations/{id}', { path: { id: run.id } });
  await ask('get', '/api/v1/reconciliations/{id}/pages', { path: { id: run.id } });
  await ask('get', '/api/v1/numbers?from=2026-02-01&to=2026-01-01', { status: 422 });
  const { mismatches } = await ask('get', '/api/v1/mismatches');
  const path = { id: (mismatches as Json[])[0]?.id };
  await ask('get', '/api/v1/mismatches/{id}', { path });
  const differing = await ask('get', '/api/v1/mismatches?kind=amount_differs');
  const changed = { id: (differing.mismatches as Json[])[0]?.id };
  const { actual } = (differing.mismatches as Json[])[0] as { actual: object };
  const accept = (body: object, status?: number) =>
    ask('post', '/api/v1/mismatches/{id}/accept', { path: changed, body, ...(status && { status }) });
  const unseen = await accept({ note: 'theirs' }, 422);
  expect(unseen.errors, 'accepting says what the caller saw').toEqual({
    actual: [expect.stringContaining('required')],
  });
  await accept({ note: 'theirs', actual: null }, 409);
  await accept({ note: 'theirs', actual: { ...actual, amount: '0.01' } }, 409);
  const reordered = Object.fromEntries(Object.entries(actual).reverse());
  expect(await accept({ note: 'theirs', actual: reordered })).toMatchObject({
    state: 'resolved',
    resolution: 'accepted',
  });
  await accept({ actual }, 409);
  await ask('post', '/api/v1/mismatches/{id}/assign', { path, body: { owner: 'admin' } });
  await ask('post', '/api/v1/mismatches/{id}/assign', { path, body: { owner: 'nobody' }, status: 422 });
  await ask('post', '/api/v1/mismatches/{id}/acknowledge', { path, body: { note: 'mine' } });
  await ask('post', '/api/v1/mismatches/{id}/resolve', { path, body: { actual: { amount: '1.00' } }, status: 409 });
  await ask('post', '/api/v1/mismatches/{id}/resolve', { path, body: {} });
  await ask('post', '/api/v1/mismatches/{id}/resolve', { path, body: {}, status: 409 });
  await ask('post', '/api/v1/mismatches/resolve', { body: { ids: [path.id] } });
  await ask('get', '/api/v1/mismatches.xlsx?age=0&locale=en');
  const open = await ask('get', '/api/v1/mismatches?state=open');
  const { id } = (open.mismatches as Json[])[0] ?? {};
  await ask('post', '/api/v1/mismatches/resolve', { body: { ids: [id], note: 'seen' } });
}

async function askWebhooks(): Promise<void> {
  await ask('post', '/webhooks/pix', { body: { transaction_id: env.paid.id }, token: env.webhookSecret });
  const { webhooks } = await ask('get', '/api/v1/webhooks?state=quarantined');
  const path = { id: (webhooks as Json[])[0]?.id };
  await ask('get', '/api/v1/webhooks/{id}', { path });
  await ask('post', '/api/v1/webhooks/{id}/reprocess', { path, status: 202 });
}

async function askMerchants(): Promise<void> {
  const body = { name: 'shop', url: 'http://127.0.0.1:9/' };
  const merchant = await ask('post', '/api/v1/merchants', { body, status: 201 });
  const path = { id: merchant.id };
  await ask('get', '/api/v1/merchants/{id}', { path });
  await ask('patch', '/api/v1/merchants/{id}', { path, body: { filter: { extra_match: { store: 7 } }, rate: 5 } });
  const callback = await ask('post', '/api/v1/merchants/{id}/test', { path, status: 202 });
  const { token } = await ask('post', '/api/v1/merchants/{id}/pull-token', { path });
  await ask('get', '/api/v1/events', { token: String(token) });
  await ask('delete', '/api/v1/merchants/{id}/pull-token', { path, status: 204 });
  await ask('delete', '/api/v1/merchants/{id}/pull-token', { path, status: 404 });
  await ask('get', `/api/v1/series/callbacks?day=${env.today}&from=${env.today}`, { status: 422 });
  await ask('get', '/api/v1/callbacks/{id}', { path: { id: callback.id } });
  const range = { merchant: merchant.id, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  await ask('post', '/api/v1/callbacks/replay', { body: { ...range, dry_run: true } });
}

async function askPortal(): Promise<void> {
  const since = { events_since: '2020-01-01T00:00:00Z' };
  const merchant = await ask('post', '/api/v1/merchants', {
    body: { name: 'own', url: 'http://127.0.0.1:9/', ...since },
    status: 201,
  });
  const login = { role: 'merchant', merchant: merchant.id };
  await ask('post', '/api/v1/tokens', { body: { ...login, merchant: 'none' }, status: 422 });
  await ask('post', '/api/v1/tokens', { body: { role: 'merchant' }, status: 422 });
  await ask('post', '/api/v1/tokens', { body: { ...login, role: 'viewer' }, status: 422 });
  const token = String((await ask('post', '/api/v1/tokens', { body: login, status: 201 })).token);
  await ask('get', '/api/v1/portal', { token });
  await ask('get', '/api/v1/portal/health', { token });
  const { id } = await ask('post', '/api/v1/portal/test', { token, status: 202 });
  await ask('post', '/api/v1/portal/examples', { token, status: 202, body: { types: ['pix.cashin.paid'] } });
  await ask('get', '/api/v1/portal/changes', { token });
  await ask('get', '/api/v1/portal/callbacks', { token });
  await ask('get', '/api/v1/portal/callbacks?merchant=x', { token, status: 422 });
  await ask('get', '/api/v1/portal/callbacks/{id}', { path: { id }, token });
  await env.timers.advance(1_000);
  await ask('post', '/api/v1/portal/callbacks/{id}/redeliver', { path: { id }, token, status: 202 });
  await askManifests(token, String(merchant.id));
  const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  await ask('post', '/api/v1/portal/callbacks/replay', { body: { ...range, dry_run: true }, token });
  await ask('post', '/api/v1/portal/callbacks/replay', { body: range, token, status: 202 });
  await ask('post', '/api/v1/portal/rotate-secret', { token });
  const wanted = { kind: 'email', value: 'new@example.com' };
  await ask('post', '/api/v1/portal/address-changes', { body: { ...wanted, dry_run: true }, token });
  const { id: change } = await ask('post', '/api/v1/portal/address-changes', { body: wanted, token, status: 202 });
  await ask('get', '/api/v1/portal/address-changes', { token });
  const path = { id: merchant.id };
  await ask('get', '/api/v1/merchants/{id}/address-changes', { path });
  await ask('post', '/api/v1/merchants/{id}/address-changes', { path, body: { change, decision: 'confirm' } });
  const next = { body: { ...wanted, value: 'next@example.com' }, token, status: 202 };
  const withdrawn = { id: (await ask('post', '/api/v1/portal/address-changes', next)).id };
  await ask('post', '/api/v1/portal/address-changes/{id}/withdraw', { path: withdrawn, token });
  await ask('put', '/api/v1/portal/filter', { body: { filter: { statuses: ['paid'] }, dry_run: true }, token });
  await ask('put', '/api/v1/portal/filter', { body: { filter: { statuses: ['paid'] } }, token });
  await ask('post', '/api/v1/portal/pause', { token });
  await ask('post', '/api/v1/portal/resume', { token });
}

/** Lists and items without an id, and the changes that are not asked for above, by the examples of every door. */
async function askDeclared(): Promise<void> {
  for (const { changes = [], lists = [], searches = [], items = [] } of SUBJECTS) {
    for (const { route = '{}' } of [...lists, ...searches, ...items])
      if (!route.includes('{') && !answered.has(`get /api/v1${route}`)) await ask('get', `/api/v1${route}`);
    for (const change of changes) {
      const [method = '', route = ''] = change.route?.toLowerCase().split(' ') ?? [];
      if (route === '' || replayed.has(`${method} /api/v1${route}`)) continue;
      const { id, path = '', body } = (await examples[change.name]?.()) ?? {};
      const [source, number] = path.split('/');
      const status = Object.keys(change.answers).map(Number).at(-1) ?? 200;
      await ask(method, `/api/v1${route}`, { path: { id, source, number }, body, status });
    }
  }
}

async function askManifests(token: string, merchant: string): Promise<void> {
  const { context } = env;
  await runBackfills(context);
  const { seq } = await findMerchant(context.db, merchant);
  const path = { day: addDays(env.today, -1) };
  await context.db.insertInto('due_day_manifests').values({ day: path.day, merchant_seq: seq }).execute();
  await makeDayManifests(context);
  await ask('get', '/api/v1/manifests/{day}', { path, token });
  await ask('get', '/api/v1/manifests/{day}/ids', { path, token });
  await ask('get', `/api/v1/manifests/{day}?merchant=${merchant}`, { path });
  await ask('get', '/api/v1/manifests/{day}', { path, status: 422 });
  await ask('get', '/.well-known/confere-manifest-keys.json');
  await sealNow(env.context);
  await makeCheckpoint(env.context);
  await ask('get', '/api/v1/log/proof?seal=1');
  await ask('get', '/api/v1/log/proof', { status: 422 });
}

async function askRest(): Promise<void> {
  const mapped = { account: 'Assets:Provider:Available', code: '1.1.2' };
  await ask('put', '/api/v1/accounts', { body: { accounts: [mapped] } });
  await ask('put', '/api/v1/accounts', { body: { accounts: [{ ...mapped, code: '=1' }] }, status: 422 });
  const names = `platform;name\n${env.paid.platform};Loja Norte\n`;
  const platforms = { path: { kind: 'platforms' }, body: names };
  await ask('post', '/api/v1/imports/{kind}', { ...platforms, status: 201 });
  await ask('post', '/api/v1/imports/{kind}', platforms);
  await ask('post', '/api/v1/imports/{kind}', { ...platforms, body: 'platform\n', status: 422 });
  await ask('get', '/api/v1/imports/{kind}/{file}', { path: { kind: 'accounts', file: 'template.csv' } });
  await ask('post', '/api/v1/reports', { body: { day: env.today }, status: 201 });
  await ask('get', `/api/v1/reports?platform=${env.paid.platform}`);
  await ask('get', '/api/v1/reports?platform=none-such', { status: 422 });
  await ask('get', '/api/v1/reports/{file}', { path: { file: `${env.today}.csv` } });
  await ask('get', '/api/v1/reports/{file}', { path: { file: `${env.today}..${env.today}.csv` } });
  const path = { month: '2020-01' };
  await ask('get', '/api/v1/months/{month}', { path: { month: env.today.slice(0, 7) } });
  await ask('post', '/api/v1/months/{month}/close', { path, body: {}, status: 409 });
  await applyTransactions(env.context, [transactionOf('cashin', 500n, [['paid', '2020-01-10 10:00:00']])]);
  await recordReadDays(env.context, '2020-01-01', '2020-01-31', env.context.clock.now());
  await sealNow(env.context);
  await ask('post', '/api/v1/months/{month}/close', { path, body: { note: 'read' }, status: 201 });
  await ask('post', '/api/v1/months/{month}/close', { path, body: {} });
  await ask('get', '/api/v1/months/{month}', { path });
  await ask('post', '/api/v1/months/{month}/reopen', { path, body: { note: 'wrong' } });
  await ask('get', '/api/v1/audit?action=tokens.revoke');
  await ask('get', '/api/v1/audit?actors=x', { status: 422 });
  await ask('get', '/api/v1/openapi.json');
  await ask('get', '/healthz');
  await ask('get', '/readyz');
  await ask('get', '/metrics');
}

type Asked = { path?: Record<string, unknown>; body?: unknown; status?: number; token?: string };

/** Calls the real service and compares the response with the document: status, type and each field. */
async function ask(method: string, address: string, asked: Asked = {}): Promise<Json> {
  const { path = {}, body, status = 200, token = env.tokens.admin } = asked;
  const name = `${method} ${address.replace(/\?.*/, '')}`;
  const url = address.replace(/\{(\w+)\}/g, (_, part: string) => String(path[part]));
  const key = randomUUID();
  const send = () =>
    fetch(`${env.url}${url}`, {
      method: method.toUpperCase(),
      headers: {
        ...bearer(token),
        'idempotency-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  let response = await send();
  // as its text asks for: on a busy machine any statement may exceed its time limit
  if (method === 'get' && response.status === 503 && status === 200) response = await send();
  const text = await response.text();
  expect(response.status, `${name}: ${text}`).toBe(status);
  if (method !== 'get') await sendAgain(name, send, { response, text });
  const responses = document.paths[address.replace(/\?.*/, '')]?.[method]?.responses;
  const documented = responses?.[status] ?? responses?.default;
  expect(documented, `${name} does not document ${status}`).toBeDefined();
  answered.add(name);
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const [documentedType, content] = Object.entries(documented?.content ?? {})[0] ?? [];
  if (documentedType === undefined || !content?.schema || !documentedType.includes('json')) return {};
  expect(type, name).toBe(documentedType);
  const answer = JSON.parse(text) as Json;
  const checked = schemaOf(content.schema).safeParse(answer);
  expect(checked.error?.issues ?? [], name).toEqual([]);
  // what the change declares that it is refused for
  if (status === 409) expect(documented?.description, name).toContain(`\`${String(answer.reason)}\``);
  return answer;
}

/** Repeats a request that changed something: it gets the same answer. */
async function sendAgain(
  name: string,
  send: () => Promise<Response>,
  first: { response: Response; text: string },
): Promise<void> {
  expect(first.response.headers.get('idempotency-replayed'), name).toBeNull();
  if (first.response.status >= 400 || first.text.includes('"dry_run":true') || name.includes('/webhooks/pix')) return;
  // a merchant has 10 requests a second
  if (name.includes('/portal')) await env.timers.advance(1_000);
  const again = await send();
  if (again.headers.get('idempotency-replayed') !== 'true') return;
  const [before, after] = [first.response, again].map(({ status, headers }) => [
    status,
    headers.get('content-type'),
    headers.get('location'),
  ]);
  expect([after, await again.text()], name).toEqual([before, first.text]);
  replayed.add(name);
}

/** Many answers have the same schema. */
const schemas = new Map<string, z.ZodType>();

function schemaOf(schema: Json): z.ZodType {
  const text = JSON.stringify(schema);
  const known = schemas.get(text) ?? z.fromJSONSchema(resolve(schema));
  schemas.set(text, known);
  return known;
}

/** A schema with the components that it names, without additional properties: an undocumented field fails. */
function resolve(schema: Json): Json {
  const $defs = new Map<string, Json | undefined>();
  const named = [schema];
  for (const one of named) {
    for (const [, name = ''] of JSON.stringify(one).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if ($defs.has(name)) continue;
      const component = document.components.schemas[name];
      $defs.set(name, component);
      named.push(component ?? {});
    }
  }
  const inlined = JSON.stringify({ ...schema, $defs: Object.fromEntries($defs) });
  return JSON.parse(inlined.replaceAll('#/components/schemas/', '#/$defs/'), (_, value: unknown) =>
    isClosable(value) ? { ...value, additionalProperties: false } : value,
  ) as Json;
}

function isClosable(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null) return false;
  const { type, properties, additionalProperties } = value as Json;
  return type === 'object' && properties !== undefined && additionalProperties === undefined;
}

function listDocumented(): string[] {
  const list = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  return list.sort();
}

type Layer = Express['router']['stack'][number] & { rawPath?: unknown };

/** All routes of the app except the console's, from the routers' tables. */
function listMounted(app: Express): string[] {
  const mounted = app.router.stack.flatMap((layer: Layer) => {
    const prefix = layer.rawPath === '/api/v1' ? '/api/v1' : '';
    const { stack = [] } = layer.handle as { stack?: Layer[] };
    return stack.flatMap(({ route }) =>
      (route?.stack ?? []).map(({ method }) => `${method} ${prefix}${toTemplate(route?.path)}`),
    );
  });
  // C2SP describes what is below /log
  return [...new Set(mounted)].filter((one) => !one.startsWith('get /log/')).sort();
}

function toTemplate(path: string | undefined): string {
  return String(path).replace(/:(\w+)/g, '{$1}');
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
