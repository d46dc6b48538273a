/**
 * Whether the provider's list of a day has a payment, and how that is known: the answer to a customer who asks.
 *
 * A customer names the day on which they paid; a list has what was created on its day. So there are two conclusions: of the
 * list of the day, and of those of the days before, whose charges may have been paid on it. One from the list of the day alone
 * would be false for a charge of the evening before; one from all lists would wait for the weekly reading.
 */
import { z } from 'zod';
import { auditShown } from '../../access/audit.ts';
import { seesPersons } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import { parseE2eId } from '../../domain/e2e-id.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';
import { parseAmount } from '../../domain/money.ts';
import type { LedgerTransaction } from '../../domain/present-transaction.ts';
import { listWebhooks } from '../../inbox/manage/read-webhooks.ts';
import { describeTransaction } from '../../ledger/read/describe-transaction.ts';
import { isTooWide, searchTransactions } from '../../ledger/read/search-transactions.ts';
import type { SearchTerms, TransactionQuery } from '../../ledger/read/transaction-query.ts';
import { type ListDoubt, type ListProof, readListProof } from '../../reports/serve/read-list-proof.ts';
import { readHead } from '../../seal/read-seals.ts';
import { runInLanguage } from '../../texts/language.ts';
import { refuseField } from '../../texts/refuse.ts';
import { readPublished } from '../../tlog/prove.ts';
import { auditWithheldMatches, authorizeSearch, describeFilters } from '../authorize-search.ts';
import { defineItem, type ReadBy } from '../define-item.ts';
import { day } from '../fields.ts';
import { paymentProof as item, type PaymentProof } from '../rows/payment-proof.ts';
import { sayPaymentProof } from './say-payment-proof.ts';
import { paymentTerms, presentTransactionTo } from './transactions.ts';

/** A question that finds more than this is too wide to be about one payment. */
export const PAYMENTS_SHOWN_MAX = 20;
/** How many webhooks of a transaction are read to find the first one. */
const WEBHOOKS_READ_MAX = 50;

const query = z
  .object({
    day: day.optional().describe('of the payment, at the provider; default: the day in e2e_id'),
    hour: z
      .string()
      .regex(/^(?:[01]?\d|2[0-3])$/, 'must be an hour from 0 to 23')
      .transform(Number)
      .optional()
      .describe('0 to 23 on the clock of the provider: created or paid within it'),
    ...paymentTerms,
    masked: z
      .enum(['true', 'false'], 'must be true or false')
      .optional()
      .describe('true: personal data as a viewer sees it'),
  })
  .refine((one) => (one.amount ?? one.name ?? one.e2e_id) !== undefined, {
    ...{ path: ['amount'], error: 'is required, or name, or e2e_id' },
  })
  .refine((one) => one.day !== undefined || parseE2eId(one.e2e_id ?? null) !== undefined, {
    ...{ path: ['day'], error: 'is required, or an e2e_id that names its minute' },
  })
  .refine((one) => one.hour === undefined || one.e2e_id === undefined, {
    ...{ path: ['hour'], error: 'goes without e2e_id, which names its minute' },
  });

/** The question, parsed. */
export type AskedPayment = z.infer<typeof query>;

export const paymentProof = defineItem({
  route: '/transactions/proof',
  summary: "Whether the provider's list of a day has a payment, and how that is known",
  query,
  item,
  async read(context, by, asked: AskedPayment) {
    const proof = await prove(context, by, asked);
    const say = () => sayPaymentProof(context.calendar, proof).join(' ');
    return { ...proof, text: { 'pt-BR': runInLanguage('pt-BR', say), en: runInLanguage('en', say) } };
  },
});

async function prove(context: Context, by: ReadBy, { masked, ...asked }: AskedPayment): Promise<PaymentProof> {
  const { day: _, hour = null, amount = null, name = null, e2e_id = null } = asked;
  await authorizeSearch(context, by.caller, asked);
  const terms = { name: asked.name, e2eId: asked.e2e_id, amountCents: parseAmount(amount ?? '') };
  const { list, found, span } = await find(context, terms, asked);
  const reader = masked === 'true' ? ({ id: by.caller.id, role: 'viewer' } as const) : by.caller;
  const payments = await Promise.all(
    found.slice(0, PAYMENTS_SHOWN_MAX).map(async (one) => {
      return { ...presentTransactionTo(context, reader, one), ...(await readHow(context, one, list.day)) };
    }),
  );
  await auditFound(context, by, asked, payments);
  const own = payments.filter((one) => !one.is_older);
  const isLate = own.some((one) => list.reading?.endedAt && new Date(one.first_seen_at) > list.reading.endedAt);
  const doubt = list.doubt ?? (isLate ? 'late_entry' : null);
  const lacks = payments.length === 0 && !doubt && (await isAnyHidden(context, terms, span));
  return {
    asked: { day: list.day, hour, amount, name, e2e_id },
    ...conclude(list, { doubt, lacks, own: own.length, older: payments.length - own.length }),
    payments,
    more: found.length > payments.length,
    other_hours:
      asked.hour === undefined || found.length > 0 ? null : (await search(context, terms, spanOf(list.day))).length,
    log: await presentLog(context),
    made_at: context.clock.now().toISOString(),
  };
}

type Span = Pick<TransactionQuery, 'from' | 'to' | 'happened'>;

/** Finds the payments, and the list that answers: of the day that was given, or of the one that an end-to-end id finds or names. */
async function find(context: Context, terms: SearchTerms, { day: given, hour, e2e_id: e2eId }: AskedPayment) {
  const { calendar } = context;
  const minute = parseE2eId(e2eId ?? null)?.minute;
  const named = given ?? calendar.dayOf(minute ?? context.clock.now());
  const span = spanOf(named, hour);
  const found = await search(context, terms, e2eId === undefined ? span : {});
  const [first] = e2eId === undefined ? [] : found;
  const list = await readListProof(context, first ? dayOf(first) : named);
  return { found, list, span };
}

/** The span of a search for what was created or paid on a day, or in an hour of it: it may be up to LATE_DAYS older. */
function spanOf(of: Day, hour?: number): Span {
  const at = (n: number): string =>
    n === 24 ? `${addDays(of, 1)} 00:00:00` : `${of} ${String(n).padStart(2, '0')}:00:00`;
  const [from, end] = hour === undefined ? [at(0), at(24)] : [at(hour), at(hour + 1)];
  return { from: addDays(of, -LATE_DAYS), to: of, happened: { from, end } };
}

async function search({ db, keys }: Context, terms: SearchTerms, span: Partial<TransactionQuery>) {
  const wanted = { ...terms, ...span, by: 'created', limit: PAYMENTS_SHOWN_MAX + 1 } as const;
  try {
    return (await searchTransactions(db, keys, wanted)).transactions;
  } catch (error) {
    throw isTooWide(error) ? refuseField('amount', 'narrower_payment') : error;
  }
}

const dayOf = ({ createdWall }: LedgerTransaction): Day => createdWall.slice(0, 10);

/** Whether something was paid that has no name, or no end-to-end id, and so may be what was asked for. */
async function isAnyHidden(context: Context, { name, e2eId, ...terms }: SearchTerms, span: Span): Promise<boolean> {
  for (const lacks of [name && ('name' as const), e2eId && ('e2e_id' as const)])
    if (lacks && (await search(context, terms, { ...span, lacks })).length > 0) return true;
  return false;
}

/** How and when we learnt of a payment. */
async function readHow({ db, calendar }: Context, one: LedgerTransaction, listDay: Day) {
  const { events = [] } = (await describeTransaction(db, calendar, one.id)) ?? {};
  const webhook = (await listWebhooks(db, { transactionId: one.id, limit: WEBHOOKS_READ_MAX })).at(-1);
  const paid = events.findLast(({ status }) => status === 'paid');
  const [first = ''] = events.map((event) => event.seen_at).sort();
  return {
    is_older: dayOf(one) < listDay,
    first_seen_at: first,
    paid: paid ? { at: paid.at, seen_at: paid.seen_at, source: paid.source } : null,
    webhook: webhook ? { id: webhook.id, received_at: webhook.received_at } : null,
  };
}

/** Counts and audits the question as a search. */
async function auditFound(
  context: Context,
  { caller, via }: ReadBy,
  asked: AskedPayment,
  payments: PaymentProof['payments'],
): Promise<void> {
  const { day: from, ...filters } = asked;
  const done = {
    actor: caller.id,
    action: 'transactions.list',
    target: describeFilters({ ...filters, from }),
  } as const;
  if (seesPersons(caller)) await auditShown(context, done, { transactions: payments.map(({ id }) => id), via });
  await auditWithheldMatches(context, caller, asked, payments);
}

type Conclusion = PaymentProof['conclusion'];
type Known = { doubt: ListDoubt | 'late_entry' | null; lacks: boolean; own: number; older: number };

/** Decides what the list, and those of the days before, say. An absence is concluded only from what was read. Pure. */
function conclude(list: ListProof, { doubt, lacks, own, older }: Known) {
  const { reading, refusedRows, olderUnread, provenAt } = list;
  const hidden: PaymentProof['list']['reason'] = refusedRows > 0 ? 'rows_refused' : lacks ? 'rows_hidden' : null;
  const reason: PaymentProof['list']['reason'] = doubt ?? (own > 0 ? null : hidden);
  const ofList: Conclusion = reason !== null ? 'unknown' : own > 0 ? 'has' : 'none';
  const ofOlder: Conclusion =
    older > 0 ? 'has' : olderUnread === 0 && !hidden && doubt !== 'time_zone' ? 'none' : 'unknown';
  const both = [ofList, ofOlder];
  return {
    conclusion: both.includes('has') ? 'has' : both.includes('unknown') ? 'unknown' : 'none',
    list: {
      ...{ day: list.day, conclusion: ofList, reason, refused_rows: refusedRows },
      reading: reading && {
        ...{ read_at: reading.askedAt.toISOString(), run_id: reading.runId, from: reading.from, to: reading.to },
        ...{ passes: reading.passes, announced: reading.announced, listed: reading.listed, surplus: reading.surplus },
      },
      proven_at: provenAt?.toISOString() ?? null,
    },
    older: { conclusion: ofOlder, days: LATE_DAYS, unread: olderUnread },
  } as const;
}

async function presentLog(context: Context) {
  const [head, checkpoint] = await Promise.all([readHead(context.db), readPublished(context)]);
  return head
    ? { position: head.position, hash: head.hash.toString('hex'), checkpoint: checkpoint?.note ?? null }
    : null;
}
