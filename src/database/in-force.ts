import { type RawBuilder, sql } from 'kysely';

/**
 * 1 for an event that is in force, 0 for one that a person agreed is none: by the newest word on it.
 * @param events the name under which the events stand in the query.
 */
export function inForce(events: string): RawBuilder<number> {
  return sql<number>`COALESCE((SELECT standing.in_force FROM event_standings standing
    WHERE standing.event_seq = ${sql.ref(`${events}.seq`)} ORDER BY standing.seq DESC LIMIT 1), 1)`;
}
