/** Mismatches that a person decides in a workbook: with the candidates that they show, and a hash of all that they show. */
import { createHmac } from 'node:crypto';
import type { Context } from '../../context.ts';
import { type Partner, readPartners } from '../../expected/read/read-partners.ts';
import { listMismatches, type PresentedMismatch } from '../../mismatches/read-mismatches.ts';

export type Case = { mismatch: PresentedMismatch; candidates: Partner[]; hash: string };
type Reading = Pick<Context, 'db' | 'clock' | 'calendar' | 'keys'>;

const HASH_HEX_CHARS = 32;

/** Reads mismatches with their candidates, by id. */
export async function readCases(reading: Reading, ids: readonly string[]): Promise<Map<string, Case>> {
  const mismatches = ids.length === 0 ? [] : await listMismatches(reading, { ids, limit: ids.length });
  const candidates = await readPartners(reading.db, 'candidates', {
    transactions: mismatches.flatMap((one) => (one.kind === 'receipt_unidentified' ? (one.transaction_id ?? []) : [])),
    expected: mismatches.flatMap((one) => one.expected_payment_id ?? []),
  });
  return new Map(
    mismatches.map((mismatch) => {
      const own = candidates.get(subjectOf(mismatch)) ?? [];
      return [mismatch.id, { mismatch, candidates: own, hash: hashEvidence(reading, mismatch, own) }];
    }),
  );
}

/** The payment or the expected payment that a mismatch is about, which may be matched; empty where it is about neither. */
export function subjectOf({ kind, transaction_id, expected_payment_id }: PresentedMismatch): string {
  return expected_payment_id ?? (kind === 'receipt_unidentified' ? (transaction_id ?? '') : '');
}

/** Hashes what a person sees of a mismatch. Keyed: amounts and references could be tried against a plain hash. */
function hashEvidence({ keys }: Reading, mismatch: PresentedMismatch, candidates: Partner[]): string {
  const { id, kind, transaction_id, reference, amount, at_stake, expected, actual, reopened } = mismatch;
  const seen = [id, kind, transaction_id, reference, amount, at_stake, expected, actual, reopened];
  const pairs = candidates.map((one) => [...one.names, String(one.cents)]);
  const hash = createHmac('sha256', keys.search)
    .update('decision ')
    .update(JSON.stringify([seen, pairs]));
  return hash.digest('hex').slice(0, HASH_HEX_CHARS);
}
