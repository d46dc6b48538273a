import type { Reader } from '../../database/reader.ts';
import type { Cut } from '../plan/report-plan.ts';
import { type CutEntries, readLateEvents } from './read-cut-entries.ts';

/** What may still be filled in or corrected once a transaction is known. */
type Facts = {
  reference: string | null;
  extra: string | null;
  platform: string | null;
  e2e_id: string | null;
  operation: string;
  amount_cents: bigint;
};

/** Puts back what these facts of rows were at the cut, by the number of their transaction. */
type PutBack = <Name extends keyof Facts, Row extends Pick<Nullable, Name>>(
  rows: Row[],
  names: readonly Name[],
  seqOf: (row: Row) => number | null,
) => Promise<Row[]>;
type Nullable = { [Name in keyof Facts]: Facts[Name] | null };

/** What was known of transactions at a cut, beside their events and entries. */
export type FactsAtCut = {
  restoreFacts: PutBack;
  /** Numbers of events that were no more, because a person had accepted that, or that came late. */
  outOfForce: number[];
  /** Numbers of transactions whose operation, amount, events in force or their order became others after the cut. */
  correctedTransactions: number[];
  /** Numbers of events that are not above the cut's, but came after it. */
  lateEvents: number[];
};

/** Facts that stand in the digest of a day, or change what does. */
export const DIGESTED_FACTS = ['reference', 'platform', 'operation', 'amount_cents', 'struck', 'order'] as const;
const CORRECTED: readonly string[] = ['operation', 'amount_cents', 'struck', 'order'];

/**
 * The facts of a transaction stand in its row as they are known now; what they were at the cut is told by the first
 * change after it. Mostly there is none, and then nothing more is asked.
 */
export async function readFactsAtCut(db: Reader, cut: CutEntries & Cut): Promise<FactsAtCut> {
  const facts = await readFactsThen(db, cut.factChangeSeq);
  const late = await readLateEvents(db, cut);
  return {
    ...facts,
    outOfForce: [...new Set([...facts.outOfForce, ...late.events])],
    correctedTransactions: [...new Set([...facts.correctedTransactions, ...late.transactions])],
    lateEvents: late.events,
  };
}

async function readFactsThen(db: Reader, factChangeSeq: number): Promise<Omit<FactsAtCut, 'lateEvents'>> {
  const struckNow = await readStruckNow(db);
  const later = await db.selectFrom('fact_changes').select('seq').where('seq', '>', factChangeSeq).limit(1).execute();
  if (later.length === 0)
    return { restoreFacts: async (rows) => rows, outOfForce: [...struckNow.keys()], correctedTransactions: [] };
  const corrected = await readCorrected(db, factChangeSeq);
  const before = await readBefore(db, corrected, factChangeSeq);
  const struck = [...struckNow].filter(([, seq]) => before.get(seq)?.struck === undefined).map(([event]) => event);
  for (const facts of before.values()) struck.push(...readNumbers(facts.struck));
  return {
    outOfForce: struck,
    correctedTransactions: corrected,
    async restoreFacts(rows, names, seqOf) {
      const seqs = rows.flatMap((row) => seqOf(row) ?? []);
      const facts = await readBefore(db, seqs, factChangeSeq);
      return rows.map((row) => ({ ...row, ...pick(facts.get(seqOf(row) ?? 0), names) }));
    },
  };
}

/** By the event's number, that of its transaction. People accept few: the whole table is a handful of rows. */
async function readStruckNow(db: Reader): Promise<Map<number, number>> {
  const struck = new Map<number, number>();
  const rows = await db
    .selectFrom('event_standings')
    .select(['event_seq', 'transaction_seq', 'in_force'])
    .orderBy('seq')
    .execute();
  for (const row of rows) {
    if (row.in_force === 1) struck.delete(row.event_seq);
    else struck.set(row.event_seq, row.transaction_seq);
  }
  return struck;
}

async function readCorrected(db: Reader, factChangeSeq: number): Promise<number[]> {
  const rows = await db
    .selectFrom('fact_changes')
    .select('transaction_seq')
    .distinct()
    .where('seq', '>', factChangeSeq)
    .where('name', 'in', CORRECTED)
    .execute();
  return rows.map((row) => row.transaction_seq);
}

type Before = Record<string, string | null>;

async function readBefore(db: Reader, seqs: number[], factChangeSeq: number): Promise<Map<number, Before>> {
  const before = new Map<number, Before>();
  if (seqs.length === 0) return before;
  const changes = await db
    .selectFrom('fact_changes')
    .select(['transaction_seq', 'name', 'before_value'])
    .where('transaction_seq', 'in', [...new Set(seqs)])
    .where('seq', '>', factChangeSeq)
    .orderBy('seq', 'desc')
    .execute();
  // the newest first: the earliest change after the cut has the last word
  for (const { transaction_seq: seq, name, before_value: value } of changes) {
    before.set(seq, { ...before.get(seq), [name]: value });
  }
  return before;
}

function pick(before: Before | undefined, names: readonly (keyof Facts)[]): object {
  const known = names.filter((name) => before?.[name] !== undefined);
  return Object.fromEntries(
    known.map((name) => [name, name === 'amount_cents' ? BigInt(before?.[name] ?? 0) : before?.[name]]),
  );
}

function readNumbers(text: string | null | undefined): number[] {
  return text ? text.split(',').map(Number) : [];
}
