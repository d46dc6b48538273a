import type { Reader } from '../../src/database/reader.ts';
import type { ExpectedModel } from './expected-model.ts';

/** Reads the state and the matches of each expected payment of a model, in the form in which it foretells them. */
export async function readExpected(db: Reader, { round, expected, payments }: ExpectedModel): Promise<string[]> {
  const numbers = new Map(payments.map(({ id, seq }) => [id, seq]));
  const rows = await db
    .selectFrom('expected_payments as head')
    .leftJoin('expected_matches as made', (join) =>
      join.onRef('made.expected_seq', '=', 'head.seq').on('made.part', 'is not', null),
    )
    .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
    .leftJoin('transactions', 'transactions.seq', 'made.transaction_seq')
    .select(['head.id', 'head.state', 'made.rule', 'transactions.id as paid_by', 'undone.seq as undone_by'])
    .where('head.number', 'like', `${round}-%`)
    .execute();
  const groups = Map.groupBy(rows, (row) => row.id);
  return expected.map(({ id, seq }) => {
    const own = groups.get(id) ?? [];
    const matches = own.flatMap((row) =>
      row.paid_by && row.undone_by === null ? `${numbers.get(row.paid_by)} ${row.rule}` : [],
    );
    return `${seq} ${own[0]?.state}: ${matches.sort().join(', ')}`;
  });
}
