/** The answer to a customer who asks for a payment: what the provider's list says of it, and how that is known (decision 100). */
import { z } from 'zod';
import { type Caller, seesPersons } from '../../access/tokens.ts';
import type { Context } from '../../context.ts';
import { listPlatformNames, type NamedPlatform } from '../../database/shared/list-platform-names.ts';
import { addDays, type Day, HOUR_MS } from '../../domain/calendar.ts';
import { parseE2eId } from '../../domain/e2e-id.ts';
import { LATE_DAYS } from '../../domain/late-days.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { maskName } from '../../domain/person/mask-person.ts';
import { listWebhooks } from '../../inbox/manage/read-webhooks.ts';
import { describeTransaction } from '../../ledger/read/describe-transaction.ts';
import { findNamed } from '../../ledger/read/find-named.ts';
import { isTooWide, searchTransactions } from '../../ledger/read/search-transactions.ts';
import type { SearchTerms, TransactionQuery } from '../../ledger/read/transaction-query.ts';
import { listMismatches } from '../../mismatches/read-mismatches.ts';
import { hasEntrySince, hasOmission, readListProof } from '../../reports/serve/read-list-proof.ts';
import { readHead } from '../../seal/read-seals.ts';
import { runInLanguage } from '../../texts/language.ts';
import { refuse, refuseField } from '../../texts/refuse.ts';
import { readPublished } from '../../tlog/prove.ts';
import { authorizeSearch, describeFilters } from '../authorize-search.ts';
import { defineItem, type ReadBy } from '../define-item.ts';
import { day } from '../fields.ts';
import { presentPlatformName } from '../mask-texts.ts';
import { paymentProof as item, type PaymentProof } from '../rows/payment-proof.ts';
import { conclude, listDoubted, type Reason } from './conclude-proof.ts';
import { listVerdicts, sayPaymentProof, sayQuestion } from './say-payment-proof.ts';
import { MISMATCHES_SHOWN_MAX, paymentTerms, presentTransactionTo, readFound } from './transactions.ts';

/** A question that finds more than this is too wide to be about one payment. */
export const PAYMENTS_SHOWN_MAX = 20;
const PAGE = { by: 'created', limit: PAYMENTS_SHOWN_MAX, after: undefined } as const;
/** How many webhooks of a transaction are read to find the first one. */
const WEBHOOKS_READ_MAX = 50;

const query = z
  .object({
    day: day.optional().describe('of the payment, at the provider; an e2e_id that names its minute has its own'),
    hour: z
      .string()
      .regex(/^(?:[01]?\d|2[0-3])$/, 'must be an hour from 0 to 23')
      .transform(Number)
      .optional()
      .describe('0 to 23 on the clock of the provider: created or paid within it'),
    ...paymentTerms,
    name: paymentTerms.name.describe('beginnings of words of the name, in any order, as of words=; not for viewers'),
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
    const inBoth = (say: () => string) => ({ 'pt-BR': runInLanguage('pt-BR', say), en: runInLanguage('en', say) });
    return {
      ...proof,
      headline: inBoth(
        () =>
          `${sayQuestion(proof)}: ${listVerdicts(proof)
            .map((one) => one.text)
            .join('; ')}`,
      ),
      text: inBoth(() => sayPaymentProof(context.calendar, proof).join(' ')),
    };
  },
});

async function prove(context: Context, by: ReadBy, { masked, ...asked }: AskedPayment): Promise<PaymentProof> {
  const { caller, via } = by;
  const { day: from, hour = null, amount = null, name = null, e2e_id = null } = asked;
  await authorizeSearch(context, caller, asked);
  const terms = { e2eId: asked.e2e_id, amountCents: parseAmount(amount ?? '') };
  // an end-to-end id is of its own minute, also beside another day
  const minute = parseE2eId(e2e_id)?.minute;
  const named = minute === undefined && from ? from : context.calendar.dayOf(minute ?? context.clock.now());
  const span = spanOf(named, asked.hour);
  const compare = async ({ happened }: Span) =>
    asked.name === undefined ? undefined : await findNamed(context.db, { ...terms, name: asked.name, happened });
  const searchDay = async (of: Day) => ({ ...terms, ...spanOf(of), seqs: (await compare(spanOf(of)))?.seqs });
  const byName = await compare(span);
  const target = describeFilters({ ...asked, from });
  const query = { ...terms, seqs: byName?.seqs, ...(e2e_id === null ? span : {}), ...PAGE };
  const reading = readFound(context, query, { caller, named: asked, target, via });
  const { rows, next } = await reading.catch(throwNarrower);
  // the list that answers is of the day on which the end-to-end id finds it, else of the last one that may have it
  const last = minute && context.calendar.dayOf(new Date(minute.getTime() + HOUR_MS));
  const list = await readListProof(context, (e2e_id !== null && rows[0] && dayOf(rows[0])) || (last ?? named));
  const names = await listPlatformNames(context.db);
  const reader = masked === 'true' ? ({ id: caller.id, role: 'viewer' } as const) : caller;
  const payments = await Promise.all(rows.map(({ id }) => readPayment(context, reader, id, list.day, names)));
  const own = payments.filter((one) => !one.is_older);
  const readUntil = list.whole?.finished_at;
  const isAbsent = payments.length === 0;
  // an absence is doubted by any row that the reading did not have, not by one like it alone
  const isLate =
    readUntil &&
    (isAbsent
      ? await hasEntrySince(context.db, list.day, readUntil)
      : own.some((one) => new Date(one.first_seen_at) > readUntil));
  const isOmitted = isAbsent ? await hasOmission(context.db, list.day) : payments.some(isUnlisted);
  const doubt = list.doubt ?? (isOmitted ? 'not_listed' : isLate ? 'late_entry' : null);
  const unnamed = isAbsent ? await listWithoutE2eId(context, terms, named) : [];
  const isHidden = unnamed.length > 0 || (isAbsent && byName?.isAnyHidden === true);
  const lacks: Reason =
    byName?.isWhole === false
      ? 'names_left'
      : isHidden
        ? 'rows_hidden'
        : isAbsent && e2e_id !== null && minute === undefined
          ? 'id_malformed'
          : null;
  const charges = isAbsent ? await listDoubted(context, list, terms.amountCents) : undefined;
  const beside = isAbsent && e2e_id === null ? [addDays(named, -1), addDays(named, 1)] : [];
  const found = await Promise.all(beside.map(async (of) => search(context, await searchDay(of))));
  const isOfName = isAbsent && name !== null && amount !== null && byName?.isWhole === true;
  return {
    asked: { day: named, hour, amount, name: seesPersons(reader) ? name : maskName(name), e2e_id },
    ...conclude(context, list, { doubt, lacks, own: own.length, older: payments.length - own.length, charges }),
    ...{ payments, more: next !== undefined, without_e2e: unnamed },
    other_hours: isAbsent && hour !== null ? await listHours(context, await searchDay(named), named) : null,
    other_days: beside.filter((_, at) => found[at]?.length),
    other_names: isOfName
      ? await countOtherNames(context, { ...terms, ...spanOf(named) }, await searchDay(named))
      : null,
    issuer: context.config.ALERT_EMAIL_FROM?.name || null,
    ...{ log: await readLog(context), zone: context.calendar.zone, made_at: context.clock.now().toISOString() },
  };
}

type Span = Pick<TransactionQuery, 'from' | 'to' | 'happened'>;

/** The span of a search for what was created or paid on a day, or in an hour of it: it may be up to LATE_DAYS older. */
function spanOf(of: Day, hour?: number): Span {
  const at = (n: number): string =>
    n === 24 ? `${addDays(of, 1)} 00:00:00` : `${of} ${String(n).padStart(2, '0')}:00:00`;
  const happened = { from: at(hour ?? 0), end: at(hour === undefined ? 24 : hour + 1) };
  return { from: addDays(of, -LATE_DAYS), to: of, happened };
}

type Terms = Omit<TransactionQuery, 'by' | 'limit'>;

async function search({ db, keys }: Context, query: Terms) {
  return (await searchTransactions(db, keys, { ...query, ...PAGE }).catch(throwNarrower)).transactions;
}

function throwNarrower(error: unknown): never {
  throw isTooWide(error) ? refuseField('amount', 'narrower_payment') : error;
}

const dayOf = ({ created_at }: { created_at: string }): Day => created_at.slice(0, 10);

/**
 * Lists the cashins that may be the one asked for by an end-to-end id, and have none, or the same in other case: of the amount,
 * if given, and paid on the day that the id itself names, or within the hour after it.
 */
async function listWithoutE2eId(context: Context, { e2eId, ...terms }: SearchTerms, named: Day) {
  if (e2eId === undefined) return [];
  const parsed = parseE2eId(e2eId);
  const from = addDays(named, -LATE_DAYS);
  // the id of a refund names the day of the refund
  const first = parsed?.of === 'refund' ? from : named;
  const to = addDays(named, 1);
  const paidWithoutE2eId = { from: `${first} 00:00:00`, end: `${to} 01:00:00`, e2eId };
  const found = await search(context, { ...terms, from, to, paidWithoutE2eId });
  return found.map((one) => ({ id: one.id, amount: formatAmount(one.amountCents), day: one.createdWall.slice(0, 10) }));
}

/** Lists the hours of a day in which transactions were paid, or created if they were not paid on it, in order. */
async function listHours(context: Context, query: Terms, of: Day): Promise<number[]> {
  const hours = new Set<number>();
  for (const { id, createdWall } of await search(context, query)) {
    const events = (await describeTransaction(context.db, context.calendar, id))?.events ?? [];
    const paid = events.find(({ status, at, in_force }) => status === 'paid' && in_force && at.startsWith(of));
    hours.add(Number((paid?.at ?? createdWall).slice(11, 13)));
  }
  return [...hours].sort((a, b) => a - b);
}

/** Counts the transactions of a day that have a name, and not the one that `own` finds. */
async function countOtherNames(context: Context, all: Terms, own: Terms): Promise<number> {
  const named = new Set((await search(context, own)).map(({ id }) => id));
  return (await search(context, all)).filter(({ id, name }) => name !== null && !named.has(id)).length;
}

/** Reads a payment as this reader may see it, and how and when we learnt of it. */
async function readPayment(context: Context, reader: Caller, id: string, listDay: Day, names: NamedPlatform[]) {
  const timeline = await describeTransaction(context.db, context.calendar, id);
  if (!timeline) throw refuse('transaction_unknown');
  const shown = presentTransactionTo(context, reader, timeline.transaction);
  const webhook = (await listWebhooks(context.db, { transactionId: id, limit: WEBHOOKS_READ_MAX })).at(-1);
  const lastOf = (wanted: string) => timeline.events.findLast(({ status, in_force }) => in_force && status === wanted);
  const paid = lastOf('paid');
  const named = names.find(({ platform }) => platform === timeline.transaction.platform);
  const [first_seen_at = ''] = timeline.events.map((event) => event.seen_at).sort();
  const unresolved = { transactionId: id, state: 'unresolved', limit: MISMATCHES_SHOWN_MAX };
  const mismatches = await listMismatches(context, unresolved);
  return {
    ...{ ...shown, is_older: dayOf(shown) < listDay, first_seen_at, outcome: decideOutcome(shown) },
    platform_name: named ? presentPlatformName(reader, named).name : null,
    refunded_at: shown.status === 'refund' ? (lastOf('refund')?.at ?? null) : null,
    paid: paid ? { at: paid.at, seen_at: paid.seen_at, source: paid.source } : null,
    webhook: webhook ? { id: webhook.id, received_at: webhook.received_at } : null,
    mismatches: mismatches.map((one) => ({
      ...{ id: one.id, kind: one.kind, severity: one.severity, opened_at: one.opened_at },
    })),
  };
}

type Payment = PaymentProof['payments'][number];

/** Whether a complete reading did not have it. */
function isUnlisted({ mismatches }: Pick<Payment, 'mismatches'>): boolean {
  return mismatches.some(({ kind }) => kind === 'missing_at_provider' || kind === 'list_omission');
}

function decideOutcome({ operation, status }: Pick<Payment, 'operation' | 'status'>): Payment['outcome'] {
  if (operation === 'cashout') return 'money_out';
  return status === 'paid' ? 'paid' : status === 'refund' ? 'refunded' : 'not_paid';
}

async function readLog(context: Context): Promise<PaymentProof['log']> {
  const [head, published] = await Promise.all([readHead(context.db), readPublished(context)]);
  return head ? { ...head, hash: head.hash.toString('hex'), checkpoint: published?.note ?? null } : null;
}
