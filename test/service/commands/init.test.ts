/** `confere init` against the sandbox. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectAnswers } from '../../../src/commands/init/init.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY, SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { CASHIN, PLATFORM, startTestSandbox } from '../../support/start-test-sandbox.ts';

const PUBLIC_URL = 'https://pay.example.com';
const SECRET = 'a secret of 24 characters';
const sandbox = closeAfterAll(await startTestSandbox());
let home: ReturnType<typeof temporaryDirectory>;
let today: string;

beforeAll(async () => {
  const { json } = await sandbox.request('POST', '/api/v1/transaction/pix/cashin', CASHIN);
  today = json.transaction[0].date_created.slice(0, 10);
  home = temporaryDirectory();
});
afterAll(async () => {
  home[Symbol.dispose]();
});

/** Writes a file with a secret. */
function keep(name: string, text: string): string {
  const file = path.join(home.path, name);
  writeFileSync(file, `${text}\n`);
  return file;
}

test('each question is asked until its answer passes, and each refusal says why', async () => {
  const typed = {
    'Address of the provider': [
      '',
      'provider.example',
      'http://provider.example',
      'http://127.0.0.1:9',
      `${sandbox.url}/x`,
      sandbox.url,
    ],
    'Key for it': ['', 'wrong-key', `${API_KEY}x`, API_KEY],
    'Secret of its webhooks': ['short', 'long-enough-for-it,short', API_KEY.padEnd(16), SECRET],
    'Public address': ['pay.example.com', 'http://pay.example.com', sandbox.url, PUBLIC_URL],
    'First day': ['yesterday', '2026-02-30', '2999-01-01', '26/11/2026', today],
    'Balance of platform': ['', '12,50', '1.234', '-12.50'],
    'Name of the first merchant': ['x'.repeat(201), 'Loja'],
    'Where its callbacks go': [
      'loja.example',
      'http://loja.example',
      'https://10.0.0.1/pix',
      'https://localhost:3000/pix',
      'https://169.254.169.254/pix',
      'https://loja.example/pix',
    ],
  };
  const left = Object.entries(typed).map(([text, answers]) => ({ text, answers: [...answers] }));
  const said: string[] = [];
  const terminal = {
    ask: async (question: string) => {
      const next = left.find(({ answers }) => answers.length > 0);
      expect(question).toContain(next?.text);
      return next?.answers.shift() ?? '';
    },
    say: (text: string) => void said.push(text.trim()),
  };
  const answers = await collectAnswers({}, {}, terminal);
  expect(answers).toEqual({
    values: { PROVIDER_URL: sandbox.url, PROVIDER_API_KEY: API_KEY, WEBHOOK_SECRET: SECRET, PUBLIC_URL },
    openings: [{ platform: PLATFORM, day: today, balance: -1250n }],
    merchant: { name: 'Loja', url: 'https://loja.example/pix' },
  });
  const wrong = Object.values(typed).reduce((sum, { length }) => sum + length - 1, 0);
  expect(said).toHaveLength(wrong);
  expect(said.join('\n')).not.toContain(API_KEY);
  for (const fault of [
    'no provider answers there',
    'refuses PROVIDER_API_KEY',
    'shorter than 16 bytes',
    'not of this machine',
    'leads to a private address, where callbacks go with CALLBACK_ALLOW_PRIVATE=true alone',
    'leads to a loopback address, where callbacks go with CALLBACK_ALLOW_PRIVATE=true alone',
    'leads to a metadata service, where callbacks do not go',
  ])
    expect(said).toContainEqual(expect.stringContaining(fault));
});

test('by options it writes .env for its owner, opens the books, adds the merchant and says what to paste', async () => {
  const database = await createTestDatabase('empty');
  const file = path.join(home.path, 'confere.env');
  writeFileSync(file, '# ours\nLOG_LEVEL=warn\nPUBLIC_URL=https://old.example\n');
  const set = { DATABASE_URL: urlOf(database), SECRET_KEY, DATA_DIR: home.path };
  const env = { ENV_FILE: file, ...set };
  const args = [
    ...['init', '--provider-url', sandbox.url, '--provider-key', keep('key', API_KEY), '--public-url', PUBLIC_URL],
    ...['--books-from', today, '--balance', `${PLATFORM}=100.00`],
    ...['--merchant-name', 'Loja', '--merchant-url', 'https://loja.example/pix'],
  ];
  expect(await runCommandInProcess(args, env)).toMatchObject({ code: 2, err: expect.stringContaining('--replace') });
  expect(readFileSync(file, 'utf8')).toContain('old.example');
  const done = await runCommandInProcess([...args, '--replace', '--json'], env);
  expect(done).toMatchObject({
    code: 0,
    err: expect.stringContaining('preparing the database'),
    json: { env_file: file, console: `${PUBLIC_URL}/`, merchant: { name: 'Loja' } },
  });
  const written = parseEnv(readFileSync(file, 'utf8'));
  const settings = { LOG_LEVEL: 'warn', PROVIDER_URL: sandbox.url, PROVIDER_API_KEY: API_KEY, PUBLIC_URL };
  // the next start, in another shell, needs them too
  expect(written).toEqual({ ...set, ...settings, WEBHOOK_SECRET: expect.stringMatching(/^[\w-]{43}$/) });
  expect(done.json.webhook).toEqual({
    url: `${PUBLIC_URL}/webhooks/pix`,
    authorization: `Bearer ${written.WEBHOOK_SECRET}`,
  });
  expect(done.json.openings).toEqual([expect.objectContaining({ platform: PLATFORM, day: today, balance: '100.00' })]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a wrong or missing option is named, and nothing is written', async () => {
  const env = { ENV_FILE: path.join(home.path, 'none.env'), DATA_DIR: path.join(home.path, 'none') };
  const key = keep('key', API_KEY);
  const good = ['--provider-url', sandbox.url, '--provider-key', key, '--public-url', PUBLIC_URL];
  const faults: [string[], string][] = [
    [[], '--provider-url is missing'],
    [
      ['--provider-url', sandbox.url, '--provider-key', keep('wrong', 'no-key')],
      '--provider-key: the provider does not take it',
    ],
    [[...good, '--webhook-secret', keep('short', 'short')], '--webhook-secret: '],
    [[...good, '--books-from', today], `--balance ${PLATFORM}=… is missing`],
    [
      [...good, '--books-from', today, '--balance', 'other=1.00'],
      '--balance: the provider lists no transaction of other',
    ],
    [[...good, '--merchant-name', 'Loja'], '--merchant-url is missing'],
  ];
  for (const [args, says] of faults) {
    const { code, err } = await runCommandInProcess(['init', ...args], env);
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
  }
  expect(existsSync(env.ENV_FILE)).toBe(false);
});
