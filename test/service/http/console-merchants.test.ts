import { execFileSync } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { sendTest } from '../../../src/callbacks/manage/send-test.ts';
import { sign } from '../../../src/callbacks/render/sign.ts';
import { html } from '../../../src/http/console/parts/html.ts';
import { createMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { findMerchantByPullToken, issuePullToken } from '../../../src/merchants/pull-token.ts';
import { findMerchant } from '../../../src/merchants/read-merchants.ts';
import { readCredentials, rotateSecret } from '../../../src/merchants/secrets.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession, unescapeHtml } from '../../support/open-console-session.ts';
import { readRows } from '../../support/read-rows.ts';

const MINUTE_MS = 60_000;

const env = closeAfterAll(await openConsoleEnvironment());
const admin = await openConsoleSession(env, 'admin');
const operator = await openConsoleSession(env, 'operator');
const viewer = await openConsoleSession(env, 'viewer');

const countMerchants = async (): Promise<number> =>
  (await env.context.db.selectFrom('merchants').select('seq').execute()).length;
const addMerchant = async (name: string) =>
  (await createMerchant(env.context, { name, url: 'http://127.0.0.1:9/x', eventsSince: new Date(0) })).merchant;

test('a merchant is added once however often the form is confirmed, and its secret is shown the first time alone', async () => {
  const before = await countMerchants();
  const typed: [string, string][] = [
    ...[['name', 'Padaria <b>'] as [string, string], ['url', 'http://127.0.0.1:9/hook'] as [string, string]],
    ...[['operations', 'cashin'] as [string, string], ['statuses', 'paid'] as [string, string]],
    ...[['statuses', 'refund'] as [string, string], ['extra_match', 'store=12'] as [string, string]],
  ];
  const preview = await admin.post('/merchants/new', typed);
  expect(preview.status).toBe(200);
  expect(preview.text).toMatch(/De \d+ eventos dos últimos 7 dias, o filtro aceita 0 \./);
  expect(await countMerchants()).toBe(before);

  const made = await admin.confirm('/merchants/new', preview);
  expect(made.text).toMatch(/whsec_[A-Za-z0-9+/=]{44}/);
  const again = await admin.confirm('/merchants/new', preview);
  expect(again).toMatchObject({ status: 303, to: '/merchants?done=repeated' });
  expect(await countMerchants()).toBe(before + 1);
  const id = /href="\/merchants\/(mer_[0-9a-f]+)"/.exec(made.html)?.[1] ?? '';
  const page = await admin.get(`/merchants/${id}`);
  expect(page.html).not.toContain('whsec_');
  expect(JSON.parse((await findMerchant(env.context.db, id)).filter)).toMatchObject({
    operations: ['cashin'],
    statuses: ['paid', 'refund'],
    extra_match: { store: '12' },
  });
  const audited = await env.context.db.selectFrom('audit').select('action').where('target', '=', id).execute();
  expect(audited).toEqual([{ action: 'merchant.added' }]);
});

test('a wrong field keeps the form and says in Portuguese what is wrong', async () => {
  for (const [name, value, fault] of [
    ['url', 'loja', 'Escreva um endereço inteiro'],
    ['url', 'https://a:b@shop.example/', 'não leva usuário nem senha'],
    ['url', 'https://169.254.169.254/', 'leva a uma rede'],
    ['name', '', 'Escreva um nome'],
    ['email', 'x', 'Escreva um e-mail'],
    ['rate', '0', 'Escreva um número de 1 a 1000'],
    ['extra_match', 'store', 'Uma linha é chave=valor'],
    ['extra_match', '__proto__=x', 'A chave __proto__ não pode ser usada'],
    ['extra_prefixes', 'x'.repeat(513), 'Tem um valor de mais de 512 caracteres'],
  ] as const) {
    const answer = await admin.post('/merchants/new', {
      ...{ name: 'Loja', url: 'https://shop.example/', reference_prefixes: 'pedido-' },
      [name]: value,
    });
    expect([name, answer.status]).toEqual([name, 422]);
    expect(answer.text).toContain(fault);
    expect(answer.html).toContain('pedido-</textarea>');
  }
});

test('the preview of a merchant says how many past events it would be sent', async () => {
  const typed = { name: 'Antiga', url: 'http://127.0.0.1:9/x' };
  const past = await admin.post('/merchants/new', { ...typed, events_since: '2020-01-01T00:00:00' });
  const [, count = ''] = /Eventos anteriores ([\d.]+) callbacks a enfileirar/.exec(past.text) ?? [];
  expect(Number(count)).toBeGreaterThan(0);
  const now = await admin.post('/merchants/new', typed);
  expect(now.text).toContain('Eventos anteriores 0 callbacks a enfileirar');

  const merchant = await createMerchant(env.context, {
    ...{ ...typed, eventsSince: new Date(0), filter: { operations: ['cashin', 'cashout'], statuses: ['none'] } },
  });
  const wider = await admin.post(`/merchants/${merchant.merchant.id}/edit`, typed);
  expect(wider.text).toContain(`Eventos anteriores ${count} callbacks a enfileirar`);
  // the comparison below is of other events
  expect(wider.text).toMatch(
    /a enfileirar O que falta desde .*, também mudanças de pedidos\. Abaixo comparam-se só os filtros/,
  );
  const narrower = await admin.post(`/merchants/${merchant.merchant.id}/edit`, {
    ...typed,
    statuses: 'none',
    operations: 'cashin',
  });
  expect(narrower.status).toBe(200);
  expect(narrower.text).not.toContain('a enfileirar');
});

test('a merchant gets events since an earlier date once the preview with their number is confirmed', async () => {
  const typed = { name: 'Retroativa', url: 'http://127.0.0.1:9/x' };
  // the field has no milliseconds
  const eventsSince = new Date('2026-01-01T03:00:00.500Z');
  const { merchant } = await createMerchant(env.context, { ...typed, eventsSince });
  const { id } = merchant;
  const address = `/merchants/${id}/edit`;
  const before = await findMerchant(env.context.db, id);
  const form = await admin.get(address);
  const since = /name="events_since"[^>]* value="([^"]+)"/.exec(form.html)?.[1] ?? '';
  for (const kept of [since, '']) {
    const same = await admin.post(address, { ...typed, events_since: kept });
    expect(same.text).toContain('Nada muda');
    expect(same.text).not.toContain('a enfileirar');
  }
  const preview = await admin.post(address, { ...typed, events_since: '2020-01-02T03:04' });
  expect(preview.text).toMatch(/Eventos desde \d\d\/\d\d\/\d{4} [\d:]+ 02\/01\/2020 03:04:00/);
  expect(preview.text).toMatch(/Eventos anteriores [1-9][\d.]* callbacks a enfileirar/);
  expect((await findMerchant(env.context.db, id)).events_since).toEqual(before.events_since);
  expect((await admin.confirm(address, preview)).to).toBe(`/merchants/${id}?done=merchant_changed`);
  const { seq, events_since: at } = await findMerchant(env.context.db, id);
  expect(env.context.calendar.toWallTime(at)).toBe('2020-01-02 03:04:00');
  const backfill = env.context.db.selectFrom('backfills').select('events_since').where('merchant_seq', '=', seq);
  expect(await backfill.execute()).toEqual([{ events_since: at }]);
});

test('a new filter is compared with the one of today before it holds', async () => {
  const { id } = await addMerchant('Filtrada');
  const address = `/merchants/${id}/edit`;
  const form = await admin.get(address);
  expect(form.html).toContain('value="http://127.0.0.1:9/x"');
  const preview = await admin.post(address, { name: 'Filtrada', url: 'http://127.0.0.1:9/x', operations: 'cashout' });
  expect(preview.text).toMatch(
    /o filtro aceita \d+ \. O filtro de hoje aceita \d+; com o novo, 0 a mais e [1-9]\d* a menos\./,
  );
  expect(preview.text).toMatch(/Filtro tudo operações/);
  expect((await admin.confirm(address, preview)).to).toBe(`/merchants/${id}?done=merchant_changed`);
  expect(JSON.parse((await findMerchant(env.context.db, id)).filter)).toMatchObject({ operations: ['cashout'] });
});

test('the format and the headers of a merchant are chosen, and their values are never shown', async () => {
  const { id } = await addMerchant('Direta');
  const address = `/merchants/${id}/edit`;
  const fields = { name: 'Direta', url: 'http://127.0.0.1:9/x', format: 'provider' };
  for (const [more, fault] of [
    [{}, 'exige o token'],
    [{ bearer_token: 'a b' }, 'sem espaços'],
    [{ bearer_token: '***' }, 'sem espaços'],
    [{ bearer_token: 'known', headers: 'x-key' }, 'Uma linha é nome: valor'],
    [{ bearer_token: 'known', headers: 'Webhook-Id: 1' }, 'usa um destes nomes: accept'],
    [{ bearer_token: 'known', headers: 'x-key: ***' }, 'Um valor tem'],
    [{ bearer_token: 'known', headers: 'x-key: 1\nX-Key: 2' }, 'aparece uma vez'],
  ] as const) {
    const answer = await admin.post(address, { ...fields, ...more });
    expect([fault, answer.status, answer.text.includes(fault)]).toEqual([fault, 422, true]);
  }
  const given = { ...fields, bearer_token: 'known-token', headers: 'X-Key: known-value\nx-zone: br' };
  const preview = await admin.post(address, given);
  expect(preview.text).toMatch(/Token bearer nenhum valor novo .*nenhum x-key: valor novo x-zone: valor novo/);
  expect(preview.text).not.toMatch(/known-(?:token|value)/);
  await admin.confirm(address, preview);
  const page = await admin.get(`/merchants/${id}`);
  expect(page.text).toMatch(/Formato do provedor Token bearer \*\*\* Cabeçalhos próprios x-key: \*\*\* x-zone: \*\*\*/);
  const form = await admin.get(address);
  expect(form.html).not.toMatch(/known-(?:token|value)/);

  // what the form shows as *** stays, and a line that is gone ends
  const kept = await admin.post(address, { ...fields, bearer_token: '***', headers: 'x-key: ***' });
  await admin.confirm(address, kept);
  const { seq } = await findMerchant(env.context.db, id);
  const { headers } = (await readCredentials(env.context, env.context.db, [seq])).get(seq) ?? {};
  expect(headers).toEqual({ authorization: 'Bearer known-token', 'x-key': 'known-value' });
});

test('a preview that somebody else overtook is shown again, and changes nothing', async () => {
  const { id, seq } = await addMerchant('Disputada');
  const stale = 'Mudou depois da prévia que você viu';
  const edit = `/merchants/${id}/edit`;
  const seen = await admin.post(edit, { name: 'Nova', url: 'http://127.0.0.1:9/x' });
  await updateMerchant(env.context, id, { url: 'http://127.0.0.1:9/moved' });
  const again = await admin.confirm(edit, seen);
  expect([again.status, again.text.includes(stale)]).toEqual([409, true]);
  expect(again.text).toContain('http://127.0.0.1:9/moved');
  expect(await findMerchant(env.context.db, id)).toMatchObject({ name: 'Disputada', url: 'http://127.0.0.1:9/moved' });
  expect((await admin.confirm(edit, again)).to).toBe(`/merchants/${id}?done=merchant_changed`);

  for (const name of ['rotate-secret', 'pull-token', 'revoke-pull-token']) {
    const address = `/merchants/${id}/${name}`;
    const preview = await admin.post(address, {});
    await rotateSecret(env.context, id);
    const token = await issuePullToken(env.context, id);
    expect([name, (await admin.confirm(address, preview)).status]).toEqual([name, 409]);
    expect(await findMerchantByPullToken(env.context, token)).toMatchObject({ id });
  }
  const secrets = env.context.db.selectFrom('merchant_secrets').select('seq').where('merchant_seq', '=', seq);
  expect(await secrets.execute()).toHaveLength(4);
});

test('a secret is rotated, and a pull token is given and revoked', async () => {
  const { id, seq } = await addMerchant('Segredos');
  const confirm = async (name: string) => {
    const address = `/merchants/${id}/${name}`;
    return admin.confirm(address, await admin.post(address, {}));
  };
  expect((await confirm('rotate-secret')).text).toMatch(/whsec_.*assina junto até/);
  const secrets = await readRows(env.context.db, 'merchant_secrets', ['seq'], { merchant_seq: seq });
  expect(secrets).toHaveLength(2);
  const token = /mpt_[A-Za-z0-9_-]{43}/.exec((await confirm('pull-token')).html)?.[0] ?? '';
  expect(await findMerchantByPullToken(env.context, token)).toMatchObject({ id });
  expect((await admin.get(`/merchants/${id}`)).text).toContain('Revogar o token');
  const pullToken = `/merchants/${id}/pull-token`;
  const passed = await admin.post(pullToken, { expires_at: '2020-01-01T00:00' });
  expect([passed.status, passed.text]).toEqual([422, expect.stringContaining('que ainda não passou')]);
  const preview = await admin.post(pullToken, { expires_at: '2031-05-06T07:08' });
  expect(preview.text).toContain('Expira em 06/05/2031 07:08:00');
  await admin.confirm(pullToken, preview);
  const { pull_token_expires_at: end } = await findMerchant(env.context.db, id);
  expect(end && env.context.calendar.toWallTime(end)).toBe('2031-05-06 07:08:00');
  expect((await confirm('revoke-pull-token')).to).toBe(`/merchants/${id}?done=token_revoked`);
  expect(await findMerchantByPullToken(env.context, token)).toBeUndefined();
});

test('the forms are refused to roles that may not use them', async () => {
  const { id } = await addMerchant('Papéis');
  for (const name of ['edit', 'rotate-secret', 'pull-token', 'revoke-pull-token'])
    expect([name, (await operator.get(`/merchants/${id}/${name}`)).status]).toEqual([name, 403]);
  expect((await operator.get('/merchants/new')).status).toBe(403);
  expect((await operator.get(`/merchants/${id}/replay`)).status).toBe(200);
  expect((await viewer.get(`/merchants/${id}/replay`)).status).toBe(403);
  expect((await viewer.get(`/merchants/${id}`)).html).not.toContain('/replay');
});

test('a merchant that refuses is shown as failing, with its last error and next attempt', async () => {
  const { id, seq } = await addMerchant('Caída');
  const { db, clock } = env.context;
  const isShownFailing = async (): Promise<boolean[]> => {
    const pages = [await admin.get(`/merchants/${id}`), await admin.get('/merchants')];
    return pages.map(({ html }) => /Caída[\s\S]{0,300}is-failing/.test(html));
  };
  const now = clock.now().getTime();
  const { seq: callback } = await sendTest(env.context, id);
  await db
    .updateTable('callbacks')
    .set({ source: 'webhook', next_attempt_at: new Date(now + MINUTE_MS), attempts: 1 })
    .where('seq', '=', callback)
    .execute();
  const attempt = { callback_seq: callback, request_headers: '{}', response_body: null };
  await db
    .insertInto('callback_attempts')
    .values([
      { ...attempt, number: 1, started_at: new Date(now - 2000), duration_ms: 40, response_status: 200 },
      {
        ...attempt,
        number: 2,
        started_at: new Date(now - 1000),
        duration_ms: 60,
        response_status: 503,
        error_class: 'http_status',
      },
    ])
    .execute();
  expect(await isShownFailing()).toEqual([false, false]);
  await db
    .updateTable('merchants')
    .set({ failing_since: new Date(now - 6 * MINUTE_MS) })
    .where('seq', '=', seq)
    .execute();
  expect(await isShownFailing()).toEqual([true, true]);
  const { text } = await operator.get(`/merchants/${id}`);
  expect(text).toMatch(/Pendentes 1 Retidos 0 Com falha 0/);
  expect(text).toMatch(/Este endereço não aceita nada há 6 min\..*depois de 30 min\./);
  expect(text).toMatch(/Último erro em 24 h HTTP 503/);
  expect(text).toMatch(/Próxima tentativa \d\d\/\d\d\/\d{4}/);
  expect(text).toMatch(/50 %/);
  expect(text).toMatch(/60 ms/);
});

test('a failing or disabled merchant says who may correct it, and what the reader may do', async () => {
  const { id, seq } = await addMerchant('Sem remédio');
  const set = async (state: 'enabled' | 'disabled', minutes: number | undefined) => {
    const since = minutes === undefined ? null : new Date(env.context.clock.now().getTime() - minutes * MINUTE_MS);
    await env.context.db.updateTable('merchants').set({ state, failing_since: since }).where('seq', '=', seq).execute();
  };
  const address = `/merchants/${id}`;
  const who = 'Só quem tem o papel Administração corrige o endereço';
  expect((await operator.get(address)).text).not.toContain(who);
  await set('enabled', 6);
  const page = await operator.get(address);
  expect(page.text).toContain(who);
  for (const link of [`/callbacks?merchant=${id}`, `${address}/replay`]) {
    expect(page.html).toContain(`href="${link}"`);
    expect((await operator.get(link)).status).toBe(200);
  }
  await set('disabled', undefined);
  const disabled = await operator.get(address);
  expect(disabled.text).toContain(`${who}, envia um teste, pausa ou retoma os envios a este lojista. Você pode`);
  expect(disabled.html).not.toContain(`${address}/replay`);
  const seen = await viewer.get(address);
  expect([seen.text.includes(who), seen.html.includes(`${address}/replay`)]).toEqual([true, false]);
  const own = (await admin.get(address)).text;
  expect(own).not.toContain(who);
  expect(own).toContain('Mensagens que saem ao retomar, em ordem, aos poucos: 0.');
});

test('before a token is revoked its row says what stops, for whom, and when it was last used', async () => {
  const { id } = await addMerchant('Com portal');
  const { db, clock } = env.context;
  const own = await createToken(env.context, { name: 'ana', role: 'merchant', merchant: id });
  const ours = await createToken(env.context, { name: 'robot', role: 'operator' });
  await db.updateTable('tokens').set({ last_used_at: clock.now() }).where('id', '=', own.id).execute();
  const { text, html } = await admin.get('/tokens');
  expect(text).toMatch(
    /quem usa ana \(Lojista mer_[^)]*\): o portal, os eventos e os pedidos pela API\. Último uso: \d\d\/\d\d\/\d{4} [\d:]+ ?\. Não há volta/,
  );
  expect(text).toMatch(/quem usa robot \(Operação\): o console e tudo o que chama a API com ele\. Nunca foi usado\./);
  for (const one of [own, ours]) {
    expect(html).toContain(`href="/audit?actor=${one.id}"`);
    expect(html).toContain(`action="/tokens/${one.id}/revoke"`);
  }
});

test('a callback shows its message, and the commands on its page sign it as Confere does', async () => {
  const key = Buffer.alloc(32, 7);
  const callback = await env.context.db
    .selectFrom('callbacks')
    .select(['seq', 'webhook_id'])
    .where('transaction_seq', 'is not', null)
    .executeTakeFirstOrThrow();
  const page = await operator.get(`/callbacks/cb_${callback.seq}`);
  expect(page.text).toContain('O corpo é montado agora');
  const script = unescapeHtml(/<pre[^>]*aria-label="Comandos[^>]*>([\s\S]*?)<\/pre>/.exec(page.html)?.[1] ?? '');
  const body = unescapeHtml(/<pre[^>]*aria-label="Corpo">([\s\S]*?)<\/pre>/.exec(page.html)?.[1] ?? '');
  expect(page.text).toContain('o segredo aparece na lista de processos');
  const curl = `curl() { printf '%s\\n' "$TIMESTAMP"; }\n`;
  const filled = script.replace('whsec_…', `whsec_${key.toString('base64')}`);
  const [signature, timestamp] = execFileSync('bash', ['-c', curl + filled], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const message = { id: callback.webhook_id, timestamp: Number(timestamp), body: JSON.stringify(JSON.parse(body)) };
  expect(signature).toBe(sign([createSecretKey(key)], message));
  expect((await viewer.get(`/callbacks/cb_${callback.seq}`)).html).not.toContain('Corpo');
});

test('a callback shows its merchant by name, on its page, in the list and on the page of its transaction', async () => {
  const row = await env.context.db
    .selectFrom('callbacks')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .select(['callbacks.seq', 'transactions.id as transaction', 'merchants.id', 'merchants.name'])
    .executeTakeFirstOrThrow();
  const link = `<a href="/merchants/${row.id}" title="${row.id}">${String(html`${row.name}`.text)}</a>`;
  for (const address of [
    `/callbacks/cb_${row.seq}`,
    `/callbacks?merchant=${row.id}`,
    `/transactions/${row.transaction}`,
  ])
    expect((await operator.get(address)).html, address).toContain(link);
});

test('behind an open breaker a redelivery and a replay say that nothing would be sent, and change nothing', async () => {
  const { db, clock } = env.context;
  const row = await db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .select(['callbacks.seq', 'callbacks.state', 'merchants.id', 'merchant_seq'])
    .where('transaction_seq', 'is not', null)
    .executeTakeFirstOrThrow();
  const since = new Date(clock.now().getTime() - 10 * MINUTE_MS);
  const opened = { failures: 10, failing_since: since, breaker_opened_at: since };
  await db.updateTable('merchants').set(opened).where('seq', '=', row.merchant_seq).execute();
  const call = async (path: string, body: object) => {
    const { status, json } = await env.api('operator', 'POST', `/callbacks/${path}`, body);
    return { status, detail: String(json.detail) };
  };
  const range = { merchant: row.id, from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
  const refusals = [await call(`cb_${row.seq}/redeliver`, {}), await call('replay', range)];
  for (const { status, detail } of refusals) {
    expect(status).toBe(409);
    expect(detail).toContain(`failed since ${since.toISOString()}, so the circuit breaker holds all callbacks`);
  }
  expect((await call('replay', { ...range, dry_run: true })).status).toBe(200);
  const page = await operator.get(`/callbacks/cb_${row.seq}`);
  expect(page.text).toContain('o disjuntor está aberto. Um só callback é tentado a cada 5 min');
  expect(page.html).not.toContain('/redeliver"');
  const typed = { from: '2020-01-01T00:00:00', to: '2030-01-01T00:00:00', states: 'all' };
  const preview = await operator.post(`/merchants/${row.id}/replay`, typed);
  expect([preview.status, preview.text]).toEqual([
    422,
    expect.stringContaining('o disjuntor deste lojista está aberto'),
  ]);
  const after = await db.selectFrom('callbacks').select('state').where('seq', '=', row.seq).executeTakeFirst();
  expect(after?.state).toBe(row.state);
});
