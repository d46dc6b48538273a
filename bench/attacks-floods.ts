import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type Figure, figure } from './figure.ts';
import type { Flood } from './programs/flood-worker.ts';

const HEALTH_MS_MAX = 1_000;
const FLOOD_MS = 4_000;
const STRANGER = '127.0.0.67';
/** As many pipelined requests as a connection may have under way. */
const PIPELINED = 16;

/**
 * The longest answer of /healthz beside hundreds of connections of one address that pipeline requests, cheap ones and dear ones.
 * @param watch returns how long the longest answer takes until its work is done.
 */
export async function measureFloods(
  { port, viewer, secret }: { port: number; viewer: string; secret: string },
  watch: (work: Promise<unknown>) => Promise<number>,
): Promise<Figure[]> {
  const ask = (path: string, token: string, rest = '', method = 'GET') =>
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n${rest}\r\n`;
  const unknown = `cft_${randomBytes(32).toString('base64url')}`;
  const body = '{"transaction_id":"00000000-0000-4000-8000-000000000000"}';
  const webhook = (token: string) => ask('/webhooks/pix', token, `content-length: ${body.length}\r\n`, 'POST') + body;
  const floods: Record<string, Pick<Flood, 'connections' | 'bytes'>> = {
    'the OpenAPI document': { connections: 200, bytes: ask('/api/v1/openapi.json', viewer).repeat(PIPELINED) },
    'pages of 200 rows': { connections: 200, bytes: ask('/api/v1/transactions?limit=200', viewer).repeat(PIPELINED) },
    'the console’s style': { connections: 200, bytes: ask('/console/console.css', viewer).repeat(PIPELINED) },
    'unknown tokens': { connections: 200, bytes: ask('/api/v1/transactions', unknown).repeat(PIPELINED) },
    '/healthz': { connections: 200, bytes: ask('/healthz', viewer).repeat(PIPELINED) },
    'webhooks with a wrong secret': { connections: 200, bytes: webhook('wrong').repeat(PIPELINED) },
    'webhooks with the secret': { connections: 200, bytes: webhook(secret).repeat(PIPELINED) },
    '2,000 requests in one packet': { connections: 512, bytes: 'GET / HTTP/1.1\r\nhost:\r\n\r\n'.repeat(2_000) },
    '2,000 requests without a host': { connections: 512, bytes: 'GET / HTTP/1.1\r\n\r\n'.repeat(2_000) },
    'scrapes of /metrics': { connections: 50, bytes: ask('/metrics', viewer) },
  };
  const figures: Figure[] = [];
  for (const [title, what] of Object.entries(floods)) {
    const workerData: Flood = { port, from: STRANGER, ms: FLOOD_MS, ...what };
    const worker = new Worker(new URL('./programs/flood-worker.ts', import.meta.url), { workerData });
    const longestMs = await watch(new Promise((resolve) => worker.once('exit', resolve)));
    figures.push(
      figure(`beside ${what.connections} connections of ${title}: /healthz, longest, ms`, longestMs, HEALTH_MS_MAX),
    );
  }
  return figures;
}
