import mysql from 'mysql2/promise';
import type { TestProject } from 'vitest/node';
import { parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import { makeTemplates, type Templates } from './make-templates.ts';
import { startTestServer, type TestServer } from './start-test-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    socketPath: string;
    templates: Templates;
  }
}

type Running = TestServer & { templates: Templates };

/** Names of the databases that a run creates. */
const TEST_DATABASE = /^t_[0-9a-f]{12}$|^template_[0-9]+_[a-z]+$/;
/** Each vitest project of a run loads this module again in the same process. */
const shared = globalThis as { confereTestServer?: { running: Promise<Running>; users: number } | undefined };

/**
 * Starts one database server for the whole run. Tests create databases in it from templates. TEST_DATABASE_URL
 * (`mysql://root@localhost/mysql?socket=PATH`: root without a password, on a socket) uses another server instead.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.confereTestServer ??= { running: start(), users: 0 };
  const server = shared.confereTestServer;
  server.users++;
  const running = await server.running;
  const { socketPath, templates } = running;
  project.provide('socketPath', socketPath);
  project.provide('templates', templates);
  return async () => {
    if (--server.users > 0) return;
    shared.confereTestServer = undefined;
    if (process.env.TEST_DATABASE_URL) await dropDatabases(socketPath);
    await running.stop();
  };
}

async function start(): Promise<Running> {
  const url = process.env.TEST_DATABASE_URL;
  const server = url ? useServer(url) : await startTestServer();
  const target = { socketPath: server.socketPath, user: 'root' };
  return { ...server, templates: await makeTemplates(target, `template_${process.pid}`) };
}

function useServer(url: string): TestServer {
  const target = parseDatabaseUrl(url);
  if (!('socketPath' in target) || target.password || target.user !== 'root') {
    throw new Error('TEST_DATABASE_URL takes root on a ?socket=PATH');
  }
  return { socketPath: target.socketPath, stop: async () => undefined };
}

async function dropDatabases(socketPath: string): Promise<void> {
  const connection = await mysql.createConnection({ socketPath, user: 'root' });
  const [rows] = await connection.query('SHOW DATABASES');
  const names = (rows as { Database: string }[]).map((row) => row.Database).filter((name) => TEST_DATABASE.test(name));
  for (const name of names) await connection.query(`DROP DATABASE ${mysql.escapeId(name)}`);
  await connection.end();
}
