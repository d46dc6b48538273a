import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { showUnseen } from '../../domain/language/show-unseen.ts';
import { groupValues } from '../../domain/lists.ts';
import { CANDIDATES_SHOWN_MAX } from './list-expected.ts';

/** A payment of an expected payment, or the other way round: one that it may be, or with which a person matched it. */
export type Partner = {
  /** The id of the transaction or the expected payment. */
  id: string;
  /** Names that a person may write: the id; of an expected payment also `source/number` and the number. */
  names: readonly [string, ...string[]];
  cents: bigint;
};

const PAIRS = {
  candidates: sql`SELECT expected_seq, transaction_seq FROM expected_candidates`,
  matched: sql`SELECT made.expected_seq, made.transaction_seq FROM expected_matches AS made
    LEFT JOIN expected_matches AS undone ON undone.undoes_seq = made.seq
    WHERE made.rule = 'person' AND undone.seq IS NULL`,
};

type Row = Record<'expected_id' | 'source' | 'number' | 'transaction_id', string> & {
  expected_cents: bigint;
  paid_cents: bigint;
};

/**
 * Reads the partners of transactions and expected payments, by the id of these: at most 20 of each.
 * @param which candidates, or matches by a person that stand.
 */
export async function readPartners(
  db: Reader,
  which: keyof typeof PAIRS,
  of: { transactions: readonly string[]; expected: readonly string[] },
): Promise<Map<string, Partner[]>> {
  const read = async (column: RawBuilder<unknown>, ids: readonly string[]): Promise<Row[]> => {
    if (ids.length === 0) return [];
    const { rows } = await sql<Row>`
      SELECT head.id AS expected_id, head.source, head.number, head.amount_cents AS expected_cents,
        transactions.id AS transaction_id, transactions.amount_cents AS paid_cents
      FROM (${PAIRS[which]}) AS pair
      JOIN expected_payments AS head ON head.seq = pair.expected_seq
      JOIN transactions ON transactions.seq = pair.transaction_seq
      WHERE ${column} IN (${sql.join(ids)}) ORDER BY head.seq, transactions.seq`.execute(db);
    return rows;
  };
  const orders = groupValues(await read(sql`transactions.id`, of.transactions), (row) => row.transaction_id, toOrder);
  const payments = groupValues(await read(sql`head.id`, of.expected), (row) => row.expected_id, toPayment);
  return new Map([...orders, ...payments].map(([id, partners]) => [id, partners.slice(0, CANDIDATES_SHOWN_MAX)]));
}

function toOrder({ expected_id: id, source, number, expected_cents: cents }: Row): Partner {
  return { id, names: listNames(`${source}/${number}`, id, number), cents };
}

function toPayment({ transaction_id: id, paid_cents: cents }: Row): Partner {
  return { id, names: listNames(id), cents };
}

/** Adds the first name as a cell shows it, where that differs: a person chooses it there. */
function listNames(...names: [string, ...string[]]): Partner['names'] {
  const shown = showUnseen(names[0]).trim();
  return names.includes(shown) ? names : [...names, shown];
}
