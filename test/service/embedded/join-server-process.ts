import { writeFileSync } from 'node:fs';
import { joinServer } from '../../../embedded/join-server.ts';

/** A process that joins the server of a data directory, writes a file when it has, and leaves at SIGTERM. */
const [dataDir = '', saysIn = ''] = process.argv.slice(2);
await using server = await joinServer({ dataDir, log: () => undefined });
writeFileSync(saysIn, server.socketPath);
await new Promise((resolve) => {
  const stay = setInterval(() => undefined, 1000);
  process.once('SIGTERM', () => {
    clearInterval(stay);
    resolve(undefined);
  });
});
