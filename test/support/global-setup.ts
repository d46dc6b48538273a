import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { joinServer } from '../../embedded/server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    socketPath: string;
  }
}

/** One real database server for the whole run; each test file makes a database of its own in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'confere-test-'));
  const server = await joinServer({ dataDir, log: () => undefined });
  project.provide('socketPath', server.socketPath);
  return async () => {
    await server[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
