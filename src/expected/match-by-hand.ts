/** Matches that people make and undo. A person's match may take a part of a payment, and stands until a person undoes it. */

import type { Insertable, Transaction } from 'kysely';
import { checkNote } from '../access/check-note.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import { leaveExpectedWork } from '../database/shared/leave-expected-work.ts';
import type { Database } from '../database/tables.ts';
import { transact } from '../database/transact.ts';
import { formatAmount } from '../domain/money.ts';
import { refuse, refuseField } from '../texts/refuse.ts';
import { lockExpected } from './cancel-expected.ts';
import { counts, type PaymentFacts } from './decide/facts.ts';
import { readPayments } from './follow/read-payments.ts';

/** `transactionId`: the id of the payment, or its E2E id. */
type ByHand = { id: string; transactionId: string; actor: string; note: string };

/**
 * Matches a payment, or a part of it, with an expected payment.
 * @param given.amountCents the part; by default what is left of the payment.
 * @throws ConfereError `expected_unknown`, `transaction_unknown`; `transaction_matched` if nothing is left of the payment; by field:
 *   `payment_not_paid`, `operation_differs`, `amount_beyond_payment`, `e2e_id_shared`, `note_missing`.
 */
export async function matchExpected(
  context: Context,
  { amountCents, ...given }: ByHand & { amountCents?: bigint | undefined },
): Promise<void> {
  await changeMatches(context, given, ({ head, facts, standing, part }) => {
    if (facts.operation !== head.operation) throw refuseField('transaction_id', 'operation_differs');
    if (!counts(facts)) throw refuseField('transaction_id', 'payment_not_paid');
    const left = standing.reduce((rest, row) => rest - row.amount_cents, facts.amountCents);
    if (left <= 0n) throw refuse('transaction_matched');
    const taken = amountCents ?? left;
    if (taken > left) throw refuseField('amount', 'amount_beyond_payment', { amount: formatAmount(left) });
    return [{ rule: 'person', part: part + 1, amount_cents: taken }];
  });
}

/**
 * Undoes all matches of a pair, those of rules too: no rule matches it again.
 * @throws ConfereError `not_found`; `conflict` if the pair has no match; `invalid_request` without a note.
 */
export async function unmatchExpected(context: Context, given: ByHand): Promise<void> {
  await changeMatches(context, given, ({ head, standing }) => {
    const own = standing.filter((row) => row.expected_seq === head.seq);
    if (own.length === 0) throw refuse('match_undone');
    return own.map(({ seq, amount_cents }) => ({ rule: 'undo', amount_cents, undoes_seq: seq, reason: 'person' }));
  });
}

type Pair = { head: { seq: number; operation: string }; facts: PaymentFacts } & Awaited<ReturnType<typeof readMatches>>;
type Row = Pick<Insertable<Database['expected_matches']>, 'rule' | 'amount_cents' | 'part' | 'undoes_seq' | 'reason'>;

/** Adds the rows that `decide` returns of a pair, each with the note. */
async function changeMatches(context: Context, given: ByHand, decide: (pair: Pair) => Row[]): Promise<void> {
  const note = checkNote(given.note, { missing: 'note_missing' });
  await transact(
    context.db,
    async (trx) => {
      const head = await lockExpected(trx, given.id);
      const { facts } = await readPayment(context, trx, given.transactionId, head);
      const rows = decide({ head, facts, ...(await readMatches(trx, facts.seq)) });
      const now = context.clock.now();
      for (const row of rows) {
        const about = { expected_seq: head.seq, transaction_seq: facts.seq, created_at: now, actor: given.actor };
        const { insertId } = await trx
          .insertInto('expected_matches')
          .values({ ...row, ...about })
          .executeTakeFirstOrThrow();
        await trx
          .insertInto('expected_notes')
          .values({ match_seq: Number(insertId), note })
          .execute();
      }
      await leaveExpectedWork(trx, [{ expected_seq: head.seq }, { transaction_seq: facts.seq }], now);
    },
    // the follower or another person took the payment: its matches are read again
    { retryDuplicates: true },
  );
}

/** Reads a payment by its id or E2E id. Two transactions may share the latter: money from one account of ours to another. */
async function readPayment(
  context: Context,
  trx: Transaction<Database>,
  id: string,
  { operation }: { operation: string },
) {
  const seqs = trx.selectFrom('transactions').select('seq').limit(2);
  const [byId] = await seqs.where('id', '=', id).execute();
  const byE2e = byId ? [] : await seqs.where('e2e_id', '=', id).where('operation', '=', operation).execute();
  if (byE2e.length > 1) throw refuseField('transaction_id', 'e2e_id_shared');
  const [row] = byId ? [byId] : byE2e;
  const [payment] = row ? await readPayments(context, trx, [row.seq]) : [];
  if (!payment) throw refuse('transaction_unknown');
  return payment;
}

/** Returns what decides how much of a payment is left to match, as a text that differs once that does. @param id as in a match. */
export async function describeLeft(db: Reader, id: string): Promise<string> {
  const payments = await db
    .selectFrom('transactions')
    .select(['seq', 'status', 'amount_cents'])
    .where((eb) => eb.or([eb('id', '=', id), eb('e2e_id', '=', id)]))
    .orderBy('seq')
    .limit(2)
    .execute();
  const standing = await Promise.all(payments.map(async ({ seq }) => (await readMatches(db, seq)).standing));
  const matches = standing.flat().map(({ seq, amount_cents }) => `${seq} ${amount_cents}`);
  return [...payments.map(({ status, amount_cents }) => `${status} ${amount_cents}`), ...matches].join(',');
}

/** The matches of a payment that stand, and the highest number of a part. */
async function readMatches(db: Reader, transactionSeq: number) {
  const rows = await db
    .selectFrom('expected_matches')
    .select(['seq', 'expected_seq', 'part', 'amount_cents', 'undoes_seq'])
    .where('transaction_seq', '=', transactionSeq)
    .execute();
  const undone = new Set(rows.map((row) => row.undoes_seq));
  return {
    standing: rows.filter(({ seq, undoes_seq }) => undoes_seq === null && !undone.has(seq)),
    part: rows.reduce((highest, row) => Math.max(highest, row.part ?? 0), 0),
  };
}
