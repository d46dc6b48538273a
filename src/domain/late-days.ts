/** Refunds and disputes come up to 90 days after payment: changes of a day can hide in so many creation days before it. */
export const LATE_DAYS = 95;

/**
 * How far back the long jobs reach, today included as 0. One more than LATE_DAYS: yesterday closes today, and the first
 * creation day that could still have changed it lies 96 days before today.
 */
export const LOOKBACK_DAYS = LATE_DAYS + 1;
