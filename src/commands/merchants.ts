import type { Command } from 'commander';
import { auditChange } from '../access/audit.ts';
import { presentCallback } from '../callbacks/manage/present-callback.ts';
import { sendTest } from '../callbacks/manage/send-test.ts';
import type { Context } from '../context.ts';
import { ConfereError } from '../domain/errors.ts';
import { OPERATIONS, type Operation } from '../domain/statuses.ts';
import { createMerchant, removeMerchant, setMerchantState } from '../merchants/change-merchants.ts';
import type { FilterInput } from '../merchants/match-filter.ts';
import { presentMerchant } from '../merchants/present-merchant.ts';
import { issuePullToken, revokePullToken } from '../merchants/pull-token.ts';
import { listMerchants } from '../merchants/read-merchants.ts';
import { rotateSecret } from '../merchants/secrets.ts';
import { parseInstant } from './parse-options.ts';
import { formatTime, print, withContext } from './with-context.ts';

const PAGE_ROWS = 200;
const ACTOR = 'command';

/** `confere merchants …`: merchants, which receive callbacks. */
export function merchantsCommand(program: Command): void {
  const merchants = program.command('merchants').description('merchants, which receive callbacks');
  addAddCommand(merchants);
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
    .description('send a merchant a signed test (a running worker delivers it)')
    .option('--json', 'print one JSON object')
    .action((id: string, options: Output) => withContext({}, (context) => test(context, id, options)));
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

type AddOptions = Output & {
  name: string;
  url?: string;
  email?: string;
  platform: string[];
  operation: string[];
  status: string[];
  reference: string[];
  extra: string[];
  extraMatch: string[];
  rate?: string;
  eventsSince?: string;
};

function addAddCommand(merchants: Command): void {
  const collect = (value: string, before: string[]): string[] => [...before, value];
  merchants
    .command('add')
    .description('add a merchant; its secret is printed once')
    .requiredOption('--name <name>', 'its name for people')
    .option('--url <url>', 'where callbacks go: https://…; without it, the merchant fetches its events')
    .option('--email <address>', 'who gets a mail when its callbacks fail for a day')
    .option(
      '--platform <id>',
      'only this platform; none: transactions without one (may be repeated, as all filters)',
      collect,
      [],
    )
    .option('--operation <operation>', 'only cashin or cashout', collect, [])
    .option('--status <status>', 'only this status', collect, [])
    .option('--reference <prefix>', 'only references with this prefix', collect, [])
    .option('--extra <prefix>', 'only extras with this prefix', collect, [])
    .option('--extra-match <key=value>', 'only extras that are JSON with this key and value', collect, [])
    .option('--rate <n>', 'callbacks a second at most')
    .option('--events-since <instant>', 'send events from then on (default: now)')
    .option('--json', 'print one JSON object')
    .action((options: AddOptions) => withContext({}, (context) => add(context, options)));
}

async function add(context: Context, options: AddOptions): Promise<void> {
  const input = {
    name: options.name,
    url: options.url ?? null,
    email: options.email,
    filter: readFilter(options),
    rate: options.rate === undefined ? undefined : readRate(options.rate),
    eventsSince: parseInstant('--events-since', options.eventsSince),
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
    merchants.push(...rows.map(presentMerchant));
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
  print(options.json, callback, `queued ${callback.id}; its result: GET /api/v1/callbacks/${callback.id}`);
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

function readFilter(options: AddOptions): FilterInput {
  const unknown = options.operation.find((operation) => !(OPERATIONS as readonly string[]).includes(operation));
  if (unknown !== undefined) throw new ConfereError('wrong_use', `--operation is ${OPERATIONS.join(' or ')}`);
  const pairs = options.extraMatch.map((text) => /^([^=]+)=(.*)$/s.exec(text)?.slice(1) ?? []);
  if (pairs.some((pair) => pair.length === 0)) throw new ConfereError('wrong_use', '--extra-match is key=value');
  return {
    platforms: options.platform,
    operations: options.operation as Operation[],
    statuses: options.status,
    reference_prefixes: options.reference,
    extra_prefixes: options.extra,
    extra_match: Object.fromEntries(pairs),
  };
}

function readRate(text: string): number {
  if (/^[1-9]\d{0,2}$|^1000$/.test(text)) return Number(text);
  throw new ConfereError('wrong_use', '--rate is a whole number from 1 to 1000');
}
