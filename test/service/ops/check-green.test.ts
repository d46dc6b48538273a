import { execFile, execFileSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findFreePort } from '../../../demo/start-programs.ts';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { spoolBytes } from '../../../src/metrics/metrics.ts';
import { WORKER_LOOPS } from '../../../src/runtime/heartbeat.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openServedEnvironment } from '../../support/open-served-environment.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';
import { ADMIN_TOKEN, API_KEY } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const script = path.resolve(import.meta.dirname, '../../../ops/check-green');

/** @returns the lines that begin with NOT, each with its section; undefined if the exit code says green. */
async function runScript(args: string[], env: Record<string, string>): Promise<string[] | undefined> {
  const all = { PATH: process.env.PATH ?? '', CONFERE: 'off', ...env };
  const { stdout, code } = await promisify(execFile)(script, args, { env: all }).then(
    ({ stdout: out }) => ({ stdout: out, code: 0 }),
    (error: { stdout: string; code: number }) => error,
  );
  const wrong = stdout.split(/^NOT {3}/m).slice(1);
  expect(code).toBe(wrong.length === 0 ? 0 : 1);
  return code === 0 ? undefined : wrong.map((text) => text.replace(/\n.*#/, ' -> ').split('\n')[0] ?? '');
}

test('the script is clean by shellcheck', () => {
  expect(execFileSync('shellcheck', [script], { encoding: 'utf8' })).toBe('');
});

test('a healthy service is green, a broken one is named with the sections of the runbooks', async () => {
  await using stack = new AsyncDisposableStack();
  const provider = stack.use(await new TestProvider(API_KEY).listen());
  const { socketPath, database } = await createTestDatabase();
  const proxy = stack.use(await openTcpProxy(socketPath));
  const url = `mysql://root@127.0.0.1:${proxy.port}/${database}`;
  const env = { DATABASE_URL: url };
  // what an earlier service of this process has left
  spoolBytes.set(214);
  const service = stack.use(await openServedEnvironment({ providerUrl: provider.url, env }));
  const ask = { TOKEN: ADMIN_TOKEN };
  const { db, clock } = service.context;
  // before the first scrape: what it reads stays for up to a minute on a busy machine
  await eventually('all loops have shown life', async () => {
    const alive = await db.selectFrom('heartbeats').select('part').where('part', 'in', WORKER_LOOPS).execute();
    return alive.length === WORKER_LOOPS.length;
  });
  expect(await runScript([service.url], ask)).toBeUndefined();

  const alert = { name: 'report_differs', severity: 'high', scope: 'reports', summary: 'a report differs' } as const;
  await transact(db, (trx) => raiseAlerts(trx, [alert], clock.now()));
  const nobody = `http://127.0.0.1:${await findFreePort()}`;
  expect(await runScript([service.url, nobody], ask)).toEqual([
    `${nobody} does not answer -> replica_silent`,
    'alert report_differs -> report_differs',
  ]);

  proxy.become('read only');
  await eventually('a probe has failed', async () => {
    await service.timers.advance(1_000);
    const found = await runScript([service.url], {});
    return found?.some((line) => line.endsWith('confere_database_writable 0 -> database_read_only'));
  });
});

test('without an address it says how it is used', async () => {
  const failed = await promisify(execFile)(script, [], { env: { PATH: process.env.PATH } }).catch(
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('ops/check-green http://web1:3000') });
});
