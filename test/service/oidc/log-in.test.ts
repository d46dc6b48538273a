import { afterEach, expect, test } from 'vitest';
import { auditWithinLimit } from '../../../src/access/audit.ts';
import { findSession, SESSION_MS } from '../../../src/access/sessions.ts';
import { userIdOf } from '../../../src/access/users.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openOidcEnvironment, PEOPLE } from '../../support/open-oidc-environment.ts';
import { CLIENT } from '../../support/open-test-issuer.ts';
import { openVisitor } from '../../support/open-visitor.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';

type Row = { actor: string; actor_name: string | null; action: string; detail: string | null };

const env = closeAfterAll(await openOidcEnvironment());
afterEach(async () => {
  env.issuer.accounts = { ...PEOPLE };
});

/** Logs in by the issuer. @returns the page that the callback answers with. */
async function logIn(name: string, { on = env, next = '/', visitor = openVisitor() } = {}) {
  const back = await on.comeBack(visitor, name, next);
  return { visitor, page: await visitor.visit(back.url) };
}

async function readAudit(action: string, on = env): Promise<Row[]> {
  const response = await fetch(`${on.url}/api/v1/audit?action=${action}`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  return ((await response.json()) as { audit: Row[] }).audit;
}

test('a person logs in by the company account, and lands on the page that they wanted, by name and role', async () => {
  const { visitor, page } = await logIn('ana', { next: '/balances?at=2026-11-01' });
  expect(page.status).toBe(200);
  expect(page.html).toContain('<meta http-equiv="refresh" content="0; url=/balances?at=2026-11-01">');
  const first = await visitor.visit(`${env.url}/`);
  expect(first.status).toBe(200);
  expect(first.html).toMatch(/Contabilidade<\/span> <span class="caller" title="usr_[0-9a-f]{32}">Ana Souza</);
});

test('the audit names the person, holds no name itself, and each login of theirs has the same actor', async () => {
  await logIn('ana');
  await logIn('ana');
  const rows = (await readAudit('console.login')).filter((row) => row.actor_name === 'Ana Souza');
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(new Set(rows.map((row) => row.actor)).size).toBe(1);
  expect(rows[0]).toMatchObject({ actor: expect.stringMatching(/^usr_[0-9a-f]{32}$/), detail: 'oidc accountant' });
  const stored = await env.context.db.selectFrom('audit').selectAll().execute();
  expect(JSON.stringify(stored)).not.toMatch(/Ana|"ana"/);
  const users = await env.context.db.selectFrom('users').selectAll().where('subject', '=', 'ana').execute();
  expect(users).toMatchObject([{ name: 'Ana Souza', role: 'accountant', issuer: `${env.issuer.url}/` }]);
});

test.each([
  ['ana', 'Contabilidade', 403],
  ['bruno', 'Operação', 403],
  ['carla', 'Administração', 200],
])('%s has the highest role of all groups, and what it may: %s', async (name, role, auditStatus) => {
  const { visitor } = await logIn(name);
  expect((await visitor.visit(`${env.url}/`)).html).toContain(`<span class="role">${role}</span>`);
  expect((await visitor.visit(`${env.url}/audit`)).status).toBe(auditStatus);
});

test('a person without a group of the mapping gets a clear page and no session, and the audit has it', async () => {
  const { visitor, page } = await logIn('davi');
  expect(page.status).toBe(403);
  expect(page.html).toMatch(/<h1>Sem acesso<\/h1>[\s\S]*Davi Reis/);
  expect((await visitor.visit(`${env.url}/`)).url).toBe(`${env.url}/login`);
  expect(visitor.cookies(env.url).size).toBe(0);
  const [row] = await readAudit('console.login_denied');
  expect(row).toMatchObject({ actor_name: 'Davi Reis', detail: 'oidc: no group has a role' });
});

test('a role is fixed for the session, and a group that the person lost counts at the next login', async () => {
  const { visitor } = await logIn('carla');
  env.issuer.accounts.carla = { ...PEOPLE.carla, groups: ['finance'] };
  expect((await visitor.visit(`${env.url}/audit`)).status).toBe(200);
  const again = await logIn('carla');
  expect((await again.visitor.visit(`${env.url}/audit`)).status).toBe(403);
  await env.timers.advance(SESSION_MS);
  expect((await visitor.visit(`${env.url}/audit`)).url).toContain('/login?next=');
});

test('a login by the issuer ends the session that the browser had', async () => {
  const { visitor } = await logIn('ana');
  const earlier = visitor.cookies(env.url).get('confere_session') ?? '';
  const begun = await visitor.visit(`${env.url}/login/oidc`);
  expect(begun.url.startsWith(env.url)).toBe(true);
  expect(visitor.cookies(env.url).get('confere_session')).not.toBe(earlier);
  expect(await findSession(env.context, earlier)).toBeUndefined();
});

test('a session of the issuer ends with the configuration: another issuer opens no session that it did not', async () => {
  const { visitor } = await logIn('ana');
  const session = visitor.cookies(env.url).get('confere_session') ?? '';
  expect(await findSession(env.context, session)).toMatchObject({ role: 'accountant', name: 'Ana Souza' });
  const config = { ...env.context.config, OIDC_ISSUER: 'https://other.example' };
  expect(await findSession({ ...env.context, config }, session)).toBeUndefined();
  expect(await findSession({ ...env.context, config: { ...config, OIDC_ISSUER: undefined } }, session)).toBeUndefined();
});

test('a logout ends the session, and leads on to the logout of the issuer', async () => {
  const { visitor } = await logIn('ana');
  const first = await visitor.visit(`${env.url}/`);
  const left = await visitor.submit(first, {}, { action: '/logout' });
  expect(left.url).toBe(`${env.url}/logout`);
  const [, address = ''] = /content="0; url=([^"]+)"/.exec(left.html) ?? [];
  const end = new URL(address.replaceAll('&amp;', '&'));
  expect(end.origin).toBe(env.issuer.url);
  expect(end.searchParams.get('post_logout_redirect_uri')).toBe(`${env.url}/login`);
  const confirm = await visitor.visit(end.href);
  const back = await visitor.submit(confirm, { logout: 'yes' }, { until: env.url });
  expect(back.url).toBe(`${env.url}/login`);
  expect((await visitor.visit(`${env.url}/`)).url).toBe(`${env.url}/login`);
  expect(await readAudit('console.logout')).toMatchObject([{ actor_name: 'Ana Souza' }]);
});

test('a token logs in beside the company account, and its logout stays here', async () => {
  const visitor = openVisitor();
  const page = await visitor.visit(`${env.url}/login?next=%2Freports`);
  expect(page.html).toContain('href="/login/oidc?next=%2Freports"');
  const reports = await visitor.submit(page, { token: ADMIN_TOKEN });
  expect(reports.url).toBe(`${env.url}/reports`);
  expect((await visitor.submit(reports, {}, { action: '/logout' })).url).toBe(`${env.url}/login?done=left`);
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  'javascript:alert(1)',
  `/${'a'.repeat(2000)}`,
])('the way back leads to a page of ours alone: %s', async (next) => {
  const { page } = await logIn('ana', { next });
  expect(page.html).toContain('content="0; url=/"');
});

test('claims of the ID token alone serve too, of an issuer without further ones', async () => {
  await using other = await openOidcEnvironment(
    { OIDC_GROUPS_CLAIM: 'realm_access.roles', OIDC_ROLES: 'Admins de TI=admin, *=viewer', OIDC_NAME_CLAIM: 'nick' },
    {
      issuerSettings: {
        conformIdTokenClaims: false,
        claims: { openid: ['sub', 'realm_access', 'nick'], profile: ['name'], groups: ['groups'] },
      },
    },
  );
  other.issuer.accounts = {
    eva: { nick: 'Eva\u202e\n Melo', realm_access: { roles: ['Admins de TI'] } },
    fabio: { name: 'Fábio' },
  };
  const eva = await logIn('eva', { on: other });
  expect((await eva.visitor.visit(`${other.url}/`)).html).toMatch(/Administração<\/span>[^>]*>Eva Melo</);
  expect(other.issuer.asked).not.toContain('/me');
  const fabio = await logIn('fabio', { on: other });
  expect((await fabio.visitor.visit(`${other.url}/`)).html).toMatch(/Leitura<\/span>[^>]*>Fábio</);
});

test('behind https the cookies of a login are bound to the host', async () => {
  await using secure = await openOidcEnvironment({ PUBLIC_URL: 'https://confere.example' });
  const begun = await fetch(`${secure.url}/login/oidc`, { redirect: 'manual' });
  expect(begun.headers.get('set-cookie')).toMatch(
    /^__Host-confere_login=[\w-]+; Max-Age=600; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
  );
  const to = new URL(begun.headers.get('location') ?? '');
  expect(to.searchParams.get('redirect_uri')).toBe('https://confere.example/login/oidc/callback');
  expect(to.searchParams.get('code_challenge_method')).toBe('S256');
  expect(to.searchParams.get('nonce')).toMatch(/^[\w-]{43}$/);
});

test('commands list people, end their sessions, and forget them; the audit keeps who by id', async () => {
  const { visitor } = await logIn('bruno');
  const { DATABASE_URL = '', SECRET_KEY = '', DATA_DIR = '' } = env.env;
  const command = async (...args: string[]) =>
    await runCommandInProcess(['users', ...args, '--json'], { DATABASE_URL, SECRET_KEY, DATA_DIR });
  const list = async () =>
    (
      JSON.parse((await command('list')).out) as {
        users: { id: string; subject: string | null; name: string | null }[];
      }
    ).users;
  const bruno = (await list()).find((user) => user.subject === 'bruno');
  expect(bruno).toMatchObject({ name: 'Bruno Lima', role: 'operator', sessions: expect.any(Number) });
  const id = bruno?.id ?? '';
  expect((await command('log-out', id)).code).toBe(0);
  expect((await visitor.visit(`${env.url}/`)).url).toBe(`${env.url}/login`);
  expect((await command('forget', id)).code).toBe(0);
  expect((await list()).find((user) => user.id === id)).toMatchObject({ name: null, subject: null, sessions: 0 });
  const [row] = (await readAudit('console.login')).filter((one) => one.actor === id);
  expect(row).toMatchObject({ actor: id, actor_name: null });
  expect((await readAudit('users.forget'))[0]).toMatchObject({ actor: 'command' });
  expect((await command('log-out', 'usr_nobody')).code).toBe(1);
  await logIn('bruno');
  expect((await list()).find((user) => user.id === id)).toMatchObject({ name: 'Bruno Lima' });
});

test('an admin ends the sessions of a person in the console', async () => {
  const ana = await logIn('ana');
  const { visitor } = await logIn('carla');
  const page = await visitor.visit(`${env.url}/users`);
  const row = page.html.split('<tr').find((part) => part.includes('Ana Souza')) ?? '';
  const ended = await visitor.submit({ ...page, html: row }, {});
  expect(ended.url).toBe(`${env.url}/users?done=logged_out`);
  expect(ended.html).toContain('Sessões encerradas');
  expect((await ana.visitor.visit(`${env.url}/`)).url).toBe(`${env.url}/login`);
  expect((await visitor.visit(`${env.url}/users`)).status).toBe(200);
  expect((await readAudit('users.log_out'))[0]).toMatchObject({ actor_name: 'Carla Dias', detail: 'console' });
});

test('the searches of a viewer are counted one after another, as those of a token are', async () => {
  const { context } = env;
  const id = userIdOf(context.keys, { issuer: `${env.issuer.url}/`, subject: 'ana' });
  const search = { actor: id, action: 'test.search', target: 'x' };
  const limit = { times: 3, ms: 60_000 };
  const allowed = await Promise.all(Array.from({ length: 9 }, () => auditWithinLimit(context, search, limit)));
  expect(allowed.filter(Boolean)).toHaveLength(3);
});

test('the login speaks English where the browser does', async () => {
  const visitor = openVisitor();
  const page = await visitor.visit(`${env.url}/login?lang=en`);
  expect(page.html).toContain('Log in with the company account');
  const back = await env.comeBack(openVisitor(), 'davi');
  const denied = await visitor.visit(`${back.url}&lang=en`);
  expect(denied.html).toContain('This login did not begin in this browser');
  // the way back is of no use any more, and the choice of a language leads to the login
  expect(denied.html).toContain('name="next" value="/login?next=%2F"');
});

test('the doctor asks the issuer', async () => {
  const { DATABASE_URL = '', SECRET_KEY = '', DATA_DIR = '' } = env.env;
  const base = { DATABASE_URL, SECRET_KEY, DATA_DIR, PUBLIC_URL: env.url, ...CLIENT, OIDC_ROLES: 'admins=admin' };
  const finding = async (more: Record<string, string>) => {
    const { out } = await runCommandInProcess(['doctor', '--json'], { ...base, ...more });
    const { findings } = JSON.parse(out) as { findings: { check: string; ok: boolean; says: string }[] };
    return findings.find((one) => one.check === 'issuer');
  };
  expect(await finding({ OIDC_ISSUER: env.issuer.url })).toMatchObject({
    ok: true,
    says: expect.stringMatching(/^localhost:\d+ answers; -?\d+ ms .*\/login\/oidc\/callback$/),
  });
  expect(await finding({ OIDC_ISSUER: `${env.issuer.url}/elsewhere` })).toMatchObject({ ok: false });
  await env.issuer.close();
  try {
    expect(await finding({ OIDC_ISSUER: env.issuer.url })).toMatchObject({
      ok: false,
      says: expect.stringContaining('ECONNREFUSED'),
    });
  } finally {
    await env.issuer.listen();
  }
});
