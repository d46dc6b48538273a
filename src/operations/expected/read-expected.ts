/** Expected payments as callers may see them: the list, one by its id or key, and a merchant's own. */
import { z } from 'zod';
import { audit } from '../../access/audit.ts';
import { type Caller, seesPersons } from '../../access/tokens.ts';
import { readRecipients } from '../../callbacks/queue/read-recipients.ts';
import type { Context } from '../../context.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { EXPECTED_STATES } from '../../expected/decide/decide-state.ts';
import { idOf } from '../../expected/expected-id.ts';
import { readScopes } from '../../expected/follow/read-scopes.ts';
import { readStateReason } from '../../expected/read/describe-state.ts';
import type { ExpectedFilters } from '../../expected/read/filter-expected.ts';
import { isSilentFor } from '../../expected/read/find-silent.ts';
import { listExpected, type PresentedExpected } from '../../expected/read/list-expected.ts';
import { maskExpected, scopeOf } from '../../expected/read/mask-expected.ts';
import { readAlike } from '../../expected/read/read-alike.ts';
import { countCompetingElsewhere, readCompeting } from '../../expected/read/read-competing.ts';
import { readOwnStory } from '../../expected/read/read-story.ts';
import { refuse } from '../../texts/refuse.ts';
import { authorizeSearch } from '../authorize-search.ts';
import { auditItem, defineItem } from '../define-item.ts';
import { defineList, readList } from '../define-list.ts';
import { amount, day } from '../fields.ts';
import { withoutSeq } from '../present-row.ts';
import { expectedPayment } from '../rows/expected.ts';

export const BY_KEY = '/expected-payments/{source}/{number}';

/** One expected payment, as the caller may see it. @throws ConfereError `not_found`. */
export async function showExpected(context: Context, id: string, caller: Caller) {
  const [expected] = await listExpected(context, 1, undefined, { id });
  if (!expected) throw refuse('expected_unknown');
  requireSource(caller, expected.source);
  return { ...present(withoutSeq(expected), caller), ...(await readBeside(context, expected, caller)) };
}

/** Reads who competes with an order, and which payments are like those that it names. */
async function readBeside(context: Context, order: PresentedExpected, caller: Caller) {
  const scope = scopeOf(caller);
  return {
    competing: (await readCompeting(context.db, [order.id], scope)).get(order.id) ?? [],
    competing_elsewhere: await countCompetingElsewhere(context.db, order.id, scope),
    alike: await readAlike(context, order, scope),
    ...(caller.merchantSeq !== undefined &&
      (await isSilentFor(context.db, caller.merchantSeq, order)) && { silent: true as const }),
  };
}

/** Limits a filter to what a merchant's portal shows: the sources of its token, without what another merchant sent. */
export function ownOrders<Filter extends object>(caller: Caller, filter: Filter) {
  return { caller, filter: { ...filter, merchantSeq: caller.merchantSeq }, via: 'portal' as const };
}

/**
 * Limits a filter to what the caller sees: a merchant, the sources of its token, and hints by the payments that the operators' filter lets it see;
 * and names who receives messages.
 * @throws ConfereError `forbidden` where SQL cannot compare a filter.
 */
export async function limitToCaller(
  { db }: Pick<Context, 'db'>,
  { sources, merchantSeq }: Caller,
  filter: ExpectedFilters,
): Promise<ExpectedFilters> {
  const limited: ExpectedFilters = sources ? { ...filter, sources } : { ...filter };
  if (filter.silent !== undefined) limited.receivers = await readRecipients(db, merchantSeq);
  if (sources && (filter.alike ?? filter.chargeable) !== undefined)
    limited.shows = (merchantSeq !== undefined && (await readScopes(db, [merchantSeq])).get(merchantSeq)) || null;
  const compared = [limited.shows, ...(limited.receivers ?? []).flatMap(({ filters }) => filters)];
  if (compared.some((one) => one && Object.keys(one.extra_match).length > 0)) throw refuse('filter_of_operators');
  return limited;
}

/** An order of a merchant, with why it has its state, those that compete with it, and its story. @throws ConfereError `not_found`, also for one that is not its own. */
export async function showOwnOrder(context: Context, id: string, caller: Caller) {
  const page = { limit: 1, after: undefined };
  const [order] = (await readList(context, expectedPayments, { ...ownOrders(caller, { id }), page })).rows;
  if (!order) throw refuse('expected_unknown');
  const own = await readOwnStory(context.db, id, scopeOf(caller));
  const reason = await readStateReason(context.db, order);
  return { order, reason, ...(await readBeside(context, order, caller)), ...own };
}

/** A merchant reads and writes the sources of its token alone. @throws ConfereError `forbidden`. */
export function requireSource({ sources }: Caller, source: string): void {
  if (sources && !sources.includes(source)) throw refuse('source_not_yours', { sources: sources.join(', ') });
}

/** The row as the caller may see it; notes, and who of us made a match, are ours: a merchant sees none. */
function present(row: PresentedExpected, caller: Caller): PresentedExpected {
  if (!caller.sources) return seesPersons(caller) ? row : maskExpected(row);
  const byOf = ({ rule, by }: (typeof row.matches)[number]): string => (rule === 'person' ? 'operators' : by);
  return { ...row, matches: row.matches.map((one) => ({ ...one, note: null, by: byOf(one) })) };
}

export const expectedFilters = z.object({
  state: z.enum(EXPECTED_STATES, `must be one of ${EXPECTED_STATES.join(', ')}`).optional(),
  operation: z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`).optional(),
  source: z.string().min(1).optional().describe('of this source'),
  number: z.string().min(1).optional().describe('with this whole number'),
  reference: z.string().min(1).optional().describe('with this whole reference'),
  platform: z.string().min(1).optional().describe('none: what names no platform'),
  amount: amount.optional().describe('of exactly this amount'),
  due_from: day.optional().describe('due on this day or later'),
  due_to: day.optional().describe('due on this day or earlier'),
  from: day.optional().describe('that first came on this day or later'),
  to: day.optional().describe('that first came on this day or earlier'),
  disputed: z
    .literal('true', 'must be true')
    .optional()
    .describe('those with a payment that fits others too: a candidate that is not_unique'),
  alike: z
    .literal('true', 'must be true')
    .optional()
    .describe(
      'those that are not paid, while a payment counts for none of equal amount, in their days, or of their reference or e2e_id at another platform; not for merchants whose filter has extra_match',
    ),
  chargeable: z
    .literal('true', 'must be true')
    .optional()
    .describe(
      'those that are unpaid while no known payment may be their own: none is a candidate, none is alike, and one would be found; not for merchants whose filter has extra_match',
    ),
  silent: z
    .literal('true', 'must be true')
    .optional()
    .describe(
      'those whose changes send the merchant that asks no messages: it gets none about orders, or they do not fit its filter; else those that send no merchant any. Not where a filter has extra_match',
    ),
});
type Listed = Awaited<ReturnType<typeof listExpected>>[number];

export const expectedPayments = defineList<Listed, ExpectedFilters>({
  name: 'expected_payments',
  roles: ['viewer'],
  route: '/expected-payments',
  row: expectedPayment,
  filters: expectedFilters,
  search: ({ platform, reference, document, name, number }) => ({ platform, reference, document, name, number }),
  isForSources: true,
  async read(reading, { limit, after }, filter, { caller }) {
    if (filter.source !== undefined) requireSource(caller, filter.source);
    return await listExpected(reading, limit, after, await limitToCaller(reading, caller, filter));
  },
  personal: (context, _rows, { caller, filter: { id, merchantSeq: _, ...filter }, via }) =>
    audit(context, {
      ...{ actor: caller.id, action: id === undefined ? 'expected.list' : 'expected.show' },
      target: id ?? JSON.stringify(Object.keys(filter)),
      detail: via,
    }),
  mask: (_context, rows, caller) => rows.map((row) => ({ ...row, ...present(withoutSeq(row), caller) })),
});

export const oneExpected = defineItem({
  route: '/expected-payments/{id}',
  summary: 'One expected payment, by its id',
  item: expectedPayment,
  isForSources: true,
  async read(context, by) {
    await auditItem(context, by, 'expected.show', by.id);
    return await showExpected(context, by.id, by.caller);
  },
});

export const oneExpectedByKey = defineItem({
  ...oneExpected,
  route: BY_KEY,
  summary: 'One expected payment, by its key',
  async read(context, by) {
    // invoices too are read by their key, which `keyOf` refuses
    const { source = '', number = '' } = by.params ?? {};
    requireSource(by.caller, source);
    // a number may hold a document
    await authorizeSearch(context, by.caller, { number });
    return await oneExpected.read(context, { ...by, id: idOf(context.keys, { source, number }) });
  },
});
