/** Fields of the forms that move money, and the texts that people type into them. */
import type { Context } from '../../../context.ts';
import { type Day, isDay, isWallTime, type WallTime } from '../../../domain/calendar.ts';
import { AMOUNT_CENTS_MAX, formatTypedAmount, isTypedAmount, parseTypedAmount } from '../../../domain/money.ts';
import { NO_PLATFORM } from '../../../domain/platform.ts';
import { language } from '../languages/language.ts';
import { type Label, t, translate } from '../languages/translate.ts';
import { formatDay } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { END_OF_TIME, readPlatformBalances } from './read-platform-balances.ts';

/** What a person typed, by field, and what is wrong with it. */
export type Draft = { values: Record<string, string>; faults: Record<string, string> };

/** Shows how an amount is typed in the page's language. */
const EXAMPLE_CENTS = 123_456n;
const PLATFORM_CHARS_MAX = 64;

/** `1.234,56` with an optional leading `-`, in English `1,234.56`, as a field of the page takes it. */
export function formatMoneyInput(cents: bigint): string {
  return formatTypedAmount(cents, language());
}

/** Parses the text of a `datetime-local` field; undefined for any other text. */
export function parseWall(text: string): WallTime | undefined {
  const wall = `${text.replace('T', ' ')}${text.length === 'YYYY-MM-DDTHH:mm'.length ? ':00' : ''}`;
  return isWallTime(wall) ? wall : undefined;
}

/** Reads an amount and notes what is wrong with it. */
export function readMoney(draft: Draft, name: string): bigint {
  const text = draft.values[name] ?? '';
  const cents = parseTypedAmount(text, language());
  if (cents === undefined)
    draft.faults[name] = isTypedAmount(text, language())
      ? t('No máximo {max}.', { max: formatMoneyInput(AMOUNT_CENTS_MAX) })
      : t('Escreva um valor como {example} ou -{example}.', { example: formatMoneyInput(EXAMPLE_CENTS) });
  return cents ?? 0n;
}

/** Reads a day that has begun and notes what is wrong with it. */
export function readDay(context: Context, draft: Draft): Day {
  const day = draft.values.day ?? '';
  const today = context.calendar.dayOf(context.clock.now());
  if (!isDay(day)) draft.faults.day = t('Escolha um dia.');
  else if (day > today)
    draft.faults.day = t('Ainda não começou: no provedor hoje é {today}.', { today: formatDay(today) });
  return day;
}

/** Reads a platform. Another one than those listed is typed, and so confirmed as new. */
export function readPlatform(draft: Draft): { platform: string; newPlatform: boolean } {
  const [listed = '', other = ''] = [draft.values.platform, draft.values.other_platform];
  if (listed !== '' && other !== '')
    draft.faults.other_platform = t('Escolha uma da lista, ou escreva outra: não as duas.');
  else if (listed === '' && other === '') draft.faults.platform = t('Escolha uma plataforma, ou escreva outra.');
  else if (other.length > PLATFORM_CHARS_MAX)
    draft.faults.other_platform = t('No máximo {n} caracteres.', { n: PLATFORM_CHARS_MAX });
  return { platform: listed || other, newPlatform: other !== '' };
}

/** A labelled field with its hint and fault. @param control gets the attributes that name and describe it. */
export function labelled(
  draft: Draft,
  field: { name: string; label: Label; hint?: Label },
  control: (attributes: Html) => Html,
): Html {
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
export function inputField(draft: Draft, field: { name: string; label: Label; hint?: Label }, more: Part): Html {
  return labelled(
    draft,
    field,
    (attributes) =>
      html`<input value="${draft.values[field.name] ?? ''}" autocomplete="off" spellcheck="false"${attributes}${more}>`,
  );
}

/** A field for an amount. Its hint says how the page's language writes one. */
export function moneyField(draft: Draft, field: { name: string; label: Label; hint?: Label }): Html {
  const example = formatMoneyInput(EXAMPLE_CENTS);
  const hint = [field.hint && translate(field.hint), t('Como {example}.', { example })].filter(Boolean).join(' ');
  return inputField(draft, { ...field, hint }, html` maxlength="24" placeholder="${example}"`);
}

export function noteField(draft: Draft, label: Label = 'Observação'): Html {
  return labelled(
    draft,
    { name: 'note', label },
    (attributes) => html`<textarea rows="3" maxlength="1000"${attributes}>${draft.values.note ?? ''}</textarea>`,
  );
}

/** A select field of codes and their names. */
export function choiceField(
  draft: Draft,
  field: { name: string; label: Label; words: Record<string, string>; any: Label },
): Html {
  const { name, words, any } = field;
  return labelled(
    draft,
    field,
    (attributes) =>
      html`<select${attributes}><option value="">${translate(any)}</option>${Object.entries(words).map(
        ([key, word]) => html`<option value="${key}"${key === draft.values[name] && html` selected`}>${word}</option>`,
      )}</select>`,
  );
}

/** The fields of a platform: one of those with a balance, or another one, typed. */
export async function platformFields(context: Context, draft: Draft): Promise<Html> {
  const known = (await readPlatformBalances(context, END_OF_TIME)).map(({ platform }) => platform);
  const given = draft.values.platform ?? '';
  const listed = given === '' || known.includes(given) ? known : [...known, given];
  const words = Object.fromEntries(listed.map((platform) => [platform, namePlatform(platform)]));
  return html`${choiceField(draft, { name: 'platform', label: 'Plataforma', words, any: listed.length > 0 ? 'Escolha' : 'Nenhuma ainda' })}
${inputField(
  draft,
  { name: 'other_platform', label: 'Ou outra plataforma', hint: 'Só se ela ainda não está na lista.' },
  html` maxlength="${PLATFORM_CHARS_MAX}"`,
)}`;
}

/** A platform's name for people. */
export function namePlatform(platform: string): string {
  return platform === NO_PLATFORM ? t('Sem plataforma') : platform;
}
