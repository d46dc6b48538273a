/**
 * Masks the rows of a report for readers without the right to see people. The digest is computed before, so a masked file
 * has the digest of its revision.
 */

import type { Reader } from '../../database/reader.ts';
import { readParties } from '../../database/shared/read-parties.ts';
import { listTransactionIds, maskMismatch } from '../../domain/person/mask-mismatch.ts';
import { maskE2eId, maskNameOf, maskPlatform, maskText, type Party } from '../../domain/person/mask-person.ts';
import { mapInTurns } from '../../runtime/take-turns.ts';
import type { DayChange } from './read-changes.ts';
import type { ReportedMismatch } from './read-mismatches.ts';
import type { Movement } from './read-movements.ts';
import type { PendingTransaction } from './read-pending.ts';

/** Leaves documents as they are: columns.ts masks them in every file. */
export async function maskMovements(db: Reader, movements: Movement[]): Promise<Movement[]> {
  const partyOf = await findParties(db, movements, (one) => one.transactionId);
  return await mapInTurns(movements, (one) => {
    const party = partyOf(one);
    const adjustment = maskNote(one);
    return {
      ...one,
      ...maskFacts(one, party),
      adjustment,
      extra: maskText(one.extra, party),
      e2eId: maskE2eId(one.e2eId, party),
    };
  });
}

export async function maskPending(db: Reader, pending: PendingTransaction[]): Promise<PendingTransaction[]> {
  const partyOf = await findParties(db, pending, (one) => one.id);
  return await mapInTurns(pending, (one) => ({ ...one, ...maskFacts(one, partyOf(one)) }));
}

/** Facts hold references and platforms too: those that were filled in or corrected. */
export async function maskChanges(db: Reader, changes: DayChange[]): Promise<DayChange[]> {
  const partyOf = await findParties(db, changes, (one) => one.transactionId);
  return await mapInTurns(changes, (change) => {
    const party = partyOf(change);
    const mask = (text: string | null) => maskText(text, party);
    const facts = change.facts.map((fact) =>
      fact.name === 'reference' || fact.name === 'platform'
        ? { ...fact, before: mask(fact.before), after: mask(fact.after) }
        : fact,
    );
    const shown = { platform: maskPlatform(change.platform, party), reference: mask(change.reference) };
    return { ...change, ...shown, facts, adjustment: maskNote(change) };
  });
}

export async function maskReportedMismatches(db: Reader, rows: ReportedMismatch[]): Promise<ReportedMismatch[]> {
  const read = rows.map((row) => ({
    ...row,
    // they may have the name of who owes
    ...(row.number !== null && { number: null, reference: null }),
    transaction_id: row.transactionId,
    expected: parse(row.expected),
    actual: parse(row.actual),
  }));
  const parties = await readParties(db, read.flatMap(listTransactionIds));
  return await mapInTurns(read, ({ transaction_id, ...row }) => {
    const of = listTransactionIds({ ...row, transaction_id }).flatMap((id) => parties.get(id) ?? []);
    const { expected, actual, ...masked } = maskMismatch(row, of);
    return { ...masked, expected: write(expected), actual: write(actual) };
  });
}

async function findParties<Row>(db: Reader, rows: Row[], idOf: (row: Row) => string | null) {
  const parties = await readParties(
    db,
    rows.flatMap((row) => idOf(row) ?? []),
  );
  return (row: Row): Party => parties.get(idOf(row) ?? '') ?? NOBODY;
}

/** For rows without personal fields: their texts may hold a document all the same. */
const NOBODY: Party = { name: null, email: null, phone: null, document: null, pix_key: null };

function maskFacts({ reference, platform }: { reference: string | null; platform: string }, party: Party) {
  return {
    name: maskNameOf(party),
    reference: maskText(reference, party),
    platform: maskPlatform(platform, party),
  };
}

function maskNote({ adjustment }: Pick<Movement, 'adjustment'>) {
  return adjustment && { ...adjustment, note: null };
}

function parse(json: string | null): unknown {
  return json === null ? null : (JSON.parse(json) as unknown);
}

function write(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
