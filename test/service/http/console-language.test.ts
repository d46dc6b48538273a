import { expect, test } from 'vitest';
import { runTick } from '../../../jobs/run-tick.ts';
import { openSession } from '../../../src/access/sessions.ts';
import { DISABLED } from '../../../src/merchants/disabled-reasons.ts';
import { ProviderError } from '../../../src/provider/provider-error.ts';
import { message, storeError } from '../../../src/texts/messages.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf } from '../../support/open-console-session.ts';
import { inFile } from '../../support/write-temporary-file.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const session = `confere_session=${await openSession(env.context, env.tokens.admin)}`;

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
  const form_token = formTokenOf((await read('/')).page);
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

  const command = (await env.confere('doctor')).out;
  expect(command).toContain('innodb_flush_log_at_trx_commit is not 1: a power cut');
  expect(command).toContain('PROVIDER_URL and PROVIDER_API_KEY are not set');

  const run = await db.selectFrom('runs').select(['seq', 'id']).orderBy('seq').executeTakeFirstOrThrow();
  const answered = message('provider.answered', { status: 503 });
  await db
    .updateTable('runs')
    .set(storeError([answered]))
    .where('seq', '=', run.seq)
    .execute();
  await db
    .updateTable('run_windows')
    .set({ ...storeError([message('pass.total_fell', { from: 9, to: 7 })]), pages: 3, folded_at: new Date() })
    .where('run_seq', '=', run.seq)
    .execute();
  const shown = (await read(`/reconciliations/${run.id}`)).page;
  expect(shown).toContain('o provedor respondeu 503');
  expect(shown).toContain('o total caiu de 9 para 7');
  expect(shown).toContain('3 <span class="hint">resumidas</span>');
  const inEnglish = (await read(`/reconciliations/${run.id}?lang=en`)).page;
  expect(inEnglish).toContain('the provider answered 503');
  expect(inEnglish).toContain('the total fell from 9 to 7');
  const viaApi = await env.api('viewer', 'GET', `/reconciliations/${run.id}`);
  expect(viaApi.json).toMatchObject({ error: 'the provider answered 503' });
  expect(viaApi.json).not.toHaveProperty('error_says');
  // an error of a version before has a text alone
  await db.updateTable('runs').set({ error: 'the provider answered 500' }).where('seq', '=', run.seq).execute();
  expect((await read(`/reconciliations/${run.id}`)).page).toContain('<span lang="en">the provider answered 500</span>');

  const unstable = {
    ...{ kind: 'list_unstable', severity: 'medium', scope: env.today, open_scope: `list_unstable ${env.today}` },
    ...{ state: 'open', baseline: 0, run_seq: run.seq, opened_at: new Date(), id: 'mm_last' },
    actual: JSON.stringify({ passes: 5, last: 'the total fell from 9 to 7' }),
  };
  await db
    .insertInto('mismatches')
    .values(unstable as never)
    .execute();
  expect((await read('/mismatches/mm_last')).page).toContain('o total caiu de 9 para 7');
  const evidence = (await env.api('viewer', 'GET', '/mismatches/mm_last')).json;
  expect(evidence).toMatchObject({ actual: { passes: 5, last: 'the total fell from 9 to 7' } });

  await runTick(env.context, { job: 'daily_report', dueAt: new Date() }, () =>
    Promise.reject(new ProviderError('provider_unavailable', answered)),
  );
  expect((await read('/system')).page).toContain('provider_unavailable: o provedor respondeu 503');
  expect((await read('/system?lang=en')).page).toContain('provider_unavailable: the provider answered 503');
  const jobs = await env.api('viewer', 'GET', '/jobs');
  expect(jobs.text).toContain('"error":"provider_unavailable: the provider answered 503"');
  expect((await env.confere('jobs')).out).toContain('provider_unavailable: the provider answered 503');

  const merchant = await db.selectFrom('merchants').select(['seq', 'id']).executeTakeFirstOrThrow();
  for (const [disabled_reason, portuguese] of [
    [DISABLED.gone, 'o endereço respondeu 410 Gone'],
    [DISABLED.filter, 'o filtro passa dos limites: salve um menor'],
    ['another reason', '<span lang="en">another reason</span>'],
  ] as const) {
    await db
      .updateTable('merchants')
      .set({ state: 'disabled', disabled_reason })
      .where('seq', '=', merchant.seq)
      .execute();
    expect((await read(`/merchants/${merchant.id}`)).page).toContain(portuguese);
    expect((await env.api('viewer', 'GET', `/merchants/${merchant.id}`)).json).toMatchObject({ disabled_reason });
  }
});

test('what is wrong with a file is in the page’s language, and in English by the API and the command', async () => {
  const form_token = formTokenOf((await read('/')).page);
  const file = 'dia;"valor\n';
  const upload = async (language: string) => {
    const body = new FormData();
    body.set('form_token', form_token);
    body.set('kind', 'adjustments');
    body.set('file', new File([file], 'a.csv'));
    const headers = { cookie: `${session}; confere_language=${language}`, origin: env.url };
    return await (await fetch(`${env.url}/balances/imports`, { method: 'POST', headers, body })).text();
  };
  expect(await upload('pt-BR')).toContain('o arquivo não pôde ser lido: as aspas que abrem na linha 1 não têm fim');
  expect(await upload('en')).toContain('the quotes that open in line 1 have no end');
  const api = await env.api('admin', 'POST', '/imports/adjustments', file);
  expect(api.json).toMatchObject({ errors: { file: ['the quotes that open in line 1 have no end'] } });
  expect((await env.confere('import', 'adjustments', inFile('a.csv', file))).err).toContain(
    'the quotes that open in line 1 have no end',
  );
});

test('requests at the same time each keep their language, through a posted form too', async () => {
  const form_token = formTokenOf((await read('/')).page);
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
