import { refuseField } from '../texts/refuse.ts';

/** Limits the note of a change that a person makes to the books. */
export const NOTE_CHARS_MAX = 1_000;

type NoNote = 'note_empty' | 'note_missing' | 'note_required';

/**
 * Checks the note that says why somebody changes something, for every door.
 * @param given.missing the reason to refuse an empty note for: the API promises its name. `charsMax`: of a mismatch, more.
 * @returns the note without blanks around it.
 * @throws ConfereError `invalid_request` for an empty note, or one that is too long: nothing of it is cut.
 */
export function checkNote(
  note: string | undefined,
  { missing = 'note_empty', charsMax = NOTE_CHARS_MAX }: { missing?: NoNote; charsMax?: number } = {},
): string {
  const text = note?.trim() ?? '';
  if (text === '') throw refuseField('note', missing);
  if (text.length > charsMax) throw refuseField('note', 'text_too_long', { n: charsMax });
  return text;
}
