import type { Context } from '../../context.ts';
import { awaitFactChangeWatermark } from '../../seal/await-watermark.ts';
import { sealNow } from '../../seal/seal-ledger.ts';
import type { Cut } from './report-plan.ts';

/** Takes the newest cut: waits until all rows below its numbers are committed and sealed. */
export async function takeCut(context: Context): Promise<Cut> {
  const [seal, factChangeSeq] = await Promise.all([sealNow(context), awaitFactChangeWatermark(context.db)]);
  const { position, hash: sealHash, entrySeq, eventSeq, mismatchChangeSeq } = seal;
  return { position, sealHash, entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq, eventWindow: null };
}
