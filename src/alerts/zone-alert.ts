import type { Reader } from '../database/reader.ts';

/** Fires while the minutes inside end-to-end ids do not fit the configured time zone. */
export const ZONE_ALERT = { name: 'time_zone_differs', scope: 'provider' } as const;

/** While it fires no day is closed: each payment may be on the wrong day. */
export async function isZoneAlertFiring(db: Reader): Promise<boolean> {
  const row = await db
    .selectFrom('alerts')
    .select('seq')
    .where('firing_scope', '=', `${ZONE_ALERT.name} ${ZONE_ALERT.scope}`)
    .executeTakeFirst();
  return row !== undefined;
}
