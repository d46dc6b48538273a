import { serveHttp } from '../../src/http/connections/serve-http.ts';
import { createApp } from '../../src/http/create-app.ts';
import { type ApiAnswer, callApi } from './call-api.ts';
import { TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';
import { ADMIN_TOKEN } from './start-serve.ts';

/** Calls our API, by default as an admin. `T` is what the caller reads of the answer. */
export type CallApi<Default = Record<string, unknown>> = <T = Default>(
  method: string,
  address: string,
  body?: unknown,
  token?: string,
) => Promise<ApiAnswer<T>>;

/** Serves our API of an environment over HTTP until the environment ends. */
export async function openApi<T = Record<string, unknown>>(
  environment: Pick<TestEnvironment, 'context' | 'use'>,
): Promise<CallApi<T>> {
  const { context } = environment;
  const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  const url = `http://127.0.0.1:${server.port}/api/v1`;
  return (method, address, body, token = ADMIN_TOKEN) => callApi({ url, token }, method, address, body);
}
