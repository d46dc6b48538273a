/** Refunds and disputes come up to 90 days after payment: a day's changes may belong to transactions of the 95 days before. */
export const LATE_DAYS = 95;

/**
 * How many days back the long jobs read; today is 0. One more than LATE_DAYS: yesterday closes today, and the first creation
 * day whose transactions may change it is 96 days ago.
 */
export const LOOKBACK_DAYS = LATE_DAYS + 1;
