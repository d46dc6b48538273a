import { createToken } from '../../src/access/tokens.ts';
import { serveHttp } from '../../src/http/connections/serve-http.ts';
import { createApp } from '../../src/http/create-app.ts';
import { type ApiAnswer, callApi } from './call-api.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';

export type Answer = Pick<ApiAnswer<Record<string, unknown>>, 'status' | 'json'>;
export type ApiEnvironment = TestEnvironment & {
  /** Calls our API as an admin. */
  call(method: 'GET' | 'POST', address: string, body?: unknown): Promise<Answer>;
  /** The address of our API. */
  url: string;
};

/** Opens an environment with an empty ledger and our API over HTTP. */
export async function openApiEnvironment(env: Record<string, string> = {}): Promise<ApiEnvironment> {
  const environment = await openEnvironment(env);
  const { context } = environment;
  const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  const { token } = await createToken(context, { role: 'admin', name: 'admin' });
  const url = `http://127.0.0.1:${server.port}/api/v1`;
  return {
    ...environment,
    url,
    call: (method, address, body) => callApi({ url, token }, method, address, body),
  };
}

/** Returns the balances that the API answers, by account. */
export async function balancesOf(environment: ApiEnvironment, query = ''): Promise<Record<string, string>> {
  const { json } = await environment.call('GET', `/balances${query}`);
  const balances = json.balances as { account: string; amount: string }[];
  return Object.fromEntries(balances.map((one) => [one.account, one.amount]));
}
