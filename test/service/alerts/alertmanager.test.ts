import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, startSandbox, startServeOnFreshDatabase, temporaryDirectory } from '../../support/programs.ts';
import { eventually } from '../../support/wait.ts';

type Posted = {
  labels: { alertname: string; severity: string; transaction_id?: string };
  annotations: { summary: string; runbook: string };
  startsAt: string;
  endsAt?: string;
};

const NAME = 'Zuleica Kowalczyk';
const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
const posted: Posted[] = [];
let answer = 503;
let served: Served;
let id: string;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  const alertmanager = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (answer < 300) posted.push(...(JSON.parse(Buffer.concat(chunks).toString()) as Posted[]));
      response.statusCode = answer;
      response.end();
    });
  });
  await new Promise<void>((resolve) => alertmanager.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void alertmanager.close());
  const sandbox = stack.use(await startSandbox(home.path));
  const made = await sandbox.api.call<{ transactions: { id: string }[] }>('POST', '/sandbox/transactions', {
    name: NAME,
  });
  id = made.transactions[0]?.id ?? '';
  served = stack.use(
    await startServeOnFreshDatabase({
      home: home.path,
      providerUrl: sandbox.url,
      env: {
        WEBHOOK_GRACE: '1s',
        ALERTMANAGER_URL: `http://127.0.0.1:${(alertmanager.address() as AddressInfo).port}`,
      },
    }),
  );
});
afterAll(() => stack.disposeAsync());

describe('an alert', () => {
  it('reaches Alertmanager once it is there again, names what it is about and nobody', async () => {
    await served.webhook({ transaction_id: id, status: 'paid', name: NAME });
    await eventually(async () => {
      const open = await served.api.call<{ mismatches: unknown[] }>('GET', '/mismatches?kind=webhook_contradiction');
      return open.mismatches.length === 1;
    });
    answer = 200;
    const alert = await eventually(async () => posted.find((one) => one.labels.alertname === 'webhook_contradiction'));
    expect(alert).toMatchObject({
      labels: { severity: 'critical', transaction_id: id },
      annotations: { runbook: 'docs/runbooks.md#webhook_contradiction' },
    });
    expect(alert.endsAt).toBeUndefined();
    expect(JSON.stringify(posted)).not.toContain('Zuleica');
    expect(readFileSync(served.program.logFile, 'utf8')).not.toContain('Zuleica');
  });

  it('is told to the log once', async () => {
    const lines = readFileSync(served.program.logFile, 'utf8').split('\n');
    expect(lines.filter((line) => line.includes('"alert":"webhook_contradiction"'))).toHaveLength(1);
  });

  it('ends when a person resolves its mismatch', async () => {
    const { mismatches } = await served.api.call<{ mismatches: { id: string }[] }>('GET', '/mismatches?state=open');
    for (const mismatch of mismatches) {
      await served.api.call('POST', `/mismatches/${mismatch.id}/resolve`, { note: 'a test' });
    }
    await eventually(async () => posted.some((one) => one.endsAt !== undefined));
  });
});

describe('the runbooks', () => {
  it('have a heading for each alert that can be raised', async () => {
    const { MISMATCH_SEVERITY } = await import('../../../src/domain/mismatch.ts');
    const text = readFileSync(new URL('../../../docs/runbooks.md', import.meta.url), 'utf8');
    const names = [
      ...Object.keys(MISMATCH_SEVERITY),
      'run_failed',
      'provider_unauthorized',
      'merchant_failing',
      'merchant_disabled',
    ];
    expect(names.filter((name) => !text.includes(`\n## ${name}\n`))).toEqual([]);
  });
});
