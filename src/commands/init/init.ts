import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Context } from '../../context.ts';
import { formatAmount } from '../../domain/money.ts';
import { checkMerchant } from '../../merchants/check-merchant.ts';
import { addOpening } from '../../operations/books/openings.ts';
import { answerChange, COMMAND } from '../../operations/define-change.ts';
import { addMerchant } from '../../operations/merchants/merchants.ts';
import { readSecret } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';
import { answer, openTerminal, type Terminal } from './ask.ts';
import {
  checkBalance,
  checkProviderKey,
  checkProviderUrl,
  checkPublicUrl,
  checkSetting,
  checkWebhookSecret,
  listPlatforms,
  refuse,
  type Values,
} from './check-answers.ts';
import { envFile, listOutside, writeEnvFile } from './env-file.ts';

const SECRET_BYTES = 32;
const NAMES = ['PROVIDER_URL', 'PROVIDER_API_KEY', 'WEBHOOK_SECRET', 'PUBLIC_URL'] as const;

export type Options = {
  providerUrl?: string;
  providerKey?: string;
  webhookSecret?: string;
  publicUrl?: string;
  booksFrom?: string;
  balance?: string[];
  merchantName?: string;
  merchantUrl?: string;
  replace?: boolean;
  json?: boolean;
};
/** `balance`: in cents. */
type Opening = { platform: string; day: string; balance: bigint };
export type Answers = { values: Values; openings: Opening[]; merchant: { name: string; url: string } | undefined };

/** `confere init`: asks what a first installation needs, writes `.env`, and opens the books. */
export function initCommand(program: Command): void {
  program
    .command('init')
    .description(
      'ask what a first installation needs, check it at the provider, and write .env; without a terminal, by options',
    )
    .option('--provider-url <url>', "the base address of the provider's API")
    .option('--provider-key <file>', 'a file with the key for it; - for standard input')
    .option('--webhook-secret <file>', 'a file with the secret of webhooks; - for standard input (default: make one)')
    .option('--public-url <url>', 'the address under which people and the provider reach this machine')
    .option('--books-from <day>', 'the first day of the books, YYYY-MM-DD (default: open them later)')
    .option(
      '--balance <platform=amount>',
      'the balance of a platform at its start (may be repeated)',
      (one: string, all?: string[]) => [...(all ?? []), one],
    )
    .option('--merchant-name <name>', 'the first merchant (default: none)')
    .option('--merchant-url <url>', 'where its callbacks go')
    .option('--replace', 'replace these settings in a .env that exists')
    .option('--json', 'print one JSON object')
    .action(async (options: Options) => {
      using terminal = process.stdin.isTTY ? openTerminal() : undefined;
      const file = envFile(process.env);
      await confirmReplacing(file, options, terminal);
      const answers = await collectAnswers(process.env as Values, options, terminal);
      const outside = listOutside(file, process.env);
      const answered = Object.fromEntries(NAMES.map((name) => [name, answers.values[name] ?? '']));
      for (const name of NAMES) for (const one of [name, `${name}_FILE`]) delete outside[one];
      writeEnvFile(file, { ...outside, ...answered });
      const names = Object.keys(outside);
      terminal?.say(`\nwrote ${file}${names.length > 0 ? `, also ${names.join(', ')}, which are set here` : ''}`);
      process.stderr.write('preparing the database: the first time, this takes up to a minute\n');
      // the rest of this process runs with the new settings
      Object.assign(process.env, answers.values);
      await withContext({ migrates: true }, async (context) =>
        print(options.json, ...(await finish(context, file, answers))),
      );
    });
}

async function confirmReplacing(file: string, { replace }: Options, terminal: Terminal | undefined): Promise<void> {
  if (!existsSync(file) || replace) return;
  const question = `${file} exists. Replace these settings in it? Its other lines stay. [y/N]`;
  const typed = terminal ? await terminal.ask(question) : 'no';
  if (!/^y(es)?$/i.test(typed))
    throw refuse(`${file} exists and stays as it is: --replace replaces these settings in it`);
}

/** Takes the six answers from the options, or asks for them. @param env other settings, which are in force. */
export async function collectAnswers(
  env: Values,
  options: Options,
  terminal: Pick<Terminal, 'ask' | 'say'> | undefined,
): Promise<Answers> {
  const values: Values = { ...env };
  for (const name of NAMES) delete values[name];
  const take = async (
    name: (typeof NAMES)[number],
    question: Omit<Parameters<typeof answer>[1], 'given'> & { given: string | undefined },
    check: (values: Values) => unknown,
  ) => {
    values[name] = await answer(terminal, question, async (typed) => {
      await check({ ...values, [name]: typed });
      return typed;
    });
  };
  const read = async (option: string, file: string | undefined) => file && (await readSecret(option, file));
  await take(
    'PROVIDER_URL',
    { option: '--provider-url', text: "1. Address of the provider's API (https://…):", given: options.providerUrl },
    checkProviderUrl,
  );
  const key = await read('--provider-key', options.providerKey);
  await take(
    'PROVIDER_API_KEY',
    { option: '--provider-key', text: '2. Key for it (not shown):', given: key, secret: true },
    checkProviderKey,
  );
  const secret = await read('--webhook-secret', options.webhookSecret);
  const made = randomBytes(SECRET_BYTES).toString('base64url');
  const text = '3. Secret of its webhooks (not shown; Enter makes one):';
  await take(
    'WEBHOOK_SECRET',
    { option: '--webhook-secret', text, given: secret, secret: true, otherwise: made },
    checkWebhookSecret,
  );
  await take(
    'PUBLIC_URL',
    { option: '--public-url', text: '4. Public address of this machine (https://…):', given: options.publicUrl },
    checkPublicUrl,
  );
  return {
    values,
    openings: await askOpenings(values, options, terminal),
    merchant: await askMerchant(values, options, terminal),
  };
}

async function askOpenings(
  values: Values,
  { booksFrom, balance = [] }: Options,
  terminal: Pick<Terminal, 'ask' | 'say'> | undefined,
): Promise<Opening[]> {
  const text = '5. First day of the books (YYYY-MM-DD; Enter opens them later):';
  const begin = { option: '--books-from', text, given: booksFrom, otherwise: '' };
  const { day, platforms } = await answer(terminal, begin, async (typed) => ({
    day: typed,
    platforms: typed === '' ? [] : await listPlatforms(values, typed),
  }));
  const given = new Map(balance.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]));
  const strange = [...given.keys()].find((platform) => !platforms.includes(platform));
  if (strange !== undefined)
    throw refuse(
      `--balance: the provider lists no transaction of ${strange || 'a platform without a name'} since ${day || 'any day: --books-from is missing'}`,
    );
  const missing = terminal ? [] : platforms.filter((platform) => !given.has(platform));
  if (missing.length > 0)
    throw refuse(
      `${missing.map((platform) => `--balance ${platform}=…`).join(' ')} is missing: without a terminal, init takes options`,
    );
  const openings: Opening[] = [];
  for (const platform of platforms) {
    const question = `   Balance of platform ${platform} when ${day} began (1234.56):`;
    const asked = { option: `--balance ${platform}=…`, text: question, given: given.get(platform) };
    openings.push(
      await answer(terminal, asked, (amount) => ({
        ...{ platform, day },
        balance: checkBalance(amount),
      })),
    );
  }
  return openings;
}

async function askMerchant(
  values: Values,
  { merchantName, merchantUrl }: Options,
  terminal: Pick<Terminal, 'ask' | 'say'> | undefined,
): Promise<Answers['merchant']> {
  const config = checkSetting(values, 'PUBLIC_URL');
  const byName = {
    option: '--merchant-name',
    text: '6. Name of the first merchant (Enter: none):',
    given: merchantName,
  };
  const check = (merchant: { name: string; url: string | null }) => checkMerchant({ config }, merchant);
  const name = await answer(terminal, { ...byName, otherwise: '' }, (typed) => {
    if (typed !== '') check({ name: typed, url: null });
    return typed;
  });
  if (name === '') return undefined;
  const byUrl = { option: '--merchant-url', text: '   Where its callbacks go (https://…):', given: merchantUrl };
  return await answer(terminal, byUrl, (url) => {
    check({ name, url });
    return { name, url };
  });
}

/** Opens the books and adds the merchant. @returns what is printed: as JSON, and for people. */
async function finish(context: Context, file: string, { openings, merchant }: Answers): Promise<[object, string]> {
  const by = { caller: COMMAND, id: '', params: {} };
  const opened: object[] = [];
  for (const opening of openings) {
    // the ledger is empty; the provider's list shows the platform
    const { body } = await answerChange(context, addOpening, { ...opening, new_platform: true }, by);
    opened.push(body as object);
  }
  const { body } = merchant ? await answerChange(context, addMerchant, merchant, by) : {};
  const added = body as { id: string; name: string; secret: string } | undefined;
  const { PUBLIC_URL, WEBHOOK_SECRETS, ADMIN_TOKEN, DATA_DIR } = context.config;
  const webhook = { url: `${PUBLIC_URL}/webhooks/pix`, authorization: `Bearer ${WEBHOOK_SECRETS[0]}` };
  const token = ADMIN_TOKEN ? 'ADMIN_TOKEN' : `the token that the first start writes to ${DATA_DIR}/admin-token`;
  const lines = [
    ...openings.map(
      ({ platform, day, balance }) => `opened platform ${platform} on ${day} with R$ ${formatAmount(balance)}`,
    ),
    ...(added
      ? [`added the merchant ${added.name} (${added.id})`, `  its secret, shown this once: ${added.secret}`]
      : []),
    'Paste at the provider:',
    `  webhook address:       ${webhook.url}`,
    `  header Authorization:  ${webhook.authorization}`,
    `Start Confere with npm start, and log in to the console with ${token}:`,
    `  ${PUBLIC_URL}/`,
  ];
  return [
    { env_file: file, webhook, openings: opened, merchant: added ?? null, console: `${PUBLIC_URL}/` },
    lines.join('\n'),
  ];
}
