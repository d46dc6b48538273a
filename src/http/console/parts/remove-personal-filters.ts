/** Filters that may name a person: extra is free text, and often a document. */
export const PERSONAL_FILTERS = ['document', 'name', 'extra'];

/** Removes the filters that may name a person from an address of ours. */
export function removePersonalFilters(address: string): string {
  const [path = '', query] = address.split(/\?(.*)/s);
  const search = new URLSearchParams(query);
  if (!PERSONAL_FILTERS.some((name) => search.has(name))) return address;
  for (const name of PERSONAL_FILTERS) search.delete(name);
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}
