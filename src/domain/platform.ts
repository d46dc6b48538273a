/**
 * Stands for "no platform": in account names, and as the filter `platform=none` of every route and report. The provider's
 * platforms are UUIDs. A platform literally named `none` would share these accounts and this filter.
 */
export const NO_PLATFORM = 'none';

/** Limits the id of a platform that a person gives. */
export const PLATFORM_CHARS_MAX = 64;
