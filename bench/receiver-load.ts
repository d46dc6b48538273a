import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What receiver-load.lua tells at its end. */
type Told = { requests: number; us: number; failures: number; p99Us: number };
export type Load = { perSecond: number; p99Ms: number; requests: number; failures: number };

const BODY_BYTES = 1024;
const SCRIPT = fileURLToPath(new URL('receiver-load.lua', import.meta.url));

/** A flat body of 1 KB about a transaction that nobody has heard of. */
export function makeBody(id: string = randomUUID()): string {
  const fields = {
    id: 30,
    transaction_id: id,
    transaction_amount: '12.34',
    transaction_operation: 'in',
    status: 'paid',
    date_created: '2026-11-21 12:00:00',
    nonce: randomUUID(),
    path: `/api/v1/transaction/${id}`,
  };
  const room = BODY_BYTES - Buffer.byteLength(JSON.stringify({ ...fields, extra: '' }));
  return JSON.stringify({ ...fields, extra: 'x'.repeat(Math.max(0, room)) });
}

/**
 * Posts webhooks over kept-alive connections, each with one request at a time, for so long (in whole seconds): by wrk, a client that costs a
 * fraction of what it measures.
 * @throws Error when wrk is not installed, or ends otherwise than well.
 */
export async function load(port: number, options: { secret: string; connections: number; ms: number }): Promise<Load> {
  const id = randomUUID();
  const { stdout } = await promisify(execFile)('wrk', [
    ...[
      '--threads',
      '1',
      '--connections',
      String(options.connections),
      '--duration',
      `${Math.ceil(options.ms / 1000)}s`,
    ],
    ...['--script', SCRIPT, `http://127.0.0.1:${port}`, '--', options.secret, id, makeBody(id)],
  ]);
  const told = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Told;
  return { perSecond: (told.requests * 1_000_000) / told.us, p99Ms: told.p99Us / 1000, ...told };
}

/** The value below which so large a share lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
