import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openContext } from '../../../src/context.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { createLog } from '../../../src/log.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runCommand } from '../../support/run-command.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';

const NO_DATABASE = 'mysql://root@127.0.0.1:9/confere';
const COMMANDS = [
  'serve',
  'migrate',
  'open',
  'reconcile',
  'export',
  'merchants',
  'callbacks',
  'mismatches',
  'commissions',
  'commissions state',
  'mismatches accept',
  'tokens',
  'tokens create',
  'demo',
  'sandbox',
];

let home: ReturnType<typeof temporaryDirectory>;
beforeAll(() => {
  home = temporaryDirectory();
});
afterAll(() => home[Symbol.dispose]());

/** On its own data directory, which must not be created. */
const run = (args: string[], env: Record<string, string> = {}) =>
  runCommandInProcess(args, { DATA_DIR: path.join(home.path, 'data'), ...env });
/** Runs the command as a process. */
const spawn = (args: string[], env: Record<string, string> = {}) =>
  runCommand(args, { DATA_DIR: path.join(home.path, 'data'), ...env });

test('bin/confere exits 0 for help, 2 for wrong use, and 1 for a failure', async () => {
  const [help, wrong, failed] = await Promise.all([
    spawn(['jobs', '--help']),
    spawn(['jobs', '--wrong']),
    spawn(['migrate'], { DATABASE_URL: NO_DATABASE, SECRET_KEY }),
  ]);
  expect(help).toMatchObject({ code: 0, out: expect.stringMatching(/^Usage: confere jobs/), err: '' });
  expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/unknown option '--wrong'/) });
  expect(failed).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^confere: .*ECONNREFUSED/) });
});

test('--version prints the version of package.json', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, out: `${VERSION}\n`, err: '' });
});

test('the help of each command starts nothing and exits 0', async () => {
  const top = await run(['--help']);
  expect(top.code).toBe(0);
  for (const command of COMMANDS.filter((name) => !name.includes(' ')))
    expect(top.out).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  for (const command of COMMANDS) {
    // bin/confere starts another program for this one
    const explain = command === 'sandbox' ? spawn : run;
    const { code, out } = await explain([...command.split(' '), '--help']);
    expect(code, command).toBe(0);
    expect(out, command).toMatch(/^Usage: /);
  }
  expect(existsSync(path.join(home.path, 'data'))).toBe(false);
});

test.each<[string, string[], RegExp]>([
  ['no command', [], /Usage: confere/],
  ['a command that there is none of', ['reconcil'], /unknown command 'reconcil'/],
  ['an option that there is none of', ['migrate', '--force'], /unknown option '--force'/],
  ['a word too many', ['serve', 'now'], /too many arguments/],
  ['a missing option', ['reconcile', '--from', '2026-01-01'], /--to <day>.* not specified/],
  ['a missing value', ['tokens', 'create', '--role'], /argument missing/],
  [
    'a role that there is none of',
    ['tokens', 'create', '--role', 'root'],
    /--role must be one of viewer, accountant, operator, admin/,
  ],
  ['a state that there is none of', ['mismatches', 'list', '--state', 'done'], /--state must be one of open, /],
  ['a day that is none', ['open', '--day', '2026-02-30', '--platform', 'p', '--balance', '1'], /--day must be a day/],
  [
    'an amount that is none',
    ['open', '--day', '2026-02-03', '--platform', 'p', '--balance', '1,50'],
    /--balance must be an amount/,
  ],
])('%s is wrong use: exit 2, with a sentence', async (_, args, sentence) => {
  const { code, err, out } = await run(args);
  expect(err).toMatch(sentence);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(existsSync(path.join(home.path, 'data'))).toBe(false);
});

test('days and a platform of a reconciliation that are wrong are wrong use, and no database is started to say so', async () => {
  const env = { PROVIDER_URL: 'http://127.0.0.1:9', PROVIDER_API_KEY: 'k' };
  const { code, err } = await run(['reconcile', '--from', '2026-02-30', '--to', '2026-02-01'], env);
  expect({ code, err }).toEqual({ code: 2, err: 'confere: from must be a day: YYYY-MM-DD\n' });
  expect((await run(['reconcile', '--from', '2026-02-03', '--to', '2026-02-01'], env)).err).toMatch(
    /to is before from/,
  );
  const platforms = { none: "none can't be asked", ['x'.repeat(65)]: 'must be the id of a platform: 1 to 64 bytes' };
  for (const [platform, fault] of Object.entries(platforms)) {
    const args = ['reconcile', '--from', '2026-02-01', '--to', '2026-02-01', '--platform', platform];
    expect((await run(args, env)).err, platform).toContain(`platform ${fault}`);
  }
  expect(existsSync(path.join(home.path, 'data'))).toBe(false);
});

test('every fault of the environment is named in one message: exit 2, nothing started', async () => {
  const { code, err } = await run(['serve'], {
    PORT: 'many',
    PROVIDER_TIME_ZONE: 'Mars/Olympus',
    WEBHOOK_GRACE: 'soon',
    JOB_WATCH: 'often',
    WEBHOOK_SECRET_FILE: '/nowhere/at/all',
    DATABASE_URL: 'mysql://u:hunter-2@h',
    SMTP_URL: 'smtp://u:hunter-3@mail.example:587',
  });
  const wrong = ['PORT', 'PROVIDER_TIME_ZONE', 'WEBHOOK_GRACE', 'JOB_WATCH', 'WEBHOOK_SECRET_FILE', 'DATABASE_URL'];
  // faults of several values together are in the same message
  for (const name of [...wrong, 'PROVIDER_URL', 'PROVIDER_API_KEY', 'SECRET_KEY', 'ALERT_EMAIL_FROM'])
    expect(err.match(new RegExp(`^  ${name}: `, 'gm')), name).toHaveLength(1);
  expect(err).not.toContain('hunter');
  expect(code).toBe(2);
  expect(existsSync(path.join(home.path, 'data'))).toBe(false);
});

test('missing variables of serve and reconcile are named: exit 2', async () => {
  for (const args of [['serve'], ['reconcile', '--from', '2026-01-01', '--to', '2026-01-02']]) {
    const { code, err } = await run(args);
    expect(err).toMatch(/PROVIDER_URL: missing[\s\S]*PROVIDER_API_KEY: missing/);
    expect(code).toBe(2);
  }
});

test('DATABASE_URL without SECRET_KEY is refused, and so is another SECRET_KEY than the first', async () => {
  const DATABASE_URL = urlOf(await createTestDatabase());
  const without = await run(['migrate'], { DATABASE_URL });
  expect(without).toMatchObject({ code: 2, err: expect.stringContaining('SECRET_KEY: required with DATABASE_URL') });
  expect(await run(['migrate'], { DATABASE_URL, SECRET_KEY })).toMatchObject({ code: 0 });
  const other = Buffer.alloc(32, 8).toString('base64');
  const refused = await run(['tokens', 'create', '--role', 'viewer'], { DATABASE_URL, SECRET_KEY: other });
  expect(refused).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('is the wrong key: this database is'),
  });
});

test('an opening of a future day is wrong use, and an unseen platform needs --new-platform: exit 2, then 0', async () => {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: urlOf(database), SECRET_KEY };
  const open = (day: string, ...more: string[]) =>
    run(['open', '--day', day, '--platform', 'mistyped', '--balance', '1.00', ...more], env);
  const early = await open('2062-01-01', '--new-platform');
  expect(early).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^confere: day is a day to come/) });
  await using context = await openContext(readConfig(env), {
    log: createLog('silent', process.stderr),
    signal: new AbortController().signal,
    migrates: false,
  });
  await applyObservations(context, [observeNow(context, makeShownTransaction(['paid'], { platform: 'p' }))]);
  const unseen = await open('2026-01-01');
  expect(unseen).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--new-platform') });
  expect(await open('2026-01-01', '--new-platform', '--json')).toMatchObject({ code: 0 });
  expect(await context.db.selectFrom('openings').select(['platform', 'day']).execute()).toEqual([
    { platform: 'mistyped', day: '2026-01-01' },
  ]);
});

test('no command but migrate touches a database with old tables', async () => {
  const env = { DATABASE_URL: urlOf(await createTestDatabase('empty')), SECRET_KEY };
  const early = await run(['tokens', 'create', '--role', 'viewer'], env);
  expect(early).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/migrations behind: run confere migrate/),
  });
  const migrated = await run(['migrate', '--json'], env);
  expect(migrated.code).toBe(0);
  expect((JSON.parse(migrated.out) as { migrations: string[] }).migrations.length).toBeGreaterThan(5);
  expect(await run(['tokens', 'create', '--role', 'viewer'], env)).toMatchObject({ code: 0 });
});

test('a missing database is reported in a sentence, not a stack: exit 1', async () => {
  const { code, err } = await run(['migrate'], { DATABASE_URL: NO_DATABASE, SECRET_KEY });
  expect(code).toBe(1);
  expect(err).toMatch(/^confere: .*ECONNREFUSED/);
  expect(err).not.toMatch(/\n\s+at /);
});
