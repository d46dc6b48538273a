/**
 * The due time of callbacks of the lowest priority: those of a backfill. They are claimed after all due callbacks of their
 * merchant, through the same index.
 */
export const WHEN_IDLE = new Date('9000-01-01T00:00:00Z');
