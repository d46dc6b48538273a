import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import { WATCH_HOSTS_EVERY_MS } from '../../../src/database/open/watch-hosts.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';

async function openBoth() {
  const { socketPath, database } = await createTestDatabase();
  const [first, second] = [await openTcpProxy(socketPath), await openTcpProxy(socketPath)];
  const [a, b] = [first, second].map((way) => `127.0.0.1:${way.port}`);
  return { first, second, a, b, env: { DATABASE_URL: `mysql://root@${a}/${database}?hosts=${b}` } };
}

test('a process stays on its host beside another server that takes writes, and alerts; none starts', async () => {
  const { first, second, a, b, env } = await openBoth();
  using _first = first;
  using _second = second;
  // both names lead to one server
  await using environment = await openEnvironment(env);
  const { context, timers } = environment;
  const observe = async (rivals: string[]) =>
    await eventually('the hosts are known', async () => {
      await timers.advance(WATCH_HOSTS_EVERY_MS);
      return [...context.hosts.rivals].join() === rivals.join();
    });
  const firing = async () => {
    await watch(context);
    const rows = await context.db
      .selectFrom('alerts')
      .select(['severity', 'summary', 'ended_at'])
      .where('name', '=', 'two_writers')
      .execute();
    return rows.filter((row) => row.ended_at === null).map(({ severity, summary }) => ({ severity, summary }));
  };
  expect(await firing()).toEqual([]);

  second.become('another server');
  await observe([`${b}`]);
  const summary = expect.stringContaining(`${a} and ${b} take writes, and are different servers`);
  expect(await firing()).toEqual([{ severity: 'critical', summary }]);
  await expect(environment.replica()).rejects.toThrow(
    /take writes, and are different servers: make all but one read-only/,
  );

  first.become('not ready');
  await expect(sql`SELECT COUNT(*) FROM alerts`.execute(context.db)).rejects.toMatchObject({ errno: 1047 });
  await expect(sql`SELECT COUNT(*) FROM alerts`.execute(context.db)).rejects.toMatchObject({ errno: 1047 });
  first.become('well');

  second.become('read only');
  await observe([]);
  expect(await firing()).toEqual([]);

  // the other one is chosen: the one in use is made read-only
  second.become('another server');
  await observe([`${b}`]);
  first.become('read only');
  await observe([]);
  await sql`SELECT 1`.execute(context.db);
  expect(context.hosts.current).toBe(b);
});

test('a process that only reads leaves a host that became a copy', async () => {
  const { first, second, a, b, env } = await openBoth();
  using _first = first;
  using _second = second;
  await using environment = await openEnvironment(env);
  const { context, timers } = environment;
  await sql`SELECT 1`.execute(context.db);
  expect(context.hosts.current).toBe(a);
  first.become('read only');
  await eventually('its reads moved too', async () => {
    await timers.advance(WATCH_HOSTS_EVERY_MS);
    await sql`SELECT 1`.execute(context.db);
    return context.hosts.current === b;
  });
});

test('several nodes of a Galera cluster are refused', async () => {
  const { first, second, env } = await openBoth();
  using _first = first;
  using _second = second;
  second.become('galera');
  await expect(openEnvironment(env)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringMatching(/Galera cluster, which can lose commits: name one host; docs\/scaling\.md/),
  });
});
