import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { readOptions } from '../sandbox/read-options.ts';
import { type RunningSandbox, startSandbox } from '../sandbox/start-sandbox.ts';

const DURATION_MS = 60_000;
const RUNS_MAX = 10_000_000;

const GOOD = {
  name: 'Ana Souza',
  email: 'ana@exemplo.com.br',
  phone: '11987654321',
  description: 'Pedido',
  document: '52998224725',
  amount: 10.5,
  platform: '0f0e7b8e-5a55-4b3c-9a51-1b5d7b3d1a01',
  pix_key: '52998224725',
  key_type: 'CPF',
};

/** Sends random JSON to every route for a minute. @returns the number of requests, and of 5xx answers. */
export async function run(): Promise<Array<{ figure: string; value: string; target: string; ok: boolean }>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-bench-sandbox-'));
  try {
    const options = readOptions(['--port', '0', '--data-dir', dataDir, '--seed', 'fuzz', '--manual'], {});
    await using sandbox = await startSandbox(options, () => undefined);
    const statuses = await bombard(sandbox);
    const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    const broken = [...statuses].filter(([status]) => status >= 500).reduce((sum, [, count]) => sum + count, 0);
    const value = `${broken} of ${total.toLocaleString('en')} in ${DURATION_MS / 1_000} s`;
    return [{ figure: 'sandbox: random requests answered 5xx', value, target: '0', ok: broken === 0 && total > 1_000 }];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function bombard({ url, apiKey }: RunningSandbox): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' };
  const body = fc.oneof(
    fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
    fc
      .dictionary(
        fc.constantFrom(...Object.keys(GOOD), 'reference', 'extra'),
        fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }),
      )
      .map((wrong) => ({ ...GOOD, ...wrong })),
  );
  const routes = fc.constantFrom(
    'transaction/pix/cashin',
    'transaction/pix/cashout',
    'transactions?name_document=',
    'transactions?page=',
    'transactions?initial_date=',
    'transaction/',
  );
  const property = fc.asyncProperty(routes, body, async (route, json) => {
    const isCreate = route.startsWith('transaction/pix');
    const text = JSON.stringify(json);
    const address = isCreate ? route : route + encodeURIComponent(text.slice(0, 300).toWellFormed());
    const response = await fetch(
      `${url}/api/v1/${address}`,
      isCreate ? { method: 'POST', headers, body: text } : { headers },
    );
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  });
  await fc.assert(property, { numRuns: RUNS_MAX, interruptAfterTimeLimit: DURATION_MS, markInterruptAsFailure: false });
  return statuses;
}
