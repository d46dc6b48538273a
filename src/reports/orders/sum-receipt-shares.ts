/**
 * Adds up, in the database, what is of orders among the receipts of a cut. It shares no code with the rows (share-receipts.ts): a
 * fault there makes a difference here.
 */
import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import type { OrdersCut } from '../plan/orders-cut.ts';
import { platformAccountSegment } from '../read/read-accounts.ts';
import { matchesCut } from '../read/read-cut-entries.ts';
import type { MovementScope } from '../read/read-movements.ts';
import { addShare, type ReceiptShare } from './share-receipts.ts';

/** `unidentified`: rows of that sheet. */
export type SummedShares = {
  platforms: Map<string, ReceiptShare>;
  unidentified: { rows: number; amountCents: bigint; ofOrdersCents: bigint };
};

export async function sumReceiptShares(db: Reader, scope: MovementScope, orders: OrdersCut): Promise<SummedShares> {
  const platforms: SummedShares['platforms'] = new Map();
  const unidentified = { rows: 0, amountCents: 0n, ofOrdersCents: 0n };
  const isNamed = orders.since.some(([platform]) => platform !== NO_PLATFORM);
  for (const row of await readDays(db, scope, orders)) {
    const spokenFor = isNamed ? row.platform : NO_PLATFORM;
    const [, first] = orders.since.find(([platform]) => platform === spokenFor) ?? [];
    const isExpected = Number(row.reported) === 1 || (first !== undefined && row.day >= first);
    const [ofOrders, rest] = [BigInt(row.of_orders), BigInt(row.amount) - BigInt(row.of_orders)];
    const share = { ofOrders, unidentified: isExpected ? rest : 0n, notExpected: isExpected ? 0n : rest };
    addShare(platforms, platformAccountSegment(row.platform), share);
    if (!isExpected) continue;
    unidentified.rows += Number(row.open_rows);
    unidentified.amountCents += BigInt(row.open_amount);
    unidentified.ofOrdersCents += BigInt(row.open_amount) - rest;
  }
  return { platforms, unidentified };
}

type DaySums = {
  platform: string;
  day: string;
  reported: number;
  amount: string;
  of_orders: string;
  open_rows: number;
  open_amount: string;
};

/** Sums of each day and platform; `open`: of receipts that are not wholly of orders. */
async function readDays(db: Reader, scope: MovementScope, { matchSeq, mismatchSeq }: OrdersCut): Promise<DaySums[]> {
  const ofPlatform = scope.platform === undefined ? sql`TRUE` : sql`entries.platform = ${scope.platform}`;
  const { rows } =
    await sql<DaySums>`SELECT platform, day, reported, SUM(cents) AS amount, SUM(LEAST(cents, matched)) AS of_orders,
      SUM(matched < cents) AS open_rows, SUM(CASE WHEN matched < cents THEN cents ELSE 0 END) AS open_amount
    FROM (
      SELECT STRAIGHT_JOIN entries.platform, SUBSTR(entries.at_wall, 1, 10) AS day, -postings.amount_cents AS cents,
        ${mismatchSeq === undefined ? sql`0` : isReported(mismatchSeq)} AS reported,
        COALESCE((SELECT SUM(made.amount_cents) FROM expected_matches AS made
          WHERE made.transaction_seq = entries.transaction_seq AND made.part IS NOT NULL AND made.seq <= ${matchSeq}
            AND NOT EXISTS (SELECT 1 FROM expected_matches AS undoing
              WHERE undoing.undoes_seq = made.seq AND undoing.seq <= ${matchSeq})), 0) AS matched
      FROM entries
      INNER JOIN events ON events.seq = entries.event_seq AND events.status = 'paid'
      INNER JOIN postings ON postings.entry_seq = entries.seq
      INNER JOIN accounts ON accounts.seq = postings.account_seq AND accounts.name LIKE 'Liabilities:Receipts:%'
      WHERE entries.at_wall >= ${scope.start} AND entries.at_wall < ${scope.end} AND ${matchesCut('entries.seq', scope)}
        AND entries.reverses_seq IS NULL AND ${ofPlatform}
        AND NOT EXISTS (SELECT 1 FROM entries AS reversal
          WHERE reversal.reverses_seq = entries.seq AND ${matchesCut('reversal.seq', scope)})
    ) AS receipts
    GROUP BY platform, day, reported`.execute(db);
  return rows;
}

/** Whether the transaction of an entry was reported as nobody's at the cut. */
function isReported(mismatchSeq: number) {
  return sql`EXISTS (SELECT 1 FROM transactions AS paid
    INNER JOIN mismatches ON mismatches.kind = 'receipt_unidentified' AND mismatches.scope = paid.id
    WHERE paid.seq = entries.transaction_seq
      AND (SELECT changes.state FROM mismatch_changes AS changes
        WHERE changes.mismatch_seq = mismatches.seq AND changes.seq <= ${mismatchSeq}
        ORDER BY changes.seq DESC LIMIT 1) <> 'resolved')`;
}
