import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { createToken, revokeToken } from '../../../src/access/tokens.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { listenHttp } from '../../../src/http/connections/serve-http.ts';
import { createMcpApp } from '../../../src/http/mcp/create-mcp-app.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOrders } from '../../support/expect-orders.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { INHERITED_VARIABLES } from '../../support/run-command.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../../bin/confere');
const environment = closeAfterAll(await openConsoleEnvironment());
let url: URL;

beforeAll(async () => {
  await expectOrders(environment);
  const { context } = environment;
  const server = environment.use(await listenHttp(context.config, createMcpApp(context), TEST_HTTP_LIMITS));
  url = new URL(`http://127.0.0.1:${server.port}/mcp`);
});

type Answer = Record<string, unknown>;
type Assistant = AsyncDisposable & { client: Client; id: string; ask(name: string, given?: object): Promise<Answer> };

/** An assistant with a new token of this role. */
async function connect(role: Role): Promise<Assistant> {
  const { id, token } = await createToken(environment.context, { role, name: 'assistant' });
  const headers = { authorization: `Bearer ${token}` };
  return await open(new StreamableHTTPClientTransport(url, { requestInit: { headers } }), id);
}

async function open(transport: StreamableHTTPClientTransport | StdioClientTransport, id: string): Promise<Assistant> {
  const client = new Client({ name: 'test', version: '1' });
  // its optional fields allow undefined, where the interface it is for does not
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return {
    ...{ client, id },
    async ask(name, given = {}) {
      const answer = await client.callTool({ name, arguments: given as Record<string, unknown> });
      const [{ text = '' } = {}] = answer.content as { text?: string }[];
      return answer.isError ? { error: text } : (JSON.parse(text) as Answer);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function auditOf(actor: string) {
  const { db } = environment.context;
  return await db.selectFrom('audit').selectAll().where('actor', '=', actor).orderBy('seq').execute();
}

describe('confere mcp', () => {
  it('answers which orders are unpaid, and whether a day is proven, as the API does', async () => {
    await using assistant = await connect('accountant');
    const { today } = environment;
    const open = await assistant.ask('getExpectedPayments', { state: 'open', due_to: today, limit: 10 });
    const numbers = (open.expected_payments as { number: string }[]).map(({ number }) => number);
    expect(numbers).toContain('pedido-2');
    expect(numbers).not.toContain('pedido-maria');
    expect(JSON.stringify(open)).toContain('Maria Aparecida da Silva');
    const yesterday = addDays(today, -1);
    const figures = await assistant.ask('getNumbers', { from: yesterday, to: yesterday });
    expect(figures.coverage).toHaveProperty('oldest_unproven');
    expect(assistant.client.getInstructions()).toContain(`on ${today}`);
  });

  it('has only tools that read, with a schema each, of the lists that the role may read', async () => {
    await using viewer = await connect('viewer');
    await using admin = await connect('admin');
    const { tools } = await viewer.client.listTools();
    const all = (await admin.client.listTools()).tools;
    expect(all.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    const names = (of: { name: string }[]) => of.map(({ name }) => name);
    expect(names(all)).toEqual([...new Set(names(all))]);
    expect(names(all)).toEqual(
      expect.arrayContaining(['getAudit', 'getTransactions', 'getMonthsByMonth', 'getBalances']),
    );
    expect(names(tools)).not.toContain('getAudit');
    expect(names(tools).length).toBeGreaterThan(20);
    const search = all.find(({ name }) => name === 'getTransactions');
    expect(search?.inputSchema.properties).toHaveProperty('cursor');
    expect(await viewer.ask('getAudit')).toEqual({ error: expect.stringContaining('forbidden') });
    expect(await admin.ask('getAudit', { limit: 1 })).toMatchObject({ audit: [{ id: expect.any(String) }] });
  });

  it('masks by role, and has each call in the audit with the names of its arguments', async () => {
    await using viewer = await connect('viewer');
    await using operator = await connect('operator');
    const { paid } = environment;
    expect(JSON.stringify(await viewer.ask('getTransactionsById', { id: paid.id }))).not.toContain('Aparecida');
    expect(JSON.stringify(await operator.ask('getTransactionsById', { id: paid.id }))).toContain('Aparecida');
    expect(await auditOf(viewer.id)).toEqual([
      expect.objectContaining({ action: 'mcp.call', target: 'getTransactionsById', detail: '["id"]' }),
    ]);
    const shown = await auditOf(operator.id);
    expect(shown.map(({ action }) => action)).toEqual(['mcp.call', 'transactions.show']);
    const guessed = await viewer.ask('getTransactions', { name: 'Maria Aparecida' });
    expect(guessed).toEqual({ error: expect.stringContaining('forbidden') });
    expect(JSON.stringify(await auditOf(viewer.id))).not.toContain('Maria');
  });

  it('refuses unknown tools and arguments, wrong values and pages, and says what is wrong', async () => {
    await using viewer = await connect('viewer');
    const error = (text: string) => ({ error: expect.stringContaining(text) });
    await expect(viewer.ask('deleteEverything')).rejects.toThrow('no such tool');
    expect(await viewer.ask('getTransactions', { 'maria@example.com': 1 })).toEqual(error('(no plain name)'));
    expect(await viewer.ask('getTransactions', { limit: 201 })).toEqual(error('limit'));
    expect(await viewer.ask('getTransactions', { cursor: 'x' })).toEqual(error('cursor'));
    expect(await viewer.ask('getTransactions', { from: 'yesterday' })).toEqual(error('from'));
    expect(await viewer.ask('getTransactions', { id: 'x'.repeat(3000) })).toEqual(error('id'));
    expect(await viewer.ask('getTransactionsById', { id: ['none'] })).toEqual(error('not_found'));
    expect(await viewer.ask('getTransactionsById')).toEqual(error('not_found'));
    expect(await viewer.ask('getTransactions', { from: null, limit: 1 })).toHaveProperty('transactions');
  });

  it('reads page after page', async () => {
    await using viewer = await connect('viewer');
    const ids: unknown[] = [];
    for (let cursor: unknown = null; ids.length < 9; ) {
      const page = await viewer.ask('getTransactions', { limit: 3, ...(cursor ? { cursor } : {}) });
      ids.push(...(page.transactions as { id: string }[]).map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(new Set(ids).size).toBe(9);
  });

  it('answers nothing without a token of ours, to another host, elsewhere, or to a batch', async () => {
    const { context } = environment;
    const post = (body: unknown, headers: Record<string, string>, to = url) =>
      fetch(to, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { accept: 'application/json, text/event-stream', ...headers },
      });
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const { token, id } = await createToken(context, { role: 'viewer', name: 'a' });
    const own = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    expect((await post(message, {})).status).toBe(401);
    expect((await post(message, { authorization: 'Bearer cft_unknown' })).status).toBe(401);
    expect((await post([message, message], own)).status).toBe(400);
    expect((await post(message, own, new URL('/other', url))).status).toBe(404);
    expect((await post(message, own)).status).toBe(200);
    await revokeToken(context, id);
    expect((await post(message, own)).status).toBe(401);
  });

  it('serves one assistant on standard input, and answers nothing once its token is revoked', async () => {
    const { context, env } = environment;
    const { token, id } = await createToken(context, { role: 'viewer', name: 'laptop' });
    const inherited = Object.fromEntries(INHERITED_VARIABLES.map((name) => [name, process.env[name] ?? '']));
    const own = { ...inherited, ...env, ENV_FILE: '', CONFERE_TOKEN: token };
    await using assistant = await open(new StdioClientTransport({ command: PROGRAM, args: ['mcp'], env: own }), id);
    expect(await assistant.ask('getBalances')).toHaveProperty('balances');
    await revokeToken(context, id);
    expect(await assistant.ask('getBalances')).toEqual({ error: expect.stringContaining('unauthorized') });
  });
});
