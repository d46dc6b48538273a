/** The filters of expected payments, and the sums of what they find. */
import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { readRecipients } from '../../callbacks/queue/read-recipients.ts';
import type { Context } from '../../context.ts';
import { hashDocument, indexName, rangeOf } from '../../database/keys/index-person.ts';
import { matchesPlatform } from '../../database/shared/matches-platform.ts';
import type { Database } from '../../database/tables.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { normalizeDocument } from '../../domain/person/fold-person.ts';
import type { Operation } from '../../domain/statuses.ts';
import { listConditions, type MerchantFilter } from '../../merchants/match-filter.ts';
import { WINDOW_DAYS_AFTER_DUE } from '../decide/decide-matches.ts';
import type { ExpectedState } from '../decide/decide-state.ts';
import { IS_KEYLESS, IS_UNSEEN } from './describe-state.ts';
import { sendsNone } from './find-silent.ts';

export type ExpectedFilters = {
  state?: ExpectedState | undefined;
  operation?: Operation | undefined;
  source?: string | undefined;
  /** Sources that the caller may read; undefined: all. */
  sources?: readonly string[] | undefined;
  /** The row number of the merchant that asks: what another merchant sent is left out. */
  merchantSeq?: number | undefined;
  id?: string | undefined;
  number?: string | undefined;
  reference?: string | undefined;
  platform?: string | undefined;
  due_from?: Day | undefined;
  due_to?: Day | undefined;
  /** Days on which keys first came. */
  from?: Day | undefined;
  to?: Day | undefined;
  /** Plain, with or without punctuation. */
  document?: string | undefined;
  /** The beginning of it, in any case, with or without accents. */
  name?: string | undefined;
  /** In cents. */
  amount?: bigint | undefined;
  /** Waits for its payment. */
  payable?: boolean | undefined;
  /** Has candidates, about which a person may decide. */
  undecided?: boolean | undefined;
  /** Has a payment that fits others too. */
  disputed?: 'true' | undefined;
  /** Is not paid, and a payment that counts for none has its amount, in its days, or its reference or E2E id at another platform. */
  alike?: 'true' | undefined;
  /** Is proven unpaid, and no payment that is known may be its own. */
  chargeable?: 'true' | undefined;
  /** Sends no messages to `receivers`. */
  silent?: 'true' | undefined;
  /** Merchants that receive messages: the one that asks, else all. */
  receivers?: Awaited<ReturnType<typeof readRecipients>> | undefined;
  /** Limits what is alike to payments that this filter of a merchant lets it see; null: none. */
  shows?: MerchantFilter | null | undefined;
};

/** States of an order that no payment counts for. */
export const PAYABLE: readonly string[] = ['open', 'unpaid', 'not_proven'] satisfies ExpectedState[];

type Heads = ExpressionBuilder<Database & { head: Database['expected_payments'] }, 'head'>;

/** The condition that an expected payment is one that the filters find. */
export function matchFilters(
  eb: Heads,
  { keys }: Pick<Context, 'keys'>,
  filters: ExpectedFilters,
): Expression<SqlBool> {
  const { reference, platform, due_from, due_to, from, to, document, name, amount, undecided, disputed } = filters;
  const terms: Expression<SqlBool>[] = (['id', 'state', 'operation', 'source', 'number'] as const).flatMap((field) => {
    const value = filters[field];
    return value === undefined ? [] : [eb(`head.${field}`, '=', value)];
  });
  if (reference !== undefined)
    terms.push(
      eb(
        'head.version_seq',
        'in',
        eb
          .selectFrom('expected_keys')
          .select('version_seq')
          .where('value', '=', reference)
          .where('kind', '=', 'reference'),
      ),
    );
  if (filters.sources)
    terms.push(filters.sources.length > 0 ? eb('head.source', 'in', filters.sources) : sql<SqlBool>`FALSE`);
  if (filters.merchantSeq !== undefined)
    terms.push(eb.or([eb('head.merchant_seq', 'is', null), eb('head.merchant_seq', '=', filters.merchantSeq)]));
  if (platform !== undefined) terms.push(matchesPlatform('head.platform', platform));
  if (filters.payable || filters.alike) terms.push(eb('head.state', 'in', PAYABLE));
  if (due_from !== undefined) terms.push(eb('head.due_day', '>=', due_from));
  if (due_to !== undefined) terms.push(eb('head.due_day', '<=', due_to));
  if (from !== undefined) terms.push(eb('head.created_day', '>=', from));
  if (to !== undefined) terms.push(eb('head.created_day', '<=', to));
  if (amount !== undefined) terms.push(eb('head.amount_cents', '=', amount));
  if (document !== undefined)
    terms.push(eb('head.document_hash', '=', hashDocument(keys, normalizeDocument(document) ?? document)));
  if (name !== undefined) {
    const { from: first, end } = rangeOf(indexName(name));
    const named = eb.selectFrom('expected_texts').select('version_seq');
    terms.push(eb('head.version_seq', 'in', named.where('name_folded', '>=', first).where('name_folded', '<', end)));
  }
  const candidates = eb.selectFrom('expected_candidates').select('rule').whereRef('expected_seq', '=', 'head.seq');
  if (undecided === true || disputed !== undefined) {
    // a pair that a person undid is decided
    const wanted = disputed
      ? candidates.where('reason', '=', 'not_unique')
      : candidates.where('reason', '<>', 'undone');
    terms.push(eb.exists(wanted));
  }
  if (filters.alike !== undefined) terms.push(hasAlike(filters));
  if (filters.silent !== undefined) terms.push(sendsNone(filters.receivers ?? []));
  if (filters.chargeable !== undefined) {
    const open = candidates.where('reason', '<>', 'undone');
    terms.push(eb('head.state', '=', 'unpaid'), eb.not(eb.exists(open)), eb.not(hasAlike(filters)));
    terms.push(eb.not(IS_KEYLESS), eb.not(IS_UNSEEN));
  }
  return eb.and(terms);
}

/** Whether a payment that counts for none has the amount of an order (`head`), in its days, or a key of it at another platform. */
function hasAlike({ shows }: ExpectedFilters): RawBuilder<SqlBool> {
  if (shows === null) return sql`FALSE`;
  const isOpen = sql.join(
    [
      sql`paid.operation = head.operation AND paid.status = 'paid' AND ${countsForNone(sql`paid.seq`)}`,
      ...(shows ? listConditions(shows, 'paid', hasStatus) : []),
    ],
    sql` AND `,
  );
  const byKey = (kind: 'reference' | 'e2e_id'): RawBuilder<SqlBool> =>
    sql`EXISTS (SELECT 1 FROM expected_keys AS wanted JOIN transactions AS paid ON paid.${sql.ref(kind)} = wanted.value
      WHERE wanted.version_seq = head.version_seq AND wanted.kind = ${kind} AND head.platform IS NOT NULL
      AND NOT paid.platform <=> head.platform AND ${isOpen})`;
  return sql`(EXISTS (SELECT 1 FROM transactions AS paid WHERE paid.amount_cents = head.amount_cents
      AND paid.created_wall >= head.issued_day
      AND paid.created_wall < head.due_day + INTERVAL ${sql.lit(WINDOW_DAYS_AFTER_DUE + 1)} DAY
      AND (head.platform IS NULL OR head.platform = paid.platform) AND ${isOpen})
    OR ${byKey('reference')} OR ${byKey('e2e_id')})`;
}

function hasStatus(status: string): RawBuilder<SqlBool> {
  return sql`EXISTS (SELECT 1 FROM events WHERE transaction_seq = paid.seq AND status = ${status})`;
}

/** Whether a payment is neither matched nor a candidate. @param seq its row number. */
export function countsForNone(seq: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`NOT EXISTS (SELECT 1 FROM expected_matches WHERE transaction_seq = ${seq} AND part IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM expected_candidates WHERE transaction_seq = ${seq})`;
}

/**
 * How many expected payments a filter finds, their amounts and what is paid of them in cents, by state and operation: what is received and what is paid
 * make no sum.
 * @param newestMax of how many, the newest ones; by default of all.
 */
export async function sumExpected(context: Pick<Context, 'db' | 'keys'>, filters: ExpectedFilters, newestMax?: number) {
  const found = context.db
    .selectFrom('expected_payments as head')
    .select(['state', 'operation', 'amount_cents', 'settled_cents'])
    .where((eb) => matchFilters(eb, context, filters))
    .$if(newestMax !== undefined, (query) => query.orderBy('seq', 'desc').limit(newestMax ?? 0));
  const rows = await context.db
    .selectFrom(found.as('found'))
    .select(['state', 'operation', (eb) => eb.fn.countAll<number>().as('count')])
    .select((eb) => [eb.fn.sum('amount_cents').as('cents'), eb.fn.sum('settled_cents').as('settled')])
    .groupBy(['state', 'operation'])
    .execute();
  return rows.map(({ state, operation, count, cents, settled }) => ({
    ...{ state: state as ExpectedState, operation: operation as Operation },
    ...{ count: Number(count), amountCents: BigInt(cents ?? 0), settledCents: BigInt(settled ?? 0) },
  }));
}

/** The due days next to those of a filter, before and after them, on which its other terms find an expected payment. */
export async function findNearestDue(context: Pick<Context, 'db' | 'keys'>, filters: ExpectedFilters): Promise<Day[]> {
  const { due_from: from, due_to: to, ...others } = filters;
  const find = async (due: ExpectedFilters, order: 'asc' | 'desc'): Promise<Day[]> => {
    const row = await context.db
      .selectFrom('expected_payments as head')
      .select('due_day')
      .where((eb) => matchFilters(eb, context, { ...others, ...due }))
      .orderBy('due_day', order)
      .limit(1)
      .executeTakeFirst();
    return row ? [row.due_day] : [];
  };
  return [
    ...(from === undefined ? [] : await find({ due_to: addDays(from, -1) }, 'desc')),
    ...(to === undefined ? [] : await find({ due_from: addDays(to, 1) }, 'asc')),
  ];
}
