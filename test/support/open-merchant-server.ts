import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Call = {
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  json: {
    type: string;
    timestamp: string;
    data: {
      transaction: { id: string; status: string; sequence: number; current_status: string; amount: string };
      previous_status: string | null;
      source: string;
    };
  };
  status: number | 'hangs';
};

/** Returns the answer to the nth call of a path. */
export type Behaviour = (call: Omit<Call, 'status'>, nth: number) => number | 'hangs' | http.RequestListener;

/** A real HTTP server for merchants' addresses: it stores the calls and misbehaves on request. */
export type MerchantServer = {
  url: string;
  calls: Call[];
  behaviours: Record<string, Behaviour>;
  callsTo(path: string): Call[];
  acceptedCalls(path: string): Call[];
  [Symbol.asyncDispose](): Promise<void>;
};

export async function openMerchantServer(host = '127.0.0.1'): Promise<MerchantServer> {
  const calls: Call[] = [];
  const behaviours: Record<string, Behaviour> = {};
  const counts = new Map<string, number>();
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const path = request.url ?? '/';
      const body = Buffer.concat(parts).toString();
      const headers = request.headers as Record<string, string>;
      const seen = { path, method: request.method ?? '', headers, body, json: JSON.parse(body) as Call['json'] };
      const nth = (counts.get(path) ?? 0) + 1;
      counts.set(path, nth);
      const answer = behaviours[path]?.(seen, nth) ?? 200;
      calls.push({ ...seen, status: typeof answer === 'function' ? 0 : answer });
      if (answer === 'hangs') return;
      if (typeof answer === 'function') return answer(request, response);
      response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    calls,
    behaviours,
    callsTo: (path) => calls.filter((call) => call.path === path),
    acceptedCalls: (path) => calls.filter((call) => call.path === path && call.status === 200),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
