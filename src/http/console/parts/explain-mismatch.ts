import { ALERT_TEXTS } from '../../../alerts/texts/describe-alert.ts';
import { MISMATCH_SEVERITY, type MismatchKind } from '../../../domain/mismatch.ts';
import { language } from '../languages/language.ts';
import { wordsBy } from '../languages/translate.ts';
import { MISMATCH_MEANINGS } from './words.ts';

type Explanation = { title: string; meaning: string; todo: string };

/** The name of a kind of mismatch, its meaning, and what to do about it in one sentence. */
export function explainMismatch(kind: string): Explanation {
  const { title, todo } = ALERT_TEXTS[language()][kind as MismatchKind] ?? { title: kind, todo: '' };
  return { title, meaning: MISMATCH_MEANINGS[kind] ?? '', todo };
}

/** The names by kind, for a select field. */
export const MISMATCH_TITLES: Record<string, string> = wordsBy(
  Object.keys(MISMATCH_SEVERITY) as MismatchKind[],
  (kind) => ALERT_TEXTS[language()][kind].title,
);
