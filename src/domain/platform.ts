import { TEXT_BYTES_MAX } from './field-limits.ts';

/**
 * Stands for "no platform": in account names, and as the filter `platform=none` of every route and report. The provider's
 * platforms are UUIDs. A platform literally named `none` would share these accounts and this filter.
 */
export const NO_PLATFORM = 'none';

/** Limits the id of a platform that a person gives; a letter with an accent counts as two, as in a transaction's. */
export const PLATFORM_CHARS_MAX = TEXT_BYTES_MAX.platform;

/** Limits a platform in the name of an account, which has 255 characters. */
const SPELLING_CHARS_MAX = 227;

/** Spells a platform in the name of an account: other characters are written as `~hex~`. */
export function spellPlatform(platform: string): string {
  return platform.replace(/[^A-Za-z0-9_.-]/g, (char) => `~${char.codePointAt(0)?.toString(16)}~`);
}

/** Whether a text may be the id of a platform: as a transaction has it, and with room for it in its accounts. */
export function isPlatform(text: string): boolean {
  const fits = Buffer.byteLength(text) <= PLATFORM_CHARS_MAX && spellPlatform(text).length <= SPELLING_CHARS_MAX;
  return text !== '' && text.isWellFormed() && fits;
}
