/** The tool for merchants' developers as they get it: one file, without a database, installed far from this repository. */
import { execFile } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMerchantSession } from '../../../src/access/sessions.ts';
import { sign } from '../../../src/callbacks/render/sign.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { packTool } from '../../../src/http/console/portal/collect-tool.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { issuePullToken } from '../../../src/merchants/pull-token.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { openMerchantServer } from '../../support/open-merchant-server.ts';
import { createMerchantToken } from '../../support/open-scopes.ts';
import { readRow } from '../../support/read-rows.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { inFile } from '../../support/write-temporary-file.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const run = promisify(execFile);
const env = closeAfterAll(await openCallbackEnvironment());
const shop = closeAfterAll(await openMerchantServer());
let home: ReturnType<typeof temporaryDirectory>;
let url: string;
let merchant: string;

beforeAll(async () => {
  home = temporaryDirectory();
  const server = env.use(await serveHttp(env.context, createApp(env.context), TEST_HTTP_LIMITS));
  url = `http://127.0.0.1:${server.port}`;
  merchant = (await env.addMerchant(`${shop.url}/pix`)).merchant.id;
  const cookie = `confere_portal=${await openMerchantSession(env.context, await createMerchantToken(env.context, merchant))}`;
  const file = await fetch(`${url}/portal/confere-cli.tgz`, { headers: { cookie } });
  const bytes = Buffer.from(await file.arrayBuffer());
  expect(bytes.equals(packTool())).toBe(true);
  writeFileSync(path.join(home.path, 'tool.tgz'), bytes);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', './tool.tgz'], { cwd: home.path });
});
afterAll(async () => {
  home[Symbol.dispose]();
});

async function tool(args: string[], variables: Record<string, string> = {}) {
  const installed = path.join(home.path, 'node_modules/.bin/confere-cli');
  const options = { cwd: home.path, env: { PATH: process.env.PATH ?? '', ...variables } };
  return await run(installed, args, options).then(
    ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      out: error.stdout,
      err: error.stderr,
    }),
  );
}

function listenOnce(token: Record<string, string>) {
  const since = ['--since', '2020-01-01T00:00:00Z', '--once'];
  return tool(['listen', '--server', url, '--forward', `${shop.url}/local`, ...since], token);
}

test('listen posts the events to a local address', async () => {
  await env.applyTransaction(['paid']);
  const token = await issuePullToken(env.context, merchant, undefined);
  const { code, out } = await listenOnce({ CONFERE_PULL_TOKEN: token });
  expect([code, out]).toEqual([0, expect.stringMatching(/pix\.cashin\.paid {2}msg_\S+ {2}200 in \d+ ms/)]);
  expect(shop.callsTo('/local')).toHaveLength(1);
});

test('listen takes the token of the portal, which acknowledges nothing and is audited', async () => {
  const token = await createMerchantToken(env.context, merchant);
  const { code, out } = await listenOnce({ CONFERE_PORTAL_TOKEN: token });
  expect([code, out]).toEqual([0, expect.stringMatching(/pix\.cashin\.paid {2}msg_\S+ {2}200 in \d+ ms/)]);
  expect(await readRow(env.context.db, 'audit', ['action'], { target: 'events' })).toEqual({
    action: 'callbacks.show',
  });
  const read = (query: string) =>
    fetch(`${url}/api/v1/events${query}`, { headers: { authorization: `Bearer ${token}` } });
  expect((await read('?peek=true')).status).toBe(200);
  const refused = await read('?after=1');
  expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ reason: 'feed_peek_only' })]);
});

test('verify accepts a right signature, and refuses another body, and an old message', async () => {
  const timestamp = Math.floor(Date.now() / 1000);
  const key = createSecretKey(Buffer.from(SECRET.slice('whsec_'.length), 'base64'));
  const verify = (body: string, at: number, ...more: string[]) => {
    const signature = `v1,other ${sign([key], { id: 'msg_1', timestamp: at, body: '{"a":1}' })}`;
    const files = ['--secret', inFile('secret', SECRET), '--body', inFile('body', body)];
    return tool(['verify', ...files, '--id', 'msg_1', '--timestamp', String(at), '--signature', signature, ...more]);
  };
  expect(await verify('{"a":1}', timestamp)).toMatchObject({ code: 0, out: 'the signature is right\n' });
  expect(await verify('{"a":2}', timestamp)).toMatchObject({ code: 1, out: expect.stringContaining('wrong') });
  expect(await verify('{"a":1}', timestamp - 400)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/is \d+ s old/),
  });
  expect((await verify('{"a":1}', timestamp - 400, '--any-age')).code).toBe(0);
});

test('events trigger has the portal send an example of any type; wrong use ends with 2', async () => {
  const token = await createMerchantToken(env.context, merchant);
  const trigger = (type: string) =>
    tool(['events', 'trigger', type, '--server', url, '--json'], { CONFERE_PORTAL_TOKEN: token });
  expect(await trigger('pix.expected.paid_twice')).toMatchObject({ code: 0, out: expect.stringContaining('msg_') });
  expect(JSON.parse((await trigger('pix.day.manifest')).out)).toMatchObject({ to: `${shop.url}/pix` });
  const variables = { CONFERE_PORTAL_TOKEN: token };
  const ignored = ['events', 'trigger', 'pix.cashin.paid', '--server', url, '--amount', '1.00', '--reference', 'x'];
  expect(await tool(ignored, variables)).toMatchObject({
    ...{ code: 2, err: expect.stringMatching(/--amount, --reference: only without --server/) },
  });
  expect((await tool(['events', 'trigger', 'pix.cashin.paid', '--server', url], variables)).out).toContain(
    `pix.cashin.paid to ${shop.url}/pix\n`,
  );
  expect(await trigger('pix.day.manifes')).toMatchObject({
    ...{
      code: 2,
      err: expect.stringMatching(/^confere-cli: .*; nearest are pix\.day\.manifest, .*--help lists all\n$/),
    },
  });
  expect((await tool(['events', 'trigger', '--help'])).out).toContain('pix.expected.paid_after_cancel');
  expect(await tool(['events', 'trigger', 'pix.none'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--server'),
  });
  expect((await tool(['nothing'])).code).toBe(2);
  expect(await tool(['--version'])).toMatchObject({ code: 0, out: `${VERSION}\n` });
});

test.each([
  ['listen', ['listen'], '200 in 12 ms'],
  ['verify', ['verify'], 'A wrong one says: the signature is wrong: another secret, or another body'],
  ['events trigger', ['events', 'trigger'], 'example of pix.cashin.paid to https://shop.example/pix'],
])('the help of %s has an example with what it prints, and the exit codes', async (name, args, printed) => {
  const { code, out } = await tool([...args, '--help']);
  expect(code).toBe(0);
  expect(out).toContain(printed);
  expect(out).toMatch(new RegExp(`Example[^\\n]*:\\n  confere-cli ${name} `));
  expect(out).toMatch(/Exit code 0: [\s\S]*; 1: [\s\S]*; 2: a wrong option/);
});
