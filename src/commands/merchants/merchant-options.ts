/** Options of a merchant's fields: of its filter, and of its requests. */
import { wrongUse } from '../../domain/errors.ts';
import { UNUSABLE_KEY } from '../../merchants/match-filter.ts';
import type { Options } from '../operation-commands.ts';
import { readSecret } from '../parse-options.ts';

export const MERCHANT_OPTIONS = {
  '--name <name>': 'its name for people',
  '--url <url>': 'where callbacks go: https://…; without it, the merchant fetches its events',
  '--email <address>': 'who gets a mail while its callbacks fail; none: nobody',
  '--rate <n>': 'callbacks a second at most; none: no limit',
  '--events-since <instant>': 'send events from then on (default: now)',
  '--format <format>': 'standard; provider: the flat body and the bearer token that the provider posts',
  '--expected': 'also changes of expected payments; the options of the filter replace the whole filter',
  '--bearer-token <file>': 'what it holds is sent as Authorization: Bearer …; - for standard input; none: removed',
} as const;
export const REPEATED_OPTIONS = {
  '--header <file>':
    "lines 'name: value' that are sent with each message; - for standard input (may be repeated); 'name:' removes one",
  '--platform <id>': 'only this platform; none: transactions without one (may be repeated, as all filters)',
  '--operation <operation>': 'only cashin or cashout',
  '--status <status>': 'only this status',
  '--reference <prefix>': 'only references with this prefix',
  '--extra <prefix>': 'only extras with this prefix',
  '--extra-match <key=value>': 'only extras that are JSON with this key and value',
} as const;
/** The fields of options that are called otherwise. */
export const OPTION_FIELDS = {
  header: 'headers',
  platform: 'filter.platforms',
  operation: 'filter.operations',
  status: 'filter.statuses',
  reference: 'filter.reference_prefixes',
  extra: 'filter.extra_prefixes',
  extraMatch: 'filter.extra_match',
  expected: 'filter.expected',
} as const;

/** Reads what is not a text as it is. @throws ConfereError `wrong_use`. The change itself checks what it sets. */
export async function readMerchantOptions(options: Options): Promise<Options> {
  const { email, rate, bearer_token: token, headers } = options;
  return {
    ...(email === 'none' ? { email: null } : {}),
    ...(rate === undefined ? {} : { rate: rate === 'none' ? null : Number(rate) }),
    ...(token === undefined
      ? {}
      : { bearer_token: token === 'none' ? null : await readSecret('--bearer-token', token as string) }),
    ...(headers === undefined ? {} : { headers: await readHeaders(headers as string[]) }),
    ...readFilter(options),
  };
}

const REMOVED_HEADER = /^[^:\s]+:$/;
const HEADER_LINE = /^([^:\s]+):(.*)$/s;

async function readHeaders(given: string[]): Promise<Record<string, string | null>> {
  const headers: [string, string | null][] = [];
  for (const one of given) {
    const lines = REMOVED_HEADER.test(one) ? [one] : (await readSecret('--header', one)).split(/\r?\n/);
    for (const line of lines) {
      const [, name, value = ''] = HEADER_LINE.exec(line) ?? [];
      if (name === undefined) throw wrongUse("--header: each line is 'name: value'");
      headers.push([name, value.trim() || null]);
    }
  }
  return Object.fromEntries(headers);
}

function readFilter(options: Options): Options {
  const given = Object.values(OPTION_FIELDS).filter((field) => field.startsWith('filter.') && field in options);
  if (given.length === 0) return {};
  const lists = given.map((field) => {
    const values = options[field] as string[] | true;
    const isMatch = field === OPTION_FIELDS.extraMatch && values !== true;
    return [field.replace('filter.', ''), isMatch ? Object.fromEntries(values.map(readMatch)) : values];
  });
  return { ...Object.fromEntries(given.map((field) => [field, undefined])), filter: Object.fromEntries(lists) };
}

function readMatch(text: string): [string, string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw wrongUse('--extra-match is key=value');
  if (key === UNUSABLE_KEY) throw wrongUse(`--extra-match cannot use the key ${UNUSABLE_KEY}`);
  return [key, value];
}
