import type { Role } from '../../src/access/roles.ts';
import { createToken } from '../../src/access/tokens.ts';
import { serveHttp } from '../../src/http/connections/serve-http.ts';
import { createApp } from '../../src/http/create-app.ts';
import { type ApiAnswer, callApi } from './call-api.ts';
import { openConsoleSession } from './open-console-session.ts';
import { TEST_HTTP_LIMITS, type TestEnvironment } from './open-environment.ts';
import { type CommandAnswer, runCommandInProcess } from './run-command-in-process.ts';
import { sendWebhook } from './start-serve.ts';

/** The ways into a service: its API, console and receiver over HTTP, and its commands. */
export type Surfaces = {
  url: string;
  /** A token of each role. */
  tokens: Record<Role, string>;
  /** Calls our API with the rights of a role. `T` is what the caller reads of the answer. */
  api: <T = Record<string, unknown>>(
    role: Role,
    method: string,
    address: string,
    body?: unknown,
  ) => Promise<ApiAnswer<T>>;
  /** Logs in to the console. */
  console: (role: Role) => ReturnType<typeof openConsoleSession>;
  /** Runs a command of the command line. */
  confere: (...args: string[]) => Promise<CommandAnswer>;
  /** POSTs a body to the receiver with the provider's credentials. */
  webhook: (body: unknown, headers?: Record<string, string>) => ReturnType<typeof sendWebhook>;
};

/** Opens the surfaces of an environment until it ends. */
export async function openSurfaces(
  environment: Pick<TestEnvironment, 'context' | 'env' | 'timers' | 'use'>,
): Promise<Surfaces> {
  const { context, env, timers } = environment;
  const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  const url = `http://127.0.0.1:${server.port}`;
  const create = async (role: Role) => (await createToken(context, { name: role, role })).token;
  const tokens = {
    ...{ viewer: await create('viewer'), accountant: await create('accountant'), operator: await create('operator') },
    admin: env.ADMIN_TOKEN ?? '',
  };
  return {
    url,
    tokens,
    api: (role, method, address, body) => callApi({ url: `${url}/api/v1`, token: tokens[role] }, method, address, body),
    console: (role) => openConsoleSession({ context, url, tokens }, role),
    confere: (...args) => runCommandInProcess(args, env, timers),
    webhook: (body, headers) => sendWebhook(url, body, headers),
  };
}
