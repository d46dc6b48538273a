/**
 * Changes that a merchant makes in its portal, of what is its own. Each change passes its transaction to the scope of the request, which
 * returns the changes of that merchant alone.
 */
import { z } from 'zod';
import { PREVIEW_DAYS } from '../../callbacks/manage/read-previewed-events.ts';
import { TEST_TYPE } from '../../callbacks/render/renderable.ts';
import { formatAmount } from '../../domain/money.ts';
import { summarizeFilter } from '../../merchants/match-filter.ts';
import { presentOwnMerchant } from '../../merchants/present-merchant.ts';
import { ADDRESS_KINDS, nameChange, presentAddressChange } from '../../portal/address-changes.ts';
import type { MerchantScope } from '../../portal/open-scope.ts';
import { refuse } from '../../texts/refuse.ts';
import { auditObject, type By, defineOwnChange } from '../define-change.ts';
import { accepted, ok } from '../describe-operation.ts';
import { ownFilterInput } from '../fields.ts';
import { addressChange, checkedAddress, ownMerchant, rotatedSecret } from '../rows/merchants.ts';
import { ownCallback, ownFilterPreview } from '../rows/portal.ts';
import { HOLDS, REPLAY_ORDER, replayRange, TEST_SUMMARY } from './callbacks.ts';
import { EXAMPLE_TYPES } from './message-types.ts';

function scopeOf({ scope }: By): MerchantScope {
  if (!scope) throw refuse('merchant_logged_out');
  return scope;
}

export const redeliverOwn = defineOwnChange({
  name: 'portal.redeliver',
  audit: 'callback.redelivered',
  route: 'POST /portal/callbacks/{id}/redeliver',
  summary: 'Deliver it once more, under its webhook-id; 409 while nothing would be sent',
  answers: accepted('Queued', ownCallback),
  refuses: ['callback_unknown', ...HOLDS],
  change: (inner, _given, by) => scopeOf(by).changesIn(inner).redeliver(by.id),
  target: ({ target }) => target,
  answer: async (_context, { callback }) => callback,
});

const replayed = z.object({ count: z.int(), dry_run: z.boolean() });

export const replayOwn = defineOwnChange({
  name: 'portal.replay',
  audit: 'callbacks.replay_requested',
  route: 'POST /portal/callbacks/replay',
  summary: 'Deliver a range once more, or count it: count 0 if it holds none; 409 while the merchant gets nothing',
  input: z
    .strictObject({
      ...replayRange,
      tests: z
        .literal('only')
        .optional()
        .describe('only: tests and examples alone; without it all but these and day manifests'),
    })
    .refine(REPLAY_ORDER.check, REPLAY_ORDER.fault),
  answers: { ...ok('Counted: it was a dry run', replayed), ...accepted('Queued', replayed) },
  refuses: HOLDS,
  async dryRun(_context, { dry_run: isDryRun, ...range }, by) {
    if (!isDryRun) return undefined;
    const scope = scopeOf(by);
    await scope.record('callbacks.replay_requested', describeRange({ ...range, dry_run: true }));
    return { count: (await scope.previewReplay(range)).count, dry_run: true };
  },
  change: (inner, _given, by) => scopeOf(by).changesIn(inner).assertReplays(),
  target: (_made, { id, via }, range) => ({ target: id, detail: via ?? describeRange(range) }),
  after: async (_context, made, { dry_run: _, ...range }, by) => made && (await scopeOf(by).replay(range)),
  answer: async (_context, _made, { followed }) => ({ count: followed, dry_run: false }),
});

function describeRange({ from, to, dry_run }: { from: Date; to: Date; dry_run: boolean }): string {
  return JSON.stringify({ from, to, dry_run });
}

export const rotateOwnSecret = defineOwnChange({
  name: 'portal.rotate_secret',
  audit: 'merchant.secret_rotated',
  route: 'POST /portal/rotate-secret',
  summary: 'Get a new secret; the old one stays valid for 24 hours: until then 409',
  input: z.strictObject({ of: z.enum(['url', 'test_url']).default('url').describe('the address that it signs for') }),
  answers: ok('Shown this once', rotatedSecret),
  refuses: ['secret_rotated_lately', 'test_url_missing'],
  change: async (inner, { of }, by) => ({ ...(await scopeOf(by).changesIn(inner).rotateSecret(of)), of }),
  target: (_made, { id, via }, { of }) => ({ target: id, detail: [via, of].filter(Boolean).join(' ') }),
  answer: async (_context, { secret, oldUntil }) => ({ secret, old_secret_until: oldUntil.toISOString() }),
});

export const askAddress = defineOwnChange({
  name: 'portal.change_address',
  audit: 'merchant.address_asked',
  route: 'POST /portal/address-changes',
  summary:
    'Ask for another address: a url answers a challenge now; the change waits for the link mailed to the e-mail on file, or an admin. Without mail, a test_url counts at once (waits_for is empty) and gets invented examples alone; unconfirmed, it also goes at once',
  input: z.strictObject({
    kind: z.enum(ADDRESS_KINDS),
    value: z.string().nullable().describe('null: no test_url any more'),
    dry_run: z.boolean().default(false).describe('only check it, and show the secret of a test_url'),
  }),
  answers: { ...ok('Checked: it was a dry run', checkedAddress), ...accepted('It waits', addressChange) },
  refuses: ['merchant_fetches', 'address_change_waits'],
  dryRun: async (_context, { dry_run: isDryRun, ...asked }, by) =>
    isDryRun ? { dry_run: true, secret: (await scopeOf(by).checkAddress(asked)) ?? null } : undefined,
  async prepare(_context, asked, by) {
    const unanswered = await scopeOf(by).proveAddress(asked);
    if (unanswered === undefined) return asked;
    // its path may hold a secret
    await scopeOf(by).record('merchant.address_unanswered', `${asked.kind} ${new URL(asked.value ?? '').host}`);
    throw unanswered;
  },
  change: (inner, asked, by) => scopeOf(by).changesIn(inner).askAddressChange(asked),
  target(made, { via }) {
    const isApplied = presentAddressChange(made).waits_for.length === 0;
    const words = [via, ...nameChange(made), isApplied && (made.value === null ? 'at_once' : 'unconfirmed')];
    return { target: made.id, detail: words.filter(Boolean).join(' ') };
  },
  answer: async (_context, made) => presentAddressChange(made),
});

export const withdrawAddress = defineOwnChange({
  name: 'portal.withdraw_address',
  audit: 'merchant.address_withdrawn',
  route: 'POST /portal/address-changes/{id}/withdraw',
  summary: 'Withdraw a change of address that waits',
  answers: ok('Withdrawn: the change as it was', addressChange),
  refuses: ['address_change_unknown'],
  change: (inner, _given, by) => scopeOf(by).changesIn(inner).withdrawAddressChange(by.id),
  answer: async (_context, change) => presentAddressChange(change),
});

export const testOwn = defineOwnChange({
  name: 'portal.test',
  audit: 'merchant.tested',
  route: 'POST /portal/test',
  summary: TEST_SUMMARY,
  answers: accepted('Queued', ownCallback),
  change: (inner, _given, by) => scopeOf(by).changesIn(inner).sendTest(),
  target: (_made, by) => auditObject(by, { types: [TEST_TYPE] }),
  answer: async (_context, { callback }) => callback,
});

export const sendExamples = defineOwnChange({
  name: 'portal.examples',
  audit: 'merchant.tested',
  route: 'POST /portal/examples',
  summary:
    'Get an example of each type, or of these: your newest message of it with `test: true`, else an invented one',
  input: z.strictObject({ types: z.array(z.enum(EXAMPLE_TYPES)).min(1).max(EXAMPLE_TYPES.length) }).partial(),
  answers: accepted(
    'Queued',
    z.object({
      to: z.string().nullable().describe('the address that they go to; null: the feed alone'),
      callbacks: z.array(ownCallback),
    }),
  ),
  change: (inner, { types = EXAMPLE_TYPES }, by) =>
    scopeOf(by)
      .changesIn(inner)
      .sendExamples([...new Set(types)]),
  target: (made, by) => auditObject(by, { types: made.map(({ callback }) => callback.type) }),
  async answer(_context, made, { by }) {
    const { test_url: testUrl, url } = scopeOf(by).merchant;
    return { to: testUrl ?? url, callbacks: made.map(({ callback }) => callback) };
  },
});

export const pauseOwn = defineOwnChange({
  name: 'portal.pause',
  audit: 'merchant.paused',
  route: 'POST /portal/pause',
  summary: 'Pause: callbacks are held',
  answers: ok('Paused', ownMerchant),
  refuses: ['merchant_already'],
  change: (inner, _given, by) => scopeOf(by).changesIn(inner).setState('paused'),
  answer: async (_context, row) => presentOwnMerchant(row),
});

export const resumeOwn = defineOwnChange({
  name: 'portal.resume',
  audit: 'merchant.enabled',
  route: 'POST /portal/resume',
  summary: 'Resume, and close the circuit breaker: all that waits is sent now; 409 if operators paused it',
  answers: ok('Enabled', ownMerchant),
  refuses: ['merchant_paused_by_operators', 'filter_beyond_limits'],
  change: (inner, _given, by) => scopeOf(by).changesIn(inner).setState('enabled'),
  target: ({ was }, by) => auditObject(by, { was }),
  /** How many are sent; undefined where the merchant got nothing before. */
  async after(context, made, _given, by) {
    if (!made) return undefined;
    const { changesIn, hold } = scopeOf(by);
    const sent = await changesIn(context).sendWaiting();
    return hold === undefined ? sent : undefined;
  },
  answer: async (_context, row) => presentOwnMerchant(row),
});

export const chooseOwnFilter = defineOwnChange({
  name: 'portal.filter',
  audit: 'merchant.filter_chosen',
  route: 'PUT /portal/filter',
  summary: 'Choose a filter within what operators allow, or preview it',
  input: z.strictObject({
    filter: ownFilterInput.describe('within what operators allow; {}: all of that'),
    dry_run: z.boolean().default(false).describe('only preview'),
  }),
  answers: ok('Chosen, or previewed: it was a dry run', z.union([ownMerchant, ownFilterPreview])),
  refuses: ['backfill_running'],
  async dryRun({ calendar }, { filter, dry_run: isDryRun }, by) {
    if (!isDryRun) return undefined;
    const { examples, ...preview } = await scopeOf(by).previewFilter(filter);
    return {
      ...{ dry_run: true, days: PREVIEW_DAYS, ...preview },
      examples: examples.map(({ transactionId, at, amountCents, isMatched, isThere: _, ...event }) => ({
        ...{ transaction_id: transactionId, ...event },
        ...{ at: calendar.toIso(at), amount: formatAmount(amountCents), matched: isMatched },
      })),
    };
  },
  change: (inner, { filter }, by) => scopeOf(by).changesIn(inner).setFilter(filter),
  target: ({ before, after, noted: [noted] }, by) =>
    auditObject(by, { before: summarizeFilter(before), after: summarizeFilter(after), noted: noted?.id }),
  answer: async (_context, { merchant }) => presentOwnMerchant(merchant),
});

/** In a router of its own: it admits the token of a merchant, and none of ours. */
export const PORTAL = {
  tag: 'Portal',
  changes: [
    ...[redeliverOwn, replayOwn, rotateOwnSecret, testOwn, sendExamples, pauseOwn, resumeOwn, chooseOwnFilter],
    ...[askAddress, withdrawAddress],
  ],
} as const;
