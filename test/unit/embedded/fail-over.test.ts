import type { PoolConnection } from 'mysql2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listRivals } from '../../../embedded/examine-hosts.ts';
import { createFailOverPool, createHostChoice, type HostPool } from '../../../embedded/fail-over.ts';
import { listHosts, poolOptions } from '../../../embedded/open-database.ts';
import { listHostsWithoutNameCheck, parseDatabaseUrl } from '../../../embedded/parse-database-url.ts';
import { describeServer } from '../../../embedded/server-state.ts';
import { decideRivals } from '../../../src/database/open/watch-hosts.ts';

const RETRY_MS = 15_000;
const SILENT_MS = 10_000;
const TRY_MS_MAX = 2_000;
const CHECK_EVERY_MS = 2_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

type Callback = (error: { errno: number } | null, rows?: unknown) => void;

/** Hosts that name themselves in answers. `down`: can't be connected. `refusing`: say that they take no writes. `hanging`: do not answer.
 * `full`: give a connection once `queued` is called. `other`: takes a connection of another pool of the process. */
function openHosts(names: string[]) {
  const down = new Set<string>();
  const refusing = new Map<string, 1290 | 3100>();
  const hanging = new Set<string>();
  const full = new Set<string>();
  const queued: (() => void)[] = [];
  const asked: string[] = [];
  const ended: string[] = [];
  const closed: string[] = [];
  const broken: unknown[] = [];
  /** The result of a new connection. */
  const greetings = new Map<string, NodeJS.ErrnoException>();
  const greeting = { takesMs: 0 };
  let greeted = 0;
  let nowMs = 1;
  const pending: Callback[] = [];
  const connect = (name: string) => ({
    name,
    query(text: string, callback: Callback) {
      const errno = refusing.get(name);
      if (text === 'wait' || hanging.has(name)) return void pending.push(callback);
      const group = errno === 3100 ? [['group_replication_group_name', 'g']] : [];
      if (text.startsWith('SHOW')) callback(null, [['read_only', errno === 1290 ? 'ON' : 'OFF'], ...group]);
      else if (text.startsWith('SELECT')) callback(null, []);
      else callback(errno && text === 'write' ? { errno } : null);
    },
    execute: () => undefined,
    prepare: () => undefined,
    release: () => undefined,
    destroy: () => closed.push(name),
    stream: {
      destroy(error: { errno: number }) {
        broken.push(error);
        for (const callback of pending.splice(0)) callback(error);
      },
      writableEnded: false,
    },
  });
  const pools = names.map((name): HostPool => {
    const kept = connect(name);
    return {
      name,
      getConnection(callback) {
        asked.push(name);
        const error = down.has(name) ? Object.assign(new Error(name), { code: 'ECONNREFUSED' }) : null;
        // cast: the only parts of a connection that are used here
        const give = () => callback(error, kept as unknown as PoolConnection);
        if (full.has(name)) queued.push(give);
        else give();
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
  const choice = createHostChoice();
  const pool = createFailOverPool(pools, choice, () => nowMs);
  const second = createFailOverPool(pools, choice, () => nowMs);
  // cast: the pool returns the connections from above
  const take = (from = pool) =>
    new Promise<ReturnType<typeof connect>>((resolve, reject) =>
      from.getConnection((error, connection) =>
        error ? reject(error) : resolve(connection as unknown as ReturnType<typeof connect>),
      ),
    );
  const get = async () => (await take()).name;
  const other = async () => (await take(second)).name;
  const wait = (ms: number) => {
    nowMs += ms;
    vi.advanceTimersByTime(CHECK_EVERY_MS);
  };
  return {
    pool,
    choice,
    get,
    other,
    full,
    queued,
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

  test('a host that is away is left, and nothing moves back to it', async () => {
    const { get, down, asked, choice, wait } = openHosts(['a', 'b', 'c']);
    down.add('a');
    await get();
    asked.length = 0;
    await get();
    expect([asked, choice.current]).toEqual([['b'], 'b']);
    wait(RETRY_MS);
    down.clear();
    expect([await get(), await get()]).toEqual(['b', 'b']);
    // another pool of the process moved on
    choice.current = 'c';
    expect(await get()).toBe('c');
  });

  test('who waited for a connection of a host that the process has left meanwhile gets one of the host in use', async () => {
    const { get, other, full, queued, refusing, take, choice } = openHosts(['a', 'b']);
    await get();
    await other();
    full.add('a');
    const waiting = get();
    full.clear();
    refusing.set('a', 3100);
    (await take()).query('write', () => undefined);
    expect(await other()).toBe('b');
    for (const give of queued) give();
    expect([await waiting, await get(), choice.current]).toEqual(['b', 'b', 'b']);
  });

  test('a host that one pool of the process has left is asked before another pool uses it', async () => {
    const { get, other, refusing, take, down } = openHosts(['a', 'b']);
    await other();
    refusing.set('a', 3100);
    (await take()).query('write', () => undefined);
    expect(await get()).toBe('b');
    down.add('b');
    await expect(other()).rejects.toThrow();
  });

  test('a host that hangs when it is asked is left for the next one', async () => {
    const { get, hanging, broken, wait } = openHosts(['a', 'b']);
    hanging.add('a');
    const waiting = get();
    wait(TRY_MS_MAX);
    expect(broken).toEqual([expect.objectContaining({ code: 'PROTOCOL_CONNECTION_LOST' })]);
    expect(await waiting).toBe('b');
  });

  test('where none takes writes, the error of a host that answers is given before those of hosts that are away', async () => {
    const { get, down, refusing } = openHosts(['a', 'b', 'c']);
    down.add('a').add('c');
    refusing.set('b', 3100);
    await expect(get()).rejects.toMatchObject({ errno: 3032 });
  });

  test('a rival of the host in use is not moved to', async () => {
    const { get, down, choice } = openHosts(['a', 'b', 'c']);
    expect(await get()).toBe('a');
    choice.rivals = new Set(['b']);
    down.add('a');
    expect(await get()).toBe('c');
    down.add('c');
    await expect(get()).rejects.toThrow();
  });

  test('a host that became a copy is left, also where its open connections would still write', async () => {
    const { get, refusing, choice, closed } = openHosts(['a', 'b']);
    expect(await get()).toBe('a');
    refusing.set('a', 1290);
    choice.refusing = new Set(['a']);
    expect([await get(), closed]).toEqual(['b', ['a']]);
    refusing.clear();
    choice.refusing = new Set(['b']);
    // asked again, it takes writes
    expect(await get()).toBe('b');
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

  test.each([3100, 1290] as const)('a host that says that it takes no writes (%i) is skipped', async (errno) => {
    const { get, down, refusing, asked } = openHosts(['a', 'b']);
    refusing.set('a', errno);
    expect([await get(), await get()]).toEqual(['b', 'b']);
    expect(asked).toEqual(['a', 'b', 'b']);
    down.add('b');
    await expect(get()).rejects.toThrow();
    refusing.clear();
    expect(await get()).toBe('a');
  });

  test('while no host takes writes, those that answer are asked before the one that does not', async () => {
    const { get, down, refusing, asked } = openHosts(['a', 'b']);
    await get();
    down.add('a');
    refusing.set('b', 1290);
    await expect(get()).rejects.toThrow();
    asked.length = 0;
    await expect(get()).rejects.toThrow();
    expect(asked).toEqual(['b', 'a']);
  });

  test('a single host is not asked: one that takes no writes can be read', async () => {
    const { get, refusing } = openHosts(['a']);
    refusing.set('a', 1290);
    expect(await get()).toBe('a');
  });

  test('what waits for a member that is cut off from its group is broken off at the first probe', async () => {
    const { get, take, broken, greetings, wait } = openHosts(['a', 'b']);
    (await take()).query('wait', () => undefined);
    wait(SILENT_MS / 2);
    (await take()).query('wait', () => undefined);
    greetings.set('a', Object.assign(new Error('cut off'), { errno: 3032 }));
    wait(SILENT_MS / 2);
    expect(broken).toEqual([expect.objectContaining({ code: 'PROTOCOL_CONNECTION_LOST' })]);
    expect(await get()).toBe('b');
  });

  test.each([3100, 1290] as const)(
    'one that refuses a statement with %i is left, and that connection closed',
    async (errno) => {
      const { get, take, refusing, closed } = openHosts(['a', 'b']);
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
    },
  );

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

describe('what a server says of itself', () => {
  const group = new Map([
    ['server_uuid', 'a'],
    ['group_replication_group_name', 'g'],
  ]);
  const refusalOf = (states: string[], more: [string, string][] = []) =>
    describeServer(
      new Map([...group, ...more]),
      states.map((state, index) => ({ id: 'abc'[index] ?? '', state })),
    ).refusal;

  test.each([
    [['ONLINE', 'ONLINE', 'ONLINE'], undefined],
    [['ONLINE', 'UNREACHABLE', 'ONLINE'], undefined],
    [['ONLINE'], undefined],
    [['ONLINE', 'UNREACHABLE', 'UNREACHABLE'], 'not ready'],
    [['ONLINE', 'UNREACHABLE'], 'not ready'],
    [['RECOVERING', 'ONLINE', 'ONLINE'], 'not ready'],
    [['ERROR'], 'not ready'],
    [[], 'not ready'],
  ])('a member that sees the states %j is %s', (states, refusal) => {
    expect(refusalOf(states)).toBe(refusal);
  });

  test('a copy, a server that is closed, and one whose members can not be read are known', () => {
    expect(refusalOf(['ONLINE'], [['super_read_only', 'ON']])).toBe('read only');
    expect(refusalOf(['ONLINE'], [['offline_mode', 'ON']])).toBe('not ready');
    expect(describeServer(group, undefined)).toEqual({ id: 'a', refusal: undefined, members: [], isGalera: false });
    const galera = new Map([
      ['hostname', 'db1'],
      ['port', '3306'],
      ['wsrep_on', 'ON'],
    ]);
    expect(describeServer(galera, undefined)).toMatchObject({ refusal: undefined, isGalera: true });
  });
});

describe('rivals', () => {
  const host = (name: string, id: string, refusal?: 'read only', members: string[] = []) => ({
    ...{ name, target: { user: 'root', host: name, port: 1 } },
    state: { id, refusal, members, isGalera: false },
  });
  const away = { ...host('a', '1'), state: undefined, error: new Error('away') };
  const rival = new Set(['b']);
  const known = { current: 'a', rivals: rival };

  test('are other servers that take writes beside the one in use, until they take none', () => {
    const fresh = { current: 'a', rivals: new Set<string>() };
    expect(decideRivals(fresh, [host('a', '1'), host('b', '2'), host('c', '1')])).toEqual(rival);
    expect(decideRivals(fresh, [host('a', '1', 'read only'), host('b', '2')])).toEqual(new Set());
    expect(decideRivals(known, [away, host('b', '2')])).toEqual(rival);
    expect(decideRivals(known, [host('a', '1'), host('b', '2', 'read only')])).toEqual(new Set());
    expect(decideRivals(known, [host('a', '1', 'read only'), host('b', '2')])).toEqual(new Set());
  });

  test('are not the members of one group, of which one does not know yet that it was left: founded again, it is the one to move to', () => {
    const [stale, primary] = [host('b', '2', undefined, ['1', '2', '3']), host('a', '1', undefined, ['1', '3'])];
    expect(listRivals([stale, primary])).toEqual([]);
    expect(decideRivals({ current: 'a', rivals: new Set() }, [primary, stale])).toEqual(new Set());
    // a group of its own that has the same name
    expect(listRivals([host('b', '2', undefined, ['2']), primary, host('c', '2')])).toEqual(['b', 'a']);
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
