import type { Reader } from '../../database/reader.ts';
import { readUsableFilters } from '../../merchants/check-filter.ts';
import { holdsBack } from '../health/merchant-health.ts';
import type { Recipient } from './callback-rows.ts';

/** Reads the merchants that receive callbacks. Not cached: one that was added a moment ago receives the events of now. */
export async function readRecipients(db: Reader, merchantSeq?: number): Promise<Recipient[]> {
  const rows = await db
    .selectFrom('merchants')
    .leftJoin('backfills', 'backfills.merchant_seq', 'merchants.seq')
    .select([
      'merchants.seq',
      'id',
      'merchants.state',
      'filter',
      'own_filter',
      'merchants.events_since',
      'breaker_opened_at',
    ])
    .select(['deleted_at', 'url', 'callbacks_dropped_to', 'backfills.state as backfill'])
    .where('deleted_at', 'is', null)
    .$if(merchantSeq !== undefined, (select) => select.where('merchants.seq', '=', merchantSeq ?? 0))
    .execute();
  return rows.flatMap((row) => {
    const filters = readUsableFilters(row);
    // disabled by the watch; a smaller filter brings what it misses
    if (!filters) return [];
    return {
      seq: row.seq,
      id: row.id,
      filters,
      eventsSince: row.events_since,
      holds: holdsBack(row),
      pulls: row.url === null,
      isBackfilling: row.backfill !== null && row.backfill !== 'done',
      droppedTo: row.callbacks_dropped_to,
    };
  });
}
