/**
 * Each answer that shows a person leaves an audit row. This asks every GET route of the API and the console as an operator,
 * over data that names a person in each place. A new route of the API with an id needs an example in `listExamples`.
 */
import { sql, TableNode } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { auditShown } from '../../../src/access/audit.ts';
import { listAudit } from '../../../src/access/list-audit.ts';
import { openSession } from '../../../src/access/sessions.ts';
import { limitStatementTime } from '../../../src/database/limit-statement-time.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { idOf } from '../../../src/expected/expected-id.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { pickMatch, undoMatch } from '../../../src/ledger/bank/pick-match.ts';
import { setBankAccount } from '../../../src/ledger/stated/bank-accounts.ts';
import { makeDayManifests } from '../../../src/manifests/make-day-manifests.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank as importStatement } from '../../support/import-bank.ts';
import { listRoutes } from '../../support/list-routes.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { CONSOLE_ROLES, exampleOf, SHOWING } from '../../support/route-examples.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { runBackfills } from '../../support/work-backfills.ts';

const CPF = '11144477735';
const PERSON = [CPF, '111.444.777-35', 'Rita Quadros', 'rita.quadros@example.com', '5521987650123'];
const [ONE, OTHER] = ['aaaaaaaa-1111-4111-8111-000000000001', 'aaaaaaaa-1111-4111-8111-000000000002'];
const CLAIMED = `55555555-0000-4000-8000-0${CPF}`;
const EXPECTED = { source: 'shop', number: '1' };
type Row = { seq: number; actor: string; action: string; target: string; detail: string | null };

const env = closeAfterAll(await openConsoleEnvironment());
let examples: Record<string, string>;
let session: string;
let mismatch: string;
beforeAll(async () => {
  session = await openSession(env.context, env.tokens.operator);
  await addPerson();
  examples = await listExamples();
});

async function addPerson(): Promise<void> {
  const { context, paid, today } = env;
  await createMerchant(context, { name: 'all', url: 'http://127.0.0.1:9/', eventsSince: new Date('2020-01-01') });
  const facts = expectedFactsSchema.parse({
    ...{ operation: 'cashin', amount: '1.00', due_day: today, name: 'Rita Quadros', document: CPF },
  });
  await putExpected(context, { arrivals: [{ ...EXPECTED, facts }], actor: 'test' });
  const person = { name: 'Rita Quadros', document: CPF, email: PERSON[3] ?? '', phone: PERSON[4] ?? '' };
  const shown = { ...paid, ...person, reference: CPF, extra: `55${CPF}`, description: 'de Rita Quadros' };
  await applyObservations(
    context,
    [ONE, OTHER].map((id) => observe({ ...shown, id }, context.clock.now())),
  );
  await call(
    'POST',
    '/webhooks/pix',
    { id: 1, transaction_id: ONE, reference: CPF, name: 'Rita Quadros' },
    env.webhookSecret,
  );
  while ((await splitWebhooks(context, 0)).more);
  const entered = { platform: 'p', day: today, kind: 'fee', amount: '-1.00', note: 'Rita Quadros', new_platform: true };
  expect(
    (await call('POST', '/api/v1/openings', { platform: 'p', day: today, balance: '0.00', new_platform: true })).status,
  ).toBe(201);
  expect((await call('POST', '/api/v1/adjustments', entered)).status).toBe(201);
  await importBank(entered);
  expect((await call('POST', '/api/v1/reports', { day: today })).status).toBeLessThan(300);
}

/** A line of the bank and an entry that are matched, with a note, and one of each that are open. */
async function importBank(entered: { day: string; amount: string }): Promise<void> {
  const notPix = { begins: [], contains: ['Salario Rita Quadros'] };
  await setBankAccount(env.context, { account: '1/1', notPix, isNew: true, actor: 'test' });
  const { json } = await call('POST', '/api/v1/adjustments', { ...entered, kind: 'bank', amount: '-2.00' });
  await call('POST', '/api/v1/adjustments', { ...entered, kind: 'bank', amount: '-3.00' });
  const lines = ['2.00', '4.00'].map((amount) => ({
    day: entered.day,
    amount,
    fitid: amount,
    memo: 'PIX Rita Quadros',
  }));
  await importStatement(env.context, { lines });
  await undoMatch(env.context, 'bm_1', { actor: 'test', note: 'Rita Quadros' });
  await pickMatch(env.context, 'bl_1', { adjustment: String(json.id) }, { actor: 'test' });
}

const call = (method: string, address: string, body?: unknown, token = env.tokens.admin) =>
  callApi({ url: env.url, token }, method, address, body);

async function firstId(address: string, list: string): Promise<string> {
  const { json } = await call('GET', `/api/v1${address}`);
  const [first] = json[list] as { id: string }[];
  if (!first) throw new Error(`${address} lists nothing`);
  return first.id;
}

/** An item of each list, and whole addresses: see `exampleOf`. */
async function listExamples(): Promise<Record<string, string>> {
  const { context, today } = env;
  const callback = await firstId(`/callbacks?transaction_id=${ONE}`, 'callbacks');
  const attempt = {
    number: 1,
    started_at: context.clock.now(),
    duration_ms: 5,
    response_status: 500,
    error_class: null,
  };
  await context.db
    .insertInto('callback_attempts')
    .values({
      ...attempt,
      callback_seq: Number(callback.slice(3)),
      response_body: Buffer.from(`no ${CPF}`),
      request_headers: '{}',
    })
    .execute();
  mismatch = await firstId('/mismatches?kind=duplicate_reference', 'mismatches');
  const webhook = await firstId(`/webhooks?transaction_id=${ONE}`, 'webhooks');
  const merchant = await firstId('/merchants', 'merchants');
  const order = idOf(env.context.keys, EXPECTED);
  const agreed = { operation: 'cashin', fixed: '0.10', basis_points: 50, from: today };
  const contract = String((await call('POST', '/api/v1/commissions', agreed)).json.id);
  const manifest = `/api/v1/manifests/${await makeManifest()}`;
  return {
    ...{ '/transactions': ONE, '/mismatches': mismatch, '/webhooks': webhook, '/inbox': webhook },
    ...{ '/callbacks': callback, '/reconciliations': await firstId('/reconciliations', 'reconciliations') },
    ...{ '/expected': order, '/expected-payments': order, '/merchants': merchant },
    ...{ '/months': env.today.slice(0, 7), '/reports/months': env.today.slice(0, 7), '/reports': `${today}-r1.csv` },
    '/balances/adjustments': await firstId('/adjustments', 'adjustments'),
    '/balances/openings': await firstId('/openings', 'openings'),
    '/balances/fees': contract,
    ...{ '/balances/bank/lines': 'bl_2', '/balances/bank/accounts': '341%2F56789-0', '/balances/bank/matches': 'bm_3' },
    '/runbooks': 'stuck',
    '/balances/imports/:kind/:file': '/balances/imports/statements/template.csv',
    '/api/v1/imports/:kind/:file': '/api/v1/imports/statements/template.csv',
    '/api/v1/manifests/:day': `${manifest}?merchant=${merchant}`,
    '/api/v1/manifests/:day/ids': `${manifest}/ids?merchant=${merchant}`,
    '/api/v1/expected-payments/:source/:number': '/api/v1/expected-payments/shop/1',
    '/api/v1/reports/:file': `/api/v1/reports/${today}.csv`,
    '/api/v1/transactions/proof': `/api/v1/transactions/proof?day=${today}&name=rita`,
    '/api/v1/fees': '/api/v1/fees?month=2026-10',
    '/api/v1/numbers': `/api/v1/numbers?from=${today}&to=${today}`,
  };
}

/** Makes the manifests of yesterday. @returns the day. */
async function makeManifest(): Promise<string> {
  await runBackfills(env.context);
  const day = addDays(env.today, -1);
  const merchants = await env.context.db.selectFrom('merchants').select('seq').execute();
  const due = merchants.map(({ seq }) => ({ day, merchant_seq: seq }));
  await env.context.db.insertInto('due_day_manifests').values(due).execute();
  await makeDayManifests(env.context);
  return day;
}

async function readAudit(after = 0): Promise<Row[]> {
  const rows = env.context.db.selectFrom('audit').select(['seq', 'actor', 'action', 'target', 'detail']);
  return await rows.where('seq', '>', after).orderBy('seq').execute();
}

async function open(address: string): Promise<{ status: number; text: string }> {
  const headers = address.startsWith('/api/')
    ? { authorization: `Bearer ${env.tokens.operator}` }
    : { cookie: `confere_session=${session}` };
  const response = await fetch(`${env.url}${address}`, { headers, redirect: 'manual' });
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('utf8') };
}

test('each answer that shows an operator a person leaves an audit row, which names no person', async () => {
  const shown: string[] = [];
  const unaudited: string[] = [];
  const tokens = env.context.db.selectFrom('tokens').select('id').where('role', '=', 'operator');
  const operator = await tokens.executeTakeFirstOrThrow();
  for (const route of listRoutes(createApp(env.context).app)) {
    const [method, path = ''] = route.split(' ');
    // the portal admits merchants alone: service/portal; the log has hashes alone: service/tlog
    if (method !== 'get' || /^(?:\/api\/v1)?\/portal|^(?:\/api\/v1)?\/log\//.test(path)) continue;
    const before = (await readAudit()).at(-1)?.seq ?? 0;
    const { status, text } = await open(exampleOf(path, examples, env.today));
    // what is not for operators, and the merchants' feed
    expect([path, [200, 303, 401, 403].includes(status)], text).toEqual([path, true]);
    // the API's routes with an item are for operators too; a form for others refuses them
    const roles = CONSOLE_ROLES[route] ?? (path.includes(':') ? 'operator' : undefined);
    if (roles) expect(status, path).toBe(roles.includes('operator') ? 200 : 403);
    if (!PERSON.some((value) => text.includes(value))) continue;
    shown.push(path);
    if (!(await readAudit(before)).some(({ actor }) => actor === operator.id)) unaudited.push(path);
  }
  expect(unaudited).toEqual([]);
  expect(shown.sort()).toEqual([...SHOWING].sort());
  expect(JSON.stringify(await readAudit())).not.toMatch(new RegExp(PERSON.join('|')));
});

test('the audit of a transaction finds who saw its person, in a list or alone, in the API or the console', async () => {
  const seenBy = async (query = '') => {
    const { json } = await call('GET', `/api/v1/audit?target=${ONE}&limit=200${query}`);
    return json.audit as (Row & { id: string; at: string })[];
  };
  for (const [address, action, detail] of [
    [`/api/v1/transactions?id=${ONE}`, 'transactions.list', `{"transactions":["${ONE}"]}`],
    ['/api/v1/transactions?name=rita', 'transactions.list', expect.stringContaining(`"${ONE}"`)],
    [`/transactions?id=${ONE}`, 'transactions.list', `console {"transactions":["${ONE}"]}`],
    [`/api/v1/transactions/${ONE}`, 'transactions.show', null],
    [`/transactions/export?format=csv&id=${ONE}`, 'transactions.export', `console {"transactions":["${ONE}"]}`],
    [`/transactions/${ONE}`, 'transactions.show', 'console'],
    ['/api/v1/mismatches?kind=duplicate_reference', 'mismatches.list', expect.stringContaining(`"${ONE}"`)],
    ['/mismatches?kind=duplicate_reference', 'mismatches.list', expect.stringMatching(`^console .*"${ONE}"`)],
    [`/mismatches/${mismatch}`, 'mismatches.show', expect.stringContaining(`"${ONE}"`)],
    [`/inbox/${examples['/inbox']}`, 'webhooks.show', `console {"transactions":["${ONE}"]}`],
    [`/api/v1/callbacks/${examples['/callbacks']}`, 'callbacks.show', `{"transactions":["${ONE}"]}`],
  ]) {
    const before = (await seenBy()).length;
    expect((await open(address)).status, address).toBe(200);
    const rows = await seenBy();
    expect([rows.length - before, rows[0]], address).toMatchObject([1, { action, detail }]);
  }
  const rows = await seenBy();
  expect(rows.map(({ id }) => Number(id.slice(3)))).toEqual(
    rows.map(({ id }) => Number(id.slice(3))).sort((a, b) => b - a),
  );
  const pages: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await call('GET', `/api/v1/audit?target=${ONE}&limit=3&cursor=${cursor}`);
    pages.push(...(json.audit as unknown[]));
    cursor = json.next_cursor as string | null;
  }
  expect(pages).toEqual(rows);
  expect(await seenBy(`&to=${encodeURIComponent(rows.at(-1)?.at ?? '')}`)).toEqual([]);
  const lists = rows.filter(({ action }) => action === 'mismatches.list');
  expect(lists.length).toBeGreaterThan(1);
  expect(await seenBy('&action=mismatches.list')).toEqual(lists);
  const { json } = await call('GET', `/api/v1/audit?target=${ONE.slice(0, -1)}`);
  expect(json.audit).toEqual([]);
  const { out } = await runCommandInProcess(['audit', '--target', ONE, '--limit', '200', '--json'], env.env);
  expect(JSON.parse(out)).toEqual({ audit: rows });
  await open('/api/v1/mismatches?limit=5&kind=duplicate_reference');
  expect((await readAudit()).at(-1)).toMatchObject({ action: 'mismatches.list', target: '["kind"]' });
});

test('an id that the ledger does not know is in no audit row: a webhook may name anything', async () => {
  await call('POST', '/webhooks/pix', { id: 2, transaction_id: CLAIMED, status: 'paid' }, env.webhookSecret);
  while ((await splitWebhooks(env.context, 0)).more);
  const webhook = await firstId(`/webhooks?transaction_id=${CLAIMED}`, 'webhooks');
  const before = (await readAudit()).at(-1)?.seq ?? 0;
  for (const place of ['/api/v1/webhooks', '/inbox']) {
    const { status, text } = await open(`${place}/${webhook}`);
    expect([status, text]).toEqual([200, expect.stringContaining(CLAIMED)]);
  }
  expect(await readAudit(before)).toMatchObject([
    { action: 'webhooks.show', target: webhook, detail: null },
    { action: 'webhooks.show', target: webhook, detail: 'console' },
  ]);
});

test('a search in more lists than the database reads in time is refused, and says to narrow the days', async () => {
  const lookups = new WeakSet<object>();
  await env.context.db.connection().execute(async (holder) => {
    // the lists are locked once the id is known to the ledger: no machine reads them in time
    const db = env.context.db.withPlugin({
      transformQuery({ node, queryId }) {
        const from = node.kind === 'SelectQueryNode' ? node.from?.froms[0] : undefined;
        if (from && TableNode.is(from) && from.table.identifier.name === 'transactions') lookups.add(queryId);
        return node;
      },
      async transformResult({ result, queryId }) {
        if (lookups.has(queryId)) await sql`LOCK TABLES audit WRITE`.execute(holder);
        return result;
      },
    });
    try {
      const search = listAudit(limitStatementTime(db, 200), { target: ONE }, { limit: 50, before: undefined });
      await expect(search).rejects.toMatchObject({
        code: 'invalid_request',
        fields: { from: [expect.any(String)], to: [expect.any(String)] },
      });
    } finally {
      await sql`UNLOCK TABLES`.execute(holder);
    }
  });
});

test('more ids than an audit row has room for take several rows', async () => {
  const ids = Array.from({ length: 1700 }, (_, n) => `bbbbbbbb-2222-4222-8222-${String(n).padStart(12, '0')}`);
  const shown = ids.map((id) => observe({ ...env.paid, id, reference: id }, env.context.clock.now()));
  for (let at = 0; at < shown.length; at += 100) await applyObservations(env.context, shown.slice(at, at + 100));
  const done = { actor: 'command', action: 'transactions.list', target: '[]' } as const;
  const before = (await readAudit()).at(-1)?.seq ?? 0;
  await auditShown(env.context, done, { transactions: [...ids, ...ids] });
  const rows = await readAudit(before);
  expect(rows).toHaveLength(2);
  const named = rows.flatMap(({ detail }) => (JSON.parse(detail ?? '') as { transactions: string[] }).transactions);
  expect(named.sort()).toEqual(ids);
});
