import { hashDocument } from '../../database/keys/index-person.ts';
import type { Keys } from '../../database/keys/settings.ts';
import { TEXT_BYTES_MAX, type TextField, truncateText } from '../../domain/field-limits.ts';
import { hashText } from '../../domain/hash-text.ts';
import { NO_PLATFORM } from '../../domain/platform.ts';
import { createKeyedExtraHash } from '../../privacy/redact-forgotten.ts';
import type { TransactionQuery } from './transaction-query.ts';

export type Filter = {
  column: (typeof LEADS)[number][0];
  /** Null: IS NULL. */
  value: string | bigint | Buffer | null;
  leads: 'both' | 'created' | 'status' | 'none';
};

/**
 * Columns whose index has the order of a page, by the day of creation or of the status, most selective first. `both`:
 * selective enough for either order.
 */
const LEADS = [
  ['transactions.id', 'none'],
  ['transactions.e2e_id', 'both'],
  ['transactions.reference', 'both'],
  ['parties.document_hash', 'created'],
  ['transactions.extra_hash', 'created'],
  ['transactions.amount_cents', 'created'],
  ['transactions.status', 'both'],
  ['transactions.platform', 'created'],
  ['transactions.operation', 'created'],
] as const;

/** Returns the conditions of a search on single columns. @param withheld search the extra of a forgotten person. */
export function listFilters(keys: Keys, query: TransactionQuery, withheld: boolean): Filter[] {
  const { document } = query;
  // longer values are stored truncated: search for that form
  const asStored = (value: string | undefined, field: TextField): string | undefined =>
    value === undefined ? undefined : truncateText(value, TEXT_BYTES_MAX[field]);
  const extra = asStored(query.extra, 'extra');
  const extraHash = extra === undefined ? undefined : hashText(extra);
  const values: Record<(typeof LEADS)[number][0], Filter['value'] | undefined> = {
    'transactions.id': query.id,
    'transactions.e2e_id': asStored(query.e2eId, 'e2e_id'),
    'transactions.reference': asStored(query.reference, 'reference'),
    'parties.document_hash': document === undefined ? undefined : hashDocument(keys, document),
    'transactions.extra_hash': extraHash && withheld ? createKeyedExtraHash(keys, extraHash) : extraHash,
    'transactions.amount_cents': query.amountCents,
    'transactions.status': query.status,
    'transactions.platform': query.platform === NO_PLATFORM ? null : asStored(query.platform, 'platform'),
    'transactions.operation': query.operation,
  };
  return LEADS.flatMap(([column, leads]) => {
    const value = values[column];
    return value === undefined ? [] : [{ column, value, leads }];
  });
}
