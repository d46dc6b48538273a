import { MISMATCH_SEVERITY, type MismatchKind, nameKind } from '../../../domain/mismatch.ts';
import { ALERT_TEXTS } from '../../../texts/alerts/describe-alert.ts';
import { language } from '../../../texts/language.ts';
import { wordsBy } from '../../../texts/translate.ts';
import { MISMATCH_MEANINGS } from '../parts/words.ts';

type Explanation = { title: string; meaning: string; todo: string };

/**
 * The name of a mismatch, its meaning, and what to do about it in one sentence.
 */
export function explainMismatch(mismatch: { kind: string; expected?: unknown }): Explanation {
  const kind = nameKind(mismatch);
  const { title, todo } = ALERT_TEXTS[language()][kind as MismatchKind] ?? { title: kind, todo: '' };
  return { title, meaning: MISMATCH_MEANINGS[kind] ?? '', todo };
}

/** The names by kind, for a select field. */
export const MISMATCH_TITLES: Record<string, string> = wordsBy(
  Object.keys(MISMATCH_SEVERITY) as MismatchKind[],
  (kind) => ALERT_TEXTS[language()][kind].title,
);
