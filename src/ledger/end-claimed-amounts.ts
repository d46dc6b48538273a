import type { Transaction } from 'kysely';
import type { Database } from '../database/tables.ts';
import { type Change, listShownAmounts } from './fold-observations.ts';
import { openScope } from './resolve-mismatches.ts';

/** Webhooks' claims of an amount that the provider has come to show, though the books hold another. */
export async function endClaimedAmounts(trx: Transaction<Database>, changes: Change[]) {
  const kind = 'webhook_contradiction' as const;
  const shown = new Map(changes.map(listShownAmounts).map(({ scope, amounts }) => [scope, amounts]));
  const rows = await trx
    .selectFrom('mismatches')
    .select(['scope', 'expected'])
    .where(
      'open_scope',
      'in',
      [...shown.keys()].map((scope) => openScope({ kind, scope })),
    )
    .execute();
  return rows.flatMap(({ scope, expected }) => {
    const claim = JSON.parse(expected ?? '{}') as { amount?: string };
    return shown.get(scope)?.has(claim.amount ?? '') ? [{ kind, scope }] : [];
  });
}
