/** Callbacks: messages to merchants, which can be sent again. */
import { z } from 'zod';
import { audit, auditParts, auditShown } from '../../access/audit.ts';
import { seesPersons } from '../../access/tokens.ts';
import { presentAttempt, presentCallback } from '../../callbacks/manage/present-callback.ts';
import { CALLBACK_STATES, findCallback, listAttempts, listCallbacks } from '../../callbacks/manage/read-callbacks.ts';
import { redeliver } from '../../callbacks/manage/redeliver.ts';
import { assertReplays, describeParts, REPLAYED_BY, replay } from '../../callbacks/manage/replay.ts';
import type { Context } from '../../context.ts';
import { findMerchant } from '../../merchants/read-merchants.ts';
import type { Reason } from '../../texts/refuse.ts';
import { authorizeFilter } from '../authorize-search.ts';
import { type By, defineChange } from '../define-change.ts';
import { defineItem, type ReadBy } from '../define-item.ts';
import { defineList } from '../define-list.ts';
import { accepted, ok } from '../describe-operation.ts';
import { filterInput, parsedInstant } from '../fields.ts';
import { callback, callbackWithAttempts } from '../rows/callbacks.ts';

const replayed = z.object({ merchant: z.string(), count: z.int(), dry_run: z.boolean() });

/** The fields of a replay, and what holds between them. */
export const replayRange = {
  by: z
    .enum(REPLAYED_BY, `must be one of ${REPLAYED_BY.join(', ')}`)
    .optional()
    .describe(
      'what from and to choose by, never when it arrived: created (default), when Confere made the message, before its first try; event, when its event happened at the provider; messages without one have their creation alone',
    ),
  from: parsedInstant,
  to: parsedInstant,
  states: z
    .array(z.enum(['delivered', 'failed'], 'must be one of delivered, failed'))
    .min(1)
    .optional(),
  dry_run: z.boolean().default(false),
};
export const REPLAY_ORDER = {
  check: ({ from, to }: { from: Date; to: Date }): boolean => from < to,
  fault: { path: ['to'], error: 'must be after from' },
};

/** The summary of both operations that send a test. */
export const TEST_SUMMARY =
  'Send a signed test. Without a test URL it goes to the production URL: if it is accepted, the circuit breaker closes, and held callbacks are sent';

/** Why nothing would be sent. */
export const HOLDS = [
  ...(['merchant_fetches', 'merchant_not_enabled', 'merchant_breaker_open', 'restore_unconfirmed'] as const),
] satisfies Reason[];

export const redeliverCallback = defineChange({
  name: 'callbacks.redeliver',
  audit: 'callback.redelivered',
  roles: ['operator'],
  route: 'POST /callbacks/{id}/redeliver',
  summary: 'Deliver it once more, under its webhook-id',
  answers: accepted('Queued', callback),
  refuses: ['callback_unknown', 'merchant_unknown', ...HOLDS],
  change: (inner, _given, { id }) => redeliver(inner, id),
  answer: async (_context, row) => presentCallback(row),
});

const replayInput = z
  .strictObject({ merchant: z.string('must be the id of a merchant'), filter: filterInput.optional(), ...replayRange })
  .refine(REPLAY_ORDER.check, REPLAY_ORDER.fault);
type Range = z.infer<typeof replayInput>;

export const replayCallbacks = defineChange({
  name: 'callbacks.replay',
  audit: 'callbacks.replay_requested',
  roles: ['operator'],
  route: 'POST /callbacks/replay',
  summary: 'Deliver a range once more, or count it',
  input: replayInput,
  answers: { ...ok('Counted: it was a dry run', replayed), ...accepted('Queued', replayed) },
  refuses: ['merchant_unknown', ...HOLDS],
  async dryRun(context, range, by) {
    if (!range.dry_run) return undefined;
    await authorize(context, range, by);
    await audit(context, {
      ...{ actor: by.caller.id, action: 'callbacks.replay_requested' },
      ...{ target: range.merchant, detail: describeRange(range) },
    });
    return { merchant: range.merchant, count: await replay(context, { ...range, dryRun: true }), dry_run: true };
  },
  async prepare(context, range, by) {
    await authorize(context, range, by);
    return range;
  },
  async change(inner, { merchant }) {
    await assertReplays(inner, merchant);
    return merchant;
  },
  target: (merchant, { via }, range) => ({ target: merchant, detail: via ?? describeRange(range) }),
  async after(context, made, { merchant, from, to, ...range }, { caller, via }) {
    if (made === undefined) return undefined;
    // a range may be long: each part is its own transaction
    const detailOf = describeParts({ from, to, by: range.by });
    const inParts = auditParts(context, (count) => {
      const detail = [...(via ? [via] : []), detailOf(count)].join(' ');
      return { actor: caller.id, action: 'callbacks.replayed', target: merchant, detail };
    });
    return await replay(context, { ...range, merchant, from, to, dryRun: false }, inParts);
  },
  answer: async (_context, merchant, { followed }) => ({ merchant, count: followed, dry_run: false }),
});

/** A count reveals whether anything matches the filter: it is a search, dry or not. */
async function authorize(context: Context, { merchant, filter }: Range, { caller }: By): Promise<void> {
  await findMerchant(context.db, merchant);
  await authorizeFilter(context, caller, filter);
}

function describeRange({ from, to, dry_run, filter = {} }: Range): string {
  return JSON.stringify({ from, to, dry_run, filter: Object.keys(filter) });
}

export const callbacks = defineList({
  name: 'callbacks',
  roles: ['viewer'],
  route: '/callbacks',
  row: callback,
  filters: z.object({
    merchant: z.string().optional().describe('of this merchant'),
    transaction_id: z.string().optional().describe('of this transaction'),
    state: z.enum(CALLBACK_STATES, `must be one of ${CALLBACK_STATES.join(', ')}`).optional(),
    type: z.string().optional().describe('of this type'),
  }),
  async read({ db }, { limit, after }, { transaction_id: transactionId, ...filter }) {
    const rows = await listCallbacks(db, { ...filter, transactionId }, { limit, before: after });
    return rows.map((row) => ({ seq: row.seq, ...presentCallback(row) }));
  },
});

export const oneCallback = defineItem({
  route: '/callbacks/{id}',
  summary: 'One callback, try by try',
  item: callbackWithAttempts,
  read: async (context, by) => await showCallback(context, await findCallback(context.db, by.id), by),
});

/** Shows a callback with its attempts as this caller may see them: a merchant's response is free text, and may name people. */
export async function showCallback(
  context: Context,
  row: Awaited<ReturnType<typeof findCallback>>,
  { id, caller, via }: ReadBy,
) {
  const withBody = seesPersons(caller);
  const attempts = (await listAttempts(context.db, row.seq)).map((one) => presentAttempt(one, { withBody }));
  const done = { actor: caller.id, action: 'callbacks.show', target: id } as const;
  const transactions = row.transaction_id === null ? [] : [row.transaction_id];
  if (withBody) await auditShown(context, done, { transactions, via });
  return { ...presentCallback(row), attempt_list: attempts };
}
