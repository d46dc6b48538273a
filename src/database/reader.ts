import type { Kysely } from 'kysely';
import type { Database } from './tables.ts';

/**
 * A read-only handle: it has no insert, update or delete, so the compiler refuses them. Every Kysely handle and
 * transaction is one. (kysely's own ReadonlyKysely needs a cast from a Kysely.)
 */
export type Reader = Pick<Kysely<Database>, 'selectFrom' | 'selectNoFrom' | 'with' | 'fn' | 'getExecutor'>;
