import { ALERT_TEXTS } from '../../../alerts/texts/describe-alert.ts';
import { MISMATCH_SEVERITY, type MismatchKind } from '../../../domain/mismatch.ts';
import { MISMATCH_MEANINGS } from './words.ts';

type Explanation = { title: string; meaning: string; todo: string };

const TEXTS = ALERT_TEXTS['pt-BR'];

/** The name of a kind of mismatch, its meaning, and what to do about it in one sentence. */
export function explainMismatch(kind: string): Explanation {
  const { title, todo } = TEXTS[kind as MismatchKind] ?? { title: kind, todo: '' };
  return { title, meaning: MISMATCH_MEANINGS[kind] ?? '', todo };
}

/** The names by kind, for a select field. */
export const MISMATCH_TITLES: Record<string, string> = Object.fromEntries(
  (Object.keys(MISMATCH_SEVERITY) as MismatchKind[]).map((kind) => [kind, TEXTS[kind].title]),
);
