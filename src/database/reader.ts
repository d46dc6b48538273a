import type { Kysely } from 'kysely';
import type { Database } from './tables.ts';

/**
 * A handle that only reads: what inserts, updates or deletes is not there, and is refused at compile time. Any handle
 * and any transaction is one. (kysely's own ReadonlyKysely can't be had from a Kysely without a cast.)
 */
export type Reader = Pick<Kysely<Database>, 'selectFrom' | 'selectNoFrom' | 'with' | 'fn' | 'getExecutor'>;
