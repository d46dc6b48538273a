import { describeCode, fill } from '../../texts/fill.ts';
import { codeAdjustment, type Texts } from '../../texts/reports/texts.ts';
import type { Movement } from '../read/read-movements.ts';

/** The kind of a movement in words: `Tarifa: mensalidade 10/2026` for what a person entered. */
export function nameMovement({ kind: of, adjustment, isReversal, netCents }: Movement, texts: Texts): string {
  const kind = adjustment
    ? describeCode(texts.adjustmentKinds, codeAdjustment(adjustment.kind, netCents, isReversal))
    : describeCode(texts.kinds, of);
  const named = isReversal ? fill(texts.reversal, { kind: kind.toLowerCase() }) : kind;
  return adjustment?.note ? `${named}: ${adjustment.note}` : named;
}
