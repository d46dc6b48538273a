/** Which payments an order of a merchant may be: those whose events the operators' filter lets that merchant see. */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { readUsableFilters } from '../../merchants/check-filter.ts';
import { type MerchantFilter, matchesFilter } from '../../merchants/match-filter.ts';
import type { LoadedPayment } from './read-payments.ts';

/** The filters of merchants, by their row numbers; null: beyond the limits, it lets nothing be seen. */
export type Scopes = ReadonlyMap<number, MerchantFilter | null>;

/** @param seqs row numbers of merchants; without them: of those that sent orders. */
export async function readScopes(db: Reader, seqs?: readonly number[]): Promise<Scopes> {
  if (seqs?.length === 0) return new Map();
  const { rows } = await sql<{ seq: number; filter: string }>`SELECT seq, filter FROM merchants
    WHERE ${seqs ? sql`seq IN (${sql.join(seqs)})` : sql`EXISTS (SELECT 1 FROM expected_payments WHERE merchant_seq = merchants.seq)`}`.execute(
    db,
  );
  return new Map(
    rows.map(({ seq, filter }) => [Number(seq), readUsableFilters({ filter, own_filter: null })?.[0] ?? null]),
  );
}

/**
 * Whether orders of a merchant may be this payment; `null`: of no merchant. Of a payment whose extra was erased, what the filter says of
 * the extra cannot be known: it stays as it was.
 */
export function sees(scopes: Scopes, merchantSeq: number | null, payment: LoadedPayment, wasMatched = false): boolean {
  if (merchantSeq === null) return true;
  const filter = scopes.get(merchantSeq);
  if (!filter) return false;
  const isKept = wasMatched && payment.extra === null && payment.facts.extraHash !== null;
  const asked = isKept ? { ...filter, extra_prefixes: [], extra_match: {} } : filter;
  return payment.statuses.some((status) => matchesFilter(asked, { ...payment.facts, extra: payment.extra, status }));
}
