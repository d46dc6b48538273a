/** Each filter of each declared list, by each of its doors. A list that is not in the table fails. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/commands/run-command-line.ts';
import { API_OPERATIONS } from '../../../src/http/openapi/operations.ts';
import { SUBJECTS } from '../../../src/operations/catalogue.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOrders } from '../../support/expect-orders.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));

/** `command`: none, where no command prints the list alone. `page`: its address. `without`: filters that the page or the declaration lacks, and why. */
type Doors = { command?: string; page: string; without?: Partial<Record<'page' | 'declared', Record<string, string>>> };
const DOORS: Record<string, Doors> = {
  openings: { page: '/balances/openings?platform=none' },
  adjustments: { command: 'adjustments list', page: '/balances/adjustments?platform=none' },
  statements: { command: 'statements list', page: '/balances/statements?platform=none' },
  expected_payments: {
    ...{ command: 'expected list', page: '/expected' },
    without: {
      page: { from: 'a source asks for what it sent; people ask for due days', to: 'likewise' },
      declared: { name: 'a posted form alone: a person must not stand in an address', document: 'likewise' },
    },
  },
  lines: { page: '/balances/bank/lines' },
  alerts: { page: '/alerts' },
  mismatches: { command: 'mismatches list', page: '/mismatches' },
  webhooks: { command: 'webhooks list', page: '/inbox' },
  callbacks: { command: 'callbacks list', page: '/callbacks' },
  audit: { command: 'audit', page: '/audit' },
};

const LISTS = SUBJECTS.flatMap(({ lists = [] }) => lists).filter(({ filters }) => filters);
const filtersOf = (name: string): string[] =>
  Object.keys(LISTS.find((list) => list.name === name)?.filters?.shape ?? {}).toSorted();

test('each list with filters is in the table', () => {
  expect(LISTS.map(({ name }) => name).toSorted()).toEqual(Object.keys(DOORS).toSorted());
});

test.each(LISTS)('GET $route takes each filter of $name', ({ name, route }) => {
  const operation = API_OPERATIONS.find(({ method, path }) => method === 'get' && path === `/api/v1${route}`);
  expect(Object.keys(operation?.query?.shape ?? {})).toEqual(expect.arrayContaining(filtersOf(name)));
});

const COMMANDS = Object.entries(DOORS).flatMap(([name, { command }]) => (command ? [{ name, command }] : []));

test.each([...COMMANDS, { name: 'expected_payments', command: 'expected export' }])(
  'confere $command has an option, with a text, for each filter of $name',
  async ({ name, command }) => {
    const [first = '', ...rest] = command.split(' ');
    let found: Command | undefined = await createProgram(first);
    for (const word of [first, ...rest]) found = found?.commands.find((one) => one.name() === word);
    const described = found?.options.filter(({ description }) => description !== '') ?? [];
    const options = described.map((one) => one.name().replaceAll('-', '_'));
    // `--transaction` is `transaction_id`
    const lacking = filtersOf(name).filter(
      (one) => !options.some((option) => [one, one.replace(/_id$/, '')].includes(option)),
    );
    expect(lacking).toEqual([]);
  },
);

test.each(Object.entries(DOORS))('the page of %s has a field for each filter', async (name, { page, without }) => {
  const { html, status } = await (await openConsoleSession(env, 'admin')).get(page);
  const [form = ''] = /<form[^>]* class="filters".*?<\/form>/s.exec(html) ?? [];
  const fields = [...form.matchAll(/<(?:input|select)[^>]* name="([^"]+)"/g)].map(([, field]) => field);
  const lacking = filtersOf(name).filter((filter) => !fields.includes(filter));
  expect([status, lacking]).toEqual([200, Object.keys(without?.page ?? {})]);
  const undeclared = fields.filter((field = '') => field !== 'form_token' && !filtersOf(name).includes(field));
  expect(undeclared).toEqual(Object.keys(without?.declared ?? {}));
});

test.each(LISTS.filter(({ filters }) => filters && 'platform' in filters.shape))(
  'GET $route lets a viewer ask for no platform that may be a document',
  async ({ route }) => {
    const ask = (role: 'viewer' | 'operator') => env.api(role, 'GET', `${route}?platform=52998224725`);
    expect([(await ask('operator')).status, (await ask('viewer')).status]).toEqual([200, 422]);
  },
);

test('the orders in dispute are the same by API, commands and page', async () => {
  await expectOrders(env);
  type Listed = { expected_payments: { number: string }[] };
  const numbersOf = (text: string) => [...new Set(text.match(/pedido-\w+/g))].toSorted();
  const { json } = await env.api<Listed>('operator', 'GET', '/expected-payments?disputed=true&operation=cashin');
  const disputed = json.expected_payments.map(({ number }) => number).toSorted();
  expect(disputed).toEqual(['pedido-3', 'pedido-4']);
  for (const command of ['list', 'export']) {
    const { out, err, code } = await runCommandInProcess(['expected', command, '--disputed'], env.env);
    expect([command, code, err, numbersOf(out)]).toEqual([command, 0, '', disputed]);
  }
  const { html } = await (await openConsoleSession(env, 'operator')).get('/expected?disputed=true&source=loja');
  expect(numbersOf(html)).toEqual(disputed);
  const none = await env.api<Listed>('operator', 'GET', '/expected-payments?operation=cashout');
  expect(none.json.expected_payments).toEqual([]);
});
