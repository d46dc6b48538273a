import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeRow, type ProviderRow } from '../../support/make-provider-rows.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { type MailSink, openMailSink } from '../../support/open-mail-sink.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { numRuns } from '../../support/property.ts';
import { anyCpf, anySpelling, anyValue, punctuate } from '../../support/spell-documents.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const SEED = Number(process.env.TEST_SEED ?? 17);
const DAY = dayAgo(1);
/** A shorter value stands in an id or an amount by chance. */
const VALUE_CHARS_MIN = 8;
const SECRETS = ['a-bearer-token-of-a-merchant', 'the-value-of-a-header'];

const stack = new AsyncDisposableStack();
const errors: { place: string; text: string }[] = [];
let log = '';
let alerts: HttpSink;
let mails: MailSink;
let provider: TestProvider;
let served: ServedEnvironment;
let tokens: Record<'viewer' | 'operator' | 'admin', string>;
let people: { row: ProviderRow; twins: ProviderRow[]; cpf: string; values: string[] }[];

const word = fc.stringMatching(/^[A-Z][a-z]{9,12}$/);
const anyPerson = fc.record({
  ...{ cpf: anyCpf, first: word, last: word, phone: fc.stringMatching(/^\+55[1-9]{2}9[0-9]{8}$/) },
  ...{ key: anyValue, extra: anySpelling, description: anySpelling },
});

beforeAll(async () => {
  provider = stack.use(await new TestProvider(API_KEY).listen());
  alerts = stack.use(await openHttpSink());
  mails = stack.use(await openMailSink());
  const shop = stack.use(await openMerchantServer());
  // a shop that fails, and says of whom
  shop.behaviours['/fails'] =
    ({ body }) =>
    (_request, response) =>
      response.writeHead(500, { 'x-echo': encodeURIComponent(body).slice(0, 500) }).end(body);
  const logTo = new PassThrough().setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  served = stack.use(
    await openServedEnvironment({
      providerUrl: provider.url,
      logTo,
      env: {
        ...{ LOG_LEVEL: 'trace', WEBHOOK_GRACE: '1s', WEBHOOKS_SINCE: '2020-01-01T00:00:00Z', STUCK_CASHOUT: '1s' },
        ...{ ALERTMANAGER_URL: alerts.url, SLACK_WEBHOOK_URL: alerts.url },
        ...{ PAGERDUTY_ROUTING_KEY: alerts.url.replace('://', `://${'x'.repeat(32)}@`) },
        ...{ SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=off`, ALERT_EMAIL_FROM: 'c@confere.example' },
        ...{ ALERT_EMAIL_TO: 'ops@confere.example', CALLBACK_RETRY_SCHEDULE: '1s' },
      },
    }),
  );
  const make = async (role: 'viewer' | 'operator' | 'admin') =>
    (await createToken(served.context, { name: role, role })).token;
  tokens = { viewer: await make('viewer'), operator: await make('operator'), admin: await make('admin') };
  await served.api.call('POST', '/merchants', {
    ...{ name: 'Falha', url: `${shop.url}/fails`, events_since: '2020-01-01T00:00:00Z' },
    ...{ bearer_token: SECRETS[0], headers: { 'x-key': SECRETS[1] } },
  });
  people = fc.sample(anyPerson, { numRuns: numRuns(3, 80), seed: SEED }).map(makePerson);
});
afterAll(() => stack.disposeAsync());

/** Each third one is a payment that stays open, each fourth one can't be read in full, each fifth one not at all. */
function makePerson(
  one: { cpf: string; first: string; last: string; phone: string } & Record<
    'key' | 'extra' | 'description',
    (cpf: string) => string
  >,
  index: number,
) {
  const { cpf, first, last, phone } = one;
  const facts = {
    ...{ name: `${first} ${last}`, email: `${first}.${last}@example.com`, phone, document: cpf },
    ...{ pix_key: one.key(cpf), extra: one.extra(cpf), description: one.description(cpf) },
  };
  const row = makeRow({
    ...{ ...facts, created: `${DAY} 10:0${index % 10}:00` },
    ...(index % 3 === 0 ? { operation: 'cashout' } : { history: ['paid'] }),
    ...(index % 4 === 1 ? { commission: `de ${cpf}` } : {}),
    ...(index % 5 === 2 ? { amount: punctuate(cpf) } : {}),
    reference: `pedido do ${punctuate(cpf)}`,
  });
  // payments that share a reference with another one: two in the list, one that only a webhook names
  const twins = [row.reference, facts.email, facts.email].map((reference) =>
    makeRow({ created: `${DAY} 11:00:00`, history: ['paid'], reference }),
  );
  const values = [...Object.values(facts), row.reference, first, last, punctuate(cpf)];
  return { row, twins, cpf, values: [...new Set(values)].filter((value) => value.length >= VALUE_CHARS_MIN) };
}

async function ask(place: string, init: RequestInit = {}): Promise<void> {
  const answer = await fetch(`${served.url}${place}`, { redirect: 'manual', ...init });
  const text = await answer.text();
  const headers = JSON.stringify([...answer.headers]);
  if (answer.status >= 400)
    errors.push({
      place: `${answer.status} ${init.method ?? 'GET'} ${place.split('?')[0]?.slice(0, 20)}`,
      text: `${headers}${text}`,
    });
}

/** Everything wrong that can be asked with a person's values in it. */
async function askWrongly({ row, cpf, values }: (typeof people)[number]): Promise<void> {
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    const headers = { authorization: `Bearer ${tokens[role]}`, 'content-type': 'application/json' };
    for (const value of values) {
      const text = encodeURIComponent(value);
      for (const query of [
        `from=${text}`,
        `operation=${text}`,
        `cursor=${text}`,
        `limit=${text}`,
        `amount=${text}`,
        `name=${text}`,
      ]) {
        await ask(`/api/v1/transactions?${query}`, { headers });
      }
      // a plain word is taken for a mistyped name, and named
      if (!/^[a-z]+$/i.test(value)) await ask(`/api/v1/transactions?${text}=1&status=paid`, { headers });
      await ask(`/api/v1/balances?at=${text}`, { headers });
      for (const list of [
        'transactions',
        'mismatches',
        'webhooks',
        'callbacks',
        'merchants',
        'reports',
        'reconciliations',
        text,
      ]) {
        await ask(`/api/v1/${list}/${text}`, { headers });
      }
    }
    const body = JSON.stringify({ ...row, url: `http://${cpf}.example/${cpf}`, from: cpf, day: cpf, [cpf]: values });
    for (const place of [
      'merchants',
      'reconciliations',
      'reports',
      'openings',
      'adjustments',
      'statements',
      'callbacks/replay',
      'tokens',
    ]) {
      await ask(`/api/v1/${place}`, { method: 'POST', headers, body });
      await ask(`/api/v1/${place}`, { method: 'POST', headers, body: `{"cpf":"${cpf}"` });
    }
  }
  await ask(`/api/v1/transactions`, { headers: { authorization: `Bearer ${cpf}` } });
  await ask('/login', { method: 'POST', headers: { origin: served.url }, body: new URLSearchParams({ token: cpf }) });
  await ask(`/${encodeURIComponent(row.reference)}?${cpf}`);
}

/** Webhooks that reach the receiver: known, unknown, contradicting, unreadable, unauthorized. */
async function sendAll({ row, cpf, values }: (typeof people)[number]): Promise<void> {
  const [text = ''] = values;
  await served.webhook({ ...row, transaction_id: row.id, status: 'refund' });
  await served.webhook({ transaction_id: row.id, status: text, transaction_amount: punctuate(cpf) });
  await served.webhook({ transaction_id: text, name: text });
  await served.webhook({ reference: row.reference, extra: row.extra, status: text });
  await served.webhook({ nada: values, [text]: cpf });
  await ask('/webhooks/pix', {
    method: 'POST',
    body: JSON.stringify(row),
    headers: { authorization: `Bearer ${cpf}` },
  });
  await ask(`/webhooks/pix/${cpf}`, { method: 'POST', body: `{"name":"${text}` });
  await ask('/webhooks/pix', {
    method: 'POST',
    body: text,
    headers: { 'content-encoding': text.replace(/[^a-z]/gi, '') },
  });
}

async function reconcile(): Promise<void> {
  const { id } = await served.api.call<{ id: string }>('POST', '/reconciliations', { from: DAY, to: DAY });
  await eventually('the run', async () => {
    const run = await served.api.call<{ state: string }>('GET', `/reconciliations/${id}`);
    return !['queued', 'running'].includes(run.state);
  });
}

test('logs, metrics, alerts, mails and error answers hold none of the values of the people we handled', async () => {
  provider.add(...people.flatMap((one) => [one.row, ...one.twins.slice(0, 2)]));
  await reconcile();
  for (const one of people) await sendAll(one);
  provider.add(...people.flatMap((one) => one.twins.slice(2)));
  for (const { twins } of people) await served.webhook({ transaction_id: twins[2]?.id });
  // facts that change, a row that nobody can read any more, a status that is a text
  for (const [index, { row, cpf, values }] of people.entries()) {
    const changes = [
      { reference: `outro ${cpf}`, extra: cpf },
      // a number would be an amount, which alerts show
      { amount: punctuate(cpf) },
      { status: values[0] },
      { events: values },
    ];
    provider.patches.set(row.id, changes[index % changes.length] ?? {});
  }
  await reconcile();
  for (const one of people.slice(0, 2)) await askWrongly(one);
  await served.api.call('POST', '/reports', { day: DAY });
  await eventually('alerts on every channel', async () => {
    await served.timers.advance(60_000);
    return mails.mails.length > 0 && alerts.posted.length > 20;
  });
  await eventually('the alerts of duplicates', async () => {
    await served.timers.advance(60_000);
    return [...alerts.posted, ...mails.mails].filter(({ text }) => text.includes('duplicate_reference')).length > 3;
  });
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  expect(log.length).toBeGreaterThan(2_000);
  expect(errors.length).toBeGreaterThan(200);
  const reported = [
    ...log.split('\n').map((text) => ({ place: 'log', text })),
    ...alerts.posted.map(({ text }) => ({ place: 'alert', text })),
    ...mails.mails.flatMap(({ raw, text }) => [
      { place: 'mail', text: raw },
      { place: 'mail', text },
    ]),
    ...errors,
    { place: 'metrics', text: metrics },
  ];
  expect([...new Set(reported.flatMap(findLeaks))]).toEqual([]);
  // what a wrong merchant is answered with
  for (const part of [
    { bearer_token: `${SECRETS[0]} ` },
    { headers: { [`x ${SECRETS[1]}`]: 'x' } },
    { headers: { 'x-key': `${SECRETS[1]}\n` } },
    { headers: { host: SECRETS[1] } },
  ]) {
    const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'x', url: null, ...part });
    await ask('/api/v1/merchants', { method: 'POST', headers, body });
    expect(errors.at(-1)?.place).toBe('422 POST /api/v1/merchants');
    expect(errors.slice(-1).flatMap(findLeaks)).toEqual([]);
  }
}, 120_000);

function findLeaks({ place, text }: { place: string; text: string }): string[] {
  const found = [...SECRETS, ...people.flatMap(({ cpf, values }) => [cpf, ...values])].filter((value) =>
    isDisclosed(text, value),
  );
  return found.map((value) => `${place}: ${value}`);
}

/** As it is, as JSON escapes it, and as an address does. */
function isDisclosed(text: string, value: string): boolean {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)].some((one) => text.includes(one));
}
