import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { addDays } from '../domain/wall-clock.ts';
import type { Switches } from '../faults/switches.ts';
import type { Tables } from './tables.ts';

type ListSwitches = Switches['list'];
export type TransactionsQuery = SelectQueryBuilder<Tables, 'transactions', object>;

export type ListFilter = {
  identifier?: string | undefined;
  reference?: string | undefined;
  status?: string | undefined;
  name_document?: string | undefined;
  phone?: string | undefined;
  initial_date?: string | undefined;
  final_date?: string | undefined;
  platform?: string | undefined;
  pix_key?: string | undefined;
};

/** Returns whether the filter has nothing but days of creation. */
export function hasDatesOnly(filter: ListFilter): boolean {
  const { identifier, reference, status, name_document, phone, platform, pix_key } = filter;
  return ![identifier, reference, status, name_document, phone, platform, pix_key].some(Boolean);
}

/** Applies every given filter. Identifiers are compared byte by byte. */
export function applyFilter(rows: TransactionsQuery, filter: ListFilter, list: ListSwitches): TransactionsQuery {
  const { identifier, reference, status, name_document, phone, platform, pix_key } = filter;
  const { from, to } = dayBounds(filter, list.dates);
  let narrowed = rows;
  if (identifier) narrowed = narrowed.where('id', '=', identifier.toLowerCase());
  if (reference) narrowed = narrowed.where('reference', '=', reference);
  if (status) narrowed = narrowed.where('status', '=', status);
  if (phone) narrowed = narrowed.where('phone', '=', phone);
  if (platform) narrowed = narrowed.where('platform', '=', platform);
  if (pix_key) narrowed = narrowed.where('pix_key', '=', pix_key);
  if (from !== undefined) narrowed = narrowed.where('created_wall', '>=', `${from} 00:00:00`);
  if (to !== undefined) narrowed = narrowed.where('created_wall', '<=', `${to} 23:59:59`);
  if (!name_document) return narrowed;
  return narrowed.where((eb) => eb.or([eb('document', '=', name_document), nameMatches(name_document, list)]));
}

/** Returns the first and last day of a filter, with its bounds as the switch `list.dates` reads them. */
export function dayBounds(
  { initial_date, final_date }: ListFilter,
  dates: ListSwitches['dates'],
): { from: string | undefined; to: string | undefined } {
  const skipFirst = dates === 'exclusive' ? 1 : 0;
  const skipLast = dates === 'inclusive' ? 0 : 1;
  return {
    from: initial_date ? addDays(initial_date, skipFirst) : undefined,
    to: final_date ? addDays(final_date, -skipLast) : undefined,
  };
}

/** Orders the rows by a total order, so that pages are stable. */
export function applyOrder(rows: TransactionsQuery, order: ListSwitches['order']): TransactionsQuery {
  switch (order) {
    case 'created_desc':
      return rows.orderBy('created_wall', 'desc').orderBy('seq', 'desc');
    case 'created_asc':
      return rows.orderBy('created_wall').orderBy('seq');
    case 'updated_desc':
      return rows.orderBy('updated_wall', 'desc').orderBy('seq', 'desc');
    case 'random':
      return rows.orderBy(sql`RAND()`);
  }
}

function nameMatches(text: string, { name_document }: ListSwitches): RawBuilder<boolean> {
  if (name_document === 'exact') return sql<boolean>`name = ${text} COLLATE utf8mb4_bin`;
  return sql<boolean>`name LIKE ${`%${text.replace(/[\\%_]/g, '\\$&')}%`}`;
}
