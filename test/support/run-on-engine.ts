/**
 * Runs tests on a server that bin/setup --engines unpacked: `node test/support/run-on-engine.ts mysqld|mariadbd [files]`. Its
 * programs come first in PATH, so with mariadbd the embedded server is the same. Exit code: vitest's.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ENGINES_BIN } from './engines.ts';
import { startTestServer } from './start-test-server.ts';

const [name = '', ...files] = process.argv.slice(2);
const server = path.join(ENGINES_BIN, name);
const install = path.join(ENGINES_BIN, 'mariadb-install-db');
const running = await startTestServer(
  name === 'mysqld' ? { kind: 'mysql', server } : { kind: 'mariadb', server, install },
);
const env = {
  ...process.env,
  PATH: `${ENGINES_BIN}${path.delimiter}${process.env.PATH}`,
  TEST_DATABASE_URL: `mysql://root@localhost/mysql?socket=${encodeURIComponent(running.socketPath)}`,
};
const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...files];
const child = spawn(process.execPath, vitest, { env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const [code] = (await once(child, 'exit')) as [number | null];
await running.stop();
process.exit(code ?? 1);
