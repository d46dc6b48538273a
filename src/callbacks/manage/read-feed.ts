import type { Transaction } from 'kysely';
import type { Context } from '../../context.ts';
import { caseBySeq } from '../../database/case-by-seq.ts';
import { requireRowNumber } from '../../database/require-row-number.ts';
import type { Database } from '../../database/tables.ts';
import { transact } from '../../database/transact.ts';
import { renderBodies } from '../render/render-bodies.ts';

const NUMBERED_MAX = 1000;

export type FeedItem = { position: number; id: string; body: object };

/**
 * Reads a merchant's callbacks in the order of their positions, for merchants that pull them. Positions are assigned here,
 * to committed rows only: a row that commits late gets a later position, so no reader skips it.
 */
export async function readFeed(
  context: Context,
  merchantSeq: number,
  page: { after: number; limit: number },
): Promise<FeedItem[]> {
  await numberNew(context, merchantSeq);
  const rows = await context.db
    .selectFrom('callbacks')
    .selectAll()
    .where('merchant_seq', '=', merchantSeq)
    .where('position', '>', page.after)
    .orderBy('position')
    .limit(page.limit)
    .execute();
  const bodies = await renderBodies(
    context,
    rows.map((row) => ({
      seq: row.seq,
      transactionSeq: row.transaction_seq,
      eventSeq: row.event_seq,
      sequence: row.sequence,
      type: row.type,
      previousStatus: row.previous_status,
      source: row.source,
      createdAt: row.created_at,
    })),
  );
  return rows.flatMap((row) => {
    const body = bodies.get(row.seq);
    return body ? [{ position: requireRowNumber(row.position, 'the feed'), id: row.webhook_id, body }] : [];
  });
}

async function numberNew(context: Context, merchantSeq: number): Promise<void> {
  const [first] = await selectNew(context.db, merchantSeq, 1);
  if (!first) return;
  await transact(context.db, async (trx) => {
    const { last_position: last } = await trx
      .selectFrom('merchants')
      .select('last_position')
      .where('seq', '=', merchantSeq)
      .forUpdate()
      .executeTakeFirstOrThrow();
    // a plain read sees committed rows and waits for no lock
    const rows = await selectNew(trx, merchantSeq, NUMBERED_MAX);
    if (rows.length === 0) return;
    await writePositions(
      trx,
      rows.map((row, index) => ({ seq: row.seq, position: last + 1 + index })),
    );
    const set = { last_position: last + rows.length };
    await trx.updateTable('merchants').set(set).where('seq', '=', merchantSeq).execute();
  });
}

function selectNew(db: Context['db'], merchantSeq: number, limit: number) {
  return db
    .selectFrom('callbacks')
    .select('seq')
    .where('merchant_seq', '=', merchantSeq)
    .where('position', 'is', null)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

async function writePositions(
  trx: Transaction<Database>,
  rows: Array<{ seq: number; position: number }>,
): Promise<void> {
  const position = caseBySeq<number, (typeof rows)[number]>(
    rows,
    (row) => row.seq,
    (row) => row.position,
  );
  const seqs = rows.map((row) => row.seq);
  await trx.updateTable('callbacks').set({ position }).where('seq', 'in', seqs).execute();
}
