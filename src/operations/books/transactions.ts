/** Transactions of the ledger, and the balances of its accounts. */
import { z } from 'zod';
import { auditShown } from '../../access/audit.ts';
import { type Caller, seesPersons } from '../../access/tokens.ts';
import { presentCallback } from '../../callbacks/manage/present-callback.ts';
import { listTransactionCallbacks } from '../../callbacks/manage/read-callbacks.ts';
import type { Context } from '../../context.ts';
import { NO_AMOUNT } from '../../domain/cents-of.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { foldName, normalizeDocument } from '../../domain/person/fold-person.ts';
import { maskAccount } from '../../domain/person/mask-person.ts';
import { WORD_CHARS_MAX, WORD_CHARS_MIN } from '../../domain/person/split-words.ts';
import { type LedgerTransaction, maskTransaction, presentTransaction } from '../../domain/present-transaction.ts';
import { OPERATIONS } from '../../domain/statuses.ts';
import { listOrdersOf } from '../../expected/read/read-story.ts';
import { areWords, SEARCH_CHARS_MAX, SEARCH_WORDS_MAX } from '../../ledger/read/classify-search.ts';
import { describeTransaction, maskEntries } from '../../ledger/read/describe-transaction.ts';
import {
  areInsideDays,
  INSIDE_CHARS_MIN,
  INSIDE_DAYS_MAX,
  searchTransactions,
} from '../../ledger/read/search-transactions.ts';
import type { TransactionQuery } from '../../ledger/read/transaction-query.ts';
import { listMismatches } from '../../mismatches/read-mismatches.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import { type AsOf, endOfNow, readBalances } from '../../seal/read-balances.ts';
import { refuse } from '../../texts/refuse.ts';
import {
  auditWithheldMatches,
  authorizeSearch,
  describeFilters,
  formatSearchCursor,
  type PersonFilters,
  parseSearchCursor,
} from '../authorize-search.ts';
import { auditItem, defineItem } from '../define-item.ts';
import { defineSearch } from '../define-list.ts';
import { day, instant } from '../fields.ts';
import { maskMismatches } from '../mask-texts.ts';
import { withoutSeq } from '../present-row.ts';
import * as rows from '../rows/ledger.ts';

export const MISMATCHES_SHOWN_MAX = 200;
const NAME_CHARS_MIN = 2;

const amountBound = z
  .string()
  .refine((text) => parseAmount(text) !== undefined, NO_AMOUNT)
  .optional();

const e2eId = z.string().trim().min(1).optional();
const name = z
  .string()
  .max(100)
  .refine((text) => foldName(text).length >= NAME_CHARS_MIN, `must be at least ${NAME_CHARS_MIN} characters`)
  .optional()
  .describe('the beginning of the name, in any case, with or without accents; not for viewers');
/** Fields by which a payment is asked for. */
export const paymentTerms = { amount: amountBound, name, e2e_id: e2eId };

export const transactions = defineSearch({
  name: 'transactions',
  roles: ['viewer'],
  route: '/transactions',
  row: rows.transaction,
  filters: z
    .object({
      id: z.string().min(1).optional(),
      reference: z.string().min(1).optional(),
      extra: z.string().min(1).optional(),
      e2e_id: e2eId,
      document: z
        .string()
        .max(256)
        .refine((text) => normalizeDocument(text) !== null, 'must hold digits or letters')
        .optional()
        .describe('CPF or CNPJ in any spelling; found by its keyed hash'),
      name,
      words: z
        .string()
        .max(SEARCH_CHARS_MAX)
        .refine(areWords, `must hold 1 to ${SEARCH_WORDS_MAX} words of ${WORD_CHARS_MIN} characters or more`)
        .optional()
        .describe(
          `beginnings of words of the name, e-mail, reference or extra, all of them, in any order and case, with or without accents; each of ${WORD_CHARS_MIN} to ${WORD_CHARS_MAX} characters; not for viewers`,
        ),
      inside: z
        .string()
        .trim()
        .min(INSIDE_CHARS_MIN)
        .max(100)
        .optional()
        .describe(
          `text inside of them, with from and to at most ${INSIDE_DAYS_MAX} days apart; a page may end early: go on while there is a next_cursor; not for viewers`,
        ),
      amount: amountBound,
      amount_from: amountBound,
      amount_to: amountBound.describe('at most; both bounds are included'),
      status: z.string().min(1).optional(),
      operation: z.enum(OPERATIONS, `must be one of ${OPERATIONS.join(', ')}`).optional(),
      platform: z.string().min(1).optional().describe('none: what has no platform'),
      from: day.optional(),
      to: day.optional(),
      by: z.enum(['created', 'status'], 'must be created or status').default('created'),
    })
    .refine((one) => one.inside === undefined || areInsideDays(one), {
      ...{ path: ['inside'], error: `goes with from and to, of at most ${INSIDE_DAYS_MAX} days` },
    }),
  async find(context, { limit, after }, given, caller) {
    await authorizeSearch(context, caller, given);
    const { e2e_id: e2eId, amount, amount_from: from, amount_to: to, ...filter } = given;
    const [amountCents, amountMinCents, amountMaxCents] = [amount, from, to].map((text) =>
      text === undefined ? undefined : parseAmount(text),
    );
    const query = { ...filter, e2eId, amountCents, amountMinCents, amountMaxCents, limit, after };
    return await readFound(context, query, { caller, named: given, target: describeFilters(given) });
  },
});

/**
 * Reads a page of a search as this caller may see it, and audits whom it shows.
 * @param query.after the cursor of the page. @param asked.named what was searched for, by the fields of the API.
 */
export async function readFound(
  context: Context,
  { after, ...query }: Omit<TransactionQuery, 'after'> & { after: string | undefined },
  { caller, named, target, via }: { caller: Caller; named: PersonFilters; target: string; via?: string | undefined },
) {
  const page = { ...query, after: parseSearchCursor(after) };
  const { transactions: found, next } = await searchTransactions(context.db, context.keys, page);
  const shown = await mapInTurns(found, (one) => presentTransactionTo(context, caller, one));
  const done = { actor: caller.id, action: 'transactions.list', target } as const;
  if (seesPersons(caller)) await auditShown(context, done, { transactions: shown.map(({ id }) => id), via });
  await auditWithheldMatches(context, caller, named, shown);
  return { rows: shown, next: formatSearchCursor(next) };
}

export const oneTransaction = defineItem({
  route: '/transactions/{id}',
  summary: 'One transaction and its story',
  item: rows.transactionTimeline,
  async read(context, by) {
    const { db, calendar } = context;
    const timeline = await describeTransaction(db, calendar, by.id);
    if (!timeline) throw refuse('transaction_unknown');
    const { transaction, events, entries, seq } = timeline;
    const full = seesPersons(by.caller);
    await auditItem(context, by, 'transactions.show', transaction.id);
    const mismatches = await listMismatches(context, { transactionId: transaction.id, limit: MISMATCHES_SHOWN_MAX });
    return {
      ...presentTransactionTo(context, by.caller, transaction),
      events,
      entries: full ? entries : maskEntries(entries, transaction),
      mismatches: (full ? mismatches : await maskMismatches(db, mismatches)).map(withoutSeq),
      callbacks: (await listTransactionCallbacks(db, seq)).map(presentCallback),
      ...(await listOrdersOf(db, transaction.id, { mask: !full })),
    };
  },
});

/** Presents a transaction as this caller may see it. */
export function presentTransactionTo({ calendar }: Context, caller: Caller, transaction: LedgerTransaction) {
  const presented = presentTransaction(transaction, calendar);
  return seesPersons(caller) ? presented : maskTransaction(presented, transaction);
}

const SEALED = /^seal:(\d{1,15})$/;
const known = z
  .string()
  .refine(
    (text) => SEALED.test(text) || instant.safeParse(text).success,
    'must be an instant, 2026-11-21T00:00:00-03:00, or a sealed position, seal:123',
  );

export const balances = defineItem({
  route: '/balances',
  summary: 'Every account before `at`, as known before `known`',
  query: z.object({
    at: instant.optional().describe('to the millisecond: …:59.999 holds a payment of second 59'),
    known: known.optional(),
  }),
  item: rows.balances,
  async read(context, { caller }, { at, known }) {
    const now = context.clock.now();
    const atInstant = at === undefined ? now : new Date(at);
    // the wall clock has whole seconds: the current second counts too
    const wall = at === undefined ? endOfNow(context) : context.calendar.toWallTimeRoundedUp(atInstant);
    const read = await readBalances(context.db, wall, readKnown(known), now);
    return {
      at: atInstant.toISOString(),
      known: known === undefined ? now.toISOString() : SEALED.test(known) ? known : new Date(known).toISOString(),
      sealed: read.sealed ? { position: read.sealed.position, hash: read.sealed.hash.toString('hex') } : null,
      balances: read.balances.map(({ account, cents }) => ({
        account: seesPersons(caller) ? account : maskAccount(account),
        amount: formatAmount(cents),
      })),
    };
  },
});

function readKnown(known: string | undefined): AsOf {
  if (known === undefined) return 'now';
  const position = SEALED.exec(known)?.[1];
  return position === undefined ? { before: new Date(known) } : { position: Number(position) };
}
