import { sql } from 'kysely';
import { readDroppedTo } from '../callbacks/backfill/count-backfill.ts';
import type { Member } from '../callbacks/render/build-statement.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../database/reader.ts';
import type { Day } from '../domain/calendar.ts';

const PAGE_EVENTS = 2_000;

/**
 * Reads the messages of a day for these merchants: those whose `timestamp` is of the day, by the provider's calendar. Tests
 * and manifests are none of them. The event of a callback never changes: with the same cut, the messages are the same, until
 * they are deleted (`isDropped`).
 * @param options.cut only callbacks up to this row number. @param options.pageEvents how many events one statement reads.
 * @returns the messages by the merchant's row number, in no order.
 */
export async function readMembers(
  { db, calendar }: Pick<Context, 'db' | 'calendar'>,
  day: Day,
  { merchantSeqs, cut, pageEvents = PAGE_EVENTS }: Chosen & { pageEvents?: number },
): Promise<Map<number, Member[]>> {
  const members = new Map<number, Member[]>(merchantSeqs.map((seq) => [seq, []]));
  if (merchantSeqs.length === 0) return members;
  const add = (rows: MemberRow[]): void => {
    for (const { merchant_seq, webhook_id: id, type, amount_cents: cents } of rows)
      members.get(merchant_seq)?.push({ id, type, cents });
  };
  let after: EventRow | undefined;
  do {
    const events = await readEvents(db, day, after, pageEvents);
    if (events.length > 0) add(await readOfEvents(db, events, { merchantSeqs, cut }));
    after = events.length < pageEvents ? undefined : events.at(-1);
  } while (after);
  const [from, to] = [calendar.startOfDay(day), calendar.endOfDay(day)];
  add(await readOfCorrections(db, { from, to }, { merchantSeqs, cut }));
  return members;
}

/** Whether messages of a day may have been deleted after RETAIN_CALLBACKS: its manifest then stays as it is. */
export async function isDropped(
  { calendar }: Pick<Context, 'calendar'>,
  db: Reader,
  { merchantSeq, day }: { merchantSeq: number; day: Day },
): Promise<boolean> {
  const droppedTo = await readDroppedTo(db, merchantSeq);
  // a message is stored on its day or later
  return droppedTo !== null && day <= calendar.dayOf(droppedTo);
}

type Chosen = { merchantSeqs: number[]; cut: number };
type EventRow = { seq: number; at_wall: string; transaction_seq: number };
type MemberRow = {
  merchant_seq: number;
  webhook_id: string;
  type: string;
  amount_cents: bigint;
  event_seq: number | null;
};

const COLUMNS = sql`merchant_seq, webhook_id, type, amount_cents, event_seq`;

/** A page of the day's events, in the order of the index on their times. */
async function readEvents(db: Reader, day: Day, after: EventRow | undefined, limit: number): Promise<EventRow[]> {
  const { at_wall: from, transaction_seq: transaction, seq } = after ?? { at_wall: '', transaction_seq: 0, seq: 0 };
  const { rows } = await sql<EventRow>`SELECT seq, at_wall, transaction_seq FROM events FORCE INDEX (events_at)
    WHERE at_wall >= ${after ? from : `${day} 00:00:00`} AND at_wall <= ${`${day} 23:59:59`}
      AND (at_wall > ${from} OR transaction_seq > ${transaction} OR (transaction_seq = ${transaction} AND seq > ${seq}))
    ORDER BY at_wall, transaction_seq, seq LIMIT ${sql.lit(limit)}`.execute(db);
  return rows;
}

/** The indexes are forced: otherwise the optimizer may read all callbacks of these merchants. */
async function readOfEvents(db: Reader, events: EventRow[], { merchantSeqs, cut }: Chosen): Promise<MemberRow[]> {
  const seqs = new Set(events.map(({ seq }) => seq));
  const transactions = [...new Set(events.map((event) => event.transaction_seq))];
  const { rows } = await sql<MemberRow>`SELECT ${COLUMNS} FROM callbacks FORCE INDEX (callbacks_order)
    JOIN transactions ON transactions.seq = callbacks.transaction_seq
    WHERE callbacks.transaction_seq IN (${sql.join(transactions)}) AND merchant_seq IN (${sql.join(merchantSeqs)})
      AND callbacks.seq <= ${cut} AND event_seq IS NOT NULL`.execute(db);
  return rows.filter(({ event_seq: seq }) => seq !== null && seqs.has(seq));
}

/** A correction has no event: its message has the time at which it was made. */
async function readOfCorrections(
  db: Reader,
  { from, to }: { from: Date; to: Date },
  { merchantSeqs, cut }: Chosen,
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`SELECT ${COLUMNS} FROM corrections FORCE INDEX (corrections_created)
    STRAIGHT_JOIN callbacks FORCE INDEX (callbacks_order) ON callbacks.transaction_seq = corrections.transaction_seq
      AND callbacks.sequence = corrections.sequence AND merchant_seq IN (${sql.join(merchantSeqs)})
    JOIN transactions ON transactions.seq = callbacks.transaction_seq
    WHERE corrections.created_at >= ${from} AND corrections.created_at < ${to}
      AND callbacks.seq <= ${cut} AND event_seq IS NULL`.execute(db);
  return rows;
}
