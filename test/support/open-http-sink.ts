import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Posted = { path: string; json: unknown; text: string };

/** A real HTTP server that stores the requests it accepts. `answer` returns the status, and may wait. */
export type HttpSink = {
  url: string;
  posted: Posted[];
  answer: (posted: Posted) => number | Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function openHttpSink(): Promise<HttpSink> {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const one = { path: request.url ?? '/', json: text === '' ? undefined : (JSON.parse(text) as unknown), text };
      void Promise.resolve(sink.answer(one)).then((status) => {
        if (status < 300) posted.push(one);
        response.writeHead(status, { 'content-type': 'text/plain' }).end('ok');
      });
    });
  });
  const sink: HttpSink = {
    url: '',
    posted,
    answer: () => 200,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  sink.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return sink;
}
