/**
 * Finds payments that were paid 24 hours ago and are matched with nothing, by a cursor over the events. A payment that is learnt later
 * is other work, and the cursor goes back where an expected payment of an earlier day comes (update-starts.ts).
 */
import type { Context } from '../../context.ts';
import type { Reader } from '../../database/reader.ts';
import { MINUTE_MS, type WallTime } from '../../domain/calendar.ts';
import { UNIDENTIFIED_AFTER_MS } from '../decide/decide-receipt.ts';

const EVENTS_AT_ONCE = 500;
/** How often the cursor moves, and how far it stays behind: the clock of another process may be slower. */
const STEP_MS = MINUTE_MS;

type Cursor = { wall: WallTime; seq: number };
/** `seqs`: transactions that are matched with nothing. */
export type FoundReceipts = { from: Cursor; to: Cursor; seqs: number[] };

/** Selects the cursor when it is to move; also backwards, where the provider's wall clock or ours was set back. */
export function selectReceiptsDue({ db, calendar }: Pick<Context, 'db' | 'calendar'>, now: Date) {
  const [next, last] = [2, 0].map((steps) => calendar.toWallTime(instantBefore(now, steps)));
  return db
    .selectFrom('expected_following')
    .select('id as seq')
    .where((eb) => eb.or([eb('receipts_wall', '<', next ?? ''), eb('receipts_wall', '>', last ?? '')]));
}

/** Reads up to 500 payments behind the cursor. @returns undefined where it need not move. */
export async function findReceipts(
  context: Pick<Context, 'db' | 'calendar'>,
  now: Date,
): Promise<FoundReceipts | undefined> {
  const { db, calendar } = context;
  const due = await selectReceiptsDue(context, now).select(['receipts_wall', 'receipts_seq']).executeTakeFirst();
  if (!due || due.receipts_wall === null) return undefined;
  const from = { wall: due.receipts_wall, seq: due.receipts_seq };
  const [until, behind] = [0, 1].map((steps) => calendar.toWallTime(instantBefore(now, steps))) as [WallTime, WallTime];
  const paid = await db
    .selectFrom('events')
    .select(['transaction_seq', 'at_wall'])
    .where('status', '=', 'paid')
    .where('at_wall', '>=', from.wall)
    .where('at_wall', '<=', until)
    .where((eb) => eb.or([eb('at_wall', '>', from.wall), eb('transaction_seq', '>', from.seq)]))
    .orderBy('at_wall')
    .orderBy('transaction_seq')
    .limit(EVENTS_AT_ONCE)
    .execute();
  const last = paid.length === EVENTS_AT_ONCE ? paid.at(-1) : undefined;
  const to = last ? { wall: last.at_wall, seq: last.transaction_seq } : { wall: behind, seq: 0 };
  return {
    from,
    to,
    seqs: await selectUnmatched(
      db,
      paid.map((row) => row.transaction_seq),
    ),
  };
}

/** Moves the cursor, unless it was set back since, or another process follows. */
export async function moveReceipts(
  { db, holder }: Pick<Context, 'db' | 'holder'>,
  { from, to }: FoundReceipts,
): Promise<void> {
  await db
    .updateTable('expected_following')
    .set({ receipts_wall: to.wall, receipts_seq: to.seq })
    .where('holder', '=', holder)
    .where('receipts_wall', '=', from.wall)
    .where('receipts_seq', '=', from.seq)
    .execute();
}

function instantBefore(now: Date, steps: number): Date {
  return new Date(now.getTime() - UNIDENTIFIED_AFTER_MS - steps * STEP_MS);
}

async function selectUnmatched(db: Reader, seqs: number[]): Promise<number[]> {
  if (seqs.length === 0) return [];
  const rows = await db
    .selectFrom('transactions')
    .select('seq')
    .where('seq', 'in', seqs)
    .where('operation', '=', 'cashin')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('expected_matches as made')
            .leftJoin('expected_matches as undone', 'undone.undoes_seq', 'made.seq')
            .select('made.seq')
            .whereRef('made.transaction_seq', '=', 'transactions.seq')
            .where('made.part', 'is not', null)
            .where('undone.seq', 'is', null),
        ),
      ),
    )
    .execute();
  return rows.map(({ seq }) => seq);
}
