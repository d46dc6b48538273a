/**
 * The entries of a cut are those up to a number, without late ones: another node of a cluster, or a writer that stood
 * still, may commit a lower number after the position was sealed. A later position holds them, or none yet.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Reader } from '../../database/reader.ts';
import { findLateEntries } from '../../seal/find-late-entries.ts';
import type { EntryCut } from '../../seal/read-balances.ts';
import { readNewestSeal } from '../../seal/read-seals.ts';
import { findLateEvents } from '../plan/read-event-window.ts';
import type { Cut } from '../plan/report-plan.ts';

/** `lateEntries`: numbers up to `entrySeq` that the cut does not hold. */
export type CutEntries = EntryCut;

export async function readCutEntries(db: Reader, cut: Pick<Cut, 'entrySeq' | 'position'>): Promise<CutEntries> {
  const { entrySeq, position } = cut;
  const sealedLater = await db
    .selectFrom('seal_stragglers')
    .select('entry_seq')
    .where('position', '>', position ?? 0)
    .where('entry_seq', '<=', entrySeq)
    .execute();
  const head = await readNewestSeal(db);
  const unsealed = head ? await findLateEntries(db, head) : [];
  const late = [...sealedLater.map((row) => row.entry_seq), ...unsealed.filter((seq) => seq <= entrySeq)];
  return { entrySeq, lateEntries: [...new Set(late)].sort((a, b) => a - b) };
}

/** The condition that the cut holds an entry; `column` holds its number. */
export function matchesCut(column: string, { entrySeq, lateEntries: late }: CutEntries): RawBuilder<SqlBool> {
  const ref = sql.ref(column);
  if (late.length === 0) return sql<SqlBool>`${ref} <= ${entrySeq}`;
  return sql<SqlBool>`(${ref} <= ${entrySeq} AND ${ref} NOT IN (${sql.join(late)}))`;
}

/** Whether the cut holds an entry in memory. */
export function isInCut(seq: number, { entrySeq, lateEntries: late }: CutEntries): boolean {
  return seq <= entrySeq && !late.includes(seq);
}

type LateEvents = { events: number[]; transactions: number[] };

/**
 * Events that the cut does not hold though their numbers are below it, and their transactions. A late entry's events were
 * written in its transaction, at its instant. The event window finds events without entries.
 */
export async function readLateEvents(
  db: Reader,
  cut: CutEntries & Pick<Cut, 'eventSeq' | 'eventWindow'>,
): Promise<LateEvents> {
  const ofEntries = await readEventsOfEntries(db, cut);
  const absent = cut.eventWindow === null ? [] : await findLateEvents(db, cut.eventSeq, cut.eventWindow);
  if (absent.length === 0) return ofEntries;
  const rows = await db.selectFrom('events').select('transaction_seq').distinct().where('seq', 'in', absent).execute();
  return {
    events: [...new Set([...ofEntries.events, ...absent])],
    transactions: [...new Set([...ofEntries.transactions, ...rows.map((row) => row.transaction_seq)])],
  };
}

async function readEventsOfEntries(db: Reader, { lateEntries: late }: CutEntries): Promise<LateEvents> {
  if (late.length === 0) return { events: [], transactions: [] };
  const rows = await db
    .selectFrom('entries')
    .innerJoin('events', (join) =>
      join
        .onRef('events.transaction_seq', '=', 'entries.transaction_seq')
        .onRef('events.seen_at', '=', 'entries.recorded_at'),
    )
    .select(['events.seq', 'events.transaction_seq'])
    .distinct()
    .where('entries.seq', 'in', late)
    .execute();
  return { events: rows.map((row) => row.seq), transactions: [...new Set(rows.map((row) => row.transaction_seq))] };
}
