import type { Transaction } from 'kysely';
import { inForce } from '../../database/shared/in-force.ts';
import type { Database } from '../../database/tables.ts';
import { formatAmount } from '../../domain/money.ts';
import { describeStatus } from '../../domain/statuses.ts';
import type { LockedTransaction } from '../../ledger/apply/lock-transactions.ts';
import { raiseMismatches } from '../../mismatches/raise-mismatches.ts';
import { mismatchKey } from '../../mismatches/resolve-mismatches.ts';
import type { Contradiction } from './classify-item.ts';

type Contradicted = Contradiction & { webhookSeq: number };

/**
 * Raises a mismatch for each claim that the provider contradicts and the ledger does not show either. An
 * observation that shows the claim is read here, or comes later and resolves the mismatch.
 * @param locked their transactions, by id.
 */
export async function raiseContradictions(
  trx: Transaction<Database>,
  contradicted: Contradicted[],
  locked: ReadonlyMap<string, LockedTransaction>,
  now: Date,
): Promise<void> {
  if (contradicted.length === 0) return;
  const ids = contradicted.map(({ id }) => id);
  const shown = await findShown(trx, ids);
  for (const { id, amount_cents } of locked.values()) shown.add(nameAmount(id, formatAmount(amount_cents)));
  for (const name of await findDisputedAmounts(trx, ids)) shown.add(name);
  const isShown = ({ claim, id, scope, expected }: Contradiction): boolean =>
    shown.has(claim === 'amount' ? nameAmount(id, (expected as { amount: string }).amount) : scope);
  await raiseMismatches(
    trx,
    contradicted
      .filter((one) => !isShown(one))
      .map(({ id, claim: _, ...one }) => {
        const seq = locked.get(id)?.seq;
        const subject = { transactionId: id, ...(seq === undefined ? {} : { transactionSeq: seq }) };
        return { kind: 'webhook_contradiction', ...subject, ...one };
      }),
    now,
  );
}

/** A claim of an amount. No status has this form. */
function nameAmount(id: string, amount: string): string {
  return `${id} amount ${amount}`;
}

/** The other amounts that the provider has shown of these transactions and that no person has decided yet. */
async function findDisputedAmounts(trx: Transaction<Database>, ids: string[]): Promise<string[]> {
  const keys = [...new Set(ids)].map((scope) => mismatchKey({ kind: 'amount_differs', scope }));
  const rows = await trx.selectFrom('mismatches').select(['scope', 'actual']).where('open_scope', 'in', keys).execute();
  return rows.map(({ scope, actual }) =>
    nameAmount(scope, (JSON.parse(actual ?? '{}') as { amount?: string }).amount ?? ''),
  );
}

/** The statuses that the ledger holds by now, as scopes: another observation may have brought them since this fetch. */
async function findShown(trx: Transaction<Database>, ids: string[]): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['transactions.id', 'events.status'])
    .where('transactions.id', 'in', [...new Set(ids)])
    // events that a person rejected or that were replaced do not count
    .where(inForce('events'), '=', 1)
    // nor do inferred events, once the provider showed a history
    .where((eb) =>
      eb.or([
        eb('events.inferred', '=', 0),
        eb('transactions.ordered_at', 'is', null),
        eb.exists(
          eb
            .selectFrom('event_places')
            .select('event_places.seq')
            // uses the index
            .whereRef('event_places.transaction_seq', '=', 'events.transaction_seq')
            .whereRef('event_places.event_seq', '=', 'events.seq'),
        ),
      ]),
    )
    .execute();
  return new Set(rows.map((row) => `${row.id} ${describeStatus(row.status)}`));
}
