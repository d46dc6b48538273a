import { TEXT_BYTES_MAX } from './field-limits.ts';

/**
 * Stands for "no platform": in account names, and as the filter `platform=none` of every route and report. The provider's
 * platforms are UUIDs. A platform literally named `none` would share these accounts and this filter.
 */
export const NO_PLATFORM = 'none';

/** Limits the id of a platform that a person gives; a letter with an accent counts as two, as in a transaction's. */
export const PLATFORM_CHARS_MAX = TEXT_BYTES_MAX.platform;

/** Whether a text may be the id of a platform: as a transaction has it. */
export function isPlatform(text: string): boolean {
  return text !== '' && text.isWellFormed() && Buffer.byteLength(text) <= PLATFORM_CHARS_MAX;
}
