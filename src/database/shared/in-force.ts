import { type RawBuilder, sql } from 'kysely';

/**
 * SQL: 1 for an event in force, 0 for one that a person has declared void. The newest decision counts.
 * @param events the name of the events table in the query.
 */
export function inForce(events: string): RawBuilder<number> {
  return sql<number>`COALESCE((SELECT standing.in_force FROM event_standings standing
    WHERE standing.event_seq = ${sql.ref(`${events}.seq`)} ORDER BY standing.seq DESC LIMIT 1), 1)`;
}
