import { sql } from 'kysely';

/** `callbacks.source` of callbacks that no event caused, and that have no transaction. */
export const TEST_SOURCE = 'test';
export const MANIFEST_SOURCE = 'manifest';

/** `callbacks.source` of changes of expected payments. */
export const EXPECTED_SOURCE = 'expected';

/**
 * Returns the `callbacks.transaction_seq` of an expected payment: its row number, negative; and the row number of one. So callbacks about it are in order by the index
 * and the statements of transactions.
 */
export function toSubject(expectedSeq: number): number {
  return -expectedSeq;
}

export const IS_TEST = sql<boolean>`callbacks.source = ${TEST_SOURCE}`;
export const IS_NO_TEST = sql<boolean>`callbacks.source <> ${TEST_SOURCE}`;

/** Leaves out failed tests, which are no failed callbacks: nothing is lost, and the person who sent one sees how it ended. */
export const IS_NO_FAILED_TEST = sql<boolean>`NOT (callbacks.state = 'failed' AND callbacks.source = ${TEST_SOURCE})`;
