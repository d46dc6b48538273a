import type { Command } from 'commander';
import { auditChange } from '../../access/audit.ts';
import { countBackfill } from '../../callbacks/backfill/count-backfill.ts';
import { previewFilter } from '../../callbacks/manage/preview-filter.ts';
import { PREVIEW_DAYS } from '../../callbacks/manage/read-previewed-events.ts';
import type { Context } from '../../context.ts';
import { ConfereError } from '../../domain/errors.ts';
import { append } from '../../domain/lists.ts';
import { OPERATIONS, type Operation } from '../../domain/statuses.ts';
import { updateMerchant } from '../../merchants/change-merchants.ts';
import type { MerchantChange } from '../../merchants/check-merchant.ts';
import { completeFilter, type FilterInput, filtersOf, UNUSABLE_KEY } from '../../merchants/match-filter.ts';
import { presentMerchant } from '../../merchants/present-merchant.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import { CALLBACK_FORMATS, type RequestChange } from '../../merchants/request-headers.ts';
import { parseInstant, readSecret } from '../parse-options.ts';
import { print, withContext } from '../with-context.ts';

export type FilterOptions = {
  platform: string[];
  operation: string[];
  status: string[];
  reference: string[];
  extra: string[];
  extraMatch: string[];
};

export type RequestOptions = { format?: string; bearerToken?: string; header: string[] };

type UpdateOptions = FilterOptions &
  RequestOptions & {
    name?: string;
    url?: string;
    email?: string;
    rate?: string;
    manifests?: string;
    eventsSince?: string;
    everything?: boolean;
    dryRun?: boolean;
    json?: boolean;
  };

/** `confere merchants update`: changes what is given. Any option of the filter replaces the whole filter. */
export function addUpdateCommand(merchants: Command): void {
  const command = merchants
    .command('update <id>')
    .description('change a merchant; any option of the filter replaces the whole filter')
    .option('--name <name>', 'its name for people')
    .option('--url <url>', 'where callbacks go: https://…')
    .option('--email <address>', 'who gets a mail while its callbacks fail; none: nobody')
    .option('--rate <n>', 'callbacks a second at most; none: no limit')
    .option('--manifests <on|off>', 'whether day manifests are sent to it')
    .option('--events-since <instant>', 'send events from then on')
    .option('--everything', 'remove the filter')
    .option(
      '--dry-run',
      'change nothing: say which of the last events the new filter would have matched, and how many past ones would follow',
    )
    .option('--json', 'print one JSON object');
  addFilterOptions(addRequestOptions(command)).action(async (id: string, options: UpdateOptions) => {
    const change = { ...readChange(options), ...(await readRequest(options)) };
    await withContext({}, (context) => update(context, id, change, options));
  });
}

async function update(context: Context, id: string, change: MerchantChange, options: UpdateOptions): Promise<void> {
  if (options.dryRun) {
    const merchant = await findMerchant(context.db, id);
    const before = filtersOf(merchant);
    const filter = change.filter ? JSON.stringify(completeFilter(change.filter)) : merchant.filter;
    const filters = filtersOf({ ...merchant, filter });
    const { events, complete, matched, before: compared } = await previewFilter(context, filters, { before });
    const eventsSince = change.eventsSince ?? merchant.events_since;
    const past = await countBackfill(context, merchant, { filters, eventsSince });
    const counted = { dry_run: true, days: PREVIEW_DAYS, events, complete, matched, before: compared, past };
    const text = `of ${events} events of the last ${PREVIEW_DAYS} days${complete ? '' : ' (the newest ones)'} the filter matches ${matched}; today's matches ${compared?.matched}
${past.complete ? '' : 'at least '}${past.callbacks} callbacks of past events would follow`;
    print(options.json, counted, text);
    return;
  }
  const names = Object.keys(change);
  if (names.length === 0) throw new ConfereError('wrong_use', 'say what to change: --name, --url, …');
  // field names only: a URL may hold a secret, a header is one
  const done = { actor: 'command', action: 'merchant.changed', target: id, detail: names.join(', ') };
  const merchant = presentMerchant(await auditChange(context, (inner) => updateMerchant(inner, id, change), done));
  print(options.json, merchant, `changed ${names.join(', ')} of ${merchant.id} (${merchant.name})`);
}

function readChange({ name, url, email, rate, manifests, eventsSince, ...options }: UpdateOptions): MerchantChange {
  const filter = readFilter(options);
  const isSet = Object.values(filter).some((value) => Object.keys(value ?? {}).length > 0);
  if (isSet && options.everything)
    throw new ConfereError('wrong_use', '--everything goes with no option of the filter');
  if (manifests !== undefined && manifests !== 'on' && manifests !== 'off')
    throw new ConfereError('wrong_use', '--manifests is on or off');
  return {
    ...(name === undefined ? {} : { name }),
    ...(url === undefined ? {} : { url }),
    ...(email === undefined ? {} : { email: email === 'none' ? null : email }),
    ...(rate === undefined ? {} : { rate: rate === 'none' ? null : Number(rate) }),
    ...(manifests === undefined ? {} : { manifests: manifests === 'on' }),
    ...(eventsSince === undefined ? {} : { eventsSince: parseInstant('--events-since', eventsSince) }),
    ...(isSet || options.everything ? { filter } : {}),
  };
}

const REMOVED_HEADER = /^[^:\s]+:$/;
const HEADER_LINE = /^([^:\s]+):(.*)$/s;

const collect = (value: string, before: string[]): string[] => [...before, value];

/** Adds the options that `readRequest` reads. */
export function addRequestOptions(command: Command): Command {
  return command
    .option('--format <format>', 'standard; provider: the flat body and the bearer token that the provider posts')
    .option(
      '--bearer-token <file>',
      'what it holds is sent as Authorization: Bearer …; - for standard input; none: removed',
    )
    .option(
      '--header <file>',
      "lines 'name: value' that are sent with each message; - for standard input (may be repeated); 'name:' removes one",
      collect,
      [],
    );
}

/** @throws ConfereError `wrong_use`. The change itself checks what it sets. */
export async function readRequest({ format, bearerToken, header }: RequestOptions): Promise<RequestChange> {
  const known = CALLBACK_FORMATS.find((one) => one === format);
  if (format !== undefined && !known)
    throw new ConfereError('wrong_use', `--format is ${CALLBACK_FORMATS.join(' or ')}`);
  const token =
    bearerToken === undefined || bearerToken === 'none' ? null : await readSecret('--bearer-token', bearerToken);
  const pairs: string[][] = [];
  for (const one of header) {
    const lines = REMOVED_HEADER.test(one) ? [one] : (await readSecret('--header', one)).split(/\r?\n/);
    append(
      pairs,
      lines.map((line) => HEADER_LINE.exec(line)?.slice(1) ?? []),
    );
  }
  if (pairs.some((pair) => pair.length === 0))
    throw new ConfereError('wrong_use', "--header: each line is 'name: value'");
  return {
    ...(known ? { format: known } : {}),
    ...(bearerToken === undefined ? {} : { bearerToken: token }),
    ...(pairs.length > 0
      ? { headers: Object.fromEntries(pairs.map(([name, value]) => [name, value?.trim() || null])) }
      : {}),
  };
}

/** Adds the options that `readFilter` reads. */
export function addFilterOptions(command: Command): Command {
  return command
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
    .option('--extra-match <key=value>', 'only extras that are JSON with this key and value', collect, []);
}

export function readFilter(options: FilterOptions): FilterInput {
  const unknown = options.operation.find((operation) => !(OPERATIONS as readonly string[]).includes(operation));
  if (unknown !== undefined) throw new ConfereError('wrong_use', `--operation is ${OPERATIONS.join(' or ')}`);
  const pairs = options.extraMatch.map((text) => /^([^=]+)=(.*)$/s.exec(text)?.slice(1) ?? []);
  if (pairs.some((pair) => pair.length === 0)) throw new ConfereError('wrong_use', '--extra-match is key=value');
  if (pairs.some(([key]) => key === UNUSABLE_KEY))
    throw new ConfereError('wrong_use', `--extra-match cannot use the key ${UNUSABLE_KEY}`);
  return {
    platforms: options.platform,
    operations: options.operation as Operation[],
    statuses: options.status,
    reference_prefixes: options.reference,
    extra_prefixes: options.extra,
    extra_match: Object.fromEntries(pairs),
  };
}
