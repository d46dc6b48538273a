import type { Command } from 'commander';
import { presentCallback } from '../../callbacks/manage/present-callback.ts';
import { previewFilter } from '../../callbacks/manage/preview-filter.ts';
import { findCallback } from '../../callbacks/manage/read-callbacks.ts';
import { PREVIEW_DAYS } from '../../callbacks/manage/read-previewed-events.ts';
import type { Context } from '../../context.ts';
import { ConfereError, wrongUse } from '../../domain/errors.ts';
import { completeFilter, filtersOf } from '../../merchants/match-filter.ts';
import type { presentMerchant } from '../../merchants/present-merchant.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import type { GivenOf } from '../../operations/define-change.ts';
import { decideAddress } from '../../operations/merchants/addresses.ts';
import {
  addMerchant,
  type CountedPast,
  changeMerchant,
  enableMerchant,
  merchants,
  nameFields,
  pauseMerchant,
  removeOneMerchant,
  rotateMerchantSecret,
  testMerchant,
} from '../../operations/merchants/merchants.ts';
import { endPullToken, givePullToken } from '../../operations/merchants/pull-tokens.ts';
import { ADDRESS_DECISIONS } from '../../portal/address-changes.ts';
import { changeCommand, listCommand } from '../operation-commands.ts';
import { formatTime, type withContext } from '../with-context.ts';
import { awaitTest } from './callbacks.ts';
import { MERCHANT_OPTIONS, OPTION_FIELDS, REPEATED_OPTIONS, readMerchantOptions } from './merchant-options.ts';

type Merchant = ReturnType<typeof presentMerchant>;

/** `confere merchants …`: merchants, which receive callbacks. */
export function merchantsCommand(program: Command, open: typeof withContext): void {
  const group = program.command('merchants').description('merchants, which receive callbacks');
  changeCommand(group, 'add', addMerchant, {
    description: 'add a merchant; its secret is printed once',
    options: MERCHANT_OPTIONS,
    repeatedOptions: REPEATED_OPTIONS,
    fields: OPTION_FIELDS,
    read: readMerchantOptions,
    say: ({ id, name, secret }: Merchant & { secret: string }) =>
      `added ${id} (${name})\nsecret: ${secret}\nkeep it now: it is not shown again`,
  });
  addUpdateCommand(group);
  listCommand(group, merchants, {
    description: 'list the merchants',
    isWhole: true,
    none: 'there is no merchant yet: confere merchants add',
    // only the host: the rest of an address may hold a secret
    say: ({ id, state, name, url }) =>
      `${id}  ${state.padEnd(8)}  ${name}  ${url === null ? 'fetches' : new URL(url).host}`,
  });
  const sayState = ({ id, name, state }: Merchant) => `${id} (${name}) is ${state}`;
  changeCommand(group, 'pause <id>', pauseMerchant, {
    description: "hold a merchant's callbacks until it is enabled",
    say: sayState,
  });
  changeCommand(group, 'enable <id>', enableMerchant, {
    description: 'enable a merchant; what was held is delivered, oldest first',
    say: sayState,
  });
  changeCommand(group, 'rotate-secret <id>', rotateMerchantSecret, {
    description: 'give a merchant a new secret; the old one also signs for 24 hours',
    json: ({ id, secret, old_secret_until }: { id: string; secret: string; old_secret_until: string }) => ({
      ...{ id, secret, old_secret_until },
    }),
    say: ({ secret, old_secret_until: until }, { context }) => `secret: ${secret}
keep it now: it is not shown again; the old one signs too until ${formatTime(context, until)}`,
  });
  changeCommand(group, 'test <id>', testMerchant, {
    description: 'send a merchant a signed test and say what came back (a running worker sends it)',
    open,
    follow: ({ id }: Tested, { context }) => readOutcome(context, id),
    say: ({ id, attempt }) => `${id} is delivered: ${attempt.response_status} after ${attempt.duration_ms} ms`,
  });
  changeCommand<unknown, unknown, { token: string }>(group, 'pull-token <id>', [givePullToken, endPullToken], {
    description: 'give a merchant a token that fetches its events; it replaces an older one and is shown once',
    options: {
      '--expires-at <instant>': 'when it ends (default: not by itself)',
      '--revoke': 'revoke its token instead',
    },
    json: (body, { id }) => ('token' in body ? body : { id, revoked: true }),
    say: (body, { id }) =>
      'token' in body ? `${body.token}\nkeep it now: it is not shown again` : `${id} has no token any more`,
  });
  changeCommand(group, 'decide-address <id>', decideAddress, {
    description: 'confirm or refuse a change of address that a merchant asked for in its portal',
    options: { '--change <id>': 'which: mac_…', '--decision <decision>': ADDRESS_DECISIONS.join(' or ') },
    say: ({ id, kind }: { id: string; kind: string }, { given }) => `${id} (${kind}): ${given.decision}`,
  });
  changeCommand(group, 'remove <id>', removeOneMerchant, {
    description: 'remove a merchant: it receives nothing more',
    json: (_body, { id }) => ({ id, removed: true }),
    say: (_body, { id }) => `removed ${id}`,
  });
}

type Tested = ReturnType<typeof presentCallback> & { attempt: NonNullable<Awaited<ReturnType<typeof awaitTest>>> };

/** @throws ConfereError `unavailable` where the test was not sent, or failed. */
async function readOutcome(context: Context, id: string): Promise<Tested> {
  const attempt = await awaitTest(context, id);
  if (!attempt) throw new ConfereError('unavailable', `no worker has sent ${id} yet: is one running? confere serve`);
  const { response_status: status, error_class: error, duration_ms: ms } = attempt;
  if (error !== null) throw new ConfereError('unavailable', `${id} failed: ${status ?? error} after ${ms} ms`);
  return { ...presentCallback(await findCallback(context.db, id)), attempt };
}

type Compared = Awaited<ReturnType<typeof compare>>;

/** `confere merchants update`: changes what is given. */
function addUpdateCommand(group: Command): void {
  const { '--url <url>': _, ...options } = MERCHANT_OPTIONS;
  changeCommand(group, 'update <id>', changeMerchant, {
    description: 'change a merchant; any option of the filter replaces the whole filter',
    options: {
      ...options,
      '--url <url>': 'where callbacks go: https://…',
      '--events-since <instant>': 'send events from then on',
      '--manifests <on|off>': 'whether day manifests are sent to it',
      '--everything': 'remove the filter',
      '--dry-run':
        'change nothing: say which of the last events the new filter would have matched, and how many past ones would follow',
    },
    repeatedOptions: REPEATED_OPTIONS,
    fields: OPTION_FIELDS,
    async read({ everything, manifests, ...given }) {
      const read = await readMerchantOptions(given);
      if (everything && read.filter) throw wrongUse('--everything goes with no option of the filter');
      if (manifests !== undefined && manifests !== 'on' && manifests !== 'off')
        throw wrongUse('--manifests is on or off');
      if (Object.keys(given).length === 0 && !everything && manifests === undefined)
        throw wrongUse('say what to change: --name, --url, …');
      return {
        ...read,
        everything: undefined,
        ...(everything ? { filter: {} } : {}),
        ...(manifests === undefined ? {} : { manifests: manifests === 'on' }),
      };
    },
    follow: async (body: Merchant | CountedPast, { context, id, given }) =>
      'counted_to' in body ? await compare(context, id, given, body) : body,
    say(body: Merchant | Compared, { given }) {
      if (!('past' in body)) return `changed ${nameFields(given)} of ${body.id} (${body.name})`;
      const { events, complete, matched, before, unseen, past } = body;
      const none = Object.entries(unseen).map(([list, values]) => `\nno event has these ${list}: ${values.join(', ')}`);
      return `of ${events} events of the last ${PREVIEW_DAYS} days${complete ? '' : ' (the newest ones)'} the filter matches ${matched}; today's matches ${before?.matched}${none.join('')}
${past.complete ? '' : 'at least '}${past.callbacks} callbacks of past events would follow`;
    },
  });
}

/** Compares the new filter with today's, of the last events, beside what the API counted of past ones. */
async function compare(
  context: Context,
  id: string,
  { filter }: GivenOf<typeof changeMerchant>,
  { dry_run, events_since: _, ...past }: CountedPast,
) {
  const row = await findMerchant(context.db, id);
  const filters = filtersOf(filter ? { ...row, filter: JSON.stringify(completeFilter(filter)) } : row);
  const { events, complete, matched, before, unseen } = await previewFilter(context, filters, {
    before: { seq: row.seq, filters: filtersOf(row) },
  });
  return { dry_run, days: PREVIEW_DAYS, events, complete, matched, before, unseen, past };
}
