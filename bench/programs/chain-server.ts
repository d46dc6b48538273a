import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import type { Agent } from 'undici';

/** What the bench gives a program, as JSON in its first argument. */
export type ChainOptions = {
  secret: string;
  merchantUrl: string;
  /** Whether a worker posts what was accepted; without it the program only accepts. */
  works: boolean;
  home: string;
  socketPath: string;
  database: string;
  providerUrl: string;
  apiKey: string;
};

export function readOptions(): ChainOptions {
  return JSON.parse(process.argv[2] ?? '{}') as ChainOptions;
}

/** Listens on a free port, sends it to the parent, and ends with the parent. */
export function listenForBench(app: Express): void {
  const server = createServer(app);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('disconnect', () => process.exit(0));
}

/** Posts a callback of the shape of ours. @throws Error unless it is answered 200. */
export async function postCallback(agent: Agent, merchantUrl: string, transaction: { id: string }): Promise<void> {
  const { origin, pathname: path } = new URL(merchantUrl);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ type: 'pix.cashin.paid', data: { transaction } });
  const answer = await agent.request({ origin, path, method: 'POST', headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`the merchant answered ${answer.statusCode}`);
}
