import { type RawBuilder, sql } from 'kysely';

/** The condition that a text holds a part, without case and accents as the server knows them. No index finds it: each row is compared. */
export function containsText(text: RawBuilder<unknown>, part: string): RawBuilder<boolean> {
  const pattern = `%${part.replace(/[%_!]/g, '!$&')}%`;
  return sql<boolean>`CONVERT(${text} USING utf8mb4) COLLATE utf8mb4_unicode_ci LIKE ${pattern} ESCAPE '!'`;
}
