import type { Reader } from '../../database/reader.ts';
import type { ChangeScope } from './list-changed-transactions.ts';
import { DIGESTED_FACTS } from './read-facts-at-cut.ts';

const SHOWN = ['reference', 'platform', 'operation', 'amount_cents'] as const;

/** A fact that differs between the cuts; an amount is cents as text. */
export type CorrectedFact = { name: (typeof SHOWN)[number]; before: string | null; after: string | null };

/** `at` and `source` are those of the newest change. */
export type FactCorrections = {
  facts: CorrectedFact[];
  at: Date;
  source: { source_kind: string | null; source_page: number | null; hash: Buffer | null; run_id: string | null };
};

/** Facts that were filled in or corrected between the cuts, by the transaction's number. */
export async function readCorrectedFacts(
  db: Reader,
  { from, to, factsAtCut, factsAtPreviousCut }: ChangeScope,
  seqs: number[],
): Promise<Map<number, FactCorrections>> {
  if (seqs.length === 0) return new Map();
  const changes = await db
    .selectFrom('fact_changes')
    .leftJoin('webhooks', 'webhooks.seq', 'fact_changes.source_webhook_seq')
    .leftJoin('runs', 'runs.seq', 'fact_changes.source_run_seq')
    .select(['fact_changes.transaction_seq', 'fact_changes.at', 'fact_changes.source_kind', 'fact_changes.source_page'])
    .select(['webhooks.hash', 'runs.id as run_id'])
    .where('fact_changes.transaction_seq', 'in', seqs)
    .where('fact_changes.seq', '>', from.factChangeSeq)
    .where('fact_changes.seq', '<=', to.factChangeSeq)
    .where('fact_changes.name', 'in', DIGESTED_FACTS)
    .orderBy('fact_changes.seq')
    .execute();
  if (changes.length === 0) return new Map();
  const rows = await db
    .selectFrom('transactions')
    .select(['seq', ...SHOWN])
    .where(
      'seq',
      'in',
      changes.map((change) => change.transaction_seq),
    )
    .execute();
  const then = await factsAtPreviousCut.restoreFacts(rows, SHOWN, (row) => row.seq);
  const now = new Map((await factsAtCut.restoreFacts(rows, SHOWN, (row) => row.seq)).map((row) => [row.seq, row]));
  const facts = new Map(then.map((row) => [row.seq, compare(row, now.get(row.seq) ?? row)]));
  return new Map(
    changes.map(({ transaction_seq: seq, at, ...source }) => [seq, { facts: facts.get(seq) ?? [], at, source }]),
  );
}

type Shown = Record<(typeof SHOWN)[number], string | bigint | null>;

function compare(before: Shown, after: Shown): CorrectedFact[] {
  const format = (value: string | bigint | null): string | null => (value === null ? null : String(value));
  return SHOWN.filter((name) => before[name] !== after[name]).map((name) => ({
    name,
    before: format(before[name]),
    after: format(after[name]),
  }));
}
