/**
 * The callbacks of one merchant, as its portal reads them. Each statement has the merchant's row number in its condition. A
 * callback is named by its webhook-id: row numbers count the callbacks of all merchants, and would show how many others have.
 */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { ConfereError } from '../../domain/errors.ts';
import { TEXT_BYTES_MAX, truncateText } from '../../domain/field-limits.ts';
import { hashText } from '../../domain/hash-text.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { TEST_SOURCE, toSubject } from '../health/callback-sources.ts';
import { type CallbackState, selectCallbacks } from './read-callbacks.ts';

/**
 * A term with more transactions, of all merchants, is compared with the merchant's own callbacks one by one: so a search
 * takes no longer because others have what it searches for.
 */
const CANDIDATES_MAX = 200;
const WEBHOOK_ID = 'msg_';

export const TESTS = ['none', 'only'] as const;

export type OwnCallbackQuery = {
  /** A webhook-id, the id, reference or E2E id of a transaction, or the id or number of an order. */
  about?: string | undefined;
  /** Tests and examples: left out, or alone. */
  tests?: (typeof TESTS)[number] | undefined;
  reference?: string | undefined;
  extra?: string | undefined;
  transactionId?: string | undefined;
  state?: CallbackState | undefined;
  type?: string | undefined;
  /** When it was created; `to` is excluded. */
  from?: Date | undefined;
  to?: Date | undefined;
};
export type OwnCallbackRow = Awaited<ReturnType<ReturnType<typeof selectOwn>['execute']>>[number];

/**
 * Returns a page of a merchant's callbacks, newest first.
 * @param page.after the webhook-id that the page before ended with.
 * @returns also the webhook-id that the next page begins after; undefined at the end.
 * @throws ConfereError `invalid_request` for a cursor that is no callback of the merchant.
 */
export async function listOwnCallbacks(
  db: Reader,
  merchantSeq: number,
  query: OwnCallbackQuery,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<{ rows: OwnCallbackRow[]; next: string | undefined }> {
  const terms = await findTerms(db, query);
  let select = selectOwn(db, merchantSeq);
  for (const { seqs, column, value } of terms) {
    select = seqs
      ? select.where('callbacks.transaction_seq', 'in', seqs.length > 0 ? seqs : [0])
      : // a scalar subquery: the server cannot turn it into a join that reads the others' transactions first
        select.where(
          sql<boolean>`(SELECT 1 FROM transactions t WHERE t.seq = callbacks.transaction_seq AND t.${sql.ref(column)} = ${value}) = 1`,
        );
  }
  const about = query.about === undefined ? undefined : await findAbout(db, merchantSeq, query.about);
  if (about) select = select.where(about.condition);
  if (query.tests !== undefined)
    select = select.where('callbacks.source', query.tests === 'only' ? '=' : '<>', TEST_SOURCE);
  if (query.state !== undefined) select = select.where('callbacks.state', '=', query.state);
  if (query.type !== undefined) select = select.where('callbacks.type', '=', query.type);
  if (query.from !== undefined) select = select.where('callbacks.created_at', '>=', query.from);
  if (query.to !== undefined) select = select.where('callbacks.created_at', '<', query.to);
  if (after !== undefined) {
    const { created_at: at, seq } = await findCursor(db, merchantSeq, after);
    select = select
      .where('callbacks.created_at', '<=', at)
      .where((eb) => eb.or([eb('callbacks.created_at', '<', at), eb('callbacks.seq', '<', seq)]));
  }
  // of few transactions an expression, which has no index: the server would walk through all callbacks of the merchant
  const isFew = about?.isFew || terms.some(({ seqs }) => seqs !== undefined);
  const created = isFew ? sql`callbacks.created_at + INTERVAL 0 SECOND` : sql`callbacks.created_at`;
  const found = await select
    .orderBy(created, 'desc')
    .orderBy('callbacks.seq', 'desc')
    .limit(limit + 1)
    .execute();
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? rows.at(-1)?.webhook_id : undefined };
}

/** @throws ConfereError `not_found`, for another merchant's callback too. */
export async function findOwnCallback(db: Reader, merchantSeq: number, webhookId: string): Promise<OwnCallbackRow> {
  const row = await selectOwn(db, merchantSeq).where('callbacks.webhook_id', '=', webhookId).executeTakeFirst();
  if (!row) throw refuse('callback_unknown');
  return row;
}

function selectOwn(db: Reader, merchantSeq: number) {
  return selectCallbacks(db)
    .select(['transactions.reference', 'expected_payments.number'])
    .select((eb) => eb.fn.coalesce('transactions.platform', 'expected_payments.platform').as('platform'))
    .where('callbacks.merchant_seq', '=', merchantSeq);
}

async function findCursor(db: Reader, merchantSeq: number, webhookId: string) {
  try {
    return await findOwnCallback(db, merchantSeq, webhookId);
  } catch (error) {
    if (!(error instanceof ConfereError) || error.code !== 'not_found') throw error;
    throw refuseField('cursor', 'cursor_unknown');
  }
}

/** The condition for callbacks about one thing that a merchant can name. @param about as `OwnCallbackQuery` has it. */
async function findAbout(db: Reader, merchantSeq: number, about: string) {
  if (about.startsWith(WEBHOOK_ID)) return { isFew: false, condition: sql<boolean>`callbacks.webhook_id = ${about}` };
  const columns = ['id', 'e2e_id', 'reference'] as const;
  const value = truncateText(about, TEXT_BYTES_MAX.reference);
  const found = await Promise.all(columns.map((column) => readSeqs(db, { column, value })));
  const subjects = [...found.flatMap((seqs) => seqs ?? []), ...(await readOrderSubjects(db, merchantSeq, about))];
  const few = sql<boolean>`callbacks.transaction_seq IN (${sql.join(subjects.length > 0 ? subjects : [0])})`;
  if (!found.includes(undefined)) return { isFew: true, condition: few };
  const many = sql<boolean>`(SELECT 1 FROM transactions t WHERE t.seq = callbacks.transaction_seq AND t.reference = ${value}) = 1`;
  return { isFew: false, condition: sql<boolean>`(${few} OR ${many})` };
}

/** The subjects of callbacks about orders, by their id or number, and about their payments. */
async function readOrderSubjects(db: Reader, merchantSeq: number, order: string): Promise<number[]> {
  const orders = await db
    .selectFrom('expected_payments')
    .select('seq')
    .where((eb) => eb.or([eb('id', '=', order), eb('number', '=', order)]))
    .where((eb) => eb.or([eb('merchant_seq', 'is', null), eb('merchant_seq', '=', merchantSeq)]))
    .limit(CANDIDATES_MAX)
    .execute();
  if (orders.length === 0) return [];
  const seqs = orders.map(({ seq }) => seq);
  const matches = await db
    .selectFrom('expected_matches as made')
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .select('made.transaction_seq')
    .where('made.expected_seq', 'in', seqs)
    .where('made.part', 'is not', null)
    .where('undone.seq', 'is', null)
    .limit(CANDIDATES_MAX)
    .execute();
  return [...seqs.map(toSubject), ...matches.map(({ transaction_seq: seq }) => seq)];
}

type Term = { column: 'id' | 'e2e_id' | 'reference' | 'extra_hash'; value: string | Buffer };

/** Reads the transactions of each given term, unless they are many. */
async function findTerms(db: Reader, { reference, extra, transactionId }: OwnCallbackQuery) {
  const terms: Term[] = [];
  if (transactionId !== undefined) terms.push({ column: 'id', value: transactionId });
  // longer values are stored truncated
  if (reference !== undefined)
    terms.push({ column: 'reference', value: truncateText(reference, TEXT_BYTES_MAX.reference) });
  if (extra !== undefined) {
    const stored = truncateText(extra, TEXT_BYTES_MAX.extra);
    terms.push({ column: 'extra_hash', value: hashText(stored) });
  }
  return await Promise.all(terms.map(async (term) => ({ ...term, seqs: await readSeqs(db, term) })));
}

/** @returns undefined for more than CANDIDATES_MAX. */
async function readSeqs(db: Reader, { column, value }: Term): Promise<number[] | undefined> {
  const rows = await db
    .selectFrom('transactions')
    .select('seq')
    .where(column, '=', value)
    .limit(CANDIDATES_MAX + 1)
    .execute();
  return rows.length > CANDIDATES_MAX ? undefined : rows.map(({ seq }) => seq);
}
