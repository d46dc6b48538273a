import { writeFileSync } from 'node:fs';
import { joinServer } from '../../../embedded/join-server.ts';

/** A process of its own that joins the server of a data directory, says so in a file, and leaves at SIGTERM. */
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
