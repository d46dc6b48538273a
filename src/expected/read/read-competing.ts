import { sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { maskNumber } from '../../database/shared/read-parties.ts';
import { groupValues } from '../../domain/lists.ts';
import type { Party } from '../../domain/person/mask-person.ts';
import type { ExpectedState } from '../decide/decide-state.ts';
import { CANDIDATES_SHOWN_MAX } from './list-expected.ts';
import type { OrderScope } from './mask-expected.ts';

/** An order that competes with another for a payment. `shared`: the reference or the E2E id that both have, if they do. */
export type Competing = { id: string; source: string; number: string; state: ExpectedState; shared: string | null };
type Row = Competing & Pick<Party, 'name' | 'document'> & { own: string };

/**
 * Reads the orders that are not cancelled and have a reference or an E2E id of one of these, or may be a payment that it may
 * be: at most 20 of each. No payment is matched by what is not unique. Of a cancelled order with such a payment, cancelled ones too.
 */
export async function readCompeting(
  db: Reader,
  ids: readonly string[],
  { sources, merchantSeq, mask }: OrderScope,
): Promise<Map<string, Competing[]>> {
  if (sources?.length === 0 || ids.length === 0) return new Map();
  const given = sql.join(ids);
  const seen = isSeen({ sources, merchantSeq });
  // ranked before they are paired: a thousand orders of one reference are a million pairs; each order is one of its own rivals
  const { rows } = await sql<Row>`
    SELECT * FROM (SELECT pair.own, other.seq, other.id, other.source, other.number, other.state,
      MIN(pair.shared) AS shared, texts.name, texts.document,
      ROW_NUMBER() OVER (PARTITION BY pair.own ORDER BY other.seq) AS place
    FROM (
      SELECT head.id AS own, theirs.seq, head.is_cancelled, theirs.value AS shared FROM expected_payments AS head
      JOIN expected_keys AS mine ON mine.version_seq = head.version_seq
      JOIN (SELECT kind, value, other.seq, other.operation, other.platform,
          DENSE_RANK() OVER (PARTITION BY kind, value, other.operation, other.platform, other.is_cancelled
            ORDER BY other.seq) AS place
        FROM (SELECT DISTINCT kind, value FROM expected_payments JOIN expected_keys USING (version_seq)
          WHERE id IN (${given})) AS asked
        JOIN expected_keys AS found USING (kind, value)
        JOIN expected_payments AS other ON other.version_seq = found.version_seq WHERE ${seen}
      ) AS theirs ON theirs.value = mine.value AND theirs.kind = mine.kind AND theirs.place <= ${CANDIDATES_SHOWN_MAX + 1}
      WHERE head.id IN (${given}) AND theirs.operation = head.operation
        AND (head.platform IS NULL OR theirs.platform IS NULL OR theirs.platform = head.platform)
        AND (head.is_cancelled = 0 OR EXISTS
          (SELECT 1 FROM expected_candidates AS one WHERE one.expected_seq = head.seq AND one.reason = 'not_unique'))
      UNION ALL
      SELECT head.id, theirs.seq, head.is_cancelled, NULL FROM expected_payments AS head
      JOIN expected_candidates AS mine ON mine.expected_seq = head.seq AND mine.reason = 'not_unique'
      JOIN (SELECT transaction_seq, other.seq,
          DENSE_RANK() OVER (PARTITION BY transaction_seq, other.is_cancelled ORDER BY other.seq) AS place
        FROM (SELECT DISTINCT transaction_seq FROM expected_payments AS head JOIN expected_candidates
          ON expected_seq = head.seq WHERE id IN (${given}) AND reason = 'not_unique') AS asked
        JOIN expected_candidates AS found USING (transaction_seq)
        JOIN expected_payments AS other ON other.seq = found.expected_seq WHERE found.reason = 'not_unique' AND ${seen}
      ) AS theirs ON theirs.transaction_seq = mine.transaction_seq AND theirs.place <= ${CANDIDATES_SHOWN_MAX + 1}
      WHERE head.id IN (${given})
    ) AS pair
    JOIN expected_payments AS other ON other.seq = pair.seq
    LEFT JOIN expected_texts AS texts ON texts.version_seq = other.version_seq
    WHERE other.id <> pair.own AND (other.is_cancelled = 0 OR pair.is_cancelled = 1)
    GROUP BY pair.own, other.seq) AS competing
    WHERE place <= ${CANDIDATES_SHOWN_MAX} ORDER BY seq`.execute(db);
  return groupValues(
    rows,
    (row) => row.own,
    ({ id, source, number, state, shared, ...party }) => ({
      ...{ id, source, number: mask ? maskNumber({ number, ...party }) : number, state, shared },
    }),
  );
}

/** Whether a caller sees an order, `other` in the statement. */
function isSeen({ sources, merchantSeq }: Omit<OrderScope, 'mask'>) {
  return sql<boolean>`${sources ? sql`other.source IN (${sql.join(sources)})` : sql`TRUE`}
    AND ${merchantSeq === undefined ? sql`TRUE` : sql`(other.merchant_seq IS NULL OR other.merchant_seq = ${merchantSeq})`}`;
}

/**
 * Counts the orders that may be a payment that this one may be, and that the caller does not see: up to 20. Only where a
 * payment is in dispute: an equal reference alone would show which references others have.
 */
export async function countCompetingElsewhere(db: Reader, id: string, scope: OrderScope): Promise<number> {
  const { sources, merchantSeq } = scope;
  if ((sources ?? merchantSeq) === undefined) return 0;
  const { rows } = await sql<unknown>`
    SELECT DISTINCT other.seq FROM expected_payments AS head
    JOIN expected_candidates AS mine ON mine.expected_seq = head.seq AND mine.reason = 'not_unique'
    JOIN expected_candidates AS theirs ON theirs.transaction_seq = mine.transaction_seq AND theirs.reason = 'not_unique'
    JOIN expected_payments AS other ON other.seq = theirs.expected_seq
    WHERE head.id = ${id} AND other.seq <> head.seq AND (other.is_cancelled = 0 OR head.is_cancelled = 1)
      AND ${sources?.length === 0 ? sql`TRUE` : sql`NOT (${isSeen(scope)})`}
    LIMIT ${CANDIDATES_SHOWN_MAX}`.execute(db);
  return rows.length;
}

/**
 * Counts the orders that may be a payment that one of these may be, seen or not, by its id: up to 20; of several payments,
 * the most. An order without a payment in dispute has none.
 */
export async function countRivals(db: Reader, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const given = sql.join(ids);
  // counted by payment: a thousand orders of one reference are a million pairs
  const { rows } = await sql<{ id: string; rivals: number }>`
    SELECT head.id, LEAST(${CANDIDATES_SHOWN_MAX}, MAX(IF(head.is_cancelled = 1, counted.total, counted.active) - 1)) AS rivals
    FROM expected_payments AS head
    JOIN expected_candidates AS mine ON mine.expected_seq = head.seq AND mine.reason = 'not_unique'
    JOIN (SELECT transaction_seq, COUNT(*) AS total, SUM(other.is_cancelled = 0) AS active
      FROM (SELECT DISTINCT transaction_seq FROM expected_payments AS own JOIN expected_candidates
        ON expected_seq = own.seq WHERE own.id IN (${given}) AND reason = 'not_unique') AS asked
      JOIN expected_candidates AS found USING (transaction_seq)
      JOIN expected_payments AS other ON other.seq = found.expected_seq
      WHERE found.reason = 'not_unique' GROUP BY transaction_seq) AS counted USING (transaction_seq)
    WHERE head.id IN (${given}) GROUP BY head.id`.execute(db);
  return new Map(rows.map(({ id, rivals }) => [id, Number(rivals)]));
}
