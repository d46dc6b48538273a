import net, { type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { openPreparedStatements } from '../../../src/database/open/open-prepared-statements.ts';

const COLLECTIONS_MAX = 20;

test('a statement that is given up while it waits for a connection lets go of what it would have written', async () => {
  const sockets = new Set<Socket>();
  // takes every connection, and never greets
  const hanging = net.createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const { port } = hanging.address() as AddressInfo;
  await using prepared = openPreparedStatements({ host: '127.0.0.1', port, user: 'root' }, 1);
  const giveUp = async (): Promise<WeakRef<Buffer>> => {
    const body = Buffer.alloc(1024);
    await expect(prepared.execute('INSERT INTO t VALUES (?)', [body], 20)).rejects.toThrow('longer than 20 ms');
    return new WeakRef(body);
  };
  // one has a connection opened for it, the other waits behind that one
  const bodies = [await giveUp(), await giveUp()];
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc') as () => void;
  const held = (): number => bodies.filter((body) => body.deref()).length;
  for (let n = 0; n < COLLECTIONS_MAX && held() > 0; n++) {
    await nextTurn();
    collect();
  }
  expect(held()).toBe(0);
  for (const socket of sockets) socket.destroy();
  hanging.close();
});
