import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';

export type Load = { perSecond: number; latenciesMs: number[]; failures: number };

const BODY_BYTES = 1024;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 ');

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
 * Posts webhooks over kept-alive connections, each with one request at a time, for so long. Bare sockets, and one
 * request for each connection of which only the ids change: the client must cost less than what it measures.
 */
export async function load(port: number, options: { secret: string; connections: number; ms: number }): Promise<Load> {
  const latenciesMs: number[] = [];
  let failures = 0;
  const beganMs = performance.now();
  const endMs = beganMs + options.ms;
  const drive = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const next = prepareRequests(options.secret);
      const isWhole = createAnswerReader();
      let sentMs = 0;
      const send = (): void => {
        if (performance.now() >= endMs) return void socket.end();
        sentMs = performance.now();
        socket.write(next());
      };
      socket.on('connect', send);
      socket.on('data', (chunk) => {
        const answer = isWhole(chunk);
        if (!answer) return;
        latenciesMs.push(performance.now() - sentMs);
        if (answer.status !== 200) failures++;
        send();
      });
      socket.on('error', () => failures++);
      socket.on('close', () => resolve());
    });
  await Promise.all(Array.from({ length: options.connections }, drive));
  const seconds = (performance.now() - beganMs) / 1000;
  return { perSecond: latenciesMs.length / seconds, latenciesMs, failures };
}

/** @returns a function that gives the same request with another transaction's id; the one before is overwritten. */
function prepareRequests(secret: string): () => Buffer {
  const id = randomUUID();
  const body = makeBody(id);
  const head = `POST /webhooks/pix HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const request = Buffer.from(head + body);
  const places: number[] = [];
  for (let at = request.indexOf(id); at >= 0; at = request.indexOf(id, at + 1)) places.push(at);
  let count = 0;
  return () => {
    const digits = (++count).toString(16).padStart(8, '0');
    for (const place of places) request.write(digits, place, 'latin1');
    return request;
  };
}

/** One answer after another on a connection: nearly all are as long as the one before, which is quickly seen. */
function createAnswerReader(): (chunk: Buffer) => { status: number } | undefined {
  let rest: Buffer = Buffer.alloc(0);
  let lastLength = 0;
  return (chunk) => {
    if (rest.length === 0 && chunk.length === lastLength && chunk.indexOf(OK) === 0) return { status: 200 };
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const head = rest.indexOf(END_OF_HEAD);
    if (head < 0) return undefined;
    const length = /content-length: (\d+)/i.exec(rest.subarray(0, head).toString('latin1'))?.[1];
    if (rest.length < head + END_OF_HEAD.length + Number(length ?? 0)) return undefined;
    const status = Number(rest.subarray(9, 12).toString('latin1'));
    lastLength = rest.length;
    rest = Buffer.alloc(0);
    return { status };
  };
}

/** The value below which so large a share lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
