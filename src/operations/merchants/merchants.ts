/** Merchants, which receive callbacks. */
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import { mayActAs } from '../../access/roles.ts';
import { type BackfillCount, countBackfill } from '../../callbacks/backfill/count-backfill.ts';
import { sendWaiting } from '../../callbacks/health/pause-and-resume.ts';
import { presentCallback } from '../../callbacks/manage/present-callback.ts';
import { sendTest } from '../../callbacks/manage/send-test.ts';
import type { Context } from '../../context.ts';
import { CALLBACK_FORMATS } from '../../merchants/callback-formats.ts';
import {
  createMerchant,
  defaultEventsSince,
  removeMerchant,
  type SetMerchant,
  setMerchantState,
  updateMerchant,
} from '../../merchants/change-merchants.ts';
import { checkMerchant, MERCHANT_LIMITS } from '../../merchants/check-merchant.ts';
import { completeFilter, type FilterInput, parseFilter } from '../../merchants/match-filter.ts';
import { maskMerchant, presentMerchant } from '../../merchants/present-merchant.ts';
import { findMerchant, listMerchants, type MerchantRow } from '../../merchants/read-merchants.ts';
import { rotateSecret } from '../../merchants/secrets.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { describe } from '../../texts/refuse.ts';
import { authorizeFilter } from '../authorize-search.ts';
import { auditObject, type By, type Change, defineChange } from '../define-change.ts';
import { defineItem } from '../define-item.ts';
import { defineList } from '../define-list.ts';
import { accepted, created, ended, ok } from '../describe-operation.ts';
import { filterInput, parsedInstant, text } from '../fields.ts';
import { presentMerchantTo } from '../mask-texts.ts';
import { callback } from '../rows/callbacks.ts';
import { backfillCount, merchant, newMerchant, rotatedMerchant } from '../rows/merchants.ts';
import { TEST_SUMMARY } from './callbacks.ts';

const { nameCharsMax, emailCharsMax, rateMax } = MERCHANT_LIMITS;
const NO_NAME = describe('name_length', { n: nameCharsMax });
const NO_EMAIL = describe('email_wrong', {});
const NO_RATE = describe('rate_wrong', { n: rateMax });

const fields = {
  name: text(nameCharsMax, NO_NAME, NO_NAME),
  // not checked here: the configuration decides which addresses callbacks may go to
  url: z.string().nullable().optional().describe('null: it fetches its events from /events'),
  format: z
    .enum(CALLBACK_FORMATS, `must be one of ${CALLBACK_FORMATS.join(', ')}`)
    .optional()
    .describe('provider: the flat body and the bearer token of the provider'),
  bearer_token: z
    .string()
    .nullable()
    .optional()
    .describe('sent as `Authorization: Bearer …` and never shown; the format provider requires it; null: none'),
  headers: z
    .record(z.string(), z.string().nullable())
    .optional()
    .describe('sent with each message; values are never shown. null removes one, others stay'),
  email: z.email(NO_EMAIL).max(emailCharsMax, NO_EMAIL).nullable().optional(),
  filter: filterInput.optional(),
  rate: z.int(NO_RATE).min(1, NO_RATE).max(rateMax, NO_RATE).nullable().optional(),
  manifests: z.boolean().optional().describe('whether day manifests are sent to it; default: true'),
  events_since: parsedInstant.optional(),
  dry_run: z.boolean().optional().describe('only count the callbacks of past events'),
};
const changes = z.strictObject({ ...fields, state: z.enum(['enabled', 'paused']).optional() }).partial();
type Asked = z.infer<typeof changes>;

/** The fields as the room of merchants has them. */
export function toMerchantInput<T extends Pick<Asked, 'bearer_token' | 'events_since' | 'dry_run'>>(asked: T) {
  const { bearer_token: bearerToken, events_since: eventsSince, dry_run: _, ...rest } = asked;
  return { ...rest, bearerToken, eventsSince };
}

/** Names of the fields that somebody gave, without values: a URL may hold a secret, a header is one. */
export function nameFields(asked: Asked): string {
  return Object.keys(asked)
    .filter((name) => name !== 'dry_run')
    .join(', ');
}

const changed = { roles: ['admin'], refuses: ['merchant_unknown'] } as const satisfies Partial<Change>;
const shown = {
  ...changed,
  answer: async (_context, row) => presentMerchant(row),
} as const satisfies Partial<Change<unknown, MerchantRow>>;

export const addMerchant = defineChange({
  name: 'merchants.add',
  audit: 'merchant.added',
  roles: ['admin'],
  route: 'POST /merchants',
  summary: 'Add a merchant',
  input: z.strictObject(fields),
  answers: {
    ...ok('Counted: it was a dry run', backfillCount),
    ...created('Its secret is shown this once', newMerchant),
  },
  async dryRun(context, { url = null, ...asked }, by) {
    if (!asked.dry_run) return undefined;
    checkMerchant(context, toMerchantInput({ url, ...asked }));
    const { filter, events_since: eventsSince = defaultEventsSince(context.clock.now()) } = asked;
    return await countPast(context, by, undefined, { filter, eventsSince });
  },
  change: (inner, { url = null, ...asked }) => createMerchant(inner, toMerchantInput({ url, ...asked })),
  target: ({ merchant: made }) => made.id,
  answer: async (_context, { merchant: made, secret }) => ({ ...presentMerchant(made), secret }),
  location: ({ merchant: made }) => `/api/v1/merchants/${made.id}`,
});

export const changeMerchant = defineChange<Asked, Awaited<ReturnType<typeof updateMerchant>>>({
  ...shown,
  name: 'merchants.update',
  audit: 'merchant.changed',
  route: 'PATCH /merchants/{id}',
  summary: 'Change a merchant',
  input: changes,
  answers: ok('Changed, or counted: it was a dry run', z.union([merchant, backfillCount])),
  refuses: ['merchant_unknown', 'filter_beyond_limits'],
  async dryRun(context, asked, by) {
    if (!asked.dry_run) return undefined;
    const row = await findMerchant(context.db, by.id);
    checkMerchant(context, toMerchantInput(asked), row);
    const { filter = parseFilter(row.filter), events_since: eventsSince = row.events_since } = asked;
    return await countPast(context, by, row, { filter, eventsSince });
  },
  change: (inner, asked, { id }) => updateMerchant(inner, id, toMerchantInput(asked)),
  after: async (context, made, { state }) => made && state === 'enabled' && (await sendWaiting(context, made)),
  target({ noted }, { id, via }, { url, email, ...asked }) {
    const fields = [
      nameFields(asked),
      ...noted.flatMap((one) => (one.kind === 'filter' ? [one.id] : [one.kind, one.id])),
    ];
    // the switch of the filter is no foreign value
    if (asked.filter) fields.push(`expected=${asked.filter.expected ?? false}`);
    return { target: id, detail: `${via ? `${via} ` : ''}${fields.filter((one) => one !== '').join(', ')}` };
  },
});

/** The body of a dry run. */
export type CountedPast = BackfillCount & { dry_run: true; events_since: string };

/** Counts the callbacks of events that the ledger knows that would be enqueued. */
async function countPast(
  context: Context,
  { caller }: By,
  row: MerchantRow | undefined,
  { filter, eventsSince }: { filter?: FilterInput | undefined; eventsSince: Date },
): Promise<CountedPast> {
  // a count reveals whether anything matches the filter: it is a search
  await authorizeFilter(context, caller, filter);
  const done = { actor: caller.id, action: 'merchant.backfill_counted', target: row?.id ?? 'new' };
  await audit(context, { ...done, detail: Object.keys(filter ?? {}).join(', ') });
  const own = parseFilter(row?.own_filter ?? '{}');
  const count = await countBackfill(context, row, { filters: [completeFilter(filter), own], eventsSince });
  return { dry_run: true, events_since: eventsSince.toISOString(), ...count };
}

export const removeOneMerchant = defineChange({
  ...changed,
  name: 'merchants.remove',
  audit: 'merchant.removed',
  route: 'DELETE /merchants/{id}',
  summary: 'Remove a merchant',
  answers: ended('Removed'),
  change: (inner, _given, { id }) => removeMerchant(inner, id),
});

export const rotateMerchantSecret = defineChange({
  ...changed,
  name: 'merchants.rotate_secret',
  audit: 'merchant.secret_rotated',
  route: 'POST /merchants/{id}/rotate-secret',
  summary: 'Give it a new secret; the old one stays valid for a while',
  answers: ok('Rotated', rotatedMerchant),
  change: (inner, _given, { id }) => rotateSecret(inner, id),
  target: (_made, { id, via }) => ({ target: id, detail: [via, 'url'].filter(Boolean).join(' ') }),
  async answer({ db }, { secret, oldUntil }, { by }) {
    return { ...presentMerchant(await findMerchant(db, by.id)), secret, old_secret_until: oldUntil.toISOString() };
  },
});

export const enableMerchant = defineChange<unknown, SetMerchant>({
  ...shown,
  name: 'merchants.enable',
  audit: 'merchant.enabled',
  route: 'POST /merchants/{id}/enable',
  summary: 'Enable it: all that waits is sent now',
  answers: ok('Enabled', merchant),
  refuses: ['merchant_unknown', 'filter_beyond_limits'],
  change: (inner, _given, { id }) => setMerchantState(inner, id, 'enabled'),
  target: ({ was }, by) => auditObject(by, { was }),
  after: async (context, made) => made && (await sendWaiting(context, made)),
});

export const pauseMerchant = defineChange({
  ...shown,
  name: 'merchants.pause',
  audit: 'merchant.paused',
  route: 'POST /merchants/{id}/pause',
  summary: 'Pause it: its callbacks are held',
  answers: ok('Paused', merchant),
  change: (inner, _given, { id }) => setMerchantState(inner, id, 'paused'),
});

export const testMerchant = defineChange({
  ...changed,
  name: 'merchants.test',
  audit: 'merchant.tested',
  route: 'POST /merchants/{id}/test',
  summary: TEST_SUMMARY,
  answers: accepted('Queued', callback),
  change: (inner, _given, { id }) => sendTest(inner, id),
  answer: async (_context, row) => presentCallback(row),
});

export const merchants = defineList({
  name: 'merchants',
  roles: ['viewer'],
  route: '/merchants',
  row: merchant,
  read: async ({ db }, { limit, after = 0 }) =>
    (await listMerchants(db, { limit, after })).map((row) => ({ seq: row.seq, ...presentMerchant(row) })),
  mask: (_context, rows, { role }) =>
    mayActAs(role, 'operator') ? rows : mapInTurns(rows, ({ seq, ...row }) => ({ seq, ...maskMerchant(row) })),
});

export const oneMerchant = defineItem({
  route: '/merchants/{id}',
  summary: 'One merchant',
  item: merchant,
  read: async ({ db }, { id, caller }) => presentMerchantTo(caller, await findMerchant(db, id)),
});
