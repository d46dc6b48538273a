import { startService } from '../../src/commands/serve/start-service.ts';
import type { Context } from '../../src/context.ts';
import { TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';

/** Starts one side in this process as another process would, on the environment's database. `stop` ends it alone. */
export async function startSide(
  environment: Pick<TestEnvironment, 'replica' | 'use'>,
  side: 'web' | 'worker',
  env: Record<string, string> = {},
): Promise<{ port: number; context: Context; stop: () => Promise<void> }> {
  const stopping = new AbortController();
  const replica = await environment.replica(env);
  const context: Context = { ...replica, signal: stopping.signal };
  const sides = { web: side === 'web', worker: side === 'worker' };
  const service = await startService(context, { sides, httpLimits: TEST_HTTP_LIMITS }, () => stopping.abort());
  const stop = async () => {
    stopping.abort();
    await service[Symbol.asyncDispose]();
  };
  environment.use({ [Symbol.asyncDispose]: stop });
  return { port: service.port, context, stop };
}
