import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The merchants of the bench, in a process of their own: `/fast/…` answers at once, `/slow` after 15 s. It sends its port to
 * the parent and, on request, the number and times of the calls of each path.
 */
const SLOW_MS = 15_000;
const arrivals: Array<{ path: string; id: string; atMs: number }> = [];

const server = http.createServer((request, response) => {
  const path = request.url ?? '/';
  arrivals.push({ path, id: String(request.headers['webhook-id']), atMs: Date.now() });
  request.resume();
  request.on('end', () => {
    if (path === '/slow') setTimeout(() => response.end(), SLOW_MS);
    else response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', (message) => {
  if (message === 'count') process.send?.({ count: arrivals.length });
  if (message === 'take') process.send?.({ arrivals: arrivals.splice(0) });
});
process.on('disconnect', () => process.exit(0));
