import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export type DemoMerchant = AsyncDisposable & {
  url: string;
  /** Sets the secret that verifies signatures. */
  setSecret(secret: string): void;
  counts(): { received: number; verified: number; distinct: number; outOfOrder: number };
};

type Body = { data: { transaction: { id: string; sequence: number } } };

/** Starts a merchant's server. It verifies callbacks with the library standardwebhooks, not with our code, and counts them. */
export async function startDemoMerchant(): Promise<DemoMerchant> {
  let webhook: Webhook | undefined;
  let received = 0;
  let verified = 0;
  let outOfOrder = 0;
  const ids = new Set<string>();
  const sequences = new Map<string, number>();

  function take(body: string, headers: Record<string, string>): boolean {
    received++;
    if (!webhook) return false;
    try {
      const { data } = webhook.verify(body, headers) as Body;
      verified++;
      ids.add(headers['webhook-id'] ?? '');
      if (data.transaction.sequence < (sequences.get(data.transaction.id) ?? 0)) outOfOrder++;
      sequences.set(data.transaction.id, data.transaction.sequence);
      return true;
    } catch {
      return false;
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      response.statusCode = take(Buffer.concat(chunks).toString(), headers) ? 200 : 401;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pix`,
    setSecret(secret) {
      webhook = new Webhook(secret);
    },
    counts: () => ({ received, verified, distinct: ids.size, outOfOrder }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
