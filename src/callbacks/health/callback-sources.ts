import { sql } from 'kysely';

/** `callbacks.source` of callbacks that no event caused, and that have no transaction. */
export const TEST_SOURCE = 'test';
export const MANIFEST_SOURCE = 'manifest';

/** Leaves out failed tests, which are no failed callbacks: nothing is lost, and the person who sent one sees how it ended. */
export const IS_NO_FAILED_TEST = sql<boolean>`NOT (callbacks.state = 'failed' AND callbacks.source = ${TEST_SOURCE})`;
