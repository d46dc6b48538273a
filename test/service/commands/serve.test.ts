import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../../demo/start-programs.ts';
import type { PresentedRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { copyEmbeddedData } from '../../support/copy-embedded-data.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay, PLATFORM } from '../../support/make-provider-rows.ts';
import { ROOT } from '../../support/previous-release.ts';
import { runCommand } from '../../support/run-command.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { API_KEY, type Served, startServe, temporaryDirectory } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const CONFERE = path.join(ROOT, 'bin/confere');
const [D3, D2] = [dayAgo(3), dayAgo(2)];

let home: ReturnType<typeof temporaryDirectory>;
let provider: TestProvider;
let served: Served;

/** `serve` on the embedded database, as `npm start` runs it, and commands beside it on the same data directory. */
const start = () => startServe({ home: home.path, providerUrl: provider.url });
const envOf = (more: Record<string, string>) => ({
  DATA_DIR: path.join(home.path, 'data'),
  PROVIDER_URL: provider.url,
  PROVIDER_API_KEY: API_KEY,
  ...more,
});
const run = (args: string[], env: Record<string, string> = {}) => runCommandInProcess(args, envOf(env));

beforeAll(async () => {
  home = temporaryDirectory();
  await copyEmbeddedData(path.join(home.path, 'data'));
  provider = await new TestProvider(API_KEY).listen();
  provider.add(...makeDay(D3, 130), ...makeDay(D2, 20));
  served = await start();
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

describe('beside a running serve', () => {
  test('a second serve on its data directory is refused with a sentence: exit 2', async () => {
    const second = await runCommand(['serve'], envOf({ PORT: '0' }));
    expect(second).toMatchObject({
      code: 2,
      err: expect.stringMatching(/another serve or restore runs on .*: stop it/),
    });
  });

  test('a command whose output nobody reads ends quietly', async () => {
    const script = `"${CONFERE}" export --day ${dayAgo(9)} --format csv --out - 2>"$ERR" | true; echo "\${PIPESTATUS[0]}"`;
    const file = path.join(home.path, 'err');
    const { out } = await runCommand(['-c', script], { ...envOf({}), ERR: file }, '/bin/bash');
    expect([out.trim(), readFileSync(file, 'utf8')]).toEqual(['0', '']);
  });

  test('serve goes on once nobody reads its log', async () => {
    using other = temporaryDirectory();
    await copyEmbeddedData(other.path);
    const port = await findFreePort();
    const script = `exec "${CONFERE}" serve > >(head -1 >/dev/null)`;
    const child = spawn('/bin/bash', ['-c', script], {
      env: {
        PATH: process.env.PATH,
        ENV_FILE: '',
        LOG_LEVEL: 'trace',
        ...envOf({ DATA_DIR: other.path, PORT: String(port) }),
      },
    });
    try {
      const isReady = async () =>
        (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
      await eventually('it is ready', isReady);
      expect(child.exitCode).toBeNull();
    } finally {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    }
  });

  test('tokens create gives a token that works at once, by its role', async () => {
    const { code, out } = await run(['tokens', 'create', '--role', 'viewer', '--name', 'ops', '--json']);
    expect(code).toBe(0);
    const token = JSON.parse(out) as { id: string; role: string; token: string };
    expect(Object.keys(token).sort()).toEqual(['id', 'role', 'token']);
    expect(token.role).toBe('viewer');
    const call = (target: string, method = 'GET') =>
      fetch(`${served.url}/api/v1${target}`, { method, headers: { authorization: `Bearer ${token.token}` } });
    expect((await call('/transactions')).status).toBe(200);
    expect((await call('/tokens')).status).toBe(403);
    expect((await fetch(`${served.url}/api/v1/transactions`)).status).toBe(401);
  });

  test('reconcile --json prints one object, its run, and exits 0', async () => {
    const { code, out } = await run(['reconcile', '--from', D3, '--to', D2, '--json']);
    expect(code).toBe(0);
    const shown = JSON.parse(out) as PresentedRun;
    expect(shown).toMatchObject({ state: 'complete', from: D3, to: D2, total: 150, applied: 150, mismatches: 0 });
    const { id } = shown;
    expect(await served.api.call('GET', `/reconciliations/${id}`)).toMatchObject({ id, state: 'complete', total: 150 });
  });

  test('reconcile prints a summary, and exits 1 when the run is not complete', async () => {
    const result = await run(['reconcile', '--from', D3, '--to', D3]);
    expect(result).toMatchObject({ code: 0, out: expect.stringMatching(/complete[\s\S]*130 transactions read/) });
    provider.switches.fault = () => ({ status: 401 });
    const failed = await run(['reconcile', '--from', D3, '--to', D3, '--json']);
    provider.switches.fault = () => undefined;
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('PROVIDER_API_KEY'),
    });
  });

  test('open states a balance, also a negative one, and a second one is refused', async () => {
    const args = ['open', '--day', D3, '--platform', PLATFORM, '--balance', '-12.34', '--json'];
    const opened = await run(args);
    expect(opened.code).toBe(0);
    expect(JSON.parse(opened.out)).toMatchObject({ platform: PLATFORM, day: D3, balance: '-12.34' });
    expect((await run(args)).code).not.toBe(0);
  });

  test('another PROVIDER_TIME_ZONE is refused once there are entries', async () => {
    const other = await run(['tokens', 'create', '--role', 'viewer'], { PROVIDER_TIME_ZONE: 'America/Manaus' });
    expect(other).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/PROVIDER_TIME_ZONE.*America\/Sao_Paulo/),
    });
  });
});
