import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAdminToken } from '../../../src/access/create-admin-token.ts';
import { findSession, openSession } from '../../../src/access/sessions.ts';
import { createToken, findCaller } from '../../../src/access/tokens.ts';
import type { Context } from '../../../src/context.ts';
import { callApi } from '../../support/call-api.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf } from '../../support/open-console-session.ts';
import { openEnvironment, openTestContext } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { ADMIN_TOKEN } from '../../support/start-serve.ts';

let environment: ConsoleEnvironment;
beforeAll(async () => {
  environment = await openConsoleEnvironment();
});
afterAll(() => environment[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;

/** The same context at a later time. */
function later(context: Context, ms: number): Context {
  return { ...context, clock: { ...context.clock, now: () => new Date(Date.now() + ms) } };
}

const call = (method: string, address: string, token: string, body?: unknown) =>
  callApi({ url: `${environment.url}/api/v1`, token }, method, address, body);

test('another ADMIN_TOKEN ends the sessions that the old one opened, and those of tokens go on', async () => {
  const { context } = environment;
  const [admin, viewer] = [
    await openSession(context, ADMIN_TOKEN),
    await openSession(context, environment.tokens.viewer),
  ];
  expect(await findSession(context, admin)).toEqual({ id: 'admin', role: 'admin' });
  const rotated = await environment.replica({ ADMIN_TOKEN: 'adm_another_0123456789abcdef' });
  expect(await findSession(rotated, admin)).toBeUndefined();
  expect(await findSession(rotated, viewer)).toMatchObject({ role: 'viewer' });
  expect(await findCaller(rotated, ADMIN_TOKEN)).toBeUndefined();
});

test('a session whose token row is gone, or that remembers no token, is nobody’s', async () => {
  const { context } = environment;
  const { id, token } = await createToken(context, { name: 'gone', role: 'viewer' });
  const session = await openSession(context, token);
  await context.db.deleteFrom('tokens').where('id', '=', id).execute();
  expect(await findSession(context, session)).toBeUndefined();
  await expect(openSession(context, token)).rejects.toMatchObject({ code: 'unauthorized' });
  // as earlier versions wrote sessions of the admin, and of tokens without a row
  const old = await openSession(context, ADMIN_TOKEN);
  await context.db.updateTable('sessions').set({ opened_with: null }).where('token_seq', 'is', null).execute();
  expect(await findSession(context, old)).toBeUndefined();
});

test('a token that expires opens nothing afterwards, and its sessions end with it', async () => {
  const { context } = environment;
  const expiresAt = new Date(Date.now() + HOUR_MS);
  const { token } = await createToken(context, { name: 'short', role: 'viewer', expiresAt });
  const session = await openSession(context, token);
  expect(await findCaller(context, token)).toMatchObject({ role: 'viewer' });
  const after = later(context, HOUR_MS + 60_000);
  expect(await findCaller(after, token)).toBeUndefined();
  expect(await findSession(after, session)).toBeUndefined();
  await expect(openSession(after, token)).rejects.toMatchObject({ code: 'unauthorized' });
});

test('the API makes, lists and revokes tokens, and says when each was last used', async () => {
  const past = await call('POST', '/tokens', ADMIN_TOKEN, { role: 'viewer', expires_at: '2020-01-01T00:00:00Z' });
  expect([past.status, Object.keys(past.json.errors as object)]).toEqual([422, ['expires_at']]);
  const expires_at = new Date(Date.now() + HOUR_MS).toISOString();
  const made = await call('POST', '/tokens', ADMIN_TOKEN, { role: 'accountant', name: 'books', expires_at });
  expect(made).toMatchObject({ status: 201, json: { role: 'accountant', expires_at } });
  const find = async () => {
    const { tokens } = (await call('GET', '/tokens', ADMIN_TOKEN)).json as { tokens: Record<string, unknown>[] };
    return tokens.find((one) => one.id === made.json.id);
  };
  expect(await find()).toMatchObject({ name: 'books', state: 'live', last_used_at: null, expires_at });
  expect((await call('GET', '/balances', String(made.json.token))).status).toBe(200);
  expect(await find()).toMatchObject({ last_used_at: expect.any(String) });
  expect((await call('DELETE', `/tokens/${String(made.json.id)}`, ADMIN_TOKEN)).status).toBe(204);
  expect((await call('GET', '/balances', String(made.json.token))).status).toBe(401);
  expect(await find()).toMatchObject({ state: 'revoked', revoked_at: expect.any(String) });
  expect((await call('DELETE', `/tokens/${String(made.json.id)}`, ADMIN_TOKEN)).status).toBe(404);
});

test('commands list and revoke tokens, and never show their text', async () => {
  const expires = new Date(Date.now() + HOUR_MS).toISOString();
  const created = await runCommandInProcess(
    ['tokens', 'create', '--role', 'operator', '--expires', expires, '--json'],
    environment.env,
  );
  const made = JSON.parse(created.out) as { id: string; token: string };
  expect(made).toMatchObject({ role: 'operator', expires_at: expires });
  const listed = await runCommandInProcess(['tokens', 'list', '--json'], environment.env);
  const { tokens } = JSON.parse(listed.out) as { tokens: { id: string; state: string }[] };
  expect(tokens.find((one) => one.id === made.id)).toMatchObject({ state: 'live' });
  expect(listed.out).not.toContain(made.token);
  expect((await runCommandInProcess(['tokens', 'revoke', made.id], environment.env)).code).toBe(0);
  expect(await findCaller(environment.context, made.token)).toBeUndefined();
  expect((await runCommandInProcess(['tokens', 'revoke', made.id], environment.env)).code).toBe(1);
  expect(
    (await runCommandInProcess(['tokens', 'create', '--role', 'viewer', '--expires', 'soon'], environment.env)).code,
  ).toBe(2);
});

test('the console lists tokens for an admin and revokes them, and for nobody else', async () => {
  const { id, token } = await createToken(environment.context, { name: 'Ana do caixa', role: 'viewer' });
  const cookieOf = async (text: string) => `confere_session=${await openSession(environment.context, text)}`;
  const pageOf = (cookie: string) => fetch(`${environment.url}/tokens`, { headers: { cookie }, redirect: 'manual' });
  expect((await pageOf(await cookieOf(environment.tokens.operator))).status).toBe(403);
  const cookie = await cookieOf(ADMIN_TOKEN);
  const page = await (await pageOf(cookie)).text();
  expect(page).toContain('Ana do caixa');
  expect(page).not.toContain(token);
  const form_token = formTokenOf(page);
  const answer = await fetch(`${environment.url}/tokens/${id}/revoke`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, origin: environment.url },
    body: new URLSearchParams({ form_token }),
  });
  expect(answer.status).toBe(303);
  expect(await findCaller(environment.context, token)).toBeUndefined();
});

test('a generated admin token is in a file with mode 0600, and only its path is printed', async () => {
  await using environment = await openEnvironment({ ADMIN_TOKEN: '' });
  const { context, dataDir } = environment;
  const file = await createAdminToken(context);
  expect(file).toBe(path.join(dataDir, 'admin-token'));
  expect(statSync(file ?? '').mode & 0o777).toBe(0o600);
  const token = readFileSync(file ?? '', 'utf8').trim();
  expect(await findCaller(context, token)).toEqual({ id: 'admin', role: 'admin' });
  expect(await createAdminToken(context)).toBeUndefined();
  expect(readFileSync(file ?? '', 'utf8').trim()).toBe(token);
});

test('of replicas that make an admin token at once the file of one holds the one that counts', async () => {
  await using environment = await openEnvironment({ ADMIN_TOKEN: '' });
  const other = await environment.replica({ DATA_DIR: `${environment.dataDir}-2` });
  const files = await Promise.all([createAdminToken(environment.context), createAdminToken(other)]);
  const made = files.filter((file) => file !== undefined);
  expect(made).toHaveLength(1);
  const token = readFileSync(made[0] ?? '', 'utf8').trim();
  expect(await findCaller(other, token)).toEqual({ id: 'admin', role: 'admin' });
});

test('a merchant’s token opens its events while it is enabled, until it is ended; each step is audited', async () => {
  const { context } = environment;
  const made = await call('POST', '/merchants', ADMIN_TOKEN, { name: 'puller', url: 'http://127.0.0.1:9/' });
  const one = `/merchants/${String(made.json.id)}`;
  const give = async () => String((await call('POST', `${one}/pull-token`, ADMIN_TOKEN, {})).json.token);
  const pull = async (token: string) => (await call('GET', '/events', token)).status;
  const first = await give();
  expect(await pull(first)).toBe(200);
  await call('POST', `${one}/pause`, ADMIN_TOKEN, {});
  expect(await pull(first)).toBe(401);
  await call('POST', `${one}/enable`, ADMIN_TOKEN, {});
  expect(await pull(first)).toBe(200);
  await context.db.updateTable('merchants').set({ state: 'disabled' }).where('id', '=', String(made.json.id)).execute();
  expect(await pull(first)).toBe(401);
  await call('POST', `${one}/enable`, ADMIN_TOKEN, {});
  const second = await give();
  expect([await pull(first), await pull(second)]).toEqual([401, 200]);
  expect((await call('DELETE', `${one}/pull-token`, ADMIN_TOKEN)).status).toBe(204);
  expect(await pull(second)).toBe(401);
  expect((await call('DELETE', `${one}/pull-token`, ADMIN_TOKEN)).status).toBe(404);
  const commanded = await runCommandInProcess(
    ['merchants', 'pull-token', String(made.json.id), '--json'],
    environment.env,
  );
  const { token: third } = JSON.parse(commanded.out) as { token: string };
  expect(await pull(third)).toBe(200);
  expect(
    (await runCommandInProcess(['merchants', 'pull-token', String(made.json.id), '--revoke'], environment.env)).code,
  ).toBe(0);
  expect(await pull(third)).toBe(401);
  const last = await give();
  await call('DELETE', one, ADMIN_TOKEN);
  expect(await pull(last)).toBe(401);
  const rows = await context.db
    .selectFrom('audit')
    .select('action')
    .where('target', '=', String(made.json.id))
    .where('action', 'like', '%pull_token%')
    .orderBy('seq')
    .execute();
  const [given, revoked] = ['merchant.pull_token_given', 'merchant.pull_token_revoked'];
  expect(rows.map((row) => row.action)).toEqual([given, given, revoked, given, revoked, given]);
});

test('what is no token of ours asks the database for none', async () => {
  await using context = await openTestContext();
  const asked: string[] = [];
  const db = context.db.withPlugin({
    transformQuery: ({ node }) => {
      asked.push(node.kind);
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  for (const text of ['x', 'cft_short', `mpt_${'a'.repeat(43)}`]) {
    expect(await findCaller({ ...context, db }, text)).toBeUndefined();
  }
  expect(asked).toEqual([]);
});
