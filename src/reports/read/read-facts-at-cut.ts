/**
 * A transaction's row holds its facts as they are known now. Each later change of a fact stores the value before it, so
 * the first change after a cut gives the value at the cut. Most cuts have no later change: then no row is restored.
 */

import type { Reader } from '../../database/reader.ts';
import { append } from '../../domain/lists.ts';
import type { Cut } from '../plan/report-plan.ts';
import { type CutEntries, readLateEvents } from './read-cut-entries.ts';

/** Facts that may be filled in or corrected after the first observation of a transaction. */
type Facts = {
  reference: string | null;
  extra: string | null;
  platform: string | null;
  e2e_id: string | null;
  operation: string | null;
  amount_cents: bigint | null;
};

/** The state of transactions at a cut, beside their events and entries. */
export type FactsAtCut = {
  /** Sets the named facts of rows to their values at the cut; `seqOf` gives the number of a row's transaction. */
  restoreFacts: <Name extends keyof Facts, Row extends Pick<Facts, Name>>(
    rows: Row[],
    names: readonly Name[],
    seqOf: (row: Row) => number | null,
  ) => Promise<Row[]>;
  /** Numbers of events that the cut does not hold: a person accepted that they are gone, or they came late. */
  outOfForce: number[];
  /** Numbers of transactions whose operation, amount, events in force or order of events changed after the cut. */
  correctedTransactions: number[];
  /** Numbers of events that were committed after the cut with a number below it. */
  lateEvents: number[];
};

/** Facts that the digest of a day holds, or that decide about its rows. */
export const DIGESTED_FACTS = ['reference', 'platform', 'operation', 'amount_cents', 'struck', 'order'] as const;
const CORRECTED: readonly string[] = ['operation', 'amount_cents', 'struck', 'order'];

export async function readFactsAtCut(db: Reader, cut: CutEntries & Cut): Promise<FactsAtCut> {
  const facts = await readCorrectedFacts(db, cut.factChangeSeq);
  const late = await readLateEvents(db, cut);
  return {
    restoreFacts: facts.restoreFacts,
    outOfForce: [...new Set([...facts.outOfForce, ...late.events])],
    correctedTransactions: [...new Set([...facts.correctedTransactions, ...late.transactions])],
    lateEvents: late.events,
  };
}

async function readCorrectedFacts(db: Reader, factChangeSeq: number): Promise<Omit<FactsAtCut, 'lateEvents'>> {
  const struckNow = await readStruckEvents(db);
  const later = await db.selectFrom('fact_changes').select('seq').where('seq', '>', factChangeSeq).limit(1).execute();
  if (later.length === 0)
    return { restoreFacts: async (rows) => rows, outOfForce: [...struckNow.keys()], correctedTransactions: [] };
  const corrected = await listCorrected(db, factChangeSeq);
  const before = await readBefore(db, corrected, factChangeSeq);
  const struck = [...struckNow].filter(([, seq]) => before.get(seq)?.struck === undefined).map(([event]) => event);
  for (const facts of before.values()) append(struck, parseNumbers(facts.struck));
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

/** The transaction of each event that is out of force now. People accept few: the whole table is a handful of rows. */
async function readStruckEvents(db: Reader): Promise<Map<number, number>> {
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

async function listCorrected(db: Reader, factChangeSeq: number): Promise<number[]> {
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
  // newest first, so the earliest change after the cut decides
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

function parseNumbers(text: string | null | undefined): number[] {
  return text ? text.split(',').map(Number) : [];
}
