import { describeCode, fill } from '../../texts/fill.ts';
import { codeAdjustment, type Texts } from '../../texts/reports/texts.ts';
import type { EnteredAdjustment, Movement } from '../read/read-movements.ts';

/** The kind of a movement in words: `Tarifa: mensalidade 10/2026` for what a person entered. */
export function nameMovement(
  { kind: of, adjustment, isReversal, netCents }: Pick<Movement, 'kind' | 'adjustment' | 'isReversal' | 'netCents'>,
  texts: Texts,
): string {
  const kind = adjustment
    ? describeCode(texts.adjustmentKinds, codeAdjustment(adjustment.kind, netCents, isReversal))
    : describeCode(texts.kinds, of);
  const named = isReversal ? fill(texts.reversal, { kind: kind.toLowerCase() }) : kind;
  return adjustment?.note ? `${named}: ${adjustment.note}` : named;
}

/** `Pessoa: Ana Souza`: the source of what a person entered. */
export function namePerson(adjustment: EnteredAdjustment | null, { sources }: Texts): string {
  return adjustment ? `${sources.person}: ${adjustment.by}` : sources.person;
}
