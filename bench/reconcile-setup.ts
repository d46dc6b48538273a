import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { joinServer } from '../embedded/join-server.ts';
import { ensureDatabase } from '../embedded/open-database.ts';
import { addDays, type Day } from '../src/domain/calendar.ts';
import type { PresentedRun } from '../src/reconciliation/numbers/read-runs.ts';

export type TimedRun = { run: PresentedRun; ms: number };

/** Starts a provider and a worker as processes, on a new embedded database; the provider's days ended long ago. */
export type Bench = AsyncDisposable & {
  url: string;
  firstDay: Day;
  lastDay: Day;
  delay(ms: number): Promise<void>;
  work(asked: { from: Day; to: Day; how?: 'read' | 'count' }): Promise<TimedRun>;
  /** The environment of a command on the same database and provider. */
  env: Record<string, string>;
};

export async function openBench(size: { days: number; perDay: number }): Promise<Bench> {
  await using stack = new AsyncDisposableStack();
  const home = mkdtempSync(path.join(tmpdir(), 'confere-bench-'));
  stack.defer(() => rmSync(home, { recursive: true, force: true }));
  const server = stack.use(await joinServer({ dataDir: home, log: () => undefined }));
  await ensureDatabase({ socketPath: server.socketPath, user: 'root' }, 'bench');
  const lastDay = addDays(new Date().toISOString().slice(0, 10), -4);
  const firstDay = addDays(lastDay, 1 - size.days);
  const start = (file: string, args: string[], env: Record<string, string>): ChildProcess => {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { env: { ...process.env, ...env } });
    stack.defer(async () => {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    });
    return child;
  };
  const provider = start('programs/reconcile-provider.ts', [firstDay, String(size.days), String(size.perDay)], {});
  const [{ port }] = (await once(provider, 'message')) as [{ port: number }];
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...{ DATABASE_URL: `mysql://root@localhost/bench?socket=${encodeURIComponent(server.socketPath)}` },
    ...{ SECRET_KEY: Buffer.alloc(32, 7).toString('base64'), PROVIDER_URL: url, PROVIDER_API_KEY: 'key' },
    ...{ WEBHOOKS_SINCE: '2100-01-01T00:00:00Z', DATA_DIR: home },
  };
  const worker = start('programs/reconcile-worker.ts', [], env);
  await once(worker, 'message');
  const owned = stack.move();
  return {
    ...{ url, firstDay, lastDay, env },
    async delay(ms) {
      provider.send({ delayMs: ms });
      await once(provider, 'message');
    },
    async work(asked) {
      worker.send(asked);
      const [worked] = (await once(worker, 'message')) as [TimedRun];
      if (worked.run.state !== 'complete') throw new Error(`a run ended as ${worked.run.state}: ${worked.run.error}`);
      return worked;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
