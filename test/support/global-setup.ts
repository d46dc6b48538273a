import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import mysql from 'mysql2/promise';
import type { TestProject } from 'vitest/node';
import { parseDatabaseUrl } from '../../embedded/parse-url.ts';
import { joinServer } from '../../embedded/server.ts';
import { TEST_DATABASE } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    socketPath: string;
  }
}

/**
 * One real database server for the whole run; each test file makes a database of its own in it. An embedded one, or the
 * one that TEST_DATABASE_URL names (`mysql://root@localhost/mysql?socket=PATH`): root without a password, on a socket.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return await useServer(project, url);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-test-'));
  const server = await joinServer({ dataDir, log: () => undefined });
  project.provide('socketPath', server.socketPath);
  return async () => {
    await server[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** @returns what drops the databases that tests made there. */
async function useServer(project: TestProject, url: string): Promise<() => Promise<void>> {
  const target = parseDatabaseUrl(url);
  if (!('socketPath' in target) || target.password) throw new Error('TEST_DATABASE_URL takes root on a ?socket=PATH');
  const { socketPath, user } = target;
  project.provide('socketPath', socketPath);
  return async () => {
    const connection = await mysql.createConnection({ socketPath, user });
    const [rows] = await connection.query('SHOW DATABASES');
    const names = (rows as { Database: string }[])
      .map((row) => row.Database)
      .filter((name) => TEST_DATABASE.test(name));
    for (const name of names) await connection.query(`DROP DATABASE ${mysql.escapeId(name)}`);
    await connection.end();
  };
}
