import { randomBytes } from 'node:crypto';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registry } from '../../../src/metrics/metrics.ts';
import { advance, advanceAlive, areFresh } from '../../support/advance-alive.ts';
import { eventually } from '../../support/eventually.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { openHttpSink } from '../../support/open-http-sink.ts';
import { API_KEY, NO_RUNS } from '../../support/start-serve.ts';
import { startSide } from '../../support/start-side.ts';
import { startTestServer, type TestServer } from '../../support/start-test-server.ts';

const SECRET_KEY = randomBytes(32).toString('base64');
const STEP_MS = 10_000;
const stepsOf = (count: number): number[] => Array.from({ length: count }, () => STEP_MS);
type Posted = { event_action: string; dedup_key: string; payload?: { class: string; summary: string } };

let server: TestServer;
let admin: mysql.Connection;
let url: string;

// a server of its own, since it becomes read-only, and a user whose writes it then refuses
beforeAll(async () => {
  server = await startTestServer();
  admin = await mysql.createConnection({ socketPath: server.socketPath, user: 'root' });
  await admin.query('CREATE DATABASE confere CHARACTER SET utf8mb4');
  await admin.query("CREATE USER app IDENTIFIED BY 'secret'");
  await admin.query('GRANT ALL ON confere.* TO app');
  url = `mysql://app:secret@localhost/confere?socket=${encodeURIComponent(server.socketPath)}`;
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

async function readWritable(): Promise<number | undefined> {
  const { values } = (await registry.getSingleMetric('confere_database_writable')?.get()) ?? { values: [] };
  return values[0]?.value;
}

test('a read-only database pages once as such, and neither as dead workers nor as silence, also once it takes writes again', async () => {
  await using sink = await openHttpSink();
  await using environment = await openEnvironment({
    ...NO_RUNS,
    ...{ DATABASE_URL: url, SECRET_KEY },
    ...{ PROVIDER_URL: 'http://127.0.0.1:9', PROVIDER_API_KEY: API_KEY, JOBS: 'off' },
    ...{ PAGERDUTY_ROUTING_KEY: `${sink.url.replace('://', '://R0UT1NGK3Y@')}/pd` },
  });
  const posted = () => sink.posted.map(({ json }) => json as Posted);
  await startSide(environment, 'web');
  await startSide(environment, 'worker');
  await startSide(environment, 'worker');
  await advanceAlive(environment, stepsOf(8));
  expect(posted()).toEqual([]);
  await admin.query('SET GLOBAL read_only = ON');
  await eventually('the page', async () => {
    await advance(environment, [STEP_MS]);
    return posted().length > 0;
  });
  expect(await readWritable()).toBe(0);
  await advance(environment, stepsOf(30));
  expect(posted()).toMatchObject([
    {
      event_action: 'trigger',
      payload: { class: 'database_read_only', summary: expect.stringContaining('ER_OPTION_PREVENTS_STATEMENT') },
    },
  ]);
  await admin.query('SET GLOBAL read_only = OFF');
  await eventually('its end', async () => {
    await advance(environment, [STEP_MS]);
    return posted().length > 1 && (await areFresh(environment));
  });
  await advanceAlive(environment, stepsOf(30));
  expect(posted().slice(1)).toMatchObject([{ event_action: 'resolve', dedup_key: posted()[0]?.dedup_key }]);
  const alerts = await environment.context.db.selectFrom('alerts').select(['name', 'ended_at']).execute();
  expect(alerts).toMatchObject([{ name: 'database_read_only', ended_at: expect.any(Date) }]);
  expect(await readWritable()).toBe(1);
});
