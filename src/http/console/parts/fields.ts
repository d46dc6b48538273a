/** Fields of forms: each with its label, its hint, and what is wrong with what was typed. */
import { NOTE_CHARS_MAX } from '../../../access/check-note.ts';
import { isWallTime, type WallTime } from '../../../domain/calendar.ts';
import { ConfereError } from '../../../domain/errors.ts';
import { formatTypedAmount } from '../../../domain/money.ts';
import { language } from '../../../texts/language.ts';
import { sayFaults } from '../../../texts/say-refusal.ts';
import { type Label, t, translate } from '../../../texts/translate.ts';
import { type Html, html, type Part } from './html.ts';

/** The values that a person typed, by field, and their faults. */
export type Draft = { values: Record<string, string>; faults: Record<string, string> };

/** Runs the check that the change makes too, and notes what it refuses by field. */
export function noteRefusals({ faults }: Pick<Draft, 'faults'>, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ConfereError) || error.fieldFaults.length === 0) throw error;
    for (const { field, text } of sayFaults(error)) faults[field] ??= text;
  }
}

type Field = { name: string; label: Label; hint?: Label };

/** Limit of the body of a form. */
export const FORM_BYTES_MAX = 64 * 1024;
/** A select of more entries is a text field that suggests them. */
export const SELECT_ENTRIES_MAX = 200;

/** A labelled field with its hint and fault. @param control gets the attributes that name and describe it. */
export function labelled(draft: Draft, field: Field, control: (attributes: Html) => Html): Html {
  const { name, label, hint } = field;
  const fault = draft.faults[name];
  const described = [hint && `${name}-hint`, fault && `${name}-fault`].filter(Boolean).join(' ');
  const attributes = html` name="${name}"${fault && html` aria-invalid="true"`}${
    described !== '' && html` aria-describedby="${described}"`
  }`;
  return html`<div class="field"><label><span>${translate(label)}</span>${control(attributes)}</label>${
    hint && html`<span class="hint" id="${name}-hint">${translate(hint)}</span>`
  }${fault && html`<span class="fault" id="${name}-fault" role="alert">${fault}</span>`}</div>`;
}

/** An input field. @param more its other attributes, such as its type. */
export function inputField(draft: Draft, field: Field, more?: Part): Html {
  return labelled(
    draft,
    field,
    (attributes) =>
      html`<input${attributes} value="${draft.values[field.name] ?? ''}" autocomplete="off" spellcheck="false"${more}>`,
  );
}

export function dayField(draft: Draft, field: Field): Html {
  return inputField(draft, field, html` type="date"`);
}

/** A select field of codes and their names. @param field.any the text of the empty choice; without it there is none. */
export function choiceField(draft: Draft, field: Field & { words: Record<string, string>; any?: Label }): Html {
  const { name, words, any } = field;
  const entries = Object.entries(words);
  const given = draft.values[name] ?? '';
  if (entries.length > SELECT_ENTRIES_MAX) return suggestingField(draft, field, entries);
  return labelled(
    draft,
    field,
    (attributes) =>
      html`<select${attributes}>${any !== undefined && html`<option value="">${translate(any)}</option>`}${entries.map(
        ([key, word]) => html`<option value="${key}"${key === given && html` selected`}>${word}</option>`,
      )}</select>`,
  );
}

function suggestingField(draft: Draft, field: Field, entries: [string, string][]): Html {
  const list = `${field.name}-list`;
  const options = entries.map(([key, word]) => html`<option value="${key}">${word}</option>`);
  return html`${inputField(draft, field, html` list="${list}"`)}<datalist id="${list}">${options}</datalist>`;
}

/** A select field of a filter. A value that is no choice stays selected, so that a wrong filter is shown as it is. */
export function filterField(draft: Draft, field: Field & { words: Record<string, string>; any?: Label }): Html {
  const given = draft.values[field.name] ?? '';
  const isListed = given === '' || Object.hasOwn(field.words, given);
  return choiceField(draft, isListed ? field : { ...field, words: { ...field.words, [given]: given } });
}

/** The filter by platform. @param words as `readPlatformWords` returns them. */
export function platformField(draft: Draft, words: Record<string, string>): Html {
  return filterField(draft, { name: 'platform', label: 'Plataforma', words, any: 'Todas' });
}

/** The filter of orders with a payment that fits others too. */
export function disputedField(draft: Draft): Html {
  return filterField(draft, { name: 'disputed', label: 'Pagamento', words: { true: t('em disputa') }, any: 'Todos' });
}

/** The filter of orders whose changes send no messages. */
export function silentField(draft: Draft): Html {
  return filterField(draft, { name: 'silent', label: 'Mensagens', words: { true: t('nenhuma sai') }, any: 'Todos' });
}

/** `1.234,56` with an optional leading `-`, in English `1,234.56`, as a field of the page takes it. */
export function formatMoneyInput(cents: bigint): string {
  return formatTypedAmount(cents, language());
}

/** Parses the text of a `datetime-local` field; undefined for any other text. */
export function parseWall(text: string): WallTime | undefined {
  const wall = `${text.replace('T', ' ')}${text.length === 'YYYY-MM-DDTHH:mm'.length ? ':00' : ''}`;
  return isWallTime(wall) ? wall : undefined;
}

export function noteField(draft: Draft, label: Label = 'Observação'): Html {
  return labelled(
    draft,
    { name: 'note', label },
    (attributes) =>
      html`<textarea rows="3" maxlength="${NOTE_CHARS_MAX}"${attributes}>${draft.values.note ?? ''}</textarea>`,
  );
}

/** Reads why; it must not be empty. */
export function readNote(draft: Draft): string {
  const note = draft.values.note ?? '';
  if (note === '') draft.faults.note = t('Escreva por quê.');
  return note;
}
