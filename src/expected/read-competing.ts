import { sql } from 'kysely';
import { maskNumber } from '../database/read-parties.ts';
import type { Reader } from '../database/reader.ts';
import type { Party } from '../domain/person/mask-person.ts';
import type { ExpectedState } from './decide/decide-state.ts';
import { CANDIDATES_SHOWN_MAX } from './list-expected.ts';
import type { OrderScope } from './mask-expected.ts';

/** An order that competes with another for a payment. `shared`: the reference or the E2E id that both have, if they do. */
export type Competing = { id: string; source: string; number: string; state: ExpectedState; shared: string | null };
type Row = Competing & Pick<Party, 'name' | 'document'>;

/**
 * Reads the orders that are not cancelled and have a reference or an E2E id of this one, or may be a payment that this one may
 * be: at most 20. No payment is matched by what is not unique. Of a cancelled order with such a payment, cancelled ones too.
 */
export async function readCompeting(
  db: Reader,
  id: string,
  { sources, merchantSeq, mask }: OrderScope,
): Promise<Competing[]> {
  if (sources?.length === 0) return [];
  const { rows } = await sql<Row>`
    SELECT other.id, other.source, other.number, other.state, MIN(pair.shared) AS shared, texts.name, texts.document
    FROM (
      SELECT other.seq, head.is_cancelled, theirs.value AS shared FROM expected_payments AS head
      JOIN expected_keys AS mine ON mine.version_seq = head.version_seq
      JOIN expected_keys AS theirs ON theirs.value = mine.value AND theirs.kind = mine.kind
      JOIN expected_payments AS other ON other.version_seq = theirs.version_seq
      WHERE head.id = ${id} AND other.operation = head.operation
        AND (head.platform IS NULL OR other.platform IS NULL OR other.platform = head.platform)
        AND (head.is_cancelled = 0 OR EXISTS
          (SELECT 1 FROM expected_candidates AS one WHERE one.expected_seq = head.seq AND one.reason = 'not_unique'))
      UNION ALL
      SELECT theirs.expected_seq, head.is_cancelled, NULL FROM expected_payments AS head
      JOIN expected_candidates AS mine ON mine.expected_seq = head.seq AND mine.reason = 'not_unique'
      JOIN expected_candidates AS theirs ON theirs.transaction_seq = mine.transaction_seq AND theirs.reason = 'not_unique'
      WHERE head.id = ${id}
    ) AS pair
    JOIN expected_payments AS other ON other.seq = pair.seq
    LEFT JOIN expected_texts AS texts ON texts.version_seq = other.version_seq
    WHERE other.id <> ${id} AND (other.is_cancelled = 0 OR pair.is_cancelled = 1)
      ${sources ? sql`AND other.source IN (${sql.join(sources)})` : sql``}
      ${merchantSeq === undefined ? sql`` : sql`AND (other.merchant_seq IS NULL OR other.merchant_seq = ${merchantSeq})`}
    GROUP BY other.seq ORDER BY other.seq LIMIT ${CANDIDATES_SHOWN_MAX}`.execute(db);
  return rows.map(({ name, document, number, ...row }) => ({
    ...row,
    number: mask ? maskNumber({ number, name, document }) : number,
  }));
}
