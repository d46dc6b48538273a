import type { Command } from 'commander';
import { ConfereError, wrongUse } from '../../domain/errors.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { EXAMPLE_TYPES } from '../../operations/merchants/message-types.ts';
import { sayFailure } from './listen.ts';
import { readSecretIn } from './read-place.ts';

/** The statuses that lead to each one in a transaction's history, itself last. */
const HISTORIES = new Map<string, string[]>([
  ['pending', ['pending']],
  ['in_process', ['pending', 'in_process']],
  ['in_analysis', ['pending', 'in_analysis']],
  ['paid', ['pending', 'paid']],
  ['denied', ['pending', 'denied']],
  ['canceled', ['pending', 'canceled']],
  ['expired', ['pending', 'expired']],
  ['refund', ['pending', 'paid', 'refund']],
]);
/** Sent also where the sandbox loses a share of its webhooks. */
const SENT = { fate: 'sent' };
const SANDBOX_TYPES = OPERATIONS.flatMap((one) => [...HISTORIES.keys()].map((status) => `pix.${one}.${status}`));
const NEAREST_MAX = 3;

type Options = {
  sandbox: string;
  apiKey: string;
  amount: string;
  reference?: string;
  extra?: string;
  server?: string;
  token?: string;
  json?: boolean;
};
type Made = { transactions: { id: string }[] };

/** `confere events trigger …`: makes something happen in the sandbox, which then sends its webhooks. */
export function eventsCommand(program: Command): void {
  const events = program.command('events').description('have messages sent: by the sandbox, or examples by the portal');
  events
    .command('trigger <type>')
    .description(
      'an example of this type, such as pix.cashin.paid, from the portal (--server); without --server, a new transaction in the sandbox with its history',
    )
    .option(
      '--server <url>',
      'where Confere runs: it sends an example of any type to the merchant’s test address, else to its own; the newest message of the type, else an invented one, so no amount, reference or extra is taken',
    )
    .option(
      '--token <file>',
      'with --server: the file with the token of the portal, cfm_…, which operators give; by default CONFERE_PORTAL_TOKEN',
    )
    .option('--sandbox <url>', 'without --server: where the sandbox runs', 'http://127.0.0.1:4000')
    .option('--api-key <key>', "the sandbox's key", 'sandbox-key')
    .option('--amount <amount>', 'in the sandbox: such as 150.00', '12.34')
    .option('--reference <text>', "in the sandbox: the merchant's reference")
    .option('--extra <text>', 'in the sandbox: the extra that merchants filter by')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Example:
  ${program.name()} events trigger pix.cashin.paid --server https://confere.example --token portal-token.txt
  example of pix.cashin.paid to https://shop.example/pix
  its outcome: https://confere.example/portal/callbacks/msg_5d3f6a0c1b2e4f8d9a7c6b5e4d3c2b1a

Exit code 0: it is queued, and what your address answered stands on that page; 1: the server or the sandbox does not
answer or refuses; 2: a wrong option, or no such type.

Types with --server: ${EXAMPLE_TYPES.join(', ')}
Types in the sandbox: ${SANDBOX_TYPES.join(', ')}`,
    )
    .action((type: string, options: Options, command: Command) => {
      refuseOthers(command, options.server === undefined ? OF_SERVER : OF_SANDBOX, options);
      return options.server ? sendExample(type, options) : trigger(type, options);
    });
}

const OF_SANDBOX = ['sandbox', 'apiKey', 'amount', 'reference', 'extra'];
const OF_SERVER = ['token'];

/** Refuses options that would be ignored. @throws ConfereError `wrong_use`. */
function refuseOthers(command: Command, names: readonly string[], { server }: Options): void {
  const flags = command.options
    .filter((one) => names.includes(one.attributeName()) && command.getOptionValueSource(one.attributeName()) === 'cli')
    .map(({ long }) => long);
  if (flags.length === 0) return;
  throw new ConfereError(
    'wrong_use',
    server === undefined
      ? `${flags.join(', ')}: only with --server`
      : `${flags.join(', ')}: only without --server, which sends the newest message of the type or an invented one as it is`,
  );
}

async function trigger(type: string, { json, ...options }: Options): Promise<void> {
  requireType(type, SANDBOX_TYPES, 'of the sandbox, and --server sends an example of any other');
  const [, operation = '', status = ''] = type.split('.');
  const history = HISTORIES.get(status) ?? [];
  const { amount, reference, extra } = options;
  const facts = { operation, amount, ...(reference && { reference }), ...(extra && { extra }) };
  const made = await send<Made>(options, '/sandbox/transactions', { ...facts, webhook: SENT });
  const [transaction] = made.transactions;
  if (!transaction) throw new ConfereError('unavailable', 'the sandbox made no transaction: is it one?');
  const { id } = transaction;
  // it is pending by itself
  for (const event of history.slice(1)) {
    await send(options, `/sandbox/transactions/${id}/events`, { status: event, webhook: SENT });
  }
  say(json, { transaction: id, events: history }, `transaction ${id}: ${history.join(', ')}`);
}

/** Has the portal send an example of the type, which is marked `test: true`. */
async function sendExample(type: string, { server = '', token: file, json }: Options): Promise<void> {
  requireType(type, EXAMPLE_TYPES, 'that has an example');
  const token = file === undefined ? process.env.CONFERE_PORTAL_TOKEN : await readSecretIn('--token', file);
  if (!token) throw wrongUse('give the token of the portal: CONFERE_PORTAL_TOKEN, or --token');
  const body = { types: [type] };
  const made = await post<{ to: string | null; callbacks: { id: string }[] }>(
    '--server',
    server,
    '/api/v1/portal/examples',
    token,
    body,
  );
  const ids = made.callbacks.map(({ id }) => id);
  const to = made.to ?? `the feed, ${server}/api/v1/events`;
  const pages = ids.map((id) => new URL(`/portal/callbacks/${id}`, server).href);
  say(json, { type, to: made.to, callbacks: ids }, `example of ${type} to ${to}\nits outcome: ${pages.join(', ')}`);
}

/** @throws ConfereError `wrong_use` with the types that begin most alike. */
function requireType(type: string, types: readonly string[], which: string): void {
  if (types.includes(type)) return;
  const alike = (one: string): number => [...one].filter((_, at) => type.startsWith(one.slice(0, at + 1))).length;
  const nearest = types.toSorted((a, b) => alike(b) - alike(a)).slice(0, NEAREST_MAX);
  throw wrongUse(`${type} is no type ${which}; nearest are ${nearest.join(', ')}; events trigger --help lists all`);
}

function say(json: boolean | undefined, value: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${showUnseen(text)}\n`);
}

async function send<T>({ sandbox, apiKey }: Options, path: string, body: object): Promise<T> {
  return await post<T>('--sandbox', sandbox, path, apiKey, body);
}

async function post<T>(option: string, server: string, path: string, token: string, body: object): Promise<T> {
  const url = URL.canParse(server) ? new URL(path, server) : undefined;
  if (!url) throw wrongUse(`${option} must be an address: http://127.0.0.1:4000`);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch((error: unknown) => {
    const hint = option === '--sandbox' ? ': no sandbox answers, start one with confere sandbox' : '';
    throw new ConfereError('unavailable', `${url.origin} does not answer (${sayFailure(error)})${hint}`);
  });
  const text = await answer.text();
  if (!answer.ok) throw new ConfereError('unavailable', `${url.origin} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}
