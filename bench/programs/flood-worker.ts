import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** `connections` from one address that send `bytes`, and again each time that they have an answer or are closed. */
export type Flood = { port: number; from: string; connections: number; bytes: string; ms: number };

const REOPEN_MS = 20;

async function flood({ port, from, connections, bytes, ms }: Flood): Promise<void> {
  const sockets = new Set<Socket>();
  let isOver = false;
  const open = (): void => {
    if (isOver) return;
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    sockets.add(socket);
    let isSending = false;
    const send = async (): Promise<void> => {
      if (isSending) return;
      isSending = true;
      await sleep(REOPEN_MS);
      isSending = false;
      if (!isOver) socket.write(bytes);
    };
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', () => void send());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      void sleep(REOPEN_MS).then(open);
    });
  };
  for (let opened = 0; opened < connections; opened++) open();
  await sleep(ms);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  parentPort?.postMessage('over');
}

// the thread's starter passes this
await flood(workerData as Flood);
