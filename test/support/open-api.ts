import { serveHttp } from '../../src/http/connections/serve-http.ts';
import { createApp } from '../../src/http/create-app.ts';
import { TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';
import { ADMIN_TOKEN } from './start-serve.ts';

/** Calls our API, by default as an admin. `T` is what the caller reads of the answer. */
export type CallApi = <T = Record<string, unknown>>(
  method: string,
  address: string,
  body?: unknown,
  token?: string,
) => Promise<{ status: number; retryAfter: string | null; json: T }>;

/** Serves our API of an environment over HTTP until the environment ends. */
export async function openApi(environment: Pick<TestEnvironment, 'context' | 'use'>): Promise<CallApi> {
  const { context } = environment;
  const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  return async <T>(method: string, address: string, body?: unknown, token = ADMIN_TOKEN) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/api/v1${address}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, json: JSON.parse(text || '{}') as T };
  };
}
