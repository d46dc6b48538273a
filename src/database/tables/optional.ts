import type { ColumnType } from 'kysely';

/** A column that may be NULL, and may be left out of an INSERT. */
export type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>;
