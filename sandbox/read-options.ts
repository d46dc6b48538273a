import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ConnectionTarget } from '../embedded/open-database.ts';
import { parseDatabaseUrl } from '../embedded/parse-database-url.ts';
import type { Settings } from './context.ts';
import { createWallClock } from './domain/wall-clock.ts';
import { readScenario, SCENARIOS } from './faults/read-scenario.ts';
import { type Switches, switchesSchema } from './faults/switches.ts';

export type SandboxOptions = {
  host: string;
  port: number;
  dataDir: string;
  /** a database server to use instead of the embedded one */
  server: ConnectionTarget | undefined;
  database: string;
  settings: Settings;
  switches: Switches;
  timeZone: string;
  checkoutUrl: string | undefined;
  historyDays: number | undefined;
  perDay: number;
  json: boolean;
  printOpenapi: boolean;
};

type Flags = {
  host: string;
  port: number;
  apiKey: string;
  webhookUrl?: string;
  webhookToken?: string;
  scenario: Switches;
  seed: string;
  history?: number;
  perDay: number;
  rate?: number;
  manual?: boolean;
  timeZone: string;
  checkoutUrl?: string;
  dataDir: string;
  databaseUrl?: DatabaseAddress;
  json?: boolean;
  printOpenapi?: boolean;
};

type DatabaseAddress = { server: ConnectionTarget; database: string };

/**
 * Reads the options of `confere sandbox` from its arguments and DATA_DIR. Commander prints help and errors, and throws
 * CommanderError: exit code 0 for help, 2 for wrong use.
 */
export function readOptions(args: readonly string[], env: { DATA_DIR?: string | undefined }): SandboxOptions {
  const command = commandOf(env);
  command.parse([...args], { from: 'user' });
  const flags = command.opts<Flags>();
  const { scenario } = flags;
  const switches: Switches = {
    ...scenario,
    traffic: { ...scenario.traffic, ...(flags.rate === undefined ? {} : { per_second: flags.rate }) },
    lives: { ...scenario.lives, ...(flags.manual === true ? { created: 'manual' as const } : {}) },
  };
  const { host, port, timeZone, perDay, apiKey, webhookUrl, webhookToken, seed } = flags;
  return {
    host,
    port,
    dataDir: path.resolve(flags.dataDir),
    server: flags.databaseUrl?.server,
    database: flags.databaseUrl?.database ?? 'sandbox',
    settings: { apiKey, webhookUrl, webhookToken, seed, url: '', checkoutUrl: '' },
    switches,
    timeZone,
    checkoutUrl: flags.checkoutUrl,
    historyDays: flags.history,
    perDay,
    json: flags.json === true,
    printOpenapi: flags.printOpenapi === true,
  };
}

function commandOf(env: { DATA_DIR?: string | undefined }): Command {
  return new Command('confere sandbox')
    .description(
      "a simulation of the provider's service for development and tests: no money moves, nothing leaves this machine",
    )
    .option('--port <number>', 'port to listen on, 0 for a free one', wholeNumber(0, 65_535), 4_000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--api-key <key>', 'key that clients send as Authorization: Bearer <key>', 'sandbox-key')
    .option('--webhook-url <url>', 'address that webhooks are POSTed to', httpUrl)
    .option('--webhook-token <token>', 'sent with webhooks as Authorization: Bearer <token>')
    .addOption(
      new Option('--scenario <name|file>', `behaviour: ${SCENARIOS.join(', ')}, or a JSON file`)
        .argParser(scenario)
        .default(switchesSchema.parse({}), 'calm'),
    )
    .addOption(
      new Option('--seed <text>', 'the same seed generates the same data').default(
        randomBytes(4).toString('hex'),
        'random',
      ),
    )
    .option('--history <days>', 'generate the past days first, such as 30d', daysOf)
    .option('--per-day <number>', 'transactions on each day of the history', wholeNumber(1, 1_000_000), 2_000)
    .option('--rate <rate>', 'live transactions, such as 5/s, 30/m or 100/h', rateOf)
    .option(
      '--manual',
      'transactions that clients create stay pending until the checkout page or an admin changes them',
    )
    .option('--time-zone <zone>', 'time zone of all dates', zone, 'America/Sao_Paulo')
    .option('--checkout-url <url>', 'start of payment links (default: <url>/checkout)', httpUrl)
    .option('--data-dir <path>', 'directory of the embedded database', path.join(env.DATA_DIR || './var', 'sandbox'))
    .option(
      '--database-url <url>',
      'mysql://user:password@host:port/name instead of the embedded database',
      databaseAddress,
    )
    .option('--json', 'print one line of JSON when it is ready')
    .option('--print-openapi', 'print the interface as OpenAPI 3.1 and exit')
    .addHelpText('after', HELP)
    .allowExcessArguments(false)
    .exitOverride();
}

const HELP = `
Examples:
  confere sandbox --history 30d --per-day 2000
  confere sandbox --rate 5/s --webhook-url http://127.0.0.1:3000/webhooks/pix --webhook-token secret
  confere sandbox --scenario flaky-provider --seed 7

Routes: /api/v1/… (the interface), /checkout/transaction/<id> (the payer's page), /sandbox/… (admin: switches
and transactions), /api/v1/openapi.json. docs/sandbox.md describes them.`;

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
  };
}

function daysOf(text: string): number {
  const match = /^(\d{1,4})d?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Use a number of days, such as 30d.');
  return Number(match[1]);
}

const PER = { s: 1, m: 60, h: 3_600 };

function rateOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:\/([smh]))?$/.exec(text);
  const unit = match?.[2] ?? 's';
  const perSecond = Number(match?.[1]) / PER[unit === 'm' || unit === 'h' ? unit : 's'];
  if (match === null || perSecond > 2_000)
    throw new InvalidArgumentError('Use a rate up to 2000/s, such as 5/s or 30/m.');
  return perSecond;
}

function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidArgumentError('Use an http or https URL.');
  }
  return text.replace(/\/$/, '');
}

function zone(text: string): string {
  try {
    createWallClock(text);
    return text;
  } catch {
    throw new InvalidArgumentError('Use a time zone such as America/Sao_Paulo.');
  }
}

function scenario(text: string): Switches {
  try {
    return readScenario(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function databaseAddress(text: string): DatabaseAddress {
  try {
    const { database, ...server } = parseDatabaseUrl(text);
    return { server, database };
  } catch (error) {
    throw new InvalidArgumentError(`It ${error instanceof Error ? error.message : String(error)}.`);
  }
}
