import type { FieldFault } from '../domain/errors.ts';
import { faultOf, refuseFields } from '../texts/refuse.ts';
import { completeFilter, type FilterInput, filtersOf, type MerchantFilter } from './match-filter.ts';

/** Each event is compared with the filters of all merchants in the transaction that books it. */
export const FILTER_LIMITS = {
  listMax: 200,
  textCharsMax: 512,
  matchKeysMax: 50,
  keyCharsMax: 128,
  valueCharsMax: 512,
  bytesMax: 16 * 1024,
} as const;

const { listMax, textCharsMax, matchKeysMax, keyCharsMax, valueCharsMax, bytesMax } = FILTER_LIMITS;

/** @returns what is beyond the limits, by field; empty: nothing. */
export function findFilterFaults(input: FilterInput): FieldFault[] {
  const { extra_match: match, expected: _, ...lists } = completeFilter(input);
  const faults: FieldFault[] = [];
  for (const [name, list] of Object.entries(lists) as [keyof typeof lists, string[]][]) {
    if (list.length > listMax) faults.push(faultOf(name, 'filter_list_long', { n: listMax }));
    if (list.some((text) => text.length > textCharsMax))
      faults.push(faultOf(name, 'filter_value_long', { n: textCharsMax }));
  }
  const pairs = Object.entries(match);
  if (pairs.length > matchKeysMax) faults.push(faultOf('extra_match', 'filter_keys_many', { n: matchKeysMax }));
  if (pairs.some(([key]) => key.length > keyCharsMax))
    faults.push(faultOf('extra_match', 'filter_key_long', { n: keyCharsMax }));
  if (pairs.some(([, value]) => String(value).length > valueCharsMax))
    faults.push(faultOf('extra_match', 'filter_value_long', { n: valueCharsMax }));
  if (faults.length === 0 && Buffer.byteLength(JSON.stringify({ ...lists, extra_match: match })) > bytesMax)
    faults.push(faultOf('extra_match', 'filter_large', { n: bytesMax / 1024 }));
  return faults;
}

/** @throws ConfereError `invalid_request` for a filter beyond the limits, by field. */
export function checkFilter(input: FilterInput): void {
  const faults = findFilterFaults(input);
  if (faults.length === 0) return;
  throw refuseFields(faults.map((fault) => ({ ...fault, field: `filter.${fault.field}` })));
}

/** Returns the filters of a stored merchant; undefined where one is beyond the limits: nothing is compared with it. */
export function readUsableFilters(row: { filter: string; own_filter: string | null }): MerchantFilter[] | undefined {
  if (Buffer.byteLength(row.filter) > bytesMax || Buffer.byteLength(row.own_filter ?? '') > bytesMax) return undefined;
  const filters = filtersOf(row);
  return filters.some((filter) => findFilterFaults(filter).length > 0) ? undefined : filters;
}
