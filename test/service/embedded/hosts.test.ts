import net, { type AddressInfo, type Socket } from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parseDatabaseUrl } from '../../../embedded/parse-url.ts';
import { openDatabase } from '../../../embedded/pool.ts';
import type { Database } from '../../../src/database/tables.ts';
import { transact } from '../../../src/database/transact.ts';
import { freshDatabase } from '../../support/database.ts';

/** A way to the run's database server over TCP, that can be cut. */
async function openWay(socketPath: string) {
  const sockets = new Set<Socket>();
  let taken = 0;
  const server = net.createServer((socket) => {
    taken++;
    const onward = net.connect(socketPath);
    for (const end of [socket, onward]) {
      sockets.add(end);
      end
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(end);
          socket.destroy();
          onward.destroy();
        });
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => taken,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('the next host is used while the first is away, also when it goes in the middle of the work', async () => {
  const { socketPath, database } = await freshDatabase();
  const [first, second] = [await openWay(socketPath), await openWay(socketPath)];
  const url = `mysql://root@127.0.0.1:${first.port}/${database}?hosts=127.0.0.1:${second.port}`;
  await using opened = openDatabase<Database>({ ...parseDatabaseUrl(url), connectionLimit: 2 });
  await sql`CREATE TABLE t (n INT PRIMARY KEY)`.execute(opened.db);
  const add = (n: number) =>
    transact(opened.db, async (trx) => {
      // found again when it runs a second time
      await sql`INSERT INTO t VALUES (${n}) ON DUPLICATE KEY UPDATE n = n`.execute(trx);
    });
  await add(1);
  expect(second.taken()).toBe(0);
  const adding = Array.from({ length: 40 }, (_, index) => add(index + 2));
  first.cut();
  await Promise.all(adding);
  expect(second.taken()).toBeGreaterThan(0);
  const { rows } = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM t`.execute(opened.db);
  expect(rows[0]?.count).toBe(41);
  second.cut();
});

test('a first host that is dead from the start keeps nobody from starting', async () => {
  const { socketPath, database } = await freshDatabase();
  const way = await openWay(socketPath);
  const url = `mysql://root@127.0.0.1:1/${database}?hosts=127.0.0.1:${way.port}`;
  await using opened = openDatabase<Database>(parseDatabaseUrl(url));
  const { rows } = await sql<{ one: number }>`SELECT 1 AS one`.execute(opened.db);
  expect(rows[0]?.one).toBe(1);
  way.cut();
});
