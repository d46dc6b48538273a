import type { PoolConnection } from 'mysql2';
import { describe, expect, test } from 'vitest';
import { type Connections, failOver } from '../../../embedded/fail-over.ts';
import { parseDatabaseUrl } from '../../../embedded/parse-url.ts';

const ASK_AGAIN_MS = 15_000;

/** Hosts that say who answered; `down` holds those that can't be connected. */
function openHosts(names: string[]) {
  const down = new Set<string>();
  const asked: string[] = [];
  const ended: string[] = [];
  let nowMs = 1;
  const pools = names.map(
    (name): Connections => ({
      getConnection(callback) {
        asked.push(name);
        const error = down.has(name) ? Object.assign(new Error(name), { code: 'ECONNREFUSED' }) : null;
        // the connection is told by its host's name: nothing is asked of it
        callback(error, name as unknown as PoolConnection);
      },
      end(callback) {
        ended.push(name);
        callback(null);
      },
    }),
  );
  const pool = failOver(pools, () => nowMs);
  const get = () =>
    new Promise<unknown>((resolve, reject) =>
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection))),
    );
  return { pool, get, down, asked, ended, wait: (ms: number) => (nowMs += ms) };
}

describe('several hosts of one database', () => {
  test('the first that can be connected gives the connections', async () => {
    const { get, down, asked } = openHosts(['a', 'b', 'c']);
    expect(await get()).toBe('a');
    down.add('a').add('b');
    expect(await get()).toBe('c');
    expect(asked).toEqual(['a', 'a', 'b', 'c']);
  });

  test('one that is away is left alone for a while, and comes first again once it is back', async () => {
    const { get, down, asked, wait } = openHosts(['a', 'b']);
    down.add('a');
    await get();
    asked.length = 0;
    await get();
    expect(asked).toEqual(['b']);
    wait(ASK_AGAIN_MS);
    down.clear();
    expect([await get(), await get()]).toEqual(['a', 'a']);
  });

  test('with none to be had all are asked, and the first one’s error is told', async () => {
    const { get, down, asked } = openHosts(['a', 'b']);
    down.add('a').add('b');
    await expect(get()).rejects.toThrow('a');
    await expect(get()).rejects.toThrow('a');
    expect(asked).toEqual(['a', 'b', 'a', 'b']);
    down.delete('b');
    expect(await get()).toBe('b');
  });

  test('all end together', async () => {
    const { pool, ended } = openHosts(['a', 'b']);
    await new Promise<void>((resolve) => pool.end(() => resolve()));
    expect(ended).toEqual(['a', 'b']);
  });
});

describe('the address of a database', () => {
  test('names other hosts beside the first', () => {
    const target = parseDatabaseUrl('mysql://u:p%40ss@db1:3307/confere?hosts=db2:3308,%20db3,[::1]:3309&tls=off');
    expect(target).toEqual({
      ...{ user: 'u', password: 'p@ss', database: 'confere', host: 'db1', port: 3307 },
      others: [
        { host: 'db2', port: 3308 },
        { host: 'db3', port: 3306 },
        { host: '::1', port: 3309 },
      ],
    });
    expect(() => parseDatabaseUrl('mysql://db1/confere?hosts=db2:x')).toThrow(/hosts=h2/);
    expect(() => parseDatabaseUrl('mysql://db1/confere?hosts=a@b')).toThrow(/hosts=h2/);
  });

  test('wants TLS as soon as one of the hosts is elsewhere, by name where there is one', () => {
    expect(parseDatabaseUrl('mysql://127.0.0.1/c?hosts=localhost')).not.toHaveProperty('ssl');
    const named = parseDatabaseUrl('mysql://127.0.0.1/c?hosts=db2').ssl;
    expect(named).toEqual({ rejectUnauthorized: true, verifyIdentity: false });
    expect(parseDatabaseUrl('mysql://db1/c').ssl).toEqual({ rejectUnauthorized: true, verifyIdentity: true });
  });
});
