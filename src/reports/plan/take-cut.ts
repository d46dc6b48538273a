import type { Context } from '../../context.ts';
import { sealNow } from '../../seal/seal-ledger.ts';
import type { Cut } from './report-plan.ts';

/**
 * Takes the newest cut: waits until all rows below its numbers are committed and sealed. All of its numbers are those of one
 * seal, which read them in one statement.
 */
export async function takeCut(context: Context): Promise<Cut> {
  const { position, hash: sealHash, entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq } = await sealNow(context);
  return { position, sealHash, entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq, eventWindow: null };
}
