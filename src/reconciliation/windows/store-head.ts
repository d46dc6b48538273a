/**
 * Stores the head of a day's list: what a complete reading of today or yesterday over all platforms leaves behind, for the
 * recent readings after it (see provider/list/read-recent). One row a day, dropped before the day is read whole again.
 */
import type { Context } from '../../context.ts';
import { transact } from '../../database/transact.ts';
import { addDays, type Day } from '../../domain/calendar.ts';
import type { HeadRow, ListHead } from '../../provider/list/read-recent.ts';

/** `wholeAt`: when the complete reading began on which the head rests. */
export type StoredHead = ListHead & { wholeAt: Date };

export async function readHead(context: Context, day: Day): Promise<StoredHead | undefined> {
  const row = await context.db.selectFrom('list_heads').selectAll().where('day', '=', day).executeTakeFirst();
  return row && { total: row.total, wholeAt: row.whole_at, rows: unpackRows(row.head_rows) };
}

/** Also drops the heads of days before yesterday. */
export async function writeHead(context: Context, day: Day, head: StoredHead): Promise<void> {
  const values = { whole_at: head.wholeAt, total: head.total, head_rows: packRows(head.rows) };
  const yesterday = addDays(context.calendar.dayOf(context.clock.now()), -1);
  await transact(context.db, async (trx) => {
    await trx
      .insertInto('list_heads')
      .values({ day, ...values })
      .onDuplicateKeyUpdate(values)
      .execute();
    await trx.deleteFrom('list_heads').where('day', '<', yesterday).execute();
  });
}

export async function dropHead(context: Context, day: Day): Promise<void> {
  await transact(context.db, (trx) => trx.deleteFrom('list_heads').where('day', '=', day).execute());
}

function packRows(rows: HeadRow[]): string {
  return JSON.stringify(rows.map((row) => [row.id, row.createdWall, row.digest, row.status ?? null]));
}

function unpackRows(packed: Buffer): HeadRow[] {
  const rows = JSON.parse(packed.toString()) as [string, string, string, string | null][];
  return rows.map(([id, createdWall, digest, status]) => ({ id, createdWall, digest, status: status ?? undefined }));
}
