/**
 * The name of what has no platform: the last part of its accounts, and the filter `platform=none` in every route and
 * report. The provider's platforms are UUIDs; a platform that was literally named `none` shares these accounts, and so
 * is found by the same filter.
 */
export const NO_PLATFORM = 'none';
