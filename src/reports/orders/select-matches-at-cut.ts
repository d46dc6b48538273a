import type { Reader } from '../../database/reader.ts';
import type { OrdersCut } from '../plan/orders-cut.ts';

/** Selects the matches that stood at the cut: none of its undoings undoes them. */
export function selectMatchesAtCut(db: Reader, { matchSeq }: OrdersCut) {
  return db
    .selectFrom('expected_matches as made')
    .leftJoin('expected_matches as undone', (join) =>
      join.onRef('undone.undoes_seq', '=', 'made.seq').on('undone.seq', '<=', matchSeq),
    )
    .where('made.seq', '<=', matchSeq)
    .where('made.part', 'is not', null)
    .where('undone.seq', 'is', null);
}
