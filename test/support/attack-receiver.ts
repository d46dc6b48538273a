import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A service, its provider's secret, and the local source address to use: each of 127.0.0.0/8 is a source. */
export type Target = { port: number; from: string; secret: string };
/** The open connections of an attack until it is disposed, and the answers it got. */
export type Attack = Disposable & {
  sockets: Socket[];
  /** Status codes of the answers. */
  statuses: string[];
};

export const genuineBody = (id: string): string => JSON.stringify({ id: 30, transaction_id: id, status: 'paid' });

const SENDINGS_MAX = 4;

/** Sends again what is answered 503, as a provider does: on a busy machine a commit may exceed its time limit. @returns the last status. */
export async function sendUntilStored(send: () => Promise<number>): Promise<number> {
  let status = 503;
  for (let sending = 1; status === 503 && sending <= SENDINGS_MAX; sending++) status = await send();
  return status;
}

/** POSTs one webhook with the provider's credentials, on a new connection. @returns the status. */
export function postWebhook({ port, from, secret }: Target, body: string, agent = new Agent()): Promise<number> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, localAddress: from, path: '/webhooks/pix', method: 'POST' };
    const sent = request({ ...options, headers: { ...headers, 'content-length': Buffer.byteLength(body) }, agent });
    sent.on('error', reject);
    sent.on('response', (response) => response.resume().on('end', () => resolve(response.statusCode ?? 0)));
    sent.end(body);
  });
}

/** Opens `count` connections and sends the same bytes on each, then nothing more. @param reads whether answers are read. */
export async function openManyConnections(target: Target, count: number, bytes: string, reads = true): Promise<Attack> {
  const statuses: string[] = [];
  const sockets = await Promise.all(Array.from({ length: count }, () => dial(target)));
  for (const socket of sockets) {
    if (reads) {
      socket.on('data', (chunk) => {
        const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString())?.[1];
        if (status) statuses.push(status);
      });
    }
    socket.write(bytes);
  }
  const dispose = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return { sockets, statuses, [Symbol.dispose]: dispose };
}

function dial({ port, from }: Target): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    for (const over of ['connect', 'close']) socket.once(over, () => resolve(socket));
  });
}

/** The request head of a webhook with a body of `bytes` bytes, which the caller has not sent yet. */
export function requestHead(bytes: number, secret: string): string {
  return `POST /webhooks/pix HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${secret}\r\ncontent-length: ${bytes}\r\n\r\n`;
}

export const unknownIdsBody = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, () => ({ transaction_id: randomUUID(), status: 'paid' })));
