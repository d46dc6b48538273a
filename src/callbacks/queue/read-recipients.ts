import { compileOnce } from '../../database/compile-once.ts';
import type { Reader } from '../../database/reader.ts';
import { readUsableFilters } from '../../merchants/check-filter.ts';
import { holdsBack } from '../health/merchant-health.ts';
import type { Recipient } from './callback-rows.ts';

/** Reads the merchants that receive callbacks. Not cached: one that was added a moment ago receives the events of now. */
export async function readRecipients(db: Reader, merchantSeq?: number): Promise<Recipient[]> {
  const rows =
    merchantSeq === undefined
      ? (await selectAll(db, {})).rows
      : await selectRecipients(db).where('merchants.seq', '=', merchantSeq).execute();
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

function selectRecipients(db: Reader) {
  return db
    .selectFrom('merchants')
    .leftJoin('backfills', 'backfills.merchant_seq', 'merchants.seq')
    .select(['merchants.seq', 'id', 'merchants.state', 'filter', 'own_filter', 'merchants.events_since'])
    .select(['breaker_opened_at', 'deleted_at', 'url', 'callbacks_dropped_to', 'backfills.state as backfill'])
    .where('deleted_at', 'is', null);
}

const selectAll = compileOnce(selectRecipients);
