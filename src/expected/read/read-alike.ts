/**
 * Hints for an order that no payment counts for: payments that may have been meant for it, though no rule matches them. A hint
 * decides nothing, and few hints prove nothing: each search reads a bounded number of rows.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { maskNumber, readParties } from '../../database/shared/read-parties.ts';
import { addDays } from '../../domain/calendar.ts';
import { formatAmount } from '../../domain/money.ts';
import { maskPlatform, maskText } from '../../domain/person/mask-person.ts';
import { windowOf } from '../decide/decide-matches.ts';
import type { ExpectedKey } from '../expected-id.ts';
import { type LoadedPayment, readPayments } from '../follow/read-payments.ts';
import { readScopes, sees } from '../follow/read-scopes.ts';
import { countsForNone, PAYABLE } from './filter-expected.ts';
import type { PresentedExpected } from './list-expected.ts';
import type { OrderScope } from './mask-expected.ts';

/** Why a payment is a hint: `platform` is matched or not, the next two are matched with another order, the others with none. */
export const ALIKE_REASONS = ['platform', 'document', 'extra', 'reference', 'amount'] as const;
type AlikeReason = (typeof ALIKE_REASONS)[number];
export type Alike = Pick<PresentedExpected, 'amount'> & {
  transaction_id: string;
  paid_day: string;
  /** The facts that are alike: a reference or E2E id at another platform; document and amount, the extra, the reference but for its spelling, the amount alone. */
  alike: AlikeReason;
  reference: string | null;
  platform: string | null;
  /** Whether it counts for another order. `order`: that one; null where the caller does not see it. */
  matched: boolean;
  order: ({ id: string } & ExpectedKey) | null;
};

/** Hints of each kind that are shown. */
const ALIKE_MAX = 5;
const FOUND_MAX = 50;
/** The newest payments of one amount, or of one document, that are searched. */
const SCANNED_MAX = 1_000;

type Order = Awaited<ReturnType<typeof readOrder>>;

/** Reads the hints for an order, at most five that count for others and five that count for none; none for one that was paid, or is cancelled. */
export async function readAlike(
  { db, keys }: Pick<Context, 'db' | 'keys'>,
  { id, references, e2e_ids: e2eIds }: Pick<PresentedExpected, 'id' | 'references' | 'e2e_ids'>,
  scope: OrderScope,
): Promise<Alike[]> {
  const order = await readOrder(db, id);
  if (!PAYABLE.includes(order.state)) return [];
  const merchants = [order.merchant_seq, scope.merchantSeq ?? null];
  const scopes = await readScopes(
    db,
    merchants.filter((one) => one !== null),
  );
  const names = [order.number, ...references];
  const payments = await readPayments({ keys }, db, await findSeqs(db, order, names, e2eIds));
  const matched = await readMatched(
    db,
    payments.map(({ facts }) => facts.seq),
    scope,
  );
  const folded = new Set(names.map(foldReference));
  const exact = new Set([...references, ...e2eIds]);
  const found = payments.flatMap((payment) => {
    const { facts } = payment;
    if (!isOfKind(order, payment) || !merchants.every((seq) => sees(scopes, seq, payment))) return [];
    const isKeyed = [facts.reference, facts.e2eId].some((key) => key !== null && exact.has(key));
    const isElsewhere = order.platform !== null && facts.platform !== order.platform;
    const isDated = !isElsewhere && facts.day >= order.from && facts.day <= order.to;
    const isSameAmount = facts.amountCents === order.amount_cents;
    const other = matched.get(facts.seq);
    const reasons: Record<AlikeReason, boolean> = {
      platform: isElsewhere && isKeyed,
      document: isDated && isSameAmount && isEqual(order.document_hash, facts.documentHash),
      extra: isDated && isEqual(order.extra_hash, facts.extraHash),
      reference: !isElsewhere && facts.reference !== null && folded.has(foldReference(facts.reference)),
      amount: isDated && isSameAmount,
    };
    const isMatched = other !== undefined;
    // an equal key of one that is not matched is the rules' to decide
    const isOpen = facts.standing === 'settled' && (isElsewhere || !(isKeyed || reasons.extra || reasons.document));
    const allowed = isMatched
      ? (['platform', 'document', 'extra'] as const)
      : isOpen
        ? (['platform', 'reference', 'amount'] as const)
        : [];
    const alike = allowed.find((one) => reasons[one]);
    return alike ? [{ payment, alike, isMatched, order: other ?? null }] : [];
  });
  const rank = ({ alike }: (typeof found)[number]): number => ALIKE_REASONS.indexOf(alike);
  const sorted = found.sort((a, b) => rank(a) - rank(b) || b.payment.facts.seq - a.payment.facts.seq);
  const shown = [true, false].flatMap((one) => sorted.filter(({ isMatched }) => isMatched === one).slice(0, ALIKE_MAX));
  const parties = scope.mask
    ? await readParties(
        db,
        shown.map(({ payment }) => payment.id),
      )
    : undefined;
  return shown.map(({ payment: { id: transactionId, facts }, alike, isMatched, order: counted }) => {
    const party = parties?.get(transactionId);
    return {
      ...{ transaction_id: transactionId, amount: formatAmount(facts.amountCents), paid_day: facts.day, alike },
      reference: party ? maskText(facts.reference, party) : facts.reference,
      platform: party ? maskPlatform(facts.platform, party) : facts.platform,
      ...{ matched: isMatched, order: counted },
    };
  });
}

/** A reference without what people and systems spell differently: case, spaces, hyphens, and zeros before a number. */
function foldReference(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll(/(?<!\d)0+(?=\d)/g, '');
}

function isEqual(own: Buffer | null, theirs: string | null): boolean {
  return own !== null && own.toString('hex') === theirs;
}

function isOfKind({ operation }: Order, { facts }: LoadedPayment): boolean {
  const counts = facts.standing === 'settled' || facts.standing === 'returned';
  return counts && facts.operation === operation;
}

async function readOrder(db: Reader, id: string) {
  const order = await db
    .selectFrom('expected_payments as head')
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'head.version_seq')
    .selectAll('head')
    .select('texts.extra')
    .where('head.id', '=', id)
    .executeTakeFirstOrThrow();
  const { source, issued_day: issuedDay, due_day: dueDay } = order;
  return { ...order, ...windowOf({ source, issuedDay, dueDay }) };
}

/** Finds payments by indexes, the newest of the order's window first: of equal document and amount, of equal extra, of a name in other spellings, of an E2E id, and unmatched ones of the amount. */
async function findSeqs(db: Reader, order: Order, names: string[], e2eIds: string[]): Promise<number[]> {
  const { amount_cents: amount, document_hash: document, extra_hash: hash, extra } = order;
  const limit = sql`LIMIT ${sql.lit(FOUND_MAX)}`;
  const until = addDays(order.to, 1);
  const newest = sql`ORDER BY created_wall DESC LIMIT ${sql.lit(SCANNED_MAX)}`;
  const spellings = [...new Set(names.flatMap(spell))];
  const hashes = [hash, ...(extra === null ? [] : [createHash('sha256').update(extra).digest()])];
  const selects = [
    sql`(SELECT seq FROM transactions WHERE reference IN (${sql.join(spellings)}) ${limit})`,
    sql`(SELECT seq FROM (SELECT seq, status FROM transactions
        WHERE amount_cents = ${amount} AND created_wall >= ${order.from} AND created_wall < ${until} ${newest}) AS newest
      WHERE status = 'paid' AND ${countsForNone(sql`newest.seq`)} ${limit})`,
  ];
  if (e2eIds.length > 0)
    selects.push(sql`(SELECT seq FROM transactions WHERE e2e_id IN (${sql.join(e2eIds)}) ${limit})`);
  if (hash !== null)
    for (const one of hashes)
      selects.push(sql`(SELECT seq FROM transactions WHERE extra_hash = ${one} AND created_wall < ${until}
        ORDER BY created_wall DESC ${limit})`);
  if (document !== null)
    selects.push(sql`(SELECT t.seq FROM (SELECT transaction_seq FROM parties
        WHERE document_hash = ${document} AND created_wall < ${until} ${newest}) AS p
      JOIN transactions t ON t.seq = p.transaction_seq WHERE t.amount_cents = ${amount}
      ORDER BY t.created_wall DESC ${limit})`);
  const { rows } = await sql<{ seq: number }>`${sql.join(selects, sql` UNION `)}`.execute(db);
  return rows.map(({ seq }) => Number(seq));
}

/** Spellings of a name that an index finds. */
function spell(name: string): string[] {
  const plain = name.replaceAll(/[\s-]/g, '');
  return [name, plain, foldReference(name)].flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()]);
}

/** Reads which order each payment counts for, by its row number; null where the caller does not see that order. */
async function readMatched(db: Reader, seqs: number[], { sources, merchantSeq, mask }: OrderScope) {
  if (seqs.length === 0) return new Map<number, Alike['order']>();
  const rows = await db
    .selectFrom('expected_matches as made')
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .innerJoin('expected_payments as head', 'head.seq', 'made.expected_seq')
    .leftJoin('expected_texts as texts', 'texts.version_seq', 'head.version_seq')
    .select(['made.transaction_seq', 'head.id', 'head.source', 'head.number', 'head.merchant_seq'])
    .select(['texts.name', 'texts.document'])
    .where('made.transaction_seq', 'in', seqs)
    .where('made.part', 'is not', null)
    .where('undone.seq', 'is', null)
    .execute();
  return new Map<number, Alike['order']>(
    rows.map(({ transaction_seq: seq, id, source, number, merchant_seq: sender, ...party }) => {
      const isOwn = merchantSeq === undefined || sender === null || sender === merchantSeq;
      const isSeen = isOwn && (sources?.includes(source) ?? true);
      return [seq, isSeen ? { id, source, number: mask ? maskNumber({ number, ...party }) : number } : null];
    }),
  );
}
