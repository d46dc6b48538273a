import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readOptions } from '../../../sandbox/read-options.ts';
import { CASHIN } from '../../support/start-test-sandbox.ts';

const MAIN = path.resolve('sandbox/main.ts');
const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-sandbox-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const HEADERS = { authorization: 'Bearer k', accept: 'application/json', 'content-type': 'application/json' };

function start(args: string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finish(args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(args);
  let [out, err] = ['', ''];
  child.stdout?.on('data', (part) => {
    out += part;
  });
  child.stderr?.on('data', (part) => {
    err += part;
  });
  const [code] = await once(child, 'close');
  return { code, out, err };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) return line;
  throw new Error('it ended without a word');
}

describe('the command', () => {
  it('prints help', async () => {
    const { code, out } = await finish(['--help']);
    expect(code).toBe(0);
    const flags = [
      'port',
      'host',
      'api-key',
      'webhook-url',
      'webhook-token',
      'scenario',
      'seed',
      'history',
      'per-day',
      'rate',
    ];
    for (const flag of flags) expect(out).toContain(`--${flag}`);
  });

  it.each([
    [['--port', 'x'], 'port'],
    [['--colour'], 'colour'],
    [['--rate', '5/y'], 'rate'],
    [['--history', 'long'], 'history'],
    [['--scenario', 'none'], 'scenario'],
    [['--time-zone', 'Mars/Base'], 'time-zone'],
    [['--webhook-url', 'ftp://x'], 'webhook-url'],
    [['--database-url', 'postgres://x/y'], 'database-url'],
    [['extra'], 'argument'],
  ])('refuses wrong use (%s), and says where', (args, word) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => said.mockRestore());
    expect(() => readOptions(args, {})).toThrow(expect.objectContaining({ name: 'CommanderError', exitCode: 1 }));
    expect(said.mock.calls.join('')).toContain(word);
  });

  it('exits 2 on wrong use', async () => {
    const { code, err } = await finish(['--port', 'x']);
    expect(code).toBe(2);
    expect(err).toContain('port');
  });

  it('exits 1 if it cannot start', async () => {
    const { code, err } = await finish(['--database-url', 'mysql://nobody@127.0.0.1:1/none', '--port', '0']);
    expect(code).toBe(1);
    expect(err).not.toBe('');
  });

  it('prints its address as JSON, and keeps every answered create over a SIGTERM, which drains it, and a SIGKILL', async () => {
    const common = ['--data-dir', dataDir, '--port', '0', '--json', '--api-key', 'k', '--manual'];
    const args = [...common, '--history', '1d', '--per-day', '50'];
    const first = start(args);
    const printed = JSON.parse(await firstLine(first));
    expect(printed).toMatchObject({
      api_key: 'k',
      checkout_url: `${printed.url}/checkout`,
      history: expect.any(Number),
    });
    expect(printed.history).toBeGreaterThanOrEqual(50);
    const body = JSON.stringify({ ...CASHIN, reference: 'kept' });
    await fetch(`${printed.url}/api/v1/transaction/pix/cashin`, { method: 'POST', headers: HEADERS, body });
    first.kill('SIGTERM');
    expect(await once(first, 'close')).toEqual([0, null]);

    const second = start(args);
    const { url, history } = JSON.parse(await firstLine(second));
    expect(history).toBe(0);
    const answered = await createUntilKilled(second, url);

    const third = start(common);
    const again = JSON.parse(await firstLine(third));
    for (const reference of ['kept', ...answered]) {
      const listed = await fetch(`${again.url}/api/v1/transactions?reference=${reference}`, { headers: HEADERS });
      expect(await listed.json()).toMatchObject({ total: 1, transactions: [{ reference, status: 'pending' }] });
    }
    third.kill('SIGINT');
    expect(await once(third, 'close')).toEqual([0, null]);
  });
});

/** Returns the references of answered creates of eight parallel clients, until the process was killed. */
async function createUntilKilled(child: ChildProcess, url: string): Promise<string[]> {
  const answered: string[] = [];
  let n = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const reference = `k-${n++}`;
      const body = JSON.stringify({ ...CASHIN, reference });
      const response = await fetch(`${url}/api/v1/transaction/pix/cashin`, { method: 'POST', headers: HEADERS, body });
      if (response.status === 200) answered.push(reference);
      if (answered.length === 60) child.kill('SIGKILL');
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, client));
  expect(answered.length).toBeGreaterThanOrEqual(60);
  return answered;
}
