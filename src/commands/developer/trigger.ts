import type { Command } from 'commander';
import { request } from 'undici';
import { ConfereError } from '../../domain/errors.ts';
import { print } from '../with-context.ts';

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
const OPERATIONS = ['cashin', 'cashout'];

type Options = { sandbox: string; apiKey: string; amount: string; reference?: string; extra?: string; json?: boolean };
type Made = { transactions: { id: string }[] };

/** `confere events trigger …`: makes something happen in the sandbox, which then sends its webhooks. */
export function eventsCommand(program: Command): void {
  const events = program.command('events').description('events of the sandbox');
  events
    .command('trigger <type>')
    .description('a new transaction in the sandbox with the history of this type, such as pix.cashin.paid')
    .option('--sandbox <url>', 'where the sandbox runs', 'http://127.0.0.1:4000')
    .option('--api-key <key>', "the sandbox's key", 'sandbox-key')
    .option('--amount <amount>', 'such as 150.00', '12.34')
    .option('--reference <text>', "the merchant's reference")
    .option('--extra <text>', 'the extra that merchants filter by')
    .option('--json', 'print one JSON object')
    .action(trigger);
}

async function trigger(type: string, { json, ...options }: Options): Promise<void> {
  const [pix, operation = '', status = ''] = type.split('.');
  const history = HISTORIES.get(status);
  if (pix !== 'pix' || !OPERATIONS.includes(operation) || !history) {
    const types = OPERATIONS.flatMap((one) => [...HISTORIES.keys()].map((each) => `pix.${one}.${each}`));
    throw new ConfereError('wrong_use', `${type} can't be triggered; these can: ${types.join(', ')}`);
  }
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
  print(json, { transaction: id, events: history }, `transaction ${id}: ${history.join(', ')}`);
}

async function send<T>({ sandbox, apiKey }: Options, path: string, body: object): Promise<T> {
  const url = URL.canParse(sandbox) ? new URL(path, sandbox) : undefined;
  if (!url) throw new ConfereError('wrong_use', '--sandbox must be an address: http://127.0.0.1:4000');
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => {
    throw new ConfereError('unavailable', `no sandbox answers at ${url.origin}: start one with confere sandbox`);
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300)
    throw new ConfereError('unavailable', `the sandbox answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as T;
}
