import { beforeAll, describe, expect, it } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { inventExample } from '../../../src/callbacks/render/invent-example.ts';
import { toProviderBody } from '../../../src/callbacks/render/provider-body.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { formatWallTime } from '../../../src/domain/language/language.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { readDocument } from '../../../src/http/console/system/render-document.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { CALLBACK_MESSAGES } from '../../../src/http/openapi/callback-messages.ts';
import { updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { EXAMPLE_TYPES, MESSAGE_TYPES } from '../../../src/operations/merchants/message-types.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { eventually } from '../../support/eventually.ts';
import { payOne } from '../../support/expect-orders.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { asSent, formTokenOf, hiddenFields } from '../../support/open-console-session.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';

const PATH = '/pix/receive?key=abc123';
type Example = { type: string; test?: boolean; data: { transaction?: { name: string } } };

const env = closeAfterAll(await openCallbackEnvironment());
const shop = closeAfterAll(await openMerchantServer());
let url: string;
let token: string;
let cookie: string;
let id: string;

beforeAll(async () => {
  const server = env.use(await serveHttp(env.context, createApp(env.context), TEST_HTTP_LIMITS));
  url = `http://127.0.0.1:${server.port}`;
  const { merchant } = await env.addMerchant(`${shop.url}${PATH}`);
  id = merchant.id;
  token = await createMerchantToken(env.context, merchant.id);
  cookie = `confere_portal=${await openMerchantSession(env.context, token)}`;
});

async function show(address: string, language = 'pt-BR') {
  await env.timers.advance(1_000);
  const response = await fetch(`${url}${address}`, { headers: { cookie, 'accept-language': language } });
  return { status: response.status, html: await response.text() };
}

it('the portal shows the address whole, and that it fails at the first refusal, with the answer', async () => {
  shop.behaviours[PATH] = () => (_request, response) => void response.writeHead(401).end('{"error":"which token?"}');
  env.deliverHere();
  await env.applyTransaction(['paid', 'refund']);
  await eventually('the callback is refused', () => shop.calls.length > 0);
  const page = await eventually('the page says so', async () => {
    const { html } = await show('/portal');
    return html.includes('Falhando') && html;
  });
  expect(page).toContain(`${shop.url}${PATH}`);
  expect(page).toMatch(
    /não aceita nada há[\s\S]*A resposta que recebemos: HTTP 401[\s\S]*<pre>\{&quot;error&quot;:&quot;which token\?&quot;\}/,
  );
  const { json } = await callApi({ url: `${url}/api/v1/portal`, token }, 'GET', '/health');
  expect(json).toMatchObject({ last_failure: { response_status: 401, response_body: '{"error":"which token?"}' } });
});

it('what waits for a later time is sent at once by one button, once the receiver works', async () => {
  const { db, clock } = env.context;
  const later = new Date(clock.now().getTime() + 10 * 86_400_000);
  await eventually('the attempt is recorded: no message has a lease', async () => {
    const waits = await db
      .updateTable('callbacks')
      .set({ next_attempt_at: later })
      .where('state', '=', 'pending')
      .where('lease_until', 'is', null)
      .executeTakeFirstOrThrow();
    return waits.numUpdatedRows === 2n;
  });
  shop.behaviours[PATH] = () => 200;
  const { html } = await show('/portal', 'en');
  expect(html).toContain('Is your server repaired? Send at once what waits.');
  expect((await show('/portal/callbacks')).html).toContain('Enviar agora tudo o que espera');
  const press = async () =>
    await fetch(`${url}/portal/resume`, {
      ...{ method: 'POST', headers: { cookie, origin: url }, redirect: 'manual' },
      body: new URLSearchParams(hiddenFields((await show('/portal')).html)),
    });
  const before = shop.calls.length;
  const pressed = await press();
  expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/portal?done=sent_waiting&n=1&following=1']);
  const notice = async (address: string, language?: string) =>
    /role="status">([^<]*)</.exec((await show(address, language)).html)?.[1];
  expect([
    await notice('/portal?done=sent_waiting&n=1&following=0'),
    await notice('/portal?done=sent_waiting&n=1&following=1'),
    await notice('/portal?done=sent_waiting&n=44&following=36'),
    await notice('/portal?done=sent_waiting&n=44&following=36', 'en'),
    await notice('/portal?done=sent_waiting&n=0&following=0'),
    await notice('/portal?done=sent_waiting&n=0&following=0', 'en'),
  ]).toEqual([
    'Enviando agora uma mensagem que esperava.',
    'Enviando agora uma mensagem que esperava. Em seguida vai uma que aguarda uma mensagem anterior.',
    'Enviando agora 44 mensagens que esperavam. Em seguida vão 36 que aguardam uma mensagem anterior.',
    'Sending 44 messages that waited now. Then 36 follow that wait for an earlier message.',
    'Nada espera: nada a enviar agora.',
    'Nothing waits: there is nothing to send now.',
  ]);
  const { html: history } = await show('/portal/history');
  expect(history).toMatch(/<div>o que esperava foi enviado na hora<\/div><\/td><td[^>]*><div>nada estava parado</);
  expect(history).not.toContain('<div>envios retomados<');
  expect(history).toContain('>envios retomados, ou o que esperava foi enviado na hora</option>');
  await env.advanceUntil('both came', () => shop.calls.length > before + 1);
  expect((await show('/portal')).html).not.toContain('Enviar agora tudo o que espera');
});

it.each([
  ['pt-BR', 'Não encontrado', 'Não há callback com este id.', '/portal/callbacks/none'],
  ['pt-BR', 'Não encontrado', 'Não há nada neste endereço.', '/portal/nothing'],
  ['en', 'Not found', 'There is no callback with this id.', '/portal/callbacks/none'],
  ['en', 'Not found', 'There is nothing at this address.', '/portal/nothing'],
])('the portal says in %s what it has not found: %s, %s', async (language, title, text, address) => {
  const { status, html } = await show(address, language);
  expect(status).toBe(404);
  expect(html).toMatch(new RegExp(`<h1>${title}</h1>\\s*<p>${text}</p>\\s*<p><a href="/portal">`));
});

describe('an example of each message', () => {
  const post = (body: object) => callApi({ url: `${url}/api/v1/portal`, token }, 'POST', '/examples', body);

  it('comes signed by one request, marked, in the form of its schema; of a type that came, it repeats the newest', async () => {
    shop.behaviours[PATH] = () => 200;
    const before = shop.calls.length;
    const { status, json } = await post({});
    expect(status).toBe(202);
    expect((json.callbacks as object[]).length).toBe(EXAMPLE_TYPES.length);
    const examples = await env.advanceUntil('all came', () => {
      const found = shop.calls.slice(before).map((call) => JSON.parse(call.body) as Example);
      return found.filter(({ test }) => test).length === EXAMPLE_TYPES.length && found.filter(({ test }) => test);
    });
    expect(examples.map(({ type }) => type).sort()).toEqual([...EXAMPLE_TYPES].sort());
    for (const example of examples) {
      const schema = CALLBACK_MESSAGES.find(({ type }) => type === example.type)?.body;
      expect([example.type, schema?.safeParse(example).error]).toEqual([example.type, undefined]);
    }
    const own = (type: string) => examples.find((one) => one.type === type)?.data.transaction?.name;
    expect([own('pix.cashin.paid'), own('pix.cashout.paid')]).toEqual(['Maria', 'Pessoa de Exemplo']);
  });

  it('keeps its body, on its page and when it is delivered again, though a newer message of its type came', async () => {
    const ask = (method: string, path: string) => callApi({ url: `${url}/api/v1/portal`, token }, method, path);
    const { json } = await post({ types: ['pix.cashin.paid', 'pix.cashout.paid'] });
    const made = (json.callbacks as { id: string }[]).map(({ id }) => id);
    const sent = (id: string) => shop.calls.filter((call) => call.headers['webhook-id'] === id).map(({ body }) => body);
    const isDelivered = async (id: string) => (await ask('GET', `/callbacks/${id}`)).json.state === 'delivered';
    for (const id of made) await env.advanceUntil('it is delivered', () => isDelivered(id));
    await env.applyTransaction(['paid'], { name: 'Joana' });
    expect((await show(`/portal/callbacks/${made[0]}`)).html).toContain('&quot;Maria&quot;');
    expect((await show('/portal/messages/pix.cashin.paid')).html).toContain('&quot;Joana&quot;');
    expect((await show(`/portal/callbacks/${made[0]}`)).html).toContain(`host: ${new URL(shop.url).host}`);
    for (const id of made) {
      await ask('POST', `/callbacks/${id}/redeliver`);
      await env.advanceUntil('it came again', () => sent(id).length === 2);
      expect(sent(id)[1]).toBe(sent(id)[0]);
    }
  });

  it('is marked in the format of the provider too, and only known types are taken', async () => {
    const body = inventExample('pix.cashin.paid', '2026-11-21T08:00:00-03:00');
    expect(toProviderBody({ ...body, test: true }, 'msg_1')).toMatchObject({ status: 'paid', test: true });
    expect(toProviderBody(body, 'msg_1')).not.toHaveProperty('test');
    expect((await post({ types: ['pix.cashin.none'] })).status).toBe(422);
  });

  it('stands in the catalogue with its schema; the first page and its buttons send them', async () => {
    const list = await show('/portal/messages');
    const host = new URL(shop.url).host;
    expect(list.html).toContain('<h1>Tipos de mensagem</h1>');
    expect(list.html).toMatch(new RegExp(`Destino[\\s\\S]*<code>${host}</code>[\\s\\S]*endereço de produção`));
    for (const type of MESSAGE_TYPES) expect(list.html).toContain(`/portal/messages/${type}"`);
    for (const words of ['Entrada: Pago', 'Saída: fatos corrigidos', 'Pedido: Pago a menos'])
      expect(list.html).toContain(words);
    const own = await show('/portal/messages/pix.cashin.paid');
    expect(own.html).toMatch(
      /A sua mensagem mais recente deste tipo[\s\S]*&quot;Joana&quot;[\s\S]*&quot;test&quot;: true[\s\S]*&quot;properties&quot;/,
    );
    expect(own.html).not.toContain('$ref');
    const sent = shop.calls.length;
    const asked = await fetch(`${url}/portal/examples`, {
      method: 'POST',
      headers: { cookie, origin: url },
      body: new URLSearchParams({ form_token: formTokenOf(own.html) }),
    });
    const preview = await asked.text();
    expect(preview).toMatch(
      new RegExp(`${EXAMPLE_TYPES.length}[\\s\\S]*${host}[\\s\\S]*chegam ao sistema que trata pagamentos`),
    );
    await env.timers.advance(2_000);
    expect(shop.calls.length).toBe(sent);
    expect((await show('/portal/callbacks')).html).toMatch(
      /<code>pix\.cashin\.paid<\/code> <span class="badge is-example">exemplo/,
    );
    expect((await show('/portal/messages/pix.cashout.corrected')).html).toContain('Fictício');
    expect((await show('/portal/messages/pix.cashin.none')).status).toBe(404);
  });

  it('is shown as its button sends it: the newest of one instant, invented for an unconfirmed test address, flat', async () => {
    const { db } = env.context;
    const set = (values: { test_url?: string | null; test_unconfirmed?: number; format?: string }) =>
      db.updateTable('merchants').set(values).where('id', '=', id).execute();
    const rows = db.selectFrom('callbacks').where('type', '=', 'pix.cashin.paid').where('source', '<>', 'test');
    for (const name of ['Ana', 'Bia']) await env.applyTransaction(['paid'], { name });
    const [last, other] = await rows.select(['seq', 'webhook_id']).orderBy('seq', 'desc').limit(2).execute();
    const seqs = [last?.seq ?? 0, other?.seq ?? 0];
    await db.updateTable('callbacks').set({ created_at: env.context.clock.now() }).where('seq', 'in', seqs).execute();
    const address = '/portal/messages/pix.cashin.paid';
    const own = (await show(address)).html;
    expect([own.includes(`/portal/callbacks/${last?.webhook_id}"`), own.includes('&quot;Bia&quot;')]).toEqual([
      true,
      true,
    ]);
    await set({ test_url: `${shop.url}/test`, test_unconfirmed: 1 });
    const invented = (await show(address)).html;
    expect(invented).toMatch(/Vai um exemplo fictício[\s\S]*ninguém confirmou[\s\S]*Pessoa de Exemplo/);
    expect(invented).not.toContain('Bia');
    expect((await show('/portal/addresses')).html).toContain('Para confirmá-lo, peça o mesmo endereço de novo.');
    await set({ test_url: null, test_unconfirmed: 0, format: 'provider' });
    expect((await show(address)).html).toMatch(/&quot;transaction_amount&quot;/);
    expect((await show('/portal/messages/pix.cashin.corrected')).html).toContain('ela não é enviada');
    await set({ format: 'standard' });
  });

  it('that failed is sent again with all that failed, by one button', async () => {
    const ask = (query: string) => callApi({ url: `${url}/api/v1/portal`, token }, 'GET', `/callbacks?${query}`);
    const countFailed = async () => ((await ask('tests=only&state=failed')).json.callbacks as object[]).length;
    shop.behaviours[PATH] = ({ body }) => (body.includes('"test":true') ? 500 : 200);
    await post({ types: ['pix.cashin.paid', 'pix.cashout.paid'] });
    await env.advanceUntil('both failed', async () => (await countFailed()) === 2);
    const { html } = await show('/portal/callbacks?tests=only');
    expect(html).toMatch(/Reenviar os testes que falharam desde <time/);
    shop.behaviours[PATH] = () => 200;
    const before = shop.calls.length;
    const pressed = await fetch(`${url}/portal/resend-tests`, {
      ...{ method: 'POST', headers: { cookie, origin: url }, redirect: 'manual' },
      body: new URLSearchParams(hiddenFields(html)),
    });
    expect([pressed.status, pressed.headers.get('location')]).toEqual([303, expect.stringContaining('done=replayed')]);
    const resent = () => shop.calls.slice(before).filter(({ body }) => body.includes('"test":true')).length;
    await env.advanceUntil('both came', async () => resent() === 2 && (await countFailed()) === 0);
    expect((await show('/portal/callbacks?tests=only')).html).not.toContain('Reenviar os testes');
  });
});

it('a pause asks first: it says what it holds and how one resumes, and examples lead to their list with their number', async () => {
  const post = async (path: string, form: Record<string, string>) => {
    await env.timers.advance(1_000);
    return await fetch(`${url}${path}`, {
      ...{ method: 'POST', headers: { cookie, origin: url }, redirect: 'manual' },
      body: new URLSearchParams(form),
    });
  };
  const home = (await show('/portal')).html;
  const preview = await (await post('/portal/pause', hiddenFields(home))).text();
  expect(preview).toMatch(/Espera agora[\s\S]*Nada se perde[\s\S]*Para voltar: Retomar os envios/);
  const state = () =>
    env.context.db.selectFrom('merchants').select('state').where('id', '=', id).executeTakeFirstOrThrow();
  expect(await state()).toEqual({ state: 'enabled' });
  const paused = await post('/portal/pause', { ...hiddenFields(preview), step: 'confirm' });
  expect(paused.headers.get('location')).toBe('/portal?done=paused');
  expect(await state()).toEqual({ state: 'paused' });
  const audited = await env.context.db
    .selectFrom('audit')
    .select('detail')
    .where('action', '=', 'merchant.paused')
    .execute();
  expect(audited).toEqual([{ detail: 'portal' }]);
  await post('/portal/resume', hiddenFields(home));
  const asked = await (await post('/portal/examples', hiddenFields(home))).text();
  const made = await post('/portal/examples', { ...hiddenFields(asked), step: 'confirm' });
  const n = EXAMPLE_TYPES.length;
  const landing = made.headers.get('location') ?? '';
  expect(landing).toBe(`/portal/callbacks?tests=only&n=${n}&done=examples`);
  expect((await show(landing)).html).toContain(`role="status">${n} exemplos na fila, abaixo`);
});

it.each([
  [
    'pt-BR',
    'Se a próxima tentativa falhar, seguem outras depois de 1 s, 1 s, 1 s; cada espera varia até 20 %',
    'A próxima tentativa é a última',
    'tentado uma vez só',
    'entregue de novo',
  ],
  [
    'en',
    'If the next attempt fails, others follow after 1 s, 1 s, 1 s; each wait varies by up to 20 %',
    'The next attempt is the last one',
    'is tried once',
    'deliver it again',
  ],
])(
  'the page of a callback says whether it is tried again, and when: %s',
  async (language, schedule, last, once, by) => {
    const { db, clock } = env.context;
    const pageOf = async (source: 'test' | 'event', state?: 'pending' | 'failed', step = 1) => {
      const select = db.selectFrom('callbacks').select(['seq', 'webhook_id', 'state', 'next_attempt_at', 'step']);
      const row = await select.where('source', source === 'test' ? '=' : '<>', 'test').executeTakeFirstOrThrow();
      const later = state === 'pending' ? new Date(clock.now().getTime() + 86_400_000) : null;
      const set = (values: Pick<typeof row, 'state' | 'next_attempt_at' | 'step'>) =>
        db.updateTable('callbacks').set(values).where('seq', '=', row.seq).execute();
      if (state) await set({ state, next_attempt_at: later, step });
      const { html } = await show(`/portal/callbacks/${row.webhook_id}`, language);
      await set({ state: row.state, next_attempt_at: row.next_attempt_at, step: row.step });
      return [schedule, last, once, by].filter((text) => html.includes(text));
    };
    expect(await pageOf('event')).toEqual([]);
    expect(await pageOf('event', 'pending')).toEqual([schedule]);
    expect(await pageOf('event', 'pending', 4)).toEqual([last]);
    expect(await pageOf('event', 'failed')).toEqual([by]);
    expect(await pageOf('test')).toEqual([once]);
  },
);

it('the first page says that messages go now while they are being sent', async () => {
  const { db } = env.context;
  const next = async () => /Próxima tentativa<\/dt><dd>([^<]*)/.exec((await show('/portal')).html)?.[1];
  expect(await next()).toBe('nada espera');
  const select = db.selectFrom('callbacks').select(['seq', 'state', 'next_attempt_at']).where('source', '<>', 'test');
  const row = await select.where('state', '=', 'delivered').executeTakeFirstOrThrow();
  const set = (values: object) => db.updateTable('callbacks').set(values).where('seq', '=', row.seq).execute();
  const until = new Date(env.context.clock.now().getTime() + 86_400_000);
  await set({ state: 'pending', next_attempt_at: until, lease_holder: 'another', lease_until: until });
  expect(await next()).toBe('agora');
  await set({ ...row, lease_holder: null, lease_until: null });
});

it('the preview of removing the test address says where tests go then', async () => {
  const set = (values: object) => env.context.db.updateTable('merchants').set(values).where('id', '=', id).execute();
  await set({ test_url: `${shop.url}/test`, test_unconfirmed: 0 });
  const fields = { form_token: formTokenOf((await show('/portal/addresses')).html), kind: 'test_url', value: '' };
  const headers = { cookie, origin: url, 'accept-language': 'pt-BR' };
  const asked = await fetch(`${url}/portal/addresses`, { method: 'POST', headers, body: new URLSearchParams(fields) });
  expect(await asked.text()).toContain('Sem endereço de teste, os testes vão para o endereço de produção.');
  await set({ test_url: null });
});

it('the list of callbacks offers no type that it never has', async () => {
  const { html } = await show('/portal/callbacks');
  expect([html.includes('value="confere.test"'), html.includes('confere.challenge')]).toEqual([true, false]);
});

it('the form of a replay says that tests and manifests are no part of a period, and leads to those that failed', async () => {
  const { html } = await show('/portal/replay', 'en');
  expect(html).toMatch(
    /Tests, examples and day manifests are not part of a period\. <a href="\/portal\/callbacks\?tests=only&amp;state=failed">Send the tests[^\n]*href="\/portal\/feed"/,
  );
  expect((await show('/portal/callbacks?tests=only&state=failed')).status).toBe(200);
});

it.each([
  ['pt-BR', 'Nenhum destes eventos tem estas situações: payed. Eles têm: '],
  ['en', 'None of these events has these statuses: payed. They have: '],
])(
  'the preview of a filter names the values that no event has, and those that they have: %s',
  async (language, said) => {
    const headers = { cookie, origin: url, 'accept-language': language };
    const preview = async (statuses: string) => {
      const fields = { form_token: formTokenOf((await show('/portal/filter')).html), statuses };
      return await (
        await fetch(`${url}/portal/filter`, { method: 'POST', headers, body: new URLSearchParams(fields) })
      ).text();
    };
    expect(await preview('payed')).toContain(`${said}${language === 'en' ? 'Paid' : 'Pago'}`);
    const known = await preview('paid');
    expect(known).not.toContain(said.slice(0, 30));
    expect(known).toContain(
      language === 'en' ? 'Events of transactions are counted' : 'Contam-se eventos de transações',
    );
  },
);

it('the form of a replay begins with the first failure, else a week ago, and has today', async () => {
  const { calendar, clock, db } = env.context;
  const today = calendar.dayOf(clock.now());
  const tomorrow = addDays(today, 1);
  const fresh = await show('/portal/replay');
  for (const day of [addDays(today, -7), tomorrow]) expect(fresh.html).toContain(`value="${day}T00:00:00"`);
  expect(fresh.html).toContain('repete as mensagens que o manifesto desse dia nomeia');
  const created = new Date(clock.now().getTime() - 20 * 86_400_000);
  const [row] = await db.selectFrom('callbacks').select('seq').where('source', '<>', 'test').limit(1).execute();
  const failed = { state: 'failed', next_attempt_at: null, created_at: created };
  await db
    .updateTable('callbacks')
    .set(failed)
    .where('seq', '=', row?.seq ?? 0)
    .execute();
  const form = (await show('/portal/replay')).html;
  for (const day of [calendar.dayOf(created), tomorrow]) expect(form).toContain(`value="${day}T00:00:00"`);
  expect(form).toMatch(/<option value="failed" selected/);
  await db
    .updateTable('callbacks')
    .set({ state: 'delivered' })
    .where('seq', '=', row?.seq ?? 0)
    .execute();
});

it('the preview of a replay counts by type, and names the first and the last message with their times', async () => {
  const typed = { from: '2020-01-01T00:00:00', to: '2099-01-01T00:00:00', states: 'all' };
  const { html: form } = await show('/portal/replay');
  const headers = { cookie, origin: url, 'accept-language': 'en' };
  const body = new URLSearchParams({ form_token: formTokenOf(form), ...typed });
  const text = await (await fetch(`${url}/portal/replay`, { method: 'POST', headers, body })).text();
  const kept = await env.context.db
    .selectFrom('callbacks')
    .select(['type', 'webhook_id'])
    .where('source', '<>', 'test')
    .where('state', 'in', ['delivered', 'failed'])
    .where('transaction_seq', 'is not', null)
    .orderBy('seq')
    .execute();
  expect(kept.length).toBeGreaterThan(1);
  for (const [type, rows] of Map.groupBy(kept, (row) => row.type))
    expect(text).toContain(`<code>${type}</code>: ${rows.length}<`);
  const one = (id = '') => `\\d\\d:\\d\\d:\\d\\d[\\s\\S]*${id}`;
  const [first, last] = [kept[0]?.webhook_id, kept.at(-1)?.webhook_id];
  expect(text).toMatch(new RegExp(`The first[\\s\\S]*${one(first)}[\\s\\S]*The last[\\s\\S]*${one(last)}`));
});

it('a token that no merchant has is not called missing, and a fault of a parameter is said once', async () => {
  const reasonOf = async (path: string, given: string) =>
    (await callApi({ url: `${url}/api/v1`, token: given }, 'GET', path)).json.reason;
  const unknown = `cfm_${'x'.repeat(43)}`;
  for (const path of ['/portal', '/events?peek=true', '/manifests/2026-01-01'])
    expect([path, await reasonOf(path, unknown)]).toEqual([path, 'merchant_token_unknown']);
  expect(await reasonOf('/portal', '')).toBe('merchant_token_missing');
  await env.timers.advance(1_000);
  const { status, json } = await callApi({ url: `${url}/api/v1`, token }, 'GET', '/events?peek=true&since=yesterday');
  expect([status, json.errors]).toEqual([
    422,
    { since: ['must be an instant, 2026-11-21T00:00:00-03:00, or the id of an event, msg_…'] },
  ]);
});

it('the cursor, the day manifests and the documents stand in the portal, in the language of the reader', async () => {
  const feed = await show('/portal/feed');
  expect(feed.html).toMatch(
    /Lido até o cursor[\s\S]*nenhum ainda[\s\S]*Último cursor[\s\S]*nenhum ainda[\s\S]*\/api\/v1\/events\?after=0&amp;limit=200/,
  );
  const { db, calendar, clock } = env.context;
  const row = await db
    .selectFrom('merchants')
    .select(['seq', 'events_since'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const today = calendar.dayOf(clock.now());
  const shownDay = (back: number) => addDays(today, -back).split('-').reverse().join('/');
  const said = async () =>
    [...(await show('/portal/feed')).html.matchAll(/<li>(\d[^:]*: [\s\S]*?)<\/li>/g)].map(([, one]) => one);
  const of = (set: object) => db.updateTable('merchants').set(set).where('id', '=', id).execute();
  const backfill = (state: string) =>
    db.updateTable('backfills').set({ state }).where('merchant_seq', '=', row.seq).execute();
  await backfill('done');
  await of({ events_since: calendar.startOfDay(addDays(today, -10)) });
  const before = `${shownDay(14)} – ${shownDay(11)}: não há: você recebe eventos desde ${shownDay(10)}`;
  expect(await said()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(`${shownDay(9)}: não há: sem mensagens suas|${shownDay(10)} – `),
      before,
    ]),
  );
  const at = `${addDays(today, -8)} 12:00:00`;
  await payOne(env.context, { date_created: at, events: [{ status: 'paid', date_created: at }] });
  expect(await said()).toContainEqual(expect.stringMatching(new RegExp(`^${shownDay(8)}: vem em <time`)));
  await backfill('running');
  const later = 'vem depois que o envio dos eventos anteriores terminar';
  expect(await said()).toEqual([`${shownDay(10)} – ${shownDay(1)}: ${later}`, before]);
  await backfill('done');
  await of({ events_since: row.events_since });
  for (const file of ['verify-day.mjs', 'verify-day.php', 'callbacks.schema.json'])
    expect(await show(`/portal/docs/${file}`)).toEqual({ status: 200, html: readDocument(file) });
  expect((await show('/portal/docs/day-manifests')).html).toContain('href="/portal/docs/verify-day.mjs"');
  expect((await show('/portal/docs')).html).toContain('<h2 id="verificar-uma-mensagem">');
  expect((await show('/portal/docs')).html).toMatch(
    /<nav class="tabs"[^>]*>[\s\S]*href="\/portal\/docs\/expected">Pedidos<\/a>/,
  );
  expect((await show('/portal/docs/expected')).html).toMatch(/<h1[^>]*>Pedidos: quais estão pagos[\s\S]*not_proven/);
  expect((await show('/portal/docs/callback-types')).html).toContain('href="/portal/docs/expected"');
  const english = await show('/portal/docs', 'en');
  expect(english.html).toContain(
    'There is no e-mail on file. Where an e-mail is promised, open the portal; where a link',
  );
  expect((await show('/portal/docs')).html).toContain('href="/portal/docs/portal">O portal dos lojistas</a>');
  const names = [
    'callbacks',
    'callback-types',
    'fetch-events',
    'day-manifests',
    'provider-format',
    'expected',
    'portal',
  ];
  for (const name of names)
    for (const lang of ['pt-BR', 'en'])
      expect((await show(`/portal/docs/${name}`, lang)).html).not.toMatch(
        /For operators|Para operadores|confere (?:merchants|callbacks|manifests)|\/api\/v1\/merchants/,
      );
  expect(english.html).toContain('<h2 id="verify-a-message">');
  for (const [, anchor] of english.html.matchAll(/href="#([^"]+)"/g)) expect(english.html).toContain(`id="${anchor}"`);
});

it('a message that waits for an earlier one says so, and a 410 says why nothing is sent, and what to do', async () => {
  shop.behaviours[PATH] = () => (_request, response) => void response.writeHead(503, { 'retry-after': '3600' }).end();
  await env.applyTransaction(['pending', 'paid']);
  const list = () => callApi({ url: `${url}/api/v1/portal`, token }, 'GET', '/callbacks?limit=2');
  type Waiting = { id: string; type: string; waits_for_earlier: boolean; next_attempt_at: string; created_at: string };
  // released first, it is deferred by the next claim
  const isDeferred = (one: Waiting) => Date.parse(one.next_attempt_at) - Date.parse(one.created_at) > 5 * 60_000;
  const [waiting] = await env.advanceUntil('the second waits', async () => {
    const found = (await list()).json.callbacks as Waiting[];
    return found[0]?.waits_for_earlier === true && isDeferred(found[0]) && found;
  });
  expect(waiting?.type).toBe('pix.cashin.paid');
  expect((await show('/portal/callbacks')).html).toContain('aguarda uma mensagem anterior');
  expect((await show(`/portal/callbacks/${waiting?.id}`)).html).toMatch(
    /Aguarda uma mensagem anterior[\s\S]*Tentar agora/,
  );
  const { html } = await show('/portal');
  expect(html).toMatch(/A operação é avisada depois de [^,]*?\. Consertou/);
  expect(html.match(/de um callback reenviado/g)).toHaveLength(1);
  shop.behaviours[PATH] = () => 410;
  await env.applyTransaction(['paid']);
  const disabled = await env.advanceUntil('it is disabled', async () => {
    const { html } = await show('/portal');
    return html.includes('<p class="explain bad">Desativado: ') && html;
  });
  expect(disabled).toContain('o endereço respondeu 410 Gone');
  await env.advanceUntil('what waits is held, and counted beside the button', async () =>
    (await show('/portal')).html.includes('Mensagens que saem ao retomar, em ordem, aos poucos: 3.'),
  );
});

it('the page of the rotation says until when there is none, on the wall clock, and offers none', async () => {
  const rotate = () => callApi({ url: `${url}/api/v1/portal`, token }, 'POST', '/rotate-secret', {});
  const before = await show('/portal/rotate-secret');
  expect(before.html).toContain('<button>Ver o que muda</button>');
  const { json } = await rotate();
  const { calendar } = env.context;
  const until = formatWallTime(calendar.toWallTime(new Date(String(json.old_secret_until))), 'pt-BR');
  const page = await show('/portal/rotate-secret');
  expect(page.html).toMatch(new RegExp(`ainda assina até <time[^>]*>${until}</time>`));
  expect(page.html).not.toContain('Ver o que muda');
  await env.timers.advance(1_000);
  const refused = await fetch(`${url}/portal/rotate-secret`, {
    method: 'POST',
    headers: { cookie, origin: url },
    body: new URLSearchParams(hiddenFields(before.html)),
  });
  expect(await refused.text()).toContain(`O segredo anterior ainda assina, até ${until}:`);
  await env.timers.advance(1_000);
  expect((await rotate()).text).toContain(String(json.old_secret_until));
});

it('a day without a manifest is refused with what a merchant can know, and names no setting', async () => {
  await env.timers.advance(1_000);
  const { status, text } = await callApi({ url: `${url}/api/v1`, token }, 'GET', '/manifests/2026-01-01');
  expect([status, text.includes('is made after its end'), text.includes('JOB_')]).toEqual([404, true, false]);
});

it('the pages of the filter and of orders say that messages about orders are off', async () => {
  const off = 'As mensagens de pedidos (pix.expected.…) estão desligadas. Peça à operação';
  expect((await show('/portal/filter')).html).toContain(off);
  const ofOrders = (
    await createToken(env.context, { name: 'orders', role: 'merchant', merchant: id, sources: ['shop'] })
  ).token;
  const session = `confere_portal=${await openMerchantSession(env.context, ofOrders)}`;
  const showOrders = async () => await (await fetch(`${url}/portal/orders`, { headers: { cookie: session } })).text();
  expect(await showOrders()).toContain(off);
  await updateMerchant(env.context, id, { filter: { expected: true } });
  expect((await show('/portal/filter')).html).not.toContain(off);
  expect(await showOrders()).not.toContain(off);
});

it('a form with two boxes of a group is saved by its first confirmation', async () => {
  const { html } = await show('/portal/filter');
  const send = async (fields: [string, string][]) => {
    const init = { method: 'POST', headers: { cookie, origin: url }, body: new URLSearchParams(asSent(fields)) };
    const response = await fetch(`${url}/portal/filter`, { ...init, redirect: 'manual' });
    return { status: response.status, html: await response.text() };
  };
  const [operations, statuses] = ['cashin cashout', 'paid refund'].map((codes) => codes.split(' '));
  const preview = await send([
    ...Object.entries(hiddenFields(html)),
    ...(operations ?? []).map((one): [string, string] => ['operations', one]),
    ...(statuses ?? []).map((one): [string, string] => ['statuses', one]),
  ]);
  expect(preview.status).toBe(200);
  const confirmed = await send([...Object.entries(hiddenFields(preview.html)), ['step', 'confirm']]);
  expect(confirmed.status).toBe(303);
  const { json } = await callApi({ url: `${url}/api/v1`, token }, 'GET', '/portal');
  expect(json).toMatchObject({ own_filter: { operations, statuses } });
});
