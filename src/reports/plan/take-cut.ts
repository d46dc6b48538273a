import type { Context } from '../../context.ts';
import { sealNow } from '../../seal/seal-ledger.ts';
import type { Cut } from './report-plan.ts';
import { takeOrdersCut } from './take-orders-cut.ts';

/**
 * Takes the newest cut: waits until all rows below its numbers are committed and sealed. The ledger's numbers are those of one
 * seal, which read them in one statement; what the orders' are was decided about all of that.
 */
export async function takeCut(context: Context): Promise<Cut> {
  const { position, hash: sealHash, entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq } = await sealNow(context);
  const orders = await takeOrdersCut(context);
  return { position, sealHash, entrySeq, eventSeq, mismatchChangeSeq, factChangeSeq, eventWindow: null, orders };
}
