/** The page of a merchant's orders shows those of its sources, and none that another merchant sent. */
import { beforeAll, expect, it } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { toSubject } from '../../../src/callbacks/health/callback-sources.ts';
import { describeParts } from '../../../src/callbacks/manage/replay.ts';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { payOne } from '../../support/expect-orders.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { readWorkbook } from '../../support/read-workbook.ts';

const env = closeAfterAll(await openConsoleEnvironment());
let [ana, bia, none]: Shop[] = [];
type Shop = Awaited<ReturnType<typeof openShop>>;

beforeAll(async () => {
  // by a mistake, both have one source
  ana = await openShop('ana', ['ana', 'both']);
  bia = await openShop('bia', ['bia', 'both']);
  none = await openShop('none', []);
});

async function openShop(name: string, sources: string[]) {
  const { context } = env;
  const { merchant } = await createMerchant(context, {
    name,
    url: 'http://127.0.0.1:9/',
    filter: { platforms: [name] },
    eventsSince: new Date('2020-01-01T00:00:00Z'),
  });
  const { token } = await createToken(context, { name, role: 'merchant', merchant: merchant.id, sources });
  const { seq } = await readRow(context.db, 'merchants', ['seq'], { id: merchant.id });
  const cookie = `confere_portal=${await openMerchantSession(context, token)}`;
  return {
    token,
    async put(source: string, number: string, more: object = {}, isOwn = true) {
      const given = { operation: 'cashin', amount: '10.00', due_day: env.today, ...more };
      const arrivals = [{ source, number, facts: expectedFactsSchema.parse(given) }];
      const [made] = await putExpected(context, {
        arrivals,
        actor: 'test',
        ...(isOwn && { merchantSeq: Number(seq) }),
      });
      await decideAll(context);
      return made?.id ?? '';
    },
    async get(address: string, language = 'pt-BR') {
      await env.timers.advance(1_000);
      const response = await fetch(`${env.url}${address}`, { headers: { cookie, 'accept-language': language } });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { status: response.status, bytes, text: bytes.toString() };
    },
  };
}

it('says in words which orders are paid, and when, by state and reference, with their payments', async () => {
  await payOne(env.context, { platform: 'ana', reference: 'ref-1', amount: '10.00' });
  const id = (await ana?.put('ana', 'a-paid', { references: ['ref-1'], name: 'Maria' })) ?? '';
  await payOne(env.context, { platform: 'ana', reference: 'ref-2', amount: '4.00' });
  await ana?.put('ana', 'a-partly', { references: ['ref-2'] });
  await ana?.put('ana', 'a-open', { references: ['ref-3'] });
  const page = (await ana?.get('/portal/orders'))?.text ?? '';
  expect(page).toMatch(/a-paid<\/a>[\s\S]*?ref-1[\s\S]*?>Pago<[\s\S]*?R\$ 10,00[\s\S]*?"Pago em"[^\d]*20\/11\/2026/);
  expect(page).toMatch(/a-open<\/a>[\s\S]*a-partly<\/a>[\s\S]*?Pago a menos/);
  expect((await ana?.get('/portal/orders', 'en'))?.text).toMatch(/a-open<\/a>[\s\S]*?>Open</);
  const numbers = async (query: string) =>
    [...((await ana?.get(`/portal/orders?${query}`))?.text ?? '').matchAll(/>(a-\w+)<\/a>/g)].map(([, one]) => one);
  expect(await numbers('state=paid')).toEqual(['a-paid']);
  expect(await numbers('reference=ref-2')).toEqual(['a-partly']);
  expect(await numbers('reference=ref-9')).toEqual([]);
  expect((await ana?.get('/portal/orders?state=none'))?.status).toBe(422);
  const first = (await ana?.get('/portal/orders?limit=2'))?.text ?? '';
  const next = /href="(\/portal\/orders\?[^"]*cursor=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await ana?.get(next))?.text).toMatch(/a-paid<\/a>/);
  const own = (await ana?.get(`/portal/orders/${id}`))?.text ?? '';
  expect(own).toMatch(/a-paid[\s\S]*Maria/);
  expect(own).not.toContain('Dias de atraso');
  expect(own).toMatch(/\/portal\/callbacks\?transaction_id=/);
  const file = (await ana?.get('/portal/orders.csv?state=paid'))?.text ?? '';
  const today = env.today.split('-').reverse().join('/');
  expect(file.trim().split('\r\n')).toEqual([
    expect.stringMatching(
      /^origem;.*;pago em;falta;pago a mais;não mais devido;em disputa;disputa por;outros pedidos na disputa$/,
    ),
    expect.stringMatching(
      new RegExp(`^ana;a-paid;a receber;10,00;${today};${today};.*;Pago;.*;sim;.*;20/11/2026;0,00;0,00;0,00;não;;0$`),
    ),
  ]);
  const { detail } = await readRow(env.context.db, 'audit', ['detail'], { action: 'expected.show', target: id });
  expect(detail).toBe('portal');
  await payOne(env.context, { platform: 'ana', reference: 'ref-late', amount: '10.00' });
  const late = await ana?.put('ana', 'a-late', { references: ['ref-late'], due_day: '2026-11-15' });
  expect((await ana?.get(`/portal/orders/${late}`))?.text).toMatch(/Dias de atraso<\/dt>\s*<dd>5</);
  // an old payment of a reference that is used again
  const before = 'O pagamento é de antes da emissão deste pedido';
  expect((await ana?.get(`/portal/orders/${late}`))?.text).not.toContain(before);
  await payOne(env.context, { platform: 'ana', reference: 'ref-again', amount: '10.00' });
  const again = { references: ['ref-again'], issued_day: '2026-11-28', due_day: '2026-12-01' };
  const anew = await ana?.put('ana', 'a-again', again);
  expect((await ana?.get(`/portal/orders/${anew}`))?.text).toContain(before);
});

it('names the orders with which one shares a reference, what became of the payment, and what to do', async () => {
  const own = { references: ['ref-twice'] };
  const first = (await ana?.put('ana', 'a-first', own)) ?? '';
  const second = (await ana?.put('ana', 'a-second', own)) ?? '';
  await bia?.put('bia', 'b-second', own);
  const before = (await ana?.get(`/portal/orders/${first}`))?.text ?? '';
  expect(before).toMatch(new RegExp(`têm a mesma referência[\\s\\S]*DELETE[\\s\\S]*${second}">a-second</a>`));
  expect(before).not.toContain('b-second');
  await payOne(env.context, { platform: 'ana', reference: 'ref-twice', amount: '10.00' });
  await decideAll(env.context);
  const page = (await ana?.get(`/portal/orders/${second}`))?.text ?? '';
  expect(page).toMatch(
    /<h1>a-second<\/h1>[^\n]*is-disputed">em disputa<[\s\S]*R\$ 10,00[\s\S]*serve a mais de um pedido: não conta para este/,
  );
  expect(page).toMatch(new RegExp(`${first}">a-first</a>[\\s\\S]*?ref-twice`));
  const list = (await ana?.get('/portal/orders?disputed=true'))?.text ?? '';
  expect(
    [...list.matchAll(/>(a-\w+)<\/a>[\s\S]*?<span class="badge is-disputed">em disputa/g)].map(([, one]) => one),
  ).toEqual(['a-second', 'a-first']);
  expect((await ana?.get('/portal/orders?disputed=true', 'en'))?.text).toContain('>disputed<');
  const csv = (await ana?.get('/portal/orders.csv?disputed=true'))?.text ?? '';
  expect(csv.split('\r\n').filter((line) => line.endsWith(';sim;referência;1'))).toHaveLength(2);
});

it('names the cancelled orders that a payment of a cancelled one fits, and what ends it', async () => {
  const own = { references: ['ref-gone'] };
  const first = (await ana?.put('ana', 'a-gone', own)) ?? '';
  const second = (await ana?.put('ana', 'a-kept', own)) ?? '';
  const cancel = async (id: string) => {
    await cancelExpected(env.context, { id, actor: 'test' });
    await decideAll(env.context);
  };
  await cancel(first);
  await payOne(env.context, { platform: 'ana', reference: 'ref-gone', amount: '10.00' });
  await decideAll(env.context);
  expect((await ana?.get(`/portal/orders/${second}`))?.text).toMatch(/<h1>a-kept<\/h1>[^\n]*>Pago</);
  await cancel(second);
  const page = (await ana?.get(`/portal/orders/${second}`))?.text ?? '';
  expect(page).toMatch(
    new RegExp(
      `reopen[\\s\\S]*estão cancelados e servem ao mesmo pagamento[\\s\\S]*Reabra aquele[\\s\\S]*${first}">a-gone</a>`,
    ),
  );
  expect(page).not.toMatch(/curl -X DELETE|a operação decide/);
});

it('says how many orders of other sources fit the payment too, and what to ask the operators for', async () => {
  const wanted = { references: ['ref-elsewhere'] };
  const id = (await ana?.put('ana', 'a-elsewhere', wanted)) ?? '';
  await ana?.put('office', 'o-secret', wanted, false);
  const payment = await payOne(env.context, { platform: 'ana', reference: 'ref-elsewhere', amount: '10.00' });
  await decideAll(env.context);
  const page = (await ana?.get(`/portal/orders/${id}`))?.text ?? '';
  expect(page).toMatch(
    /Um pedido de outra origem, que você não vê,[\s\S]*case o pagamento \S+ com o pedido a-elsewhere/,
  );
  expect(page).toContain(`pagamento ${payment.id} com`);
  expect(page).not.toMatch(/o-secret|office/);
  const csv = (await ana?.get('/portal/orders.csv?disputed=true&number=a-elsewhere'))?.text ?? '';
  expect(csv).toMatch(/a-elsewhere;[^\n]*;sim;referência;1\r\n$/);
});

it('says in an order’s history why a match was withdrawn, and which orders that one sees have its reference', async () => {
  await bia?.put('bia', 'b-same', { references: ['ref-taken'] });
  await payOne(env.context, { platform: 'ana', reference: 'ref-taken', amount: '10.00' });
  const older = (await ana?.put('ana', 'a-older', { references: ['ref-taken'] })) ?? '';
  const newer = (await ana?.put('ana', 'a-newer', { references: ['ref-taken'] })) ?? '';
  const history = async (language?: string) => {
    const { text = '' } = (await ana?.get(`/portal/orders/${older}`, language)) ?? {};
    return text.slice(text.indexOf(language === 'en' ? '<h2>History' : '<h2>História'));
  };
  const said =
    /Separado de[^\n]*em disputa: serve a mais de um pedido; a referência ou o id E2E era também de ana\/a-newer</;
  expect(await history()).toMatch(said);
  expect(await history('en')).toMatch(
    /in dispute: it fits more than one order; its reference or E2E id was also that of ana\/a-newer</,
  );
  // once it has another reference, what was stays said
  await ana?.put('ana', 'a-newer', { references: ['ref-other'] });
  expect(await history()).toMatch(said);
  expect((await ana?.get(`/portal/orders/${newer}`))?.text).not.toContain('Separado de');
  const admin = await fetch(`${env.url}/api/v1/expected-payments/ana/a-older`, {
    headers: { authorization: `Bearer ${env.tokens.admin}` },
  });
  expect(await admin.json()).toMatchObject({ state: 'paid' });
});

it('says of an order without a reference or the like that no payment is found for it', async () => {
  const blind = (await ana?.put('ana', 'a-blind')) ?? '';
  const found = (await ana?.put('ana', 'a-found', { references: ['ref-none-yet'] })) ?? '';
  const said = 'nenhum pagamento pode ser achado para ele';
  expect((await ana?.get(`/portal/orders/${blind}`))?.text).toContain(said);
  expect((await ana?.get(`/portal/orders/${blind}`, 'en'))?.text).toContain('no payment can be found for it');
  expect((await ana?.get(`/portal/orders/${found}`))?.text).not.toContain(said);
});

it('finds messages by what the merchant can name; the failed ones are those that are counted', async () => {
  const { context } = env;
  const row = await payOne(context, { platform: 'ana', reference: 'ref-about', e2e_id: 'E2e-about', amount: '10.00' });
  await ana?.put('ana', 'a-about', { references: ['ref-about'] });
  const { id: order } = await readRow(context.db, 'expected_payments', ['id'], { number: 'a-about' });
  const shown = async (query: string) =>
    [...((await ana?.get(`/portal/callbacks?${query}`))?.text ?? '').matchAll(/callbacks\/(msg_\w+)"/g)].map(
      ([, id]) => id,
    );
  const own = await shown(`transaction_id=${row.id}`);
  expect(own.length).toBeGreaterThan(0);
  for (const about of [row.id, row.e2e_id, 'ref-about', order, 'a-about'])
    expect([about, await shown(`about=${about}`)]).toEqual([about, own]);
  expect(await shown(`about=${own[0]}`)).toEqual([own[0]]);
  expect(await shown('about=ref-none')).toEqual([]);
  const { token } = ana ?? {};
  await fetch(`${env.url}/api/v1/portal/test`, { method: 'POST', headers: { authorization: `Bearer ${token ?? ''}` } });
  await context.db.updateTable('callbacks').set({ state: 'failed' }).where('source', '=', 'test').execute();
  const home = (await ana?.get('/portal'))?.text ?? '';
  const [, link = ''] = /href="\/portal\/callbacks\?([^"]*state=failed[^"]*)"[^>]*><b>0<\/b>/.exec(home) ?? [];
  expect(await shown(link.replaceAll('&amp;', '&'))).toEqual([]);
  expect(await shown('state=failed&tests=only')).toHaveLength(1);
});

it('shows who changed what, in pages, and nothing of other merchants', async () => {
  const { context } = env;
  const call = async (path: string, init: RequestInit = {}, by = ana) => {
    await env.timers.advance(1_000);
    const headers = { authorization: `Bearer ${by?.token ?? ''}`, 'content-type': 'application/json' };
    return (await fetch(`${env.url}/api/v1${path}`, { ...init, headers })).json() as Promise<Record<string, unknown>>;
  };
  const facts = { operation: 'cashin', amount: '10.00', due_day: env.today };
  const { id } = await call('/expected-payments/ana/a-stated', { method: 'PUT', body: JSON.stringify(facts) });
  await call('/expected-payments/ana/a-stated', { method: 'DELETE' });
  await call('/portal/pause', { method: 'POST' });
  await call('/portal/pause', { method: 'POST' }, bia);
  const { id: merchant } = await readRow(context.db, 'merchants', ['id'], { name: 'ana' });
  const admin = { authorization: `Bearer ${env.tokens.admin}` };
  await fetch(`${env.url}/api/v1/merchants/${merchant}/enable`, { method: 'POST', headers: admin });
  const first = await call('/portal/changes?limit=3');
  const next = first.next_cursor as string;
  expect(first.changes).toMatchObject([
    { action: 'merchant.enabled', by: 'operators', token_name: null },
    { action: 'merchant.paused', by: 'token', token_name: 'ana' },
    { action: 'expected.cancel', by: 'token', token_name: 'ana', expected_payment_id: id },
  ]);
  expect((await call(`/portal/changes?limit=3&cursor=${next}`)).changes).toMatchObject([
    { action: 'expected.put', expected_payment_id: id },
    { action: 'merchant.tested', by: 'token' },
  ]);
  const others = (await call('/portal/changes?action=merchant.paused', {}, bia)).changes as object[];
  expect(others).toMatchObject([{ token_name: 'bia' }]);
  expect((await ana?.get('/portal/history'))?.text).toMatch(
    /a operação[\s\S]*envios retomados[\s\S]*ana[\s\S]*envios pausados[\s\S]*pedido cancelado/,
  );
  expect(await call(`/portal/changes?cursor=${next}`, {}, bia)).toMatchObject({ status: 422 });
});

it('names the fields that operators changed, and the range that was sent again', async () => {
  const { id } = await readRow(env.context.db, 'merchants', ['id'], { name: 'none' });
  const done = { actor: 'command', target: String(id) };
  await audit(env.context, { ...done, action: 'merchant.changed', detail: 'console filter, expected=true' });
  const range = { from: '2026-11-20T03:00:00.000Z', to: '2026-11-21T03:00:00.000Z' };
  for (const count of [1, 7])
    await audit(env.context, { ...done, action: 'callbacks.replayed', detail: JSON.stringify({ ...range, count }) });
  const page = (await none?.get('/portal/history'))?.text ?? '';
  expect(page).toMatch(
    /período reenviado[\s\S]*<time[\s\S]*: 7 callbacks[\s\S]*: 1 callback<[\s\S]*<code>filter, expected=true<\/code>/,
  );
  // the parts of a replay are one change, of another replay another
  const parts = [
    describeParts({ from: new Date(range.from), to: new Date(range.to) }),
    describeParts({ from: new Date(range.from), to: new Date(range.to) }),
  ];
  for (const count of [1000, 1000, 664])
    await audit(env.context, { ...done, action: 'callbacks.replayed', detail: parts[0]?.(count) ?? '' });
  await audit(env.context, { ...done, action: 'callbacks.replayed', detail: parts[1]?.(1000) ?? '' });
  const after = (await none?.get('/portal/history'))?.text ?? '';
  expect([...after.matchAll(/: ([\d.]+) callbacks</g)].map(([, count]) => count)).toEqual(['1.000', '2.664', '7']);
  const pages = async (cursor: string) =>
    (await (
      await fetch(`${env.url}/api/v1/portal/changes?limit=2${cursor}`, {
        headers: { authorization: `Bearer ${none?.token}` },
      })
    ).json()) as { changes: { count: number | null }[]; next_cursor: string };
  const { changes, next_cursor: next } = await pages('');
  expect(changes.map(({ count }) => count)).toEqual([1000, 2664]);
  expect((await pages(`&cursor=${next}`)).changes[0]).toMatchObject({ count: 7 });
});

it('shows what a change changed: the filter, which secret, the amount of an order, and the note of a reopening', async () => {
  const call = async (method: string, path: string, body: object = {}, by = ana) => {
    await env.timers.advance(1_000);
    const headers = { authorization: `Bearer ${by?.token ?? ''}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(method === 'GET' ? {} : { body: JSON.stringify(body) }) };
    return (await fetch(`${env.url}/api/v1${path}`, init)).json() as Promise<Record<string, unknown>>;
  };
  const at = '/expected-payments/both/a-history';
  const facts = { operation: 'cashin', amount: '30.00', due_day: env.today };
  await call('PUT', at, facts, bia);
  const { id } = await call('PUT', at, { ...facts, amount: '31.00' });
  await call('PUT', at, { ...facts, amount: '25.02' });
  await call('DELETE', at);
  await call('POST', `/expected-payments/${id as string}/reopen`, { note: 'o cliente voltou' });
  await call('PUT', '/portal/filter', { filter: { operations: ['cashin'], reference_prefixes: ['maria'] } });
  await call('POST', '/portal/rotate-secret', { of: 'url' });
  const { changes } = await call('GET', '/portal/changes?limit=6');
  const order = { expected_payment_id: id, source: 'both', number: 'a-history' };
  expect(changes).toMatchObject([
    { action: 'merchant.secret_rotated', kind: 'url' },
    {
      ...{ action: 'merchant.filter_chosen', kind: null },
      filter: { before: {}, after: { operations: ['cashin'], reference_prefixes: ['maria'] } },
    },
    { action: 'expected.reopen', ...order, note: 'o cliente voltou' },
    { action: 'expected.cancel', ...order, amount: null },
    { action: 'expected.put', ...order, version: 3, old_amount: '31.00', amount: '25.02' },
    // the version before is another merchant's
    { action: 'expected.put', ...order, version: 2, old_amount: null, amount: '31.00' },
  ]);
  const page = (await ana?.get('/portal/history'))?.text ?? '';
  expect(page).toMatch(
    /segredo trocado[\s\S]*o do endereço de produção[\s\S]*tudo → operações: Entrada; referência começa com: maria/,
  );
  expect(page).toMatch(
    /both\/a-history<\/a>[\s\S]*o cliente voltou[\s\S]*R\$ 31,00<\/span> → <span class="money">R\$ 25,02/,
  );
  const own = (await ana?.get(`/portal/orders/${id as string}`))?.text ?? '';
  expect(own).toMatch(/História[\s\S]*31,00[\s\S]*25,02[\s\S]*Cancelado[\s\S]*Reaberto[\s\S]*o cliente voltou/);
  expect(own.slice(own.indexOf('História'))).not.toContain('30,00');
});

it('says what ends a bad state, with the request that does', async () => {
  const pay = (reference: string, amount: string) => payOne(env.context, { platform: 'ana', reference, amount });
  await pay('ref-less', '7.00');
  const less = (await ana?.put('ana', 'a-less', { references: ['ref-less'], name: "D'Ávila" })) ?? '';
  const page = (await ana?.get(`/portal/orders/${less}`))?.text ?? '';
  expect(page).toMatch(/curl -X PUT [^ ]*\/ana\/a-less[\s\S]*&quot;amount&quot;:&quot;7.00&quot;/);
  expect(page).toContain('D&#39;\\&#39;&#39;Ávila');
  const headers = { authorization: `Bearer ${ana?.token ?? ''}` };
  await fetch(`${env.url}/api/v1/expected-payments/ana/a-less`, { method: 'DELETE', headers });
  const cancelled = (await ana?.get(`/portal/orders/${less}`))?.text ?? '';
  expect(cancelled).toMatch(/cancelar não devolve nada[\s\S]*curl -X POST [^ ]*\/reopen/);
  await pay('ref-more', '9.00');
  const twice = (await ana?.put('ana', 'a-2', { references: ['ref-more'], amount: '4.50' })) ?? '';
  expect((await ana?.get(`/portal/orders/${twice}`))?.text).toMatch(/Devolva o que sobrou[\s\S]*curl -X PUT/);
});

it('advises to charge no order for which a payment came that may be its own', async () => {
  const past = { references: ['ref-late'], issued_day: '2026-11-01', due_day: '2026-11-02' };
  const late = (await ana?.put('ana', 'a-late', past)) ?? '';
  await payOne(env.context, { platform: 'ana', reference: 'ref-late', amount: '10.00' });
  await decideAll(env.context);
  expect((await ana?.get(`/portal/orders/${late}`))?.text).toMatch(/>Pago</);
  await ana?.put('ana', 'a-later', past);
  const said = async (language?: string) =>
    /<p class="explain">[^\n]*?<\/p>/.exec((await ana?.get(`/portal/orders/${late}`, language))?.text ?? '')?.[0];
  expect(await said()).toMatch(/>Não cobre ainda: há um pagamento que pode ser deste pedido/);
  const proven = { state: 'unpaid', reason_code: 'unpaid_candidates', first_lack: null, last_lack: null, lacks: 0 };
  await env.context.db.updateTable('expected_payments').set(proven).where('id', '=', late).execute();
  expect(await said()).toMatch(/>Não cobre ainda: há um pagamento que pode ser deste pedido/);
  expect(await said('en')).toMatch(/>Do not collect yet: there is a payment that may belong to this order/);
  expect((await ana?.get(`/portal/orders/${late}`))?.text).not.toContain('Antes de cobrar de novo');
});

it('hints at payments like an unpaid order: what counts for another one, and what differs in spelling or has its amount alone', async () => {
  const person = { document: '529.982.247-25', amount: '77.10' };
  const asked = { references: ['ped 0042'], issued_day: '2026-11-20' };
  const pay = (more: object) => payOne(env.context, { platform: 'ana', ...person, ...more });
  const taken = (await ana?.put('ana', 'a-taken', { references: ['k-1'], amount: '77.10' })) ?? '';
  await pay({ reference: 'k-1' });
  // of another merchant, and one that this one does not see
  await bia?.put('bia', 'b-taken', { references: ['k-2'], amount: '77.10' });
  await pay({ reference: 'k-2', platform: 'bia' });
  await ana?.put('ana', 'a-hidden', { references: ['k-3'] }, false);
  await env.context.db
    .updateTable('expected_payments')
    .set({ source: 'other' })
    .where('number', '=', 'a-hidden')
    .execute();
  await pay({ reference: 'k-3' });
  const spelt = await pay({ reference: 'PED42', document: '111.444.777-35', amount: '1.00' });
  const equal = await pay({ document: '111.444.777-35', reference: 'w-9' });
  const id = (await ana?.put('ana', 'a-alike', { ...person, ...asked })) ?? '';
  const page = (await ana?.get(`/portal/orders/${id}`))?.text ?? '';
  const section = page.slice(page.indexOf('Pagamentos parecidos</h2>'), page.indexOf('História</h2>'));
  expect(section).toContain('São pistas');
  expect(section).toMatch(
    new RegExp(`igual documento e valor; casou com o pedido <a href="/portal/orders/${taken}">ana/a-taken</a>`),
  );
  expect(section).toContain('igual documento e valor; casou com outro pedido');
  expect(section).toMatch(/PED42[\s\S]*só difere na escrita[\s\S]*w-9[\s\S]*igual valor, e nada mais/);
  expect(section).not.toMatch(/k-2|b-taken|a-hidden/);
  const headers = { authorization: `Bearer ${ana?.token ?? ''}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ operation: 'cashin', due_day: env.today, ...person, ...asked });
  const put = { method: 'PUT', headers, body };
  const answer = await fetch(`${env.url}/api/v1/expected-payments/ana/a-alike`, put);
  expect(await answer.json()).toMatchObject({
    ...{ state: 'open', matches: [], candidates: [] },
    alike: [
      { alike: 'document', matched: true, order: null },
      { alike: 'document', matched: true, order: { id: taken, source: 'ana', number: 'a-taken' } },
      {
        alike: 'reference',
        matched: false,
        order: null,
        transaction_id: spelt.id,
        amount: '1.00',
        reference: 'PED42',
      },
      { alike: 'amount', matched: false, order: null, transaction_id: equal.id, reference: 'w-9' },
    ],
  });
  const unpaid = { state: 'unpaid', reason_code: 'unpaid' };
  await env.context.db.updateTable('expected_payments').set(unpaid).where('id', '=', id).execute();
  expect((await ana?.get(`/portal/orders/${id}`))?.text).toContain('confira os pagamentos parecidos, abaixo');
  expect((await ana?.get(`/portal/orders/${taken}`))?.text).not.toContain('Pagamentos parecidos');
});

it('marks an order without a reference or the like in the list, and says whose orders the messages are of', async () => {
  await ana?.put('ana', 'a-unnamed');
  await ana?.put('ana', 'a-named', { references: ['ref-named'] });
  const list = (await ana?.get('/portal/orders?state=open&number=a-unnamed'))?.text ?? '';
  expect(list).toMatch(
    /a-unnamed<\/a>[\s\S]*?Em aberto<\/span> <span class="badge is-unfindable">nenhum pagamento é achado</,
  );
  expect((await ana?.get('/portal/orders?number=a-named'))?.text).not.toContain('is-unfindable');
  const { db } = env.context;
  const { filter, own_filter } = await readRow(db, 'merchants', ['filter', 'own_filter'], { name: 'ana' });
  const own = db.updateTable('merchants').where('name', '=', 'ana');
  await own.set({ filter: JSON.stringify({ platforms: ['ana'], expected: true }) }).execute();
  for (const address of ['/portal/orders', '/portal/filter']) {
    expect((await ana?.get(address))?.text).toContain('vêm dos pedidos de todas as origens');
    expect((await ana?.get(address, 'en'))?.text).toContain('come for orders of every source');
  }
  const { id } = await readRow(db, 'expected_payments', ['id'], { number: 'a-named' });
  const bare = (await ana?.get(`/portal/orders/${id}`))?.text;
  expect(bare).toContain('as suas mudanças não enviam mensagens. Ele não tem platform');
  expect(bare).toContain('Um pedido com platform só casa com pagamentos dela:');
  const recipe = (await ana?.get('/portal/orders'))?.text;
  expect(recipe).toContain('um pedido enviado sem platform não cabe nele');
  expect(recipe).toContain('&quot;platform&quot;:&quot;ana&quot;');
  await own.set({ filter: JSON.stringify({ platforms: ['ana', 'none'], expected: true }), own_filter: null }).execute();
  expect((await ana?.get('/portal/orders'))?.text).not.toContain('sem platform');
  expect((await ana?.get(`/portal/orders/${id}`))?.text).not.toContain('não enviam mensagens');
  await own.set({ filter, own_filter }).execute();
});

it('names the order of a message by its number', async () => {
  const { db } = env.context;
  await ana?.put('ana', 'a-told');
  const { seq } = await readRow(db, 'expected_payments', ['seq'], { number: 'a-told' });
  const { seq: merchantSeq } = await readRow(db, 'merchants', ['seq'], { name: 'ana' });
  const about = { merchant_seq: merchantSeq, transaction_seq: toSubject(seq), sequence: 1 };
  const message = { ...about, webhook_id: 'msg_told', type: 'pix.expected.paid', source: 'expected' };
  await db
    .insertInto('callbacks')
    .values({ ...message, state: 'delivered', created_at: new Date() })
    .execute();
  expect((await ana?.get('/portal/callbacks?about=a-told'))?.text).toContain('<span class="short">a-told</span>');
});

it('shows nothing that another merchant sent, also under one source', async () => {
  const ids = [await bia?.put('bia', 'b-own'), await bia?.put('both', 'b-both')];
  await ana?.put('both', 'from-operators', {}, false);
  for (const address of ['/portal/orders', '/portal/orders.csv']) {
    const { text = '' } = (await ana?.get(address)) ?? {};
    expect([text.includes('b-own'), text.includes('b-both'), text.includes('from-operators')]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await bia?.get(address))?.text).toMatch(/b-both[\s\S]*b-own/);
  }
  const bookOf = async (shop: Shop | undefined) =>
    JSON.stringify(await readWorkbook((await shop?.get('/portal/orders.xlsx'))?.bytes ?? Buffer.alloc(0)));
  const [anas, bias] = [await bookOf(ana), await bookOf(bia)];
  expect([anas.includes('from-operators'), anas.includes('b-both'), bias.includes('b-both')]).toEqual([
    ...[true, false, true],
  ]);
  expect((await ana?.get('/portal/orders'))?.text).toContain('href="/portal/orders.xlsx"');
  for (const id of [...ids, 'ep_none']) expect((await ana?.get(`/portal/orders/${id}`))?.status).toBe(404);
});

it('adds its orders up by state, of its own sources alone, and names the source of each where it has several', async () => {
  const count = async (address: string) => {
    const { text = '' } = (await ana?.get(address)) ?? {};
    const row =
      /is-open">Em aberto<\/span><\/a>.*?"Quantos"[^>]*><div>(\d+)<.*?"Valor"[^>]*><div><[^>]*>R\$\s([\d.,]+)</;
    return row.exec(text)?.slice(1);
  };
  await ana?.put('ana', 'a-sum', { amount: '64.00' });
  expect(await count('/portal/orders?number=a-sum')).toEqual(['1', '64,00']);
  // one of another source, one of another merchant under a source of both, and one of another merchant's source
  await ana?.put('office', 'a-sum', { amount: '4.00' }, false);
  await bia?.put('both', 'a-sum', { amount: '8.00' });
  await bia?.put('bia', 'a-sum', { amount: '16.00' });
  expect(await count('/portal/orders?number=a-sum')).toEqual(['1', '64,00']);
  await ana?.put('both', 'a-sum-2', { amount: '32.00' }, false);
  expect(await count('/portal/orders?number=a-sum-2')).toEqual(['1', '32,00']);
  const { text = '' } = (await ana?.get('/portal/orders?number=a-sum')) ?? {};
  const link = /href="(\/portal\/orders\?[^"]*state=open[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await ana?.get(link))?.text).toMatch(/data-label="Origem"><div>ana<[\s\S]*a-sum<\/a>/);
  // a token of one source needs no column
  const only = await openShop('only', ['only']);
  await only.put('only', 'o-1');
  const own = (await only.get('/portal/orders')).text;
  expect([own.includes('o-1</a>'), own.includes('"Origem"')]).toEqual([true, false]);
});

it('says how to send an order, and to whom a token without sources turns', async () => {
  expect((await ana?.get('/portal/orders?state=refunded'))?.text).toContain('Nenhum pedido com estes filtros');
  expect((await ana?.get('/portal/orders'))?.text).toMatch(
    /\/api\/v1\/expected-payments\/ana\/1024[\s\S]*\/portal\/openapi/,
  );
  expect((await none?.get('/portal/orders'))?.text).toContain('peça à operação um que as tenha');
  expect((await none?.get('/portal/orders.csv'))?.text.split('\r\n')).toHaveLength(2);
  expect((await none?.get('/portal/orders/ep_none'))?.status).toBe(404);
});
