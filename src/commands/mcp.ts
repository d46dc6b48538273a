import { once } from 'node:events';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Command } from 'commander';
import { findCaller } from '../access/tokens.ts';
import type { Context } from '../context.ts';
import { ConfereError, wrongUse } from '../domain/errors.ts';
import { listenHttp } from '../http/connections/serve-http.ts';
import { createMcpApp } from '../http/mcp/create-mcp-app.ts';
import { createMcpServer } from '../http/mcp/create-mcp-server.ts';
import { readSecret } from './parse-options.ts';
import type { withContext } from './with-context.ts';

type Options = { token?: string; http?: string };

/** `confere mcp`: reads of the API as tools of an assistant, with the rights of one token. */
export function mcpCommand(program: Command, open: typeof withContext): void {
  program
    .command('mcp')
    .description('a server for assistants (Model Context Protocol): reads alone, with the role of a token, audited')
    .option('--token <file>', 'the file with the token, cft_…; by default CONFERE_TOKEN')
    .option(
      '--http <port>',
      'serve POST /mcp on HOST and this port instead of standard input: each request has its token',
    )
    .action(async ({ token: file, http }: Options) => {
      const port = http === undefined ? undefined : parsePort(http);
      const token = port === undefined ? await readToken(file) : '';
      await open({}, (context) => (port === undefined ? serveStdio(context, token) : serveRequests(context, port)));
    });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw wrongUse('--http is a port: 3001');
}

async function readToken(file: string | undefined): Promise<string> {
  if (file === '-') throw wrongUse('--token takes a file: standard input is the assistant’s');
  const token = file === undefined ? process.env.CONFERE_TOKEN : await readSecret('--token', file);
  if (token) return token;
  throw wrongUse('give a token: CONFERE_TOKEN, or a file with --token');
}

/** Serves one assistant until it closes standard input. @throws ConfereError for a token that opens nothing. */
async function serveStdio(context: Context, token: string): Promise<void> {
  if (!(await findCaller(context, token)))
    throw new ConfereError('unauthorized', 'the token is unknown, revoked or expired: confere tokens create');
  const server = createMcpServer(context, () => findCaller(context, token));
  await server.connect(new StdioServerTransport());
  await once(process.stdin, 'end', { signal: context.signal }).catch(() => undefined);
  await server.close();
}

async function serveRequests(context: Context, port: number): Promise<void> {
  await using server = await listenHttp({ ...context.config, PORT: port }, createMcpApp(context));
  process.stderr.write(`listening: POST http://${context.config.HOST}:${server.port}/mcp\n`);
  if (!context.signal.aborted) await once(context.signal, 'abort');
}
