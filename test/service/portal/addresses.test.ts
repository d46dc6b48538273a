import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '../../../src/access/list-audit.ts';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { revokeToken } from '../../../src/access/tokens.ts';
import { LEASE_MS } from '../../../src/callbacks/queue/claim-callbacks.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { setMerchantState, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { eraseFromMerchants } from '../../../src/merchants/erase-from-merchants.ts';
import { OLD_ADDRESS_MS } from '../../../src/merchants/old-address.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { ROTATION_MS, readCredentials } from '../../../src/merchants/secrets.ts';
import { CHANGE_HOURS_MAX } from '../../../src/portal/address-changes.ts';
import { mailAddressChanges } from '../../../src/portal/mail-address-changes.ts';
import { NOTICE_EVERY_MS } from '../../../src/portal/note-own-changes.ts';
import type { OwnChange } from '../../../src/portal/read-own-history.ts';
import { applyRetention } from '../../../src/retention/apply-retention.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { openMailSink } from '../../support/open-mail-sink.ts';
import { type Behaviour, type Call, openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { openSurfaces, type Surfaces } from '../../support/open-surfaces.ts';

type Change = { id: string; waits_for: string[] };

let env: CallbackEnvironment;
let surfaces: Surfaces;
const sink = closeAfterAll(await openMailSink());
const shop = closeAfterAll(await openMerchantServer());
let paths = 0;

beforeAll(async () => {
  const SMTP_URL = `smtp://127.0.0.1:${sink.port}`;
  env = await openCallbackEnvironment({
    SMTP_URL,
    ALERT_EMAIL_FROM: 'confere@example.com',
    TRUST_PROXY: '127.0.0.0/8',
  });
  surfaces = await openSurfaces(env);
  const mailing = mailAddressChanges(env.context);
  env.use({ [Symbol.asyncDispose]: () => mailing });
  env.deliverHere();
});
afterAll(() => env[Symbol.asyncDispose]());

/** Answers a challenge as the documentation says, and takes other messages. */
const answers: Behaviour =
  ({ body }) =>
  (_request, response) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { challenge?: string } };
    response.end(type === 'confere.challenge' ? JSON.stringify({ challenge: data.challenge }) : '');
  };

function newPath(behaviour: Behaviour = answers): string {
  const path = `/shop/${paths++}`;
  shop.behaviours[path] = behaviour;
  return path;
}

async function addShop(email: string | null = `owner${paths}@example.com`) {
  const path = newPath();
  const { merchant, secret } = await env.addMerchant(`${shop.url}${path}`, { email, name: 'Loja Azul' });
  const token = await createMerchantToken(env.context, merchant.id);
  const call = async (method: string, address: string, body?: object) => {
    await env.timers.advance(1_000);
    return await callApi<Change & { secret: string }>(
      { url: `${surfaces.url}/api/v1/portal`, token },
      method,
      address,
      body,
    );
  };
  return {
    ...{ id: merchant.id, seq: merchant.seq, path, token, secret, email, call },
    history: async (action: string) => {
      const { json } = await call('GET', `/changes?action=${action}`);
      return (json as unknown as { changes: OwnChange[] }).changes;
    },
    ask: (kind: string, value: string | null) => call('POST', '/address-changes', { kind, value }),
    row: () => findMerchant(env.context.db, merchant.id),
  };
}

/** The link in the newest mail to an address, which is waited for. */
async function linkTo(email: string): Promise<string> {
  const mail = await env.advanceUntil(`a link to ${email}`, () =>
    sink.mails.find(({ to, text }) => to.includes(email) && text.includes('/portal/confirm')),
  );
  sink.mails.splice(sink.mails.indexOf(mail), 1);
  const token = /portal\/confirm\?token=(\S+)/.exec(mail.text)?.[1] ?? '';
  expect(mail.text).not.toContain(shop.url);
  return token;
}

async function open(token: string, language = 'en'): Promise<{ status: number; html: string }> {
  const headers = { 'accept-language': language };
  const response = await fetch(`${surfaces.url}/portal/confirm?token=${token}`, { headers });
  return { status: response.status, html: await response.text() };
}

async function post(token: string, decision: string): Promise<{ status: number; to: string | null }> {
  const response = await fetch(`${surfaces.url}/portal/confirm`, {
    ...{ method: 'POST', redirect: 'manual', headers: { origin: surfaces.url } },
    body: new URLSearchParams({ token, decision }),
  });
  return { status: response.status, to: response.headers.get('location') };
}

const CONFIRMED = { status: 303, to: '/portal/confirm?done=address_changed' };

function verify({ headers, body }: Call, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}

test('a new URL answers a signed challenge, and changes once the link mailed to the e-mail on file is used, once', async () => {
  const own = await addShop();
  await updateMerchant(env.context, own.id, { bearerToken: 'of-the-merchant' });
  const path = newPath();
  const { status, json } = await own.ask('url', `${shop.url}${path}`);
  expect([status, json.waits_for]).toEqual([202, ['email_on_file']]);
  const [challenge] = shop.callsTo(path);
  expect(challenge && verify(challenge, own.secret)).toBe(true);
  expect(JSON.parse(challenge?.body ?? '')).toMatchObject({ type: 'confere.challenge', test: true });
  expect(challenge?.headers.authorization).toBeUndefined();
  const link = await linkTo(own.email ?? '');
  const page = await open(link, 'pt-BR');
  expect(page.html).toContain(`${shop.url}${path}`);
  expect(page.html).toContain('Confirmar uma mudança');
  // a scanner of mails opens links
  expect((await own.row()).url).toBe(`${shop.url}${own.path}`);
  expect((await own.call('GET', '/address-changes')).json).toMatchObject({ address_changes: [{ id: json.id }] });
  expect(await post(link, 'confirm')).toEqual(CONFIRMED);
  expect(await own.row()).toMatchObject({ url: `${shop.url}${path}`, old_url: `${shop.url}${own.path}` });
  expect([(await open(link)).status, (await post(link, 'confirm')).status]).toEqual([404, 404]);
  await env.advanceUntil('the notice', () =>
    sink.mails.some(({ to, text }) => to.includes(own.email ?? '') && text.includes('what changed is')),
  );
  const audit = await listAudit(env.context.db, { target: json.id }, { limit: 10, before: undefined });
  expect(audit.map(({ action }) => action).sort()).toEqual(['merchant.address_asked', 'merchant.address_changed']);
  expect(JSON.stringify(audit)).not.toContain(path);
});

test('an address that does not answer the challenge is refused, as is one that repeats what it is sent', async () => {
  const own = await addShop();
  const refusals: Behaviour[] = [
    () => 200,
    () => 500,
    ({ body }) =>
      (_request, response) =>
        void response.end(body),
    () => (_request, response) => void response.end(`{"challenge":"${'0'.repeat(64)}"}`),
  ];
  for (const refusal of refusals) {
    await env.timers.advance(30_000);
    const { status, text } = await own.ask('url', `${shop.url}${newPath(refusal)}`);
    expect([status, text.includes('of a private address nothing more is said')]).toEqual([422, true]);
  }
  expect((await own.ask('url', 'https://shop.invalid/')).text).toContain('did not answer the challenge (dns)');
  await env.timers.advance(60_000);
  // where no callback goes, no challenge goes
  for (const value of ['http://169.254.169.254/latest', 'ftp://example.com', `${shop.url}${own.path}`])
    expect((await own.ask('url', value)).status).toBe(422);
  expect((await own.ask('email', '')).status).toBe(422);
  expect((await own.call('GET', '/address-changes')).json).toEqual({ address_changes: [] });
  const failed = await own.history('merchant.address_unanswered');
  const hosts = ['shop.invalid', ...refusals.map(() => new URL(shop.url).host)];
  expect(failed.map(({ kind, value }) => [kind, value])).toEqual(hosts.map((host) => ['url', host]));
  const session = `confere_portal=${await openMerchantSession(env.context, own.token)}`;
  const headers = { cookie: session, 'accept-language': 'pt-BR' };
  const page = await (await fetch(`${surfaces.url}/portal/history`, { headers })).text();
  expect(page).toContain('Endereço <span class="id">shop.invalid</span>');
});

test('a new e-mail needs both links: of the e-mail on file, and its own', async () => {
  const own = await addShop();
  const next = `new${paths}@example.com`;
  expect((await own.ask('email', next)).json.waits_for).toEqual(['email_on_file', 'new_email']);
  const agree = await linkTo(own.email ?? '');
  // Confere mails no stranger for a token that leaked
  expect(sink.mails.some(({ to }) => to.includes(next))).toBe(false);
  expect((await post(agree, 'confirm')).to).toContain('address_agreed');
  expect((await own.row()).email).toBe(own.email);
  const prove = await linkTo(next);
  // who reads the new mailbox alone cannot confirm for the old one
  expect((await open(prove.replace('.prove.', '.agree.'))).status).toBe(404);
  // the page of the new e-mail does not show the one on file
  expect((await open(prove)).html).not.toContain(own.email);
  expect(await post(prove, 'confirm')).toEqual(CONFIRMED);
  expect((await own.row()).email).toBe(next);
  await env.advanceUntil('the notice goes to both', () =>
    sink.mails.some(({ to }) => to.includes(own.email ?? '') && to.includes(next)),
  );
  // the change silences no owner
  await own.call('POST', '/pause');
  await env.timers.advance(60_000);
  const mail = await env.advanceUntil('a later notice goes to both', () =>
    sink.mails.find(({ to, text }) => text.includes('paused') && to.includes(next)),
  );
  expect(new Set(mail.to)).toEqual(new Set([own.email, next]));
  expect(mail.text).toMatch(
    /, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(America\/Sao_Paulo\) = \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(UTC\)/,
  );
});

test('without an e-mail on file, an admin decides, by the API, a command, or a form', async () => {
  const own = await addShop(null);
  const changes: [string, (id: string) => Promise<unknown>][] = [
    [
      'first@example.com',
      (change) => surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change, decision: 'refuse' }),
    ],
    [
      'second@example.com',
      (change) => surfaces.confere('merchants', 'decide-address', own.id, '--change', change, '--decision', 'confirm'),
    ],
  ];
  for (const [value, decide] of changes) {
    const { json } = await own.ask('email', value);
    expect(json.waits_for).toEqual(['admin']);
    expect((await surfaces.api('viewer', 'GET', `/merchants/${own.id}/address-changes`)).text).not.toContain(value);
    expect((await surfaces.api('admin', 'GET', `/merchants/${own.id}/address-changes`)).text).toContain(value);
    expect((await surfaces.api('operator', 'POST', `/merchants/${own.id}/address-changes`, {})).status).toBe(403);
    await decide(json.id);
  }
  expect((await own.row()).email).toBe('second@example.com');
  const { json } = await own.ask('email', 'third@example.com');
  const admin = await surfaces.console('admin');
  expect((await admin.get(`/merchants/${own.id}`)).html).toContain(`/merchants/${own.id}/decide-address`);
  const fields = { change: json.id, decision: 'confirm' };
  const preview = await admin.post(`/merchants/${own.id}/decide-address`, fields);
  expect(preview.html).toContain('third@example.com');
  expect((await admin.confirm(`/merchants/${own.id}/decide-address`, preview)).status).toBe(303);
  expect((await own.row()).email).toBe('third@example.com');
});

test('a second change of a kind is refused while one waits, and the mail says what it confirms', async () => {
  const own = await addShop();
  const path = `${newPath()}?key=secret`;
  shop.behaviours[path] = answers;
  const { json } = await own.ask('url', `${shop.url}${path}`);
  const swapped = newPath();
  const second = await own.ask('url', `${shop.url}${swapped}`);
  expect([second.status, second.text]).toEqual([409, expect.stringContaining('address_change_waits')]);
  expect(shop.callsTo(swapped)).toEqual([]);
  const mail = await env.advanceUntil('the mail', () => sink.mails.find(({ to }) => to.includes(own.email ?? '')));
  const { name } = await own.row();
  for (const said of [name, new URL(shop.url).host, 'engineer', 'Asked for by']) expect(mail.text).toContain(said);
  expect(mail.text).not.toMatch(/\/shop|secret/);
  expect((await own.ask('email', 'maria@loja.example')).status).toBe(202);
  const other = await env.advanceUntil('the other mail', () =>
    sink.mails.find(({ to, text }) => to.includes(own.email ?? '') && text.includes('m***@loja.example')),
  );
  expect(other.text).not.toContain('maria');
  const stranger = await addShop();
  expect((await stranger.call('POST', `/address-changes/${json.id}/withdraw`)).status).toBe(404);
  expect((await own.call('POST', `/address-changes/${json.id}/withdraw`)).status).toBe(200);
  expect((await own.call('POST', `/address-changes/${json.id}/withdraw`)).status).toBe(404);
  expect((await own.ask('url', `${shop.url}${newPath()}`)).status).toBe(202);
  const audit = await listAudit(env.context.db, { target: json.id }, { limit: 10, before: undefined });
  expect(audit.map(({ action }) => action)).toContain('merchant.address_withdrawn');
});

test('what a token does in the portal is mailed once, and a second rotation leaves the secret in use', async () => {
  const own = await addShop();
  const live = async () => (await readCredentials(env.context, env.context.db, [own.seq])).get(own.seq)?.keys.length;
  expect((await own.call('POST', '/rotate-secret')).status).toBe(200);
  const again = await own.call('POST', '/rotate-secret');
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('secret_rotated_lately')]);
  expect(await live()).toBe(2);
  await own.call('PUT', '/filter', { filter: { statuses: ['paid'] }, dry_run: true });
  await own.call('PUT', '/filter', { filter: { statuses: ['paid'] } });
  await own.call('POST', '/resume');
  await own.call('POST', '/pause');
  await own.call('POST', '/resume');
  await own.call('POST', '/pause');
  const ofShop = () => sink.mails.filter(({ to }) => to.includes(own.email ?? ''));
  await env.timers.advance(60_000);
  await env.advanceUntil('the notice', () => ofShop().length > 0);
  const [mail] = ofShop();
  expect(mail?.text).toContain((await own.row()).name);
  expect(mail?.text).toMatch(
    /the secret was rotated.*the filter was changed.*what waited was sent at once.*callbacks were resumed.*callbacks were paused/,
  );
  // a token that leaked floods no mailbox
  await own.call('POST', '/resume');
  const notices = await env.context.db
    .selectFrom('merchant_address_changes')
    .select(['value', 'applied_at'])
    .where('merchant_seq', '=', own.seq)
    .orderBy('seq')
    .where('kind', '=', 'notice')
    .execute();
  const [firstMs = 0, nextMs] = notices.map((one) => one.applied_at?.getTime());
  expect([notices.length, nextMs, notices[1]?.value]).toEqual([2, firstMs + NOTICE_EVERY_MS, 'enabled']);
  await env.context.db
    .updateTable('merchant_secrets')
    .set({ expires_at: env.context.clock.now() })
    .where('merchant_seq', '=', own.seq)
    .where('expires_at', 'is not', null)
    .execute();
  expect((await own.call('POST', '/rotate-secret')).status).toBe(200);
});

test('a change is void once its merchant, an admin, a revoked token, time or a restore came between', async () => {
  const between: Record<string, (own: Awaited<ReturnType<typeof addShop>>, id: string) => Promise<unknown>> = {
    'its withdrawal': (own, id) => own.call('POST', `/address-changes/${id}/withdraw`),
    'another URL by an admin': ({ id }) => updateMerchant(env.context, id, { url: 'http://127.0.0.1:9/by-admin' }),
    'another e-mail by an admin': ({ id }) => updateMerchant(env.context, id, { email: 'by-admin@example.com' }),
    'a revoked token': async ({ seq }) => {
      const row = env.context.db.selectFrom('tokens').select('id').where('merchant_seq', '=', seq);
      await revokeToken(env.context, (await row.executeTakeFirstOrThrow()).id);
    },
    'a pause by operators': ({ id }) => setMerchantState(env.context, id, 'paused'),
    'a restore': async () => {
      const now = env.context.clock.now();
      await env.context.db
        .insertInto('restores')
        .values({ gap_from: now, gap_to: now, restored_at: now, head_position: 0, confirmed_at: now })
        .execute();
    },
    'two days': () => env.timers.advance(CHANGE_HOURS_MAX * 3_600_000),
  };
  for (const [name, come] of Object.entries(between)) {
    const own = await addShop();
    const { json } = await own.ask('url', `${shop.url}${newPath()}`);
    const link = await linkTo(own.email ?? '');
    expect([name, (await open(link)).status]).toEqual([name, 200]);
    const before = (await own.row()).url;
    await come(own, json.id);
    expect([name, (await post(link, 'confirm')).status]).toEqual([name, 404]);
    const { url } = await own.row();
    expect([name, [before, 'http://127.0.0.1:9/by-admin'].includes(url ?? '')]).toEqual([name, true]);
  }
});

test('a merchant asks for ten changes a day, and a link of other letters opens nothing', async () => {
  const own = await addShop();
  for (let number = 0; number < 10; number++) {
    await env.timers.advance(20_000);
    const { status, json } = await own.ask('email', `n${number}@example.com`);
    expect(status).toBe(202);
    if (number < 9) await own.call('POST', `/address-changes/${json.id}/withdraw`);
  }
  await env.timers.advance(20_000);
  expect((await own.ask('url', `${shop.url}${newPath()}`)).status).toBe(429);
  const link = await linkTo(own.email ?? '');
  const other = link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  expect((await open(other)).status).toBe(404);
  expect((await open("' OR 1=1")).status).toBe(404);
});

test('what failed at the old URL is tried there until it refuses; the rest goes to the new one', async () => {
  const own = await addShop();
  const at = (one: string, id: string) =>
    shop.callsTo(one).filter(({ json }) => json.data.transaction?.id === id).length;
  const fail = async (from: string, count: number) => {
    shop.behaviours[from] = () => 500;
    const paid = [];
    for (let made = 0; made < count; made++) paid.push((await env.applyTransaction(['paid'])).id);
    // a failure counts once it is recorded
    const failed = env.context.db.selectFrom('callbacks').select('seq').where('merchant_seq', '=', own.seq);
    const open = failed.where('delivered_at', 'is', null).where('first_failed_at', 'is not', null);
    await env.advanceUntil('they fail', async () => (await open.execute()).length === count);
    return paid as [string, string];
  };
  const path = newPath();
  let [paid, before] = ['', 0];
  await move(own, path, async () => {
    [paid] = await fail(own.path, 1);
    before = at(own.path, paid);
  });
  await env.advanceUntil('it arrives at the new one', () => at(path, paid) > 0);
  expect(at(own.path, paid) - before).toBe(1);

  const third = newPath();
  const prior = await env.applyTransaction(['paid']);
  await env.advanceUntil('it arrives', () => at(path, prior.id) > 0);
  let [late, lost] = ['', ''];
  await move(own, third, async () => {
    [late, lost] = await fail(path, 2);
    shop.behaviours[path] = ({ json }) => (json.data.transaction?.id === lost ? 500 : 200);
  });
  const fresh = await env.applyTransaction(['paid']);
  await env.advanceUntil(
    'all have arrived',
    () => at(third, lost) > 0 && at(third, fresh.id) > 0 && at(path, late) + at(third, late) > 1,
  );
  // each once before the change
  expect(at(path, late) + at(path, lost)).toBeGreaterThan(2);
  expect(at(path, fresh.id)).toBe(0);
  expect(await own.row()).toMatchObject({ old_url: null, failing_since: null });
});

/** Changes the URL by an admin's confirmation. */
async function move(
  own: Awaited<ReturnType<typeof addShop>>,
  path: string,
  whileItWaits = async (): Promise<void> => undefined,
): Promise<void> {
  const { json } = await own.ask('url', `${shop.url}${path}`);
  await whileItWaits();
  await surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change: json.id, decision: 'confirm' });
  expect((await own.row()).url).toBe(`${shop.url}${path}`);
}

test('an old URL that took its messages in time takes none after three days', async () => {
  const own = await addShop();
  await move(own, newPath());
  expect((await own.row()).old_url).not.toBeNull();
  await env.timers.advance(OLD_ADDRESS_MS);
  expect((await readCredentials(env.context, env.context.db, [own.seq])).get(own.seq)?.before).toBeUndefined();
});

test('the portal says how many messages still go to the old URL, and until when, while they do', async () => {
  const own = await addShop();
  const cookie = `confere_portal=${await openMerchantSession(env.context, own.token)}`;
  const read = async (language: string) => {
    const found = [];
    for (const address of ['/portal', '/portal/addresses']) {
      await env.timers.advance(1_000);
      const headers = { cookie, 'accept-language': language };
      const html = await (await fetch(`${surfaces.url}${address}`, { headers })).text();
      found.push(/[^>]*(?:endereço antigo|old address) [^<]*<time datetime="[^"]*"/.exec(html)?.[0]);
    }
    return found;
  };
  await move(own, newPath());
  expect(await read('en')).toEqual([undefined, undefined]);
  const changedMs = (await own.row()).url_changed_at?.getTime() ?? 0;
  const wait = {
    first_failed_at: new Date(changedMs - 1_000),
    next_attempt_at: new Date(changedMs + 9 * OLD_ADDRESS_MS),
  };
  const ends = new Date(changedMs + OLD_ADDRESS_MS).toISOString();
  for (const [count, language, said] of [
    [1, 'pt-BR', '1 mensagem em voo ainda vai ao endereço antigo até'],
    [2, 'en', '2 messages in flight still go to the old address until'],
  ] as const) {
    const { id } = await env.applyTransaction(['paid']);
    const callback = await env.advanceUntil('it is delivered', async () => {
      const { json } = await own.call('GET', `/callbacks?transaction_id=${id}&state=delivered`);
      return (json as unknown as { callbacks: { id: string }[] }).callbacks[0];
    });
    const set = { state: 'pending', delivered_at: null, ...wait };
    await env.context.db.updateTable('callbacks').set(set).where('webhook_id', '=', callback.id).execute();
    const expected = `${said} <time datetime="${ends}"`;
    expect(await read(language), `${count}`).toEqual([expected, expected]);
  }
  await env.timers.advance(OLD_ADDRESS_MS);
  expect(await read('en')).toEqual([undefined, undefined]);
});

test('an attempt shows its owner the whole address that it was sent to, and none where that is not known', async () => {
  const own = await addShop();
  const cookie = `confere_portal=${await openMerchantSession(env.context, own.token)}`;
  const wait = () => env.timers.advance(LEASE_MS + 1_000);
  const find = async (query: string) =>
    await env.advanceUntil('it is delivered', async () => {
      const { json } = await own.call('GET', `/callbacks?state=delivered&${query}`);
      return (json as unknown as { callbacks: { id: string }[] }).callbacks[0]?.id;
    });
  const pay = async () => {
    await wait();
    const id = await find(`transaction_id=${(await env.applyTransaction(['paid'])).id}`);
    await wait();
    return id;
  };
  const addressOf = async (callback: string) => {
    await env.timers.advance(1_000);
    const html = await (await fetch(`${surfaces.url}/portal/callbacks/${callback}`, { headers: { cookie } })).text();
    return /HTTP 200 <span class="hint long">([^<]*)</.exec(html)?.[1]?.replace(shop.url, '');
  };
  const first = await pay();
  expect(await addressOf(first)).toBe(own.path);
  const moved = newPath();
  await move(own, moved);
  const second = await pay();
  expect([await addressOf(first), await addressOf(second)]).toEqual([own.path, moved]);
  const test = newPath();
  const { json } = await own.ask('test_url', `${shop.url}${test}`);
  await surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change: json.id, decision: 'confirm' });
  await wait();
  await own.call('POST', '/test');
  expect(await addressOf(await find('tests=only'))).toBe(test);
  const last = newPath();
  await surfaces.api('admin', 'PATCH', `/merchants/${own.id}`, { url: `${shop.url}${last}` });
  const third = await pay();
  expect([await addressOf(second), await addressOf(third)]).toEqual([moved, last]);
  await surfaces.api('admin', 'PATCH', `/merchants/${own.id}`, { email: 'ops@shop.example', name: 'Shop' });
  const { changes } = (await own.call('GET', '/changes?action=merchant.changed')).json as unknown as {
    changes: object[];
  };
  expect(changes).toMatchObject([
    { by: 'operators', fields: ['name', 'email'], addresses: [{ kind: 'email', value: 'ops@shop.example' }] },
    { fields: ['url'], addresses: [{ kind: 'url', value: `${shop.url}${last}`, old_value: `${shop.url}${moved}` }] },
  ]);
  const history = await (await fetch(`${surfaces.url}/portal/history`, { headers: { cookie } })).text();
  expect(history).toContain(`<span class="id">${shop.url}${moved} → ${shop.url}${last}</span>`);
  expect(await addressOf(first)).toBe(own.path);
  await env.context.db.deleteFrom('merchant_address_changes').where('merchant_seq', '=', own.seq).execute();
  expect(await addressOf(first)).toMatch(/^o endereço mudou depois, e o de então/);
});

test('tests and examples go to the test address with its own secret and no header, and say nothing of the URL’s health', async () => {
  const own = await addShop();
  await updateMerchant(env.context, own.id, { bearerToken: 'of-the-merchant' });
  const path = newPath();
  const asked = { kind: 'test_url', value: `${shop.url}${path}`, dry_run: true };
  const { secret } = (await own.call('POST', '/address-changes', asked)).json;
  const { json } = await own.ask('test_url', `${shop.url}${path}`);
  await surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change: json.id, decision: 'confirm' });
  await own.call('POST', '/test');
  await own.call('POST', '/examples', { types: ['pix.cashin.paid'] });
  await env.advanceUntil('both came', () => shop.callsTo(path).length === 3);
  await env.applyTransaction(['paid']);
  await env.advanceUntil('a real one came', () => shop.callsTo(own.path).length === 1);
  expect(shop.callsTo(path).map((call) => [verify(call, secret), call.headers.authorization])).toEqual(
    Array.from({ length: 3 }, () => [true, undefined]),
  );
  const [real] = shop.callsTo(own.path);
  expect(real?.headers.authorization).toBe('Bearer of-the-merchant');
  expect(real && verify(real, own.secret)).toBe(true);
  const open = env.context.db.selectFrom('callbacks').select('seq').where('merchant_seq', '=', own.seq);
  await env.advanceUntil(
    'all are recorded',
    async () => !(await open.where('state', '=', 'pending').executeTakeFirst()),
  );
  // it stays failing though the test address answers
  await env.context.db
    .updateTable('merchants')
    .set({ failing_since: env.context.clock.now() })
    .where('seq', '=', own.seq)
    .execute();
  await own.call('POST', '/test');
  await env.advanceUntil('it came', () => shop.callsTo(path).length === 4);
  await env.timers.advance(2_000);
  expect((await own.row()).failing_since).not.toBeNull();
  const none = (await own.ask('test_url', null)).json;
  await surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change: none.id, decision: 'confirm' });
  await own.call('POST', '/test');
  await env.advanceUntil('it came to the URL', () => shop.callsTo(own.path).length === 2);
});

test('without an e-mail on file, a test address counts at once and gets no payment’s data until it is confirmed', async () => {
  const own = await addShop(null);
  const path = newPath();
  await env.applyTransaction(['paid'], { reference: 'of-maria' });
  await env.advanceUntil('a real one came', () => shop.callsTo(own.path).length === 1);
  // made while it would go to the URL, and sent again once the test address is there
  const made = await own.call('POST', '/examples', { types: ['pix.cashin.paid'] });
  const [{ id: before }] = (made.json as unknown as { callbacks: [{ id: string }] }).callbacks;
  await env.advanceUntil('the example came to the URL', () => shop.callsTo(own.path).length === 2);
  expect(shop.callsTo(own.path)[1]?.body).toContain('of-maria');
  const { json } = await own.ask('test_url', `${shop.url}${path}`);
  expect([json.waits_for, (await own.row()).test_url]).toEqual([[], `${shop.url}${path}`]);
  await own.call('POST', '/examples', { types: ['pix.cashin.paid'] });
  await own.call('POST', `/callbacks/${before}/redeliver`);
  await env.advanceUntil(
    'both came',
    () => shop.callsTo(path).filter(({ json }) => json.type === 'pix.cashin.paid').length === 2,
  );
  for (const { body } of shop.callsTo(path)) expect(body).not.toContain('of-maria');
  // it is taken away at once, too: nobody confirmed it
  const { json: none } = await own.ask('test_url', null);
  expect([none.waits_for, await own.row()]).toEqual([
    [],
    expect.objectContaining({ test_url: null, test_unconfirmed: 0 }),
  ]);
  const [gone] = await own.history('merchant.address_asked');
  expect(gone).toMatchObject({ effects: ['at_once', 'removed'], old_value: `${shop.url}${path}`, value: null });
  await own.call('POST', '/test');
  await env.advanceUntil('a test came to the URL', () => shop.callsTo(own.path).length === 3);
  const { id: sent } = (await own.call('POST', '/address-changes', { kind: 'test_url', value: null })).json;
  expect(sent, 'there is none').toBeUndefined();
});

test('an unconfirmed test address that is asked for again is confirmed; the history says what became of it', async () => {
  const own = await addShop(null);
  const path = newPath();
  const value = `${shop.url}${path}`;
  await env.applyTransaction(['paid'], { reference: 'of-joana' });
  const decide = (change: string, decision: string) =>
    surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change, decision });
  await own.ask('test_url', value);
  const again = await own.ask('test_url', value);
  expect([again.status, again.json.waits_for]).toEqual([202, ['admin']]);
  await decide(again.json.id, 'confirm');
  expect(await own.row()).toMatchObject({ test_url: value, test_unconfirmed: 0 });
  expect((await own.ask('test_url', value)).status).toBe(422);
  await own.call('POST', '/examples', { types: ['pix.cashin.paid'] });
  await own.call('POST', '/test');
  await env.advanceUntil('it repeats a message', () =>
    shop.callsTo(path).some(({ body }) => body.includes('of-joana')),
  );
  const removal = (await own.ask('test_url', null)).json;
  expect(removal.waits_for, 'a confirmed one').toEqual(['admin']);
  await decide(removal.id, 'confirm');
  const effects = async (action: string) =>
    (await own.history(action)).map((one) => `${one.kind} ${one.effects.join(' ')}`);
  expect(await effects('merchant.address_asked')).toEqual([
    ...['test_url removed', 'test_url ', 'test_url unconfirmed'],
  ]);
  expect(await effects('merchant.address_decided')).toEqual(['test_url confirm removed', 'test_url confirm']);
  expect((await own.history('merchant.tested')).map(({ types }) => types)).toEqual([
    ...[['confere.test'], ['pix.cashin.paid']],
  ]);
  const session = `confere_portal=${await openMerchantSession(env.context, own.token)}`;
  const headers = { cookie: session, 'accept-language': 'pt-BR' };
  const page = await (await fetch(`${surfaces.url}/portal/history`, { headers })).text();
  expect(page).toMatch(/sem ele, os testes vão para o endereço de produção[\s\S]*recebe só exemplos fictícios/);
});

test('the history has a filter with all values before and after for a week, the audit none that may name a person', async () => {
  const own = await addShop();
  const choose = (filter: object) => own.call('PUT', '/filter', { filter });
  await choose({ reference_prefixes: ['maria-'], extra_match: { store: 7 } });
  await choose({ reference_prefixes: ['maria-'], extra_match: { store: 7 }, statuses: ['paid'] });
  const filter = { reference_prefixes: ['loja-'], expected: true };
  await surfaces.api('admin', 'PATCH', `/merchants/${own.id}`, { filter });
  const values = { reference_prefixes: ['maria-'], extra_match: ['store=7'] };
  const counts = { reference_prefixes: 1, extra_match: 1 };
  const filtersOf = async (action: string) => (await own.history(action)).map((one) => one.filter);
  expect(await filtersOf('merchant.filter_chosen')).toEqual([
    { before: values, after: { ...values, statuses: ['paid'] } },
    { before: {}, after: values },
  ]);
  const [changed] = await own.history('merchant.changed');
  expect(changed).toMatchObject({ addresses: [], fields: ['filter', 'expected=true'] });
  expect(changed?.filter).toEqual({ before: {}, after: { reference_prefixes: ['loja-'], expected: ['true'] } });
  const session = `confere_portal=${await openMerchantSession(env.context, own.token)}`;
  const headers = { cookie: session, 'accept-language': 'pt-BR' };
  const page = await (await fetch(`${surfaces.url}/portal/history`, { headers })).text();
  expect(page).toContain('tudo → referência começa com: loja-; mudanças de pedidos: sim');
  const audit = await listAudit(env.context.db, { target: own.id }, { limit: 10, before: undefined });
  expect(JSON.stringify(audit)).not.toMatch(/maria-|loja-/);
  await env.context.db.deleteFrom('merchant_address_changes').where('merchant_seq', '=', own.seq).execute();
  expect(await filtersOf('merchant.filter_chosen')).toEqual([
    { before: counts, after: { ...counts, statuses: ['paid'] } },
    { before: {}, after: counts },
  ]);
  expect(await filtersOf('merchant.changed')).toEqual([null]);
});

test('the form of an address says that it is outside of internal networks only where it must be', async () => {
  const own = await addShop();
  const cookie = `confere_portal=${await openMerchantSession(env.context, own.token)}`;
  const show = async (url: string) =>
    await (await fetch(`${url}/portal/addresses`, { headers: { cookie, 'accept-language': 'pt-BR' } })).text();
  const config = { ...env.context.config, CALLBACK_ALLOW_PRIVATE: false };
  await using strict = await serveHttp(
    { ...env.context, config },
    createApp({ ...env.context, config }),
    TEST_HTTP_LIMITS,
  );
  const pages = [await show(surfaces.url), await show(`http://127.0.0.1:${strict.port}`)];
  expect(
    pages.map((page) => [page.includes('sem usuário nem senha'), page.includes('fora de redes internas')]),
  ).toEqual([
    [true, false],
    [true, true],
  ]);
});

test('a merchant that fetches its events has no address to change', async () => {
  const { merchant } = await env.addMerchant('', { url: null });
  const token = await createMerchantToken(env.context, merchant.id);
  const body = { kind: 'url', value: `${shop.url}${newPath()}` };
  const api = { url: `${surfaces.url}/api/v1/portal`, token };
  expect((await callApi(api, 'POST', '/address-changes', body)).status).toBe(409);
});

test('changes, the test address and the URL before end with a person who is forgotten; changes after a week', async () => {
  const own = await addShop();
  await own.ask('email', 'maria.silva@example.com');
  const named = { test_url: 'https://maria.silva.example/', old_url: 'https://maria.silva.example/' };
  await env.context.db.updateTable('merchants').set(named).where('seq', '=', own.seq).execute();
  const erase = eraseFromMerchants(env.context) as (...args: unknown[]) => Promise<number>;
  const redact = (text: string) => (text.includes('maria.silva') ? '***' : undefined);
  const count = async () =>
    (
      await env.context.db
        .selectFrom('merchant_address_changes')
        .select('id')
        .where('merchant_seq', '=', own.seq)
        .execute()
    ).length;
  const person = { redact, onLeft: () => undefined };
  expect([await erase(person, { write: false }), await count()]).toEqual([2, 1]);
  expect([await erase(person, { write: true }), await count()]).toEqual([2, 0]);
  expect(await own.row()).toMatchObject({ test_url: null, old_url: null, email: own.email });
  await own.ask('email', 'joao@example.com');
  await env.timers.advance(8 * 24 * 3_600_000);
  await applyRetention(env.context);
  expect(await count()).toBe(0);
});

test('the secret of the test address is rotated as the main one: both sign for 24 hours, and the main one stays', async () => {
  const own = await addShop();
  const rotate = () => own.call('POST', '/rotate-secret', { of: 'test_url' });
  expect(await rotate()).toMatchObject({ status: 409, json: { reason: 'test_url_missing' } });
  const path = newPath();
  const asked = { kind: 'test_url', value: `${shop.url}${path}`, dry_run: true };
  const { secret: before } = (await own.call('POST', '/address-changes', asked)).json;
  const { json } = await own.ask('test_url', `${shop.url}${path}`);
  await surfaces.api('admin', 'POST', `/merchants/${own.id}/address-changes`, { change: json.id, decision: 'confirm' });
  const { secret: after } = (await rotate()).json;
  expect(after).not.toBe(before);
  expect(await rotate()).toMatchObject({ status: 409, json: { reason: 'secret_rotated_lately' } });
  expect((await own.call('POST', '/address-changes', asked)).json.secret).toBe(after);
  /** Which of both secrets sign the next test. */
  const signing = async () => {
    const sent = shop.callsTo(path).length;
    await own.call('POST', '/test');
    const call = await env.advanceUntil('it came', () => shop.callsTo(path)[sent]);
    const signatures = String(call.headers['webhook-signature']).split(' ');
    const signedBy = (secret: string) =>
      signatures.some((one) => verify({ ...call, headers: { ...call.headers, 'webhook-signature': one } }, secret));
    return [signatures.length, signedBy(after), signedBy(before)];
  };
  expect(await signing()).toEqual([2, true, true]);
  const keys = async () => (await readCredentials(env.context, env.context.db, [own.seq])).get(own.seq)?.keys.length;
  expect(await keys()).toBe(1);
  const now = env.context.clock.now().getTime();
  await env.context.db
    .updateTable('merchants')
    .set({ test_rotated_at: new Date(now - ROTATION_MS) })
    .where('id', '=', own.id)
    .execute();
  expect(await signing()).toEqual([1, true, false]);
  expect((await rotate()).status).toBe(200);
});
