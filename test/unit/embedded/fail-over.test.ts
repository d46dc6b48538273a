import type { PoolConnection } from 'mysql2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createFailOverPool, type HostChoice, type HostPool } from '../../../embedded/fail-over.ts';
import { listHosts, poolOptions } from '../../../embedded/open-database.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';

const RETRY_MS = 15_000;
const SILENT_MS = 10_000;
const TRY_MS_MAX = 2_000;
const CHECK_EVERY_MS = 2_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

type Callback = (error: { errno: number } | null, rows?: unknown) => void;

/** Hosts that name themselves in answers. `down`: can't be connected. `refusing`: refuse a transaction. `hanging`: do not answer. */
function openHosts(names: string[]) {
  const down = new Set<string>();
  const refusing = new Map<string, number>();
  const hanging = new Set<string>();
  const asked: string[] = [];
  const ended: string[] = [];
  const closed: string[] = [];
  const broken: unknown[] = [];
  /** The result of a new connection. */
  const greetings = new Map<string, NodeJS.ErrnoException>();
  const greeting = { takesMs: 0 };
  let greeted = 0;
  let nowMs = 1;
  const connect = (name: string) => ({
    name,
    query(text: string, callback: Callback) {
      const errno = refusing.get(name);
      if (text === 'wait' || hanging.has(name)) return;
      if (text.startsWith('SELECT')) callback(null, [{ first: errno === 1290 ? 1 : 0, second: 'OFF' }]);
      else callback(errno === 1047 || (errno && text === 'write') ? { errno } : null);
    },
    execute: () => undefined,
    prepare: () => undefined,
    release: () => undefined,
    destroy: () => closed.push(name),
    stream: { destroy: (error: unknown) => broken.push(error), writableEnded: false },
  });
  const pools = names.map((name): HostPool => {
    const kept = connect(name);
    return {
      name,
      getConnection(callback) {
        asked.push(name);
        const error = down.has(name) ? Object.assign(new Error(name), { code: 'ECONNREFUSED' }) : null;
        // cast: the only parts of a connection that are used here
        callback(error, kept as unknown as PoolConnection);
      },
      probe(callback) {
        greeted++;
        nowMs += greeting.takesMs;
        callback(greetings.get(name) ?? null);
      },
      end(callback) {
        ended.push(name);
        callback(null);
      },
    };
  });
  const choice: HostChoice = { agreed: undefined };
  const pool = createFailOverPool(pools, choice, () => nowMs);
  // cast: the pool returns the connections from above
  const take = () =>
    new Promise<ReturnType<typeof connect>>((resolve, reject) =>
      pool.getConnection((error, connection) =>
        error ? reject(error) : resolve(connection as unknown as ReturnType<typeof connect>),
      ),
    );
  const get = async () => (await take()).name;
  const wait = (ms: number) => {
    nowMs += ms;
    vi.advanceTimersByTime(CHECK_EVERY_MS);
  };
  return {
    pool,
    choice,
    get,
    take,
    down,
    refusing,
    hanging,
    asked,
    ended,
    closed,
    broken,
    greetings,
    greeting,
    greeted: () => greeted,
    wait,
  };
}

describe('several hosts of one database', () => {
  test('the first host that can be connected gives the connections', async () => {
    const { get, down, asked } = openHosts(['a', 'b', 'c']);
    expect(await get()).toBe('a');
    down.add('a').add('b');
    expect(await get()).toBe('c');
    expect(asked).toEqual(['a', 'a', 'b', 'c']);
  });

  test('a host that is away is skipped for a while, and is first again once it is back', async () => {
    const { get, down, asked, wait } = openHosts(['a', 'b']);
    down.add('a');
    await get();
    asked.length = 0;
    await get();
    expect(asked).toEqual(['b']);
    wait(RETRY_MS);
    down.clear();
    expect([await get(), await get()]).toEqual(['a', 'a']);
  });

  test('the agreed host comes first; while it is away the others come in their order', async () => {
    const { get, pool, choice, down, wait } = openHosts(['a', 'b', 'c']);
    choice.agreed = 'b';
    expect([await get(), pool.hostInUse()]).toEqual(['b', 'b']);
    down.add('b');
    expect([await get(), await get(), pool.hostInUse()]).toEqual(['a', 'a', 'a']);
    down.clear();
    wait(RETRY_MS);
    expect(await get()).toBe('b');
    // a host that none of these processes knows
    choice.agreed = 'd';
    expect([await get(), await pool.canUse('d')]).toEqual(['a', false]);
  });

  test('a host can be tried before its time, and gives connections again if it works', async () => {
    const { get, pool, down, wait } = openHosts(['a', 'b']);
    down.add('a');
    expect([await get(), await pool.canUse('a')]).toEqual(['b', false]);
    wait(1);
    down.clear();
    expect(await get()).toBe('b');
    expect([await pool.canUse('a'), await get()]).toEqual([true, 'a']);
  });

  test('a host that hangs can not be used, though a connection to it is open', async () => {
    const { get, take, pool, refusing, hanging, wait } = openHosts(['a', 'b']);
    const connection = await take();
    refusing.set('a', 1047);
    connection.query('write', () => undefined);
    hanging.add('a');
    const canUse = pool.canUse('a');
    wait(TRY_MS_MAX);
    expect([await canUse, await get()]).toEqual([false, 'b']);
  });

  test('a probe goes to the host that connections come from', async () => {
    const { get, pool, down, greetings } = openHosts(['a', 'b']);
    greetings.set('a', Object.assign(new Error('a'), { code: 'ETIMEDOUT' }));
    const probe = () => new Promise((resolve) => pool.probe((error) => resolve(error?.code)));
    expect(await probe()).toBe('ETIMEDOUT');
    down.add('a');
    await get();
    expect(await probe()).toBeUndefined();
  });

  test('if no host can be connected, all are tried and the first error is reported', async () => {
    const { get, down, asked } = openHosts(['a', 'b']);
    down.add('a').add('b');
    await expect(get()).rejects.toThrow('a');
    await expect(get()).rejects.toThrow('a');
    expect(asked).toEqual(['a', 'b', 'a', 'b']);
    down.delete('b');
    expect(await get()).toBe('b');
  });

  test('a host that is cut off from its cluster is skipped, and used again once it accepts a transaction', async () => {
    const { get, refusing, asked, wait } = openHosts(['a', 'b']);
    refusing.set('a', 1047);
    expect([await get(), await get()]).toEqual(['b', 'b']);
    expect(asked).toEqual(['a', 'b', 'b']);
    wait(RETRY_MS);
    expect(await get()).toBe('b');
    wait(RETRY_MS);
    refusing.clear();
    expect([await get(), await get()]).toEqual(['a', 'a']);
  });

  test.each([1047, 1290])('one that refuses a statement with %i is left, and that connection closed', async (errno) => {
    const { get, take, refusing, closed, wait } = openHosts(['a', 'b']);
    const connection = await take();
    refusing.set('a', errno);
    let received: unknown;
    connection.query('write', (error) => {
      received = error;
    });
    expect(received).toEqual({ errno });
    // other statements may be pending on it
    expect(closed).toEqual([]);
    connection.release();
    expect(closed).toEqual(['a']);
    expect(await get()).toBe('b');
    wait(RETRY_MS);
    expect(await get()).toBe('b');
    wait(RETRY_MS);
    refusing.clear();
    expect(await get()).toBe('a');
  });

  test.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNREFUSED'])(
    'what waits for a host that answers nobody (%s), asked twice, is broken off, and the next host is used',
    async (code) => {
      const { get, take, broken, greetings, greeted, wait } = openHosts(['a', 'b']);
      (await take()).query('wait', () => undefined);
      greetings.set('a', Object.assign(new Error('silent'), { code }));
      wait(SILENT_MS - 1);
      expect(greeted()).toBe(0);
      wait(1);
      expect([greeted(), broken]).toEqual([1, []]);
      wait(CHECK_EVERY_MS);
      // this code means that the statement may have been executed: the transaction is run again
      expect(broken).toEqual([expect.objectContaining({ code: 'PROTOCOL_CONNECTION_LOST' })]);
      expect(await get()).toBe('b');
    },
  );

  test('one failed probe does not condemn a host, nor do two with a good one, or an answer, between them', async () => {
    const { get, take, broken, greetings, wait } = openHosts(['a', 'b']);
    const silent = Object.assign(new Error('silent'), { code: 'ETIMEDOUT' });
    const connection = await take();
    connection.query('wait', () => undefined);
    greetings.set('a', silent);
    wait(SILENT_MS);
    greetings.delete('a');
    wait(CHECK_EVERY_MS);
    greetings.set('a', silent);
    wait(SILENT_MS);
    connection.stream.writableEnded = true;
    wait(CHECK_EVERY_MS);
    connection.stream.writableEnded = false;
    (await take()).query('wait', () => undefined);
    wait(SILENT_MS);
    expect(broken).toEqual([]);
    expect(await get()).toBe('a');
  });

  test('a probe that fails late, because our own thread was busy, proves nothing about its host', async () => {
    const { get, take, broken, greetings, greeting, greeted, wait } = openHosts(['a', 'b']);
    (await take()).query('wait', () => undefined);
    greetings.set('a', Object.assign(new Error('silent'), { code: 'ETIMEDOUT' }));
    greeting.takesMs = 6_001;
    wait(SILENT_MS);
    wait(CHECK_EVERY_MS);
    wait(CHECK_EVERY_MS);
    expect([greeted(), broken]).toEqual([3, []]);
    expect(await get()).toBe('a');
    greeting.takesMs = 5_000;
    wait(CHECK_EVERY_MS);
    wait(CHECK_EVERY_MS);
    expect(broken).toHaveLength(1);
  });

  test.each([undefined, 'ER_CON_COUNT_ERROR', 'ECONNRESET', 'EMFILE'])(
    'a host that greets (%s) is only slow: it is waited for',
    async (code) => {
      const { get, take, broken, greetings, greeted, wait } = openHosts(['a', 'b']);
      if (code) greetings.set('a', Object.assign(new Error(code), { code }));
      const connection = await take();
      connection.query('wait', () => undefined);
      wait(SILENT_MS);
      wait(SILENT_MS - 1);
      expect(greeted()).toBe(1);
      wait(1);
      expect([greeted(), broken]).toEqual([2, []]);
      expect(await get()).toBe('a');
    },
  );

  test('answered or abandoned statements, and an ended pool, cause no probe', async () => {
    const { pool, take, greeted, wait } = openHosts(['a']);
    const connection = await take();
    connection.query('read', () => undefined);
    wait(SILENT_MS);
    expect(greeted()).toBe(0);
    connection.query('wait', () => undefined);
    connection.stream.writableEnded = true;
    wait(SILENT_MS);
    expect(greeted()).toBe(0);
    connection.stream.writableEnded = false;
    connection.query('wait', () => undefined);
    await new Promise<void>((resolve) => pool.end(() => resolve()));
    wait(SILENT_MS);
    expect(greeted()).toBe(0);
  });

  test('all pools end together', async () => {
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

  test('requires TLS as soon as one host is on another machine, and checks its name if it has one', () => {
    expect(parseDatabaseUrl('mysql://127.0.0.1/c?hosts=localhost')).not.toHaveProperty('ssl');
    expect(parseDatabaseUrl('mysql://127.0.0.1/c?hosts=db2').ssl).toEqual({ rejectUnauthorized: true });
    expect(parseDatabaseUrl('mysql://127.evil.example/c').ssl).toEqual({ rejectUnauthorized: true });
    expect(parseDatabaseUrl('mysql://db1/c').ssl).toEqual({ rejectUnauthorized: true });
  });

  test('each host that is a name is compared with its certificate, also beside a host that is an address', () => {
    const target = parseDatabaseUrl('mysql://db1/c?hosts=10.0.0.5:3307,db3,[fd00::1]');
    expect(listHostsWithoutNameCheck(target)).toEqual(['10.0.0.5', 'fd00::1']);
    const verified = listHosts(target).map((host) => poolOptions(host).ssl);
    expect(verified).toEqual(
      [true, false, true, false].map((verifyIdentity) => ({ rejectUnauthorized: true, verifyIdentity })),
    );
    expect(listHostsWithoutNameCheck(parseDatabaseUrl('mysql://10.0.0.5/c?tls=off'))).toEqual([]);
    expect(listHostsWithoutNameCheck(parseDatabaseUrl('mysql://db1/c'))).toEqual([]);
  });
});
