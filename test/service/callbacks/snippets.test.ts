import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findFreePort } from '../../../demo/start-programs.ts';
import { sign } from '../../../src/callbacks/render/sign.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type Call, openMerchantServer } from '../../support/open-merchant-server.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/callbacks.md'), 'utf8');
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await gone;
  }
});

function snippet(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)?.[1];
  if (!found) throw new Error(`docs/callbacks.md has no ${language}`);
  return found;
}

function run(command: string, args: string[], options: { cwd: string; env: Record<string, string> }): void {
  children.push(spawn(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: 'ignore' }));
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers, body });
  return response.status;
}

/** A shop that runs a snippet takes what Confere delivers, and nothing that was changed on the way. */
async function expectToTakeOnlyOurs(start: (secret: string, port: number) => void): Promise<void> {
  await using environment = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = await environment.addMerchant(url);
  start(secret, port);
  await eventually('it listens', () => post(url, {}, '{}').catch(() => undefined));
  await environment.deliver();
  await environment.applyTransaction(['paid'], { name: 'Zoë Ação' });
  await eventually('taken', async () => (await stateOf(environment)) === 'delivered');

  const { call, secret: another } = await deliverOne(environment, shop);
  const headers = pick(call.headers);
  expect(await post(url, headers, call.body)).toBe(400);
  expect(another).not.toBe(secret);
  const own = (timestamp: string) => post(url, signAt(secret, timestamp, '{}'), '{}');
  const now = String(Math.floor(Date.now() / 1000));
  expect(await own(now)).toBe(204);
  for (const odd of oddTimestamps(now)) expect(await own(odd), odd).toBe(400);
}

/** The headers of a message that is signed with the timestamp, a malformed one too. */
function signAt(secret: string, timestamp: string, body: string): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** Texts that a lax reader takes for a time in seconds. */
function oddTimestamps(now: string): string[] {
  const hex = `0x${Number(now).toString(16)}`;
  return [`${now}x`, `+${now}`, `${now}.0`, `${now}e0`, hex, `000${now}`, `${now.slice(0, 5)} ${now.slice(5)}`];
}

async function stateOf(environment: CallbackEnvironment): Promise<string | undefined> {
  return (await environment.context.db.selectFrom('callbacks').select('state').executeTakeFirst())?.state;
}

/** A genuine message, signed for another merchant. */
async function deliverOne(
  environment: CallbackEnvironment,
  shop: Awaited<ReturnType<typeof openMerchantServer>>,
): Promise<{ call: Call; secret: string }> {
  const { secret } = await environment.addMerchant(`${shop.url}/other`);
  await environment.applyTransaction(['paid']);
  const call = await eventually('a call', () => shop.calls[0]);
  return { call, secret };
}

function pick(headers: Record<string, string>): Record<string, string> {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, headers[name] ?? '']));
}

test('the TypeScript snippet takes what is delivered, and refuses what is signed for another', async () => {
  using home = temporaryDirectory();
  symlinkSync(path.join(root, 'node_modules'), path.join(home.path, 'node_modules'));
  writeFileSync(path.join(home.path, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(home.path, 'shop.ts'), snippet('ts'));
  await expectToTakeOnlyOurs((secret, port) =>
    run(process.execPath, ['shop.ts'], { cwd: home.path, env: { CONFERE_SECRET: secret, PORT: String(port) } }),
  );
});

test('the PHP snippet takes what is delivered, and refuses what is signed for another', async () => {
  using home = temporaryDirectory();
  writeFileSync(path.join(home.path, 'shop.php'), snippet('php'));
  await expectToTakeOnlyOurs((secret, port) =>
    run('php', ['-S', `127.0.0.1:${port}`, 'shop.php'], { cwd: home.path, env: { CONFERE_SECRET: secret } }),
  );
});

test.each(['python', 'php'])('the %s snippet refuses a delivered message with any part changed', async (language) => {
  await using environment = await openCallbackEnvironment();
  await using shop = await openMerchantServer();
  await environment.deliver();
  const { call, secret } = await deliverOne(environment, shop);
  const headers = pick(call.headers);
  const changed = (name: string, value: string) => ({ ...headers, [name]: value });
  const old = String(Number(headers['webhook-timestamp']) - 600);
  const cases: [Record<string, string>, string][] = [
    [headers, call.body],
    [headers, call.body.replace('"amount":"123.45"', '"amount":"923.45"')],
    [headers, `${call.body} `],
    [changed('webhook-id', 'msg_0'), call.body],
    [changed('webhook-timestamp', old), call.body],
    [changed('webhook-signature', 'v1,AAAA'), call.body],
    [changed('webhook-signature', ''), call.body],
  ];
  // what a header of HTTP cannot be, or a server trims, the function refuses too
  const now = String(Math.floor(Date.now() / 1000));
  const odd = [...oddTimestamps(now), ` ${now}`, `${now} `, `${now}\n`, '١٧٩٥٢٥٨٨٠٠', `-${now}`, ''];
  const signed = [now, ...odd].map((one): [Record<string, string>, string] => [signAt(secret, one, '{}'), '{}']);
  expect(verifyBy(language, secret, signed)).toEqual([true, ...odd.map(() => false)]);
  const [first] = signed;
  const bare = { ...first?.[0], 'webhook-signature': (first?.[0]['webhook-signature'] ?? '').slice('v1,'.length) };
  expect(verifyBy(language, secret, [[bare, '{}']])).toEqual([false]);
  // without a secret anybody could sign: it is no secret
  for (const none of ['', 'whsec_', 'x']) expect(() => verifyBy(language, none, cases)).toThrow();
  expect(cases[1]?.[1]).not.toBe(call.body);
  expect(verifyBy(language, secret, cases)).toEqual([true, false, false, false, false, false, false]);
});

/** The results of a snippet's `verify`, by case. */
function verifyBy(language: string, secret: string, cases: [Record<string, string>, string][]): boolean[] {
  const input = JSON.stringify({ secret, cases });
  const said =
    language === 'python'
      ? execFileSync('python3', ['-c', `${snippet('python')}\n${PYTHON}`], { input, encoding: 'utf8' })
      : execFileSync('php', ['-r', `${PHP_VERIFY}\n${PHP}`], { input, encoding: 'utf8' });
  return JSON.parse(said) as boolean[];
}

/** The snippet's function alone, without the tag and the request. */
const PHP_VERIFY = snippet('php').replace('<?php\n', '').split('\n$headers =')[0];
const PYTHON = `import json, sys
given = json.load(sys.stdin)
print(json.dumps([verify(given["secret"], h, b.encode()) for h, b in given["cases"]]))`;
const PHP = `$given = json_decode(file_get_contents('php://stdin'), true);
echo json_encode(array_map(fn($case) => verify($given['secret'], $case[0], $case[1]), $given['cases']));`;

test('the Python snippet takes our signatures, during a rotation too, and no others', () => {
  const [secret, other] = [randomBytes(32), randomBytes(32)];
  const body = '{"type":"confere.test","n":"é"}';
  const timestamp = Math.floor(Date.now() / 1000);
  const keys = [other, secret].map((key) => createSecretKey(key));
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(keys, { id: 'msg_1', timestamp, body }),
  };
  const cases = [
    [secret, headers],
    [other, headers],
    [randomBytes(32), headers],
    [secret, { ...headers, 'webhook-id': 'msg_2' }],
    [secret, { ...headers, 'webhook-timestamp': String(timestamp - 600) }],
    [secret, {}],
    [secret, { ...headers, 'webhook-timestamp': 'junk' }],
    [secret, { ...headers, 'webhook-signature': 'v1,é' }],
  ].map(([key, given]) => [`whsec_${(key as Buffer).toString('base64')}`, given, body]);
  const program = `${snippet('python')}
import json, sys
print(json.dumps([verify(s, h, b.encode()) for s, h, b in json.load(sys.stdin)]))`;
  const said = execFileSync('python3', ['-c', program], { input: JSON.stringify(cases), encoding: 'utf8' });
  expect(JSON.parse(said)).toEqual([true, true, ...Array(6).fill(false)]);
});

test('the scripts that verify a day say how they are called, with exit code 3', () => {
  for (const [program, script] of [
    [process.execPath, 'verify-day.mjs'],
    ['php', 'verify-day.php'],
  ] as const) {
    const { status, stderr } = spawnSync(program, [path.join(root, 'docs', script)], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      3,
      expect.stringMatching(/^usage: .* manifest\.json key\.txt ids\.txt kept\.txt\n$/),
    ]);
  }
});
