import type { ExpressionBuilder } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import type { Database } from '../../database/tables.ts';

/** Reasons of quarantine that new transactions in the ledger may resolve. They never resolve an `ambiguous` key. */
export const RETRYABLE_REASONS: readonly string[] = ['unknown_at_provider', 'unreadable_at_provider'];
/** An item is looked up by the first of these keys that it has. */
const COLUMNS = ['transaction_id', 'reference', 'extra_hash'] as const;

export type LearntTransaction = { seq: number; id: string; reference: string | null; extra_hash: Buffer | null };
export type NamedItem = { seq: number; webhookSeq: number; transactionId: string };

/** Whether new transactions may resolve an item: it was quarantined as unknown, or waits without a lease. */
export function isRetryable(now: Date) {
  return (eb: ExpressionBuilder<Database, 'webhook_items'>) =>
    eb.and([
      eb('resolved_id', 'is', null),
      eb.or([
        eb.and([eb('state', '=', 'quarantined'), eb('reason', 'in', RETRYABLE_REASONS)]),
        eb.and([
          eb('state', '=', 'pending'),
          eb('next_look_at', '>', now),
          eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]),
        ]),
      ]),
    ]);
}

export type NamedItemQuery = { learnt: LearntTransaction[]; now: Date; itemsMax: number };

/**
 * Finds up to `itemsMax` retryable items that name exactly one transaction of the ledger, one of `learnt`, by the key that
 * they are looked up by. Items that were retried for a transaction before are left out.
 */
export async function findNamedItems(db: Reader, { learnt, now, itemsMax }: NamedItemQuery): Promise<NamedItem[]> {
  const found: NamedItem[] = [];
  for (const [index, column] of COLUMNS.entries()) {
    const names = await listNames(db, learnt, column);
    const left = itemsMax - found.length;
    if (names.size === 0 || left === 0) continue;
    let select = db
      .selectFrom('webhook_items')
      .select(['seq', 'webhook_seq', column])
      .where(isRetryable(now))
      .where(
        column,
        'in',
        [...names.values()].map(({ name }) => name),
      );
    for (const before of COLUMNS.slice(0, index)) select = select.where(before, 'is', null);
    for (const row of await select.limit(left).execute()) {
      const name = row[column];
      const transactionId = name === null ? undefined : names.get(textOf(name))?.id;
      if (transactionId !== undefined) found.push({ seq: row.seq, webhookSeq: row.webhook_seq, transactionId });
    }
  }
  return found;
}

type Names = Map<string, { name: string | Buffer; id: string }>;

/** The keys that name these transactions. Shared keys are left out: a shop may send one extra with millions of them. */
async function listNames(db: Reader, learnt: LearntTransaction[], column: (typeof COLUMNS)[number]): Promise<Names> {
  if (column === 'transaction_id') {
    return new Map(learnt.map(({ id }) => [id.toLowerCase(), { name: id.toLowerCase(), id }]));
  }
  const seqs = learnt.filter((row) => row[column] !== null).map(({ seq }) => seq);
  if (seqs.length === 0) return new Map();
  const own = await db
    .selectFrom('transactions')
    .select(['id', column])
    .where('seq', 'in', seqs)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('transactions as other')
            .select('other.seq')
            .whereRef(`other.${column}`, '=', `transactions.${column}`)
            .whereRef('other.seq', '<>', 'transactions.seq'),
        ),
      ),
    )
    .execute();
  return new Map(
    own.flatMap(({ id, [column]: name }): [string, { name: string | Buffer; id: string }][] =>
      name === null ? [] : [[textOf(name), { name, id }]],
    ),
  );
}

function textOf(name: string | Buffer): string {
  return typeof name === 'string' ? name : name.toString('latin1');
}
