import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEYED_COMMANDS } from '../../../src/commands/keyed-command.ts';
import { createProgram } from '../../../src/commands/run-command-line.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

/** Commands that change nothing, or nothing the second time. */
const OTHERS = [
  ...[
    'init',
    'serve',
    'migrate',
    'export',
    'expected export',
    'mismatches export',
    'months',
    'listen',
    'verify',
    'events trigger',
    'mcp',
    'audit',
    'retention',
    'forget',
    'rotate-key',
  ],
  ...['backup', 'restore', 'config', 'doctor', 'demo', 'sandbox', 'commissions check', 'webhooks show'],
  ...['archives restore', 'archives delete', 'drill'],
];

const env = closeAfterAll(await openEnvironment());
let home: ReturnType<typeof temporaryDirectory>;

beforeAll(async () => {
  home = temporaryDirectory();
});
afterAll(async () => {
  home[Symbol.dispose]();
});

const run = (...args: string[]) => runCommandInProcess(args, env.env);
const fee = (key: string, amount = '-1.50') => [
  ...['adjustments', 'add', '--platform', 'p', '--day', '2026-11-01', '--kind', 'fee', '--amount', amount],
  ...['--note', 'tariff', '--new-platform', '--json', '--idempotency-key', key],
];

test('every command that changes something takes a key, and a new command must say whether it does', async () => {
  const listed: string[] = [];
  const taking: string[] = [];
  const visit = (command: Command, names: string[]): void => {
    const name = names.join(' ');
    if (command.commands.length === 0) listed.push(name);
    if (command.options.some(({ long }) => long === '--idempotency-key')) taking.push(name);
    for (const inner of command.commands) visit(inner, [...names, inner.name()]);
  };
  visit(await createProgram(''), []);
  expect(taking).toEqual(expect.arrayContaining([...KEYED_COMMANDS]));
  const unknown = listed.filter((name) => !taking.includes(name) && !OTHERS.includes(name) && !name.endsWith(' list'));
  expect(unknown).toEqual([]);
});

test('a repeated command prints its first output and books nothing twice; other arguments are refused', async () => {
  const first = await run(...fee('cron 1'));
  expect(first).toMatchObject({ code: 0, err: '' });
  const again = await run(...fee('cron 1'));
  expect(again).toMatchObject({ code: 0, out: first.out, err: expect.stringContaining('done before') });
  expect(await run(...fee('cron 1', '-1.51'))).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('another request'),
  });
  expect(await run(...fee('bad\nkey'))).toMatchObject({ code: 2, err: expect.stringContaining('--idempotency-key') });
  const rows = await env.context.db.selectFrom('adjustments').select('seq').execute();
  expect(rows).toHaveLength(1);
  expect((await run(...fee('cron 2'))).code).toBe(0);
  expect(await env.context.db.selectFrom('adjustments').select('seq').execute()).toHaveLength(2);
});

test('a secret is printed again, and a command that failed is evaluated anew', async () => {
  const add = ['merchants', 'add', '--name', 'shop', '--json', '--idempotency-key', 'shop 1'];
  const { out } = await run(...add);
  expect(JSON.parse(out)).toMatchObject({ secret: expect.stringMatching(/^whsec_/) });
  expect((await run(...add)).out).toBe(out);
  const { id } = JSON.parse(out) as { id: string };
  const revoke = ['tokens', 'revoke', 'tok_none', '--idempotency-key', 'revoke 1'];
  for (let time = 0; time < 2; time++) expect(await run(...revoke)).toMatchObject({ code: 1 });
  const remove = ['merchants', 'remove', id, '--json', '--idempotency-key', 'remove 1'];
  const removed = await run(...remove);
  expect(removed.code).toBe(0);
  expect(await run(...remove)).toMatchObject({ code: 0, out: removed.out });
});

test('the content of a file belongs to what was asked for', async () => {
  const file = path.join(home.path, 'names.csv');
  const name = (text: string) => writeFileSync(file, `platform;name\np;${text}\n`);
  const args = ['import', 'platforms', file, '--json', '--idempotency-key', 'names 1'];
  name('Loja Sul');
  const first = await run(...args);
  expect(first.code).toBe(0);
  expect(await run(...args)).toMatchObject({ code: 0, out: first.out });
  name('Loja Norte');
  expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining('another request') });
  const token = path.join(home.path, 'token');
  const add = ['merchants', 'add', '--name', 'flat', '--url', 'http://127.0.0.1:9/', '--format', 'provider'];
  const asked = [...add, '--bearer-token', token, '--json', '--idempotency-key', 'flat 1'];
  writeFileSync(token, 'token-of-the-shop');
  const made = await run(...asked);
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(await run(...asked)).toMatchObject({ code: 0, out: made.out });
  writeFileSync(token, 'another-token');
  expect(await run(...asked)).toMatchObject({ code: 2, err: expect.stringContaining('another request') });
});
