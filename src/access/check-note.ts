import { refuseField } from '../texts/refuse.ts';

/** Limits the note of a change that a person makes to the books. */
export const NOTE_CHARS_MAX = 1_000;

/**
 * Checks the note that says why somebody changes something, for every door.
 * @returns the note without blanks around it.
 * @throws ConfereError `invalid_request` for an empty note, or one that is too long: nothing of it is cut.
 */
export function checkNote(note: string, charsMax = NOTE_CHARS_MAX): string {
  const text = note.trim();
  if (text === '') throw refuseField('note', 'note_empty');
  if (text.length > charsMax) throw refuseField('note', 'text_too_long', { n: charsMax });
  return text;
}
