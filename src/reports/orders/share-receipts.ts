/**
 * Splits each receipt of Recebimentos into what is of orders, as they were matched at the cut, and the rest. On a platform whose
 * receipts are expected, from the first day of issue on, the rest is not identified. The parts add up to the receipt by construction;
 * the reading back adds them up in the database (sum-receipt-shares.ts).
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { DAY_MIN, type Day } from '../../domain/calendar.ts';
import { findStart } from '../../expected/decide/decide-receipt.ts';
import type { OrdersCut } from '../plan/orders-cut.ts';
import { platformAccountSegment } from '../read/read-accounts.ts';
import type { Movement } from '../read/read-movements.ts';
import { selectMatchesAtCut } from './select-matches-at-cut.ts';

/** The lines of Resumo that add up to its receipts. */
export const SHARE_LINES = ['ofOrders', 'unidentified', 'notExpected'] as const;
/** In cents. */
export type ReceiptShare = Record<(typeof SHARE_LINES)[number], bigint>;

export type ReceiptShares = {
  orders: OrdersCut;
  /** By the platform's segment of account names. */
  platforms: Map<string, ReceiptShare>;
  /** Receipts that are not identified, of which no open mismatch says so; undefined for cuts of earlier versions. */
  unreported: { count: number; cents: bigint } | undefined;
  /** @returns the shares of the receipts in force among these movements, by their entries' numbers. */
  share(movements: readonly Movement[]): Promise<Map<number, ReceiptShare>>;
  /** SHA-256 over whose the receipts are, so far. It covers nothing personal. */
  digest(): Buffer;
};

export function createReceiptShares(db: Reader, orders: OrdersCut): ReceiptShares {
  const sinceOf = createSinceOf(orders);
  const platforms = new Map<string, ReceiptShare>();
  const hash = createHash('sha256');
  const unreported = orders.mismatchSeq === undefined ? undefined : { count: 0, cents: 0n };
  return {
    orders,
    platforms,
    unreported,
    async share(movements) {
      const receipts = movements.filter(({ kind, inForce }) => kind === 'receipt' && inForce);
      const seqs = receipts.flatMap(({ transactionSeq }) => transactionSeq ?? []);
      const matched = await readMatched(db, orders, seqs);
      const reported = await readReported(db, orders, seqs);
      const shares = new Map<number, ReceiptShare>();
      for (const receipt of receipts) {
        const { transactionSeq: seq } = receipt;
        const since = reported.has(seq ?? 0) ? DAY_MIN : sinceOf(receipt.platform);
        const share = splitReceipt(receipt, matched.get(seq ?? 0) ?? 0n, since);
        shares.set(receipt.entrySeq, share);
        addShare(platforms, platformAccountSegment(receipt.platform), share);
        const { ofOrders, unidentified } = share;
        if (unreported && unidentified > 0n && !reported.has(seq ?? 0)) {
          unreported.count++;
          unreported.cents += unidentified;
        }
        if (ofOrders + unidentified > 0n)
          hash.update(`${JSON.stringify([receipt.transactionId, receipt.atWall, `${ofOrders}`, `${unidentified}`])}\n`);
      }
      return shares;
    },
    digest: () => hash.copy().digest(),
  };
}

/** The cents of each transaction that were matched at the cut. */
async function readMatched(db: Reader, orders: OrdersCut, seqs: number[]): Promise<Map<number, bigint>> {
  if (seqs.length === 0) return new Map();
  const rows = await selectMatchesAtCut(db, orders)
    .select(['made.transaction_seq', sql<string>`SUM(made.amount_cents)`.as('cents')])
    .where('made.transaction_seq', 'in', seqs)
    .groupBy('made.transaction_seq')
    .execute();
  return new Map(rows.map((row) => [row.transaction_seq, BigInt(row.cents)]));
}

/** The transactions that were reported as nobody's at the cut. */
async function readReported(db: Reader, { mismatchSeq }: OrdersCut, seqs: number[]): Promise<Set<number>> {
  if (mismatchSeq === undefined || seqs.length === 0) return new Set();
  const rows = await db
    .selectFrom('transactions')
    .innerJoin('mismatches', (join) =>
      join.onRef('mismatches.scope', '=', 'transactions.id').on('mismatches.kind', '=', 'receipt_unidentified'),
    )
    .select(['transactions.seq', 'mismatches.seq as mismatch'])
    .where('transactions.seq', 'in', seqs)
    .execute();
  if (rows.length === 0) return new Set();
  const changes = await db
    .selectFrom('mismatch_changes')
    .select(['mismatch_seq', 'state'])
    .where(
      'mismatch_seq',
      'in',
      rows.map(({ mismatch }) => mismatch),
    )
    .where('seq', '<=', mismatchSeq)
    .orderBy('seq')
    .execute();
  const states = new Map(changes.map((change) => [change.mismatch_seq, change.state]));
  return new Set(rows.filter((row) => (states.get(row.mismatch) ?? 'resolved') !== 'resolved').map(({ seq }) => seq));
}

/** Remembers the first day of each platform: a day has many receipts of few. */
function createSinceOf(orders: OrdersCut): (platform: string) => Day | undefined {
  const since = new Map(orders.since);
  const known = new Map<string, Day | undefined>();
  return (platform) => {
    if (!known.has(platform)) known.set(platform, findStart(since, platform));
    return known.get(platform);
  };
}

/** A correction may have lowered the amount below what was matched. Pure. */
export function splitReceipt(
  { amountCents, atWall }: Pick<Movement, 'amountCents' | 'atWall'>,
  matchedCents: bigint,
  since: Day | undefined,
): ReceiptShare {
  const ofOrders = matchedCents < amountCents ? matchedCents : amountCents;
  const rest = amountCents - ofOrders;
  const isExpected = since !== undefined && atWall >= since;
  return { ofOrders, unidentified: isExpected ? rest : 0n, notExpected: isExpected ? 0n : rest };
}

export function addShare(sums: Map<string, ReceiptShare>, segment: string, share: ReceiptShare): void {
  const sum = sums.get(segment) ?? { ofOrders: 0n, unidentified: 0n, notExpected: 0n };
  for (const line of SHARE_LINES) sum[line] += share[line];
  sums.set(segment, sum);
}

/** The shares of all platforms. */
export function sumShares(platforms: ReadonlyMap<string, ReceiptShare>): ReceiptShare {
  const total = new Map<string, ReceiptShare>();
  addShare(total, '', { ofOrders: 0n, unidentified: 0n, notExpected: 0n });
  for (const share of platforms.values()) addShare(total, '', share);
  return total.get('') as ReceiptShare; // set above
}
