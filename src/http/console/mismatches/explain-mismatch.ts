import { MISMATCH_SEVERITY, type MismatchKind, nameCause } from '../../../domain/mismatch.ts';
import { ALERT_TEXTS } from '../../../texts/alerts/describe-alert.ts';
import { language } from '../../../texts/language.ts';
import { words, wordsBy } from '../../../texts/translate.ts';
import { MISMATCH_MEANINGS } from '../parts/words.ts';

type Explanation = { title: string; meaning: string; todo: string };

const CAUSE_TITLES: Record<string, string> = words({
  commission_changed: 'Tarifa mudou',
  commission_not_contracts: 'Tarifa difere do contrato',
});

/**
 * The name of a mismatch, its meaning, and what to do about it in one sentence.
 * @param expected the evidence of one mismatch; without it, the texts are those of its kind.
 */
export function explainMismatch({ kind, expected }: { kind: string; expected?: unknown }): Explanation {
  const { title, todo } = ALERT_TEXTS[language()][kind as MismatchKind] ?? { title: kind, todo: '' };
  const cause = nameCause({ kind, expected });
  return { title: CAUSE_TITLES[cause] ?? title, meaning: MISMATCH_MEANINGS[cause] ?? '', todo };
}

/** The names by kind, for a select field. */
export const MISMATCH_TITLES: Record<string, string> = wordsBy(
  Object.keys(MISMATCH_SEVERITY) as MismatchKind[],
  (kind) => ALERT_TEXTS[language()][kind].title,
);
