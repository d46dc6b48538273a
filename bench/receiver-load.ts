import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

export type Load = { perSecond: number; latenciesMs: number[]; failures: number };

const BODY_BYTES = 1024;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

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
 * Posts webhooks over kept-alive connections, each with one request at a time, for so long. Bare sockets: the client
 * must cost less than what it measures.
 */
export async function load(port: number, options: { secret: string; connections: number; ms: number }): Promise<Load> {
  const latenciesMs: number[] = [];
  let failures = 0;
  const beganMs = performance.now();
  const endMs = beganMs + options.ms;
  const drive = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let sentMs = 0;
      let rest = Buffer.alloc(0);
      const send = (): void => {
        if (performance.now() >= endMs) return void socket.end();
        const body = makeBody();
        const head = `POST /webhooks/pix HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${options.secret}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
        sentMs = performance.now();
        socket.write(head + body);
      };
      socket.on('connect', send);
      socket.on('data', (chunk) => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        if (!isWhole(rest)) return;
        latenciesMs.push(performance.now() - sentMs);
        if (!rest.subarray(9, 12).equals(Buffer.from('200'))) failures++;
        rest = Buffer.alloc(0);
        send();
      });
      socket.on('error', () => failures++);
      socket.on('close', () => resolve());
    });
  await Promise.all(Array.from({ length: options.connections }, drive));
  const seconds = (performance.now() - beganMs) / 1000;
  return { perSecond: latenciesMs.length / seconds, latenciesMs, failures };
}

function isWhole(answer: Buffer): boolean {
  const head = answer.indexOf(END_OF_HEAD);
  if (head < 0) return false;
  const length = /content-length: (\d+)/i.exec(answer.subarray(0, head).toString('latin1'))?.[1];
  return answer.length >= head + END_OF_HEAD.length + Number(length ?? 0);
}

/** The value below which so large a share lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
