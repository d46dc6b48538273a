import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../../../src/access/sessions.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';

let env: ConsoleEnvironment;
let session: string;
beforeAll(async () => {
  env = await openConsoleEnvironment();
  session = `confere_session=${await openSession(env.context, env.tokens.admin)}`;
});
afterAll(() => env[Symbol.asyncDispose]());

async function read(address: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${env.url}${address}`, {
    redirect: 'manual',
    headers: { cookie: session, ...headers },
  });
  const page = await response.text();
  return { status: response.status, headers: response.headers, page, lang: /<html lang="([^"]+)"/.exec(page)?.[1] };
}

const choose = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${env.url}/language`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: env.url, ...headers },
    body: new URLSearchParams(fields),
  });

test.each([
  ['', 'pt-BR'],
  ['*', 'pt-BR'],
  ['en', 'en'],
  ['en-US,en;q=0.9', 'en'],
  ['en;q=0.5,pt;q=0.9', 'pt-BR'],
  ['pt-PT,en;q=0.4', 'pt-BR'],
  ['de,en;q=0.1', 'en'],
  ['de,fr', 'pt-BR'],
  ['en;q=0,pt;q=0', 'pt-BR'],
  ['xx;;q=nonsense', 'pt-BR'],
])('the browser’s languages “%s” lead to %s', async (accepted, lang) => {
  const page = await read('/', { 'accept-language': accepted });
  expect(page.lang).toBe(lang);
  expect(page.headers.get('content-language')).toBe(lang);
  expect(page.page).toContain(lang === 'en' ? '>Reconciliations</a>' : '>Conferências</a>');
});

test('the form in the foot keeps a language, which wins over the browser’s, and leads back to the page', async () => {
  const { page } = await read('/callbacks?state=failed&done=left&lang=pt-BR', { 'accept-language': 'pt-BR' });
  expect(page).toContain('name="next" value="/callbacks?state=failed"');
  const answer = await choose({ language: 'en', next: '/callbacks?state=failed' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/callbacks?state=failed']);
  const header = answer.headers.get('set-cookie') ?? '';
  expect(header).toMatch(/^confere_language=en; Max-Age=31536000; Path=\/; .*HttpOnly; SameSite=Lax$/);
  const cookie = `${session}; ${header.split(';')[0]}`;
  expect((await read('/', { cookie, 'accept-language': 'pt-BR' })).lang).toBe('en');
  expect((await read('/', { cookie: `${session}; confere_language=tlh`, 'accept-language': 'en' })).lang).toBe('en');
});

test('an address can name the language of one answer', async () => {
  const cookie = `${session}; confere_language=en`;
  expect((await read('/?lang=pt-BR', { cookie })).lang).toBe('pt-BR');
  for (const wrong of ['/?lang=fr', '/?lang=en&lang=en', '/?lang='])
    expect((await read(wrong, { cookie: session, 'accept-language': 'pt' })).lang, wrong).toBe('pt-BR');
});

test('a language is kept only by a form of ours, only a known one, and leads to no other site', async () => {
  const away = await choose({ language: 'en' }, { origin: 'https://evil.example' });
  expect([away.status, away.headers.get('set-cookie')]).toEqual([403, null]);
  const unknown = await choose({ language: 'fr' });
  expect([unknown.status, unknown.headers.get('set-cookie')]).toEqual([422, null]);
  const next = await choose({ language: 'en', next: 'https://evil.example/' });
  expect(next.headers.get('location')).toBe('/');
});

test('a cache keeps pages of both languages apart, and stores none', async () => {
  for (const address of ['/login', '/', '/runbooks', '/transactions/nothing']) {
    const { headers } = await read(address);
    expect(headers.get('vary'), address).toBe('Accept-Language, Cookie');
    expect(headers.get('cache-control'), address).toBe('no-store');
  }
  expect((await read('/console/console.css')).headers.get('vary')).toBe('Accept-Encoding');
});

test('an address with a person’s name is not repeated in the page', async () => {
  const { status, page } = await read('/inbox?extra=111.444.777-35&state=nonsense');
  expect(status).toBe(422);
  expect(page).toContain('name="next" value="/inbox?state=nonsense"');
});

test('findings of the checks, errors of runs and why a merchant is disabled are in the page’s language', async () => {
  const { db } = env.context;
  const form_token = /name="form_token" value="([^"]+)"/.exec((await read('/')).page)?.[1] ?? '';
  const check = async (language: string) => {
    const headers = { cookie: `${session}; confere_language=${language}`, origin: env.url };
    const body = new URLSearchParams({ form_token });
    const answer = await fetch(`${env.url}/system/check`, { method: 'POST', headers, body });
    return (await answer.text()).replaceAll('&#39;', "'");
  };
  const findings = await check('pt-BR');
  expect(findings).toContain('innodb_flush_log_at_trx_commit não é 1: uma queda de energia');
  expect(findings).toContain('PROVIDER_URL e PROVIDER_API_KEY não estão configuradas');
  expect(/Achados[\s\S]*?<\/table>/.exec(findings)?.[0]).not.toContain('lang="en"');
  expect(await check('en')).toContain('innodb_flush_log_at_trx_commit is not 1: a power cut');

  const run = await db.selectFrom('runs').select(['seq', 'id']).orderBy('seq').executeTakeFirstOrThrow();
  await db.updateTable('runs').set({ error: 'the provider answered 503' }).where('seq', '=', run.seq).execute();
  await db
    .updateTable('run_windows')
    .set({ error: 'the total fell from 9 to 7', pages: 3, folded_at: new Date() })
    .where('run_seq', '=', run.seq)
    .execute();
  const shown = (await read(`/reconciliations/${run.id}`)).page;
  expect(shown).toContain('o provedor respondeu 503');
  expect(shown).toContain('o total caiu de 9 para 7');
  expect(shown).toContain('3 <span class="hint">resumidas</span>');
  const merchant = await db.selectFrom('merchants').select(['seq', 'id']).executeTakeFirstOrThrow();
  await db
    .updateTable('merchants')
    .set({ state: 'disabled', disabled_reason: 'its address answered 410 Gone' })
    .where('seq', '=', merchant.seq)
    .execute();
  expect((await read(`/merchants/${merchant.id}`)).page).toContain('o endereço respondeu 410 Gone');
});

test('requests at the same time each keep their language, through a posted form too', async () => {
  const form_token = /name="form_token" value="([^"]+)"/.exec((await read('/')).page)?.[1] ?? '';
  const post = async (language: string) => {
    const response = await fetch(`${env.url}/balances/adjustments/new`, {
      method: 'POST',
      headers: { cookie: `${session}; confere_language=${language}`, origin: env.url },
      body: new URLSearchParams({ form_token, amount: 'x' }),
    });
    return await response.text();
  };
  const languages = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? 'en' : 'pt-BR'));
  const pages = await Promise.all(languages.map(post));
  expect(pages.map((page) => /<html lang="([^"]+)"/.exec(page)?.[1])).toEqual(languages);
  expect(pages.map((page) => page.includes('Write an amount as 1,234.56 or -1,234.56.'))).toEqual(
    languages.map((language) => language === 'en'),
  );
  expect(pages.filter((page) => page.includes('action="/language"'))).toEqual([]);
});
