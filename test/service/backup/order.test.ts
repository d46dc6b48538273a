import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBinary } from '../../../embedded/find-server.ts';
import { openSpool } from '../../../src/inbox/spool/spool.ts';
import { testServer } from '../../support/create-test-database.ts';
import { openEnvironment, type TestEnvironment } from '../../support/open-environment.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let source: TestEnvironment;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  source = stack.use(await openEnvironment());
});
afterAll(() => stack.disposeAsync());

/** Backs up, and runs a shell command in the moment before the database is dumped. */
async function backUpWhile(name: string, command: string) {
  const programs = path.join(home.path, `bin-${name}`);
  mkdirSync(programs);
  for (const dump of ['mariadb-dump', 'mysqldump']) {
    const text = `#!/bin/sh\n${command}\nexec ${findBinary(dump)} "$@"\n`;
    writeFileSync(path.join(programs, dump), text, { mode: 0o755 });
  }
  const to = path.join(home.path, name);
  const env = { ...source.env, PATH: `${programs}:${process.env.PATH}`, SPOOL_DIR: path.join(source.dataDir, 'spool') };
  return { to, ...(await runCommand(['backup', '--to', to], env)) };
}

/** A shell command that changes the database. */
function execute(statement: string): string {
  const database = new URL(source.env.DATABASE_URL ?? '').pathname.slice(1);
  return `mariadb --no-defaults --socket=${testServer().socketPath} --user=root ${database} -e "${statement}"`;
}

it('a webhook that leaves the spool before the dump is in the backup', async () => {
  const spool = path.join(source.dataDir, 'spool');
  {
    await using opened = openSpool(spool);
    await opened.append({ receivedAt: new Date(), address: '203.0.113.7', headers: {}, body: Buffer.from('{}') });
  }
  const { code, err, to } = await backUpWhile('spool', `rm ${spool}/*.spool`);
  expect({ code, err, left: readdirSync(spool) }).toEqual({ code: 0, err: expect.any(String), left: [] });
  expect(readdirSync(path.join(to, 'data', 'spool'))).toEqual([expect.stringMatching(/\.spool$/)]);
});

it.each([
  [
    'a migration',
    "INSERT INTO migrations (name, applied_at) VALUES ('9999-later.ts', NOW())",
    1,
    'the tables were migrated during the backup',
  ],
  [
    'a rotation of the key',
    "UPDATE settings SET value = REPEAT('x', 32) WHERE name = 'secret_key_check'",
    2,
    'rotated',
  ],
])('%s during the backup fails it, and nothing is left', async (name, statement, exit, error) => {
  const { code, err, to } = await backUpWhile(name.replaceAll(' ', '-'), execute(statement));
  expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(error) });
  expect(existsSync(to)).toBe(false);
  expect(readdirSync(home.path).filter((file) => file.includes('draft'))).toEqual([]);
});
