import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { presentCallback } from '../../callbacks/manage/present-callback.ts';
import { findCallback } from '../../callbacks/manage/read-callbacks.ts';
import { sendTest } from '../../callbacks/manage/send-test.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { append } from '../../domain/lists.ts';
import { createMerchant, removeMerchant, setMerchantState } from '../../merchants/change-merchants.ts';
import { presentMerchant } from '../../merchants/present-merchant.ts';
import { issuePullToken, revokePullToken } from '../../merchants/pull-token.ts';
import { listMerchants } from '../../merchants/read-merchants.ts';
import { rotateSecret } from '../../merchants/secrets.ts';
import { parseInstant } from '../parse-options.ts';
import { formatTime, print, withContext } from '../with-context.ts';
import { awaitTest } from './callbacks.ts';
import {
  addFilterOptions,
  addRequestOptions,
  addUpdateCommand,
  type FilterOptions,
  type RequestOptions,
  readFilter,
  readRequest,
} from './update-merchant.ts';

const PAGE_ROWS = 200;
const ACTOR = 'command';

/** `confere merchants …`: merchants, which receive callbacks. */
export function merchantsCommand(program: Command, open: typeof withContext): void {
  const merchants = program.command('merchants').description('merchants, which receive callbacks');
  addAddCommand(merchants);
  addUpdateCommand(merchants);
  merchants
    .command('list')
    .description('list the merchants')
    .option('--json', 'print one JSON object')
    .action((options: Output) => withContext({}, (context) => list(context, options)));
  addStateCommands(merchants);
  merchants
    .command('rotate-secret <id>')
    .description('give a merchant a new secret; the old one also signs for 24 hours')
    .option('--json', 'print one JSON object')
    .action((id: string, options: Output) => withContext({}, (context) => rotate(context, id, options)));
  merchants
    .command('test <id>')
    .description('send a merchant a signed test and say what came back (a running worker sends it)')
    .option('--json', 'print one JSON object')
    .action((id: string, options: Output) => open({}, (context) => test(context, id, options)));
  merchants
    .command('pull-token <id>')
    .description('give a merchant a token that fetches its events; it replaces an older one and is shown once')
    .option('--expires-at <instant>', 'when it ends (default: not by itself)')
    .option('--revoke', 'revoke its token instead')
    .option('--json', 'print one JSON object')
    .action((id: string, options: TokenOptions & { revoke?: boolean }) =>
      withContext({}, (context) =>
        options.revoke ? revokeToken(context, id, options) : giveToken(context, id, options),
      ),
    );
  merchants
    .command('remove <id>')
    .description('remove a merchant: it receives nothing more')
    .option('--json', 'print one JSON object')
    .action((id: string, options: Output) => withContext({}, (context) => remove(context, id, options)));
}

type Output = { json?: boolean };
type TokenOptions = Output & { expiresAt?: string };

type AddOptions = Output &
  FilterOptions &
  RequestOptions & {
    name: string;
    url?: string;
    email?: string;
    rate?: string;
    eventsSince?: string;
  };

function addAddCommand(merchants: Command): void {
  const command = merchants
    .command('add')
    .description('add a merchant; its secret is printed once')
    .requiredOption('--name <name>', 'its name for people')
    .option('--url <url>', 'where callbacks go: https://…; without it, the merchant fetches its events')
    .option('--email <address>', 'who gets a mail while its callbacks fail')
    .option('--rate <n>', 'callbacks a second at most')
    .option('--events-since <instant>', 'send events from then on (default: now)')
    .option('--json', 'print one JSON object');
  addFilterOptions(addRequestOptions(command)).action(async (options: AddOptions) => {
    const request = await readRequest(options);
    await withContext({}, (context) => add(context, options, request));
  });
}

async function add(
  context: Context,
  options: AddOptions,
  request: Awaited<ReturnType<typeof readRequest>>,
): Promise<void> {
  const input = {
    name: options.name,
    url: options.url ?? null,
    email: options.email,
    filter: readFilter(options),
    rate: options.rate === undefined ? undefined : Number(options.rate),
    eventsSince: parseInstant('--events-since', options.eventsSince),
    ...request,
  };
  const { merchant, secret } = await auditChange(
    context,
    (inner) => createMerchant(inner, input),
    (made) => ({ actor: ACTOR, action: 'merchant.added', target: made.merchant.id }),
  );
  const text = `added ${merchant.id} (${merchant.name})\nsecret: ${secret}\nkeep it now: it is not shown again`;
  print(options.json, { ...presentMerchant(merchant), secret }, text);
}

function addStateCommands(merchants: Command): void {
  const set = (state: 'enabled' | 'paused', action: string) => (id: string, options: Output) =>
    withContext({}, async (context) => {
      const merchant = await auditChange(context, (inner) => setMerchantState(inner, id, state), {
        actor: ACTOR,
        action,
        target: id,
      });
      print(options.json, presentMerchant(merchant), `${merchant.id} (${merchant.name}) is ${merchant.state}`);
    });
  merchants
    .command('pause <id>')
    .description("hold a merchant's callbacks until it is enabled")
    .option('--json', 'print one JSON object')
    .action(set('paused', 'merchant.paused'));
  merchants
    .command('enable <id>')
    .description('enable a merchant; what was held is delivered, oldest first')
    .option('--json', 'print one JSON object')
    .action(set('enabled', 'merchant.enabled'));
}

async function list(context: Context, options: Output): Promise<void> {
  const merchants: Array<ReturnType<typeof presentMerchant>> = [];
  for (let after = 0; ; ) {
    const rows = await listMerchants(context.db, { limit: PAGE_ROWS, after });
    append(merchants, rows.map(presentMerchant));
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_ROWS) break;
    after = last.seq;
  }
  // only the host: the rest of an address may hold a secret
  const lines = merchants.map(
    (one) => `${one.id}  ${one.state.padEnd(8)}  ${one.name}  ${one.url === null ? 'fetches' : new URL(one.url).host}`,
  );
  print(options.json, { merchants }, lines.join('\n') || 'there is no merchant yet: confere merchants add');
}

async function rotate(context: Context, id: string, options: Output): Promise<void> {
  const done = { actor: ACTOR, action: 'merchant.secret_rotated', target: id };
  const { secret, oldUntil } = await auditChange(context, (inner) => rotateSecret(inner, id), done);
  const text = `secret: ${secret}
keep it now: it is not shown again; the old one signs too until ${formatTime(context, oldUntil)}`;
  print(options.json, { id, secret, old_secret_until: oldUntil.toISOString() }, text);
}

async function test(context: Context, id: string, options: Output): Promise<void> {
  const done = { actor: ACTOR, action: 'merchant.tested', target: id };
  const callback = presentCallback(await auditChange(context, (inner) => sendTest(inner, id), done));
  const attempt = await awaitTest(context, callback.id);
  if (!attempt)
    throw new ConfereError('unavailable', `no worker has sent ${callback.id} yet: is one running? confere serve`);
  const { response_status: status, error_class: error, duration_ms: ms } = attempt;
  if (error !== null) throw new ConfereError('unavailable', `${callback.id} failed: ${status ?? error} after ${ms} ms`);
  const outcome = { ...presentCallback(await findCallback(context.db, callback.id)), attempt };
  print(options.json, outcome, `${callback.id} is delivered: ${status} after ${ms} ms`);
}

async function giveToken(context: Context, id: string, options: TokenOptions): Promise<void> {
  const expiresAt = parseInstant('--expires-at', options.expiresAt);
  const done = { actor: ACTOR, action: 'merchant.pull_token_given', target: id };
  const token = await auditChange(context, (inner) => issuePullToken(inner, id, expiresAt), done);
  print(
    options.json,
    { id, token, expires_at: expiresAt?.toISOString() ?? null },
    `${token}\nkeep it now: it is not shown again`,
  );
}

async function revokeToken(context: Context, id: string, options: Output): Promise<void> {
  const done = { actor: ACTOR, action: 'merchant.pull_token_revoked', target: id };
  await auditChange(context, (inner) => revokePullToken(inner, id), done);
  print(options.json, { id, revoked: true }, `${id} has no token any more`);
}

async function remove(context: Context, id: string, options: Output): Promise<void> {
  const done = { actor: ACTOR, action: 'merchant.removed', target: id };
  await auditChange(context, (inner) => removeMerchant(inner, id), done);
  print(options.json, { id, removed: true }, `removed ${id}`);
}
