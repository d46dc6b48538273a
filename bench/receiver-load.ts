import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The result that receiver-load.lua prints. */
type Result = { requests: number; us: number; failures: number; p99Us: number };
export type Load = { perSecond: number; p99Ms: number; requests: number; failures: number };

const BODY_BYTES = 1024;
const SCRIPT = fileURLToPath(new URL('receiver-load.lua', import.meta.url));

/** Makes a flat body of 1 KB about an unknown transaction. */
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
 * Posts webhooks over kept-alive connections, one request at a time on each, for `ms` rounded up to seconds. The client is
 * wrk, which costs a fraction of what it measures.
 * @throws Error if wrk is not installed, or fails.
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
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Result;
  return { perSecond: (result.requests * 1_000_000) / result.us, p99Ms: result.p99Us / 1000, ...result };
}
