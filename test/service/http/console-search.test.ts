import { expect, test } from 'vitest';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';

const env = closeAfterAll(await openConsoleEnvironment());

const PERSONAL = { document: '123.456.789-09', name: 'Maria Aparecida', extra: '<script>alert(1)</script>' };

test('what names a person goes into no address, and the address that stands for it still finds', async () => {
  const cookie = await openCookie(env.tokens.operator);
  const led = await post(cookie, '/transactions', { ...PERSONAL, status: 'paid', id: '' });
  expect(led.status).toBe(303);
  const address = led.headers.get('location') ?? '';
  expect(address).toMatch(/^\/transactions\?status=paid&sealed=[\w-]+$/);
  for (const value of Object.values(PERSONAL)) expect(unsealed(address)).not.toContain(value);
  const page = await (await get(cookie, address)).text();
  expect(page).toContain(`/transactions/${env.paid.id}`);
  expect(page.match(/<tr role="row">/g)).toHaveLength(2);
  expect(page).toContain('value="123.456.789-09"');
  const [row] = await env.context.db.selectFrom('audit').select('target').orderBy('seq', 'desc').limit(1).execute();
  expect(row?.target).toBe('["extra","document","name","status"]');
});

test('an address with a personal filter in plain text redirects to one that encrypts it', async () => {
  const cookie = await openCookie(env.tokens.operator);
  for (const [name, value] of Object.entries(PERSONAL)) {
    const query = new URLSearchParams({ by: 'created', [name]: value });
    const led = await get(cookie, `/transactions?${query.toString()}`);
    expect(led.status).toBe(303);
    const address = led.headers.get('location') ?? '';
    expect(address).toMatch(/^\/transactions\?by=created&sealed=[\w-]+$/);
    expect(await (await get(cookie, address)).text()).toContain(`/transactions/${env.paid.id}`);
  }
});

test('the same for a search of the inbox by extra', async () => {
  const cookie = await openCookie(env.tokens.viewer);
  const led = await post(cookie, '/inbox', { extra: 'x', reference: '' });
  expect(led.headers.get('location')).toMatch(/^\/inbox\?sealed=[\w-]+$/);
  const found = await (await get(cookie, led.headers.get('location') ?? '')).text();
  expect(found.match(/<tr role="row">/g)).toHaveLength(2);
  expect(found).toContain('name="extra" value="x"');
  const none = await post(cookie, '/inbox', { extra: 'y' });
  expect(await (await get(cookie, none.headers.get('location') ?? '')).text()).toContain('Nenhum webhook com estes');
});

test('an encrypted filter is refused in another session, even one of the same token', async () => {
  const led = await post(await openCookie(env.tokens.operator), '/transactions', { document: PERSONAL.document });
  const address = led.headers.get('location') ?? '';
  for (const token of [env.tokens.operator, env.tokens.admin]) {
    const answer = await get(await openCookie(token), address);
    expect(answer.status).toBe(422);
    const text = await answer.text();
    expect(text).toContain('valia só para a sessão');
    expect(text).not.toContain(env.paid.id);
  }
  expect((await get(await openCookie(env.tokens.operator), '/transactions?sealed=nonsense')).status).toBe(422);
});

test('an invalid encrypted filter is refused: it must not be ignored', async () => {
  const cookie = await openCookie(env.tokens.operator);
  const led = await post(cookie, '/transactions', { document: PERSONAL.document });
  const address = led.headers.get('location') ?? '';
  const sealed = new URL(address, env.url).searchParams.get('sealed');
  const both = await get(cookie, `${address}&extra=x`);
  expect(both.headers.get('location')).toMatch(/^\/transactions\?sealed=[\w-]+$/);
  const text = await (await get(cookie, both.headers.get('location') ?? '')).text();
  expect(text).toMatch(/name="extra" value="x".*name="document" value="123.456.789-09"/s);
  for (const query of ['sealed=', 'sealed', 'status=paid&sealed=']) {
    for (const page of ['/transactions', '/inbox']) {
      const answer = await get(cookie, `${page}?${query}`);
      expect([page, query, answer.status]).toEqual([page, query, 422]);
      expect(await answer.text()).toContain('valia só para a sessão');
    }
  }
  expect((await get(cookie, `/transactions?sealed=${sealed}`)).status).toBe(200);
});

test('a parameter that an address gives twice, or as a list, is refused by every page alike', async () => {
  const cookie = await openCookie(env.tokens.operator);
  for (const [page, name] of [
    ['/transactions', 'sealed'],
    ['/transactions', 'extra'],
    ['/transactions/export', 'platform'],
    ['/inbox', 'sealed'],
    ['/mismatches', 'state'],
    ['/alerts', 'cursor'],
    ['/charts', 'from'],
    ['/charts/hours', 'platform'],
    ['/charts/callbacks', 'to'],
    ['/reports', 'month'],
    ['/reports/period', 'from'],
    [`/reports/${env.today}`, 'platform'],
    ['/balances', 'at'],
    ['/balances/adjustments/new', 'platform'],
    ['/', 'done'],
  ]) {
    for (const query of [`${name}=a&${name}=b`, `${name}[]=a`, `${name}%5B%5D=a`, `${name}[x]=a`]) {
      const answer = await get(cookie, `${page}?${query}`);
      expect([page, query, answer.status]).toEqual([page, query, 422]);
      expect(await answer.text()).toContain(`<b>${name}</b>: Só pode vir uma vez no endereço.`);
    }
  }
});

test('without a session, the redirect to the login keeps other filters, but no personal ones', async () => {
  for (const [asked, next] of [
    ['/transactions?document=123.456.789-09', '/transactions'],
    [
      '/transactions?by=created&d%6Fcument=123.456.789-09&name=&from=2026-11-20',
      '/transactions?by=created&from=2026-11-20',
    ],
    ['/inbox?extra=a?b=Maria&extra=Maria&state=pending', '/inbox?state=pending'],
    ['/transactions?reference=a%20b&sealed=abc', '/transactions?reference=a%20b&sealed=abc'],
  ]) {
    const away = await fetch(`${env.url}${asked}`, { redirect: 'manual' });
    expect([away.status, away.headers.get('location')]).toEqual([303, `/login?next=${encodeURIComponent(next ?? '')}`]);
  }
});

test('a posted search needs its session and site, and an invalid one is answered with the field', async () => {
  const cookie = await openCookie(env.tokens.operator);
  const body = new URLSearchParams({ document: PERSONAL.document });
  const forged = await fetch(`${env.url}/transactions`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: env.url },
    body,
  });
  expect(forged.status).toBe(403);
  const away = await fetch(`${env.url}/transactions`, { method: 'POST', redirect: 'manual', body });
  expect(away.headers.get('location')).toBe('/login');
  const wrong = await post(cookie, '/transactions', { document: ' .-/', amount: 'x' });
  expect(wrong.status).toBe(422);
  const form = await wrong.text();
  expect(form).toContain('name="document" aria-invalid="true" aria-describedby="document-fault" value=" .-/"');
  expect(form).toMatch(
    /id="document-fault" role="alert">Escreva os dígitos.*id="amount-fault" role="alert">Escreva o valor/s,
  );
  const long = await post(cookie, '/transactions', { name: 'm'.repeat(20_000) });
  expect(long.status).toBe(422);
});

/** An address with each part of its encrypted filters decoded as text. */
function unsealed(address: string): string {
  const sealed = new URL(address, env.url).searchParams.get('sealed') ?? '';
  return `${decodeURIComponent(address)} ${Buffer.from(sealed, 'base64url').toString('latin1')}`;
}

function get(cookie: string, address: string): Promise<Response> {
  return fetch(`${env.url}${address}`, { headers: { cookie }, redirect: 'manual' });
}

async function post(cookie: string, address: string, fields: Record<string, string>): Promise<Response> {
  const page = await (await get(cookie, address)).text();
  const token =
    /<form class="filters" method="post"[^>]*>\s*<input type="hidden" name="form_token" value="([^"]+)"/.exec(
      page,
    )?.[1];
  return await fetch(`${env.url}${address}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: env.url },
    body: new URLSearchParams({ form_token: token ?? '', ...fields }),
  });
}

const openCookie = (token: string): Promise<string> => logIn(env.url, token);
