import type { Context } from '../../../context.ts';
import type { FieldFault } from '../../../domain/errors.ts';
import { STATUSES } from '../../../domain/statuses.ts';
import { findFilterFaults } from '../../../merchants/check-filter.ts';
import { findMerchantFaults, MERCHANT_LIMITS } from '../../../merchants/check-merchant.ts';
import type { MerchantFilter } from '../../../merchants/match-filter.ts';
import { completeFilter, parseFilter, UNUSABLE_KEY } from '../../../merchants/match-filter.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import { URL_LENGTH_MAX } from '../../../merchants/validate-url.ts';
import { toMerchantInput } from '../../../operations/merchants/merchants.ts';
import { sayFault } from '../../../texts/say-refusal.ts';
import { type PlainText, t, words } from '../../../texts/translate.ts';
import { choiceField, type Draft, inputField, labelled, parseWall } from '../parts/fields.ts';
import { type Html, html } from '../parts/html.ts';
import { OPERATION_WORDS, STATUS_WORDS } from '../parts/words.ts';
import {
  REQUEST_FIELDS,
  type RequestInput,
  readRequestFields,
  requestFields,
  toRequestValues,
} from './request-fields.ts';

export type MerchantInput = RequestInput & {
  name: string;
  /** Null for a merchant that fetches its events. */
  url: string | null;
  email: string | null;
  rate: number | null;
  filter: MerchantFilter;
  events_since?: Date;
};

const LISTS = ['platforms', 'operations', 'statuses', 'reference_prefixes', 'extra_prefixes'] as const;
export const FILTER_FIELDS = [...LISTS, 'extra_match'] as const;
export const MERCHANT_FIELDS = [
  ...['name', 'url', 'email', 'rate', 'events_since'],
  ...[...REQUEST_FIELDS, ...FILTER_FIELDS, 'expected'],
] as const;
const EXPECTED_WORDS: Record<string, string> = words({ false: 'não recebe', true: 'recebe' });
const PLATFORM_CHOICES_MAX = 24;

export function toDraftValues({ calendar }: Context, row: MerchantRow): Record<string, string> {
  const { name, url, email, rate } = row;
  const since = calendar.toWallTime(row.events_since).replace(' ', 'T');
  const facts = {
    ...{ name, url: url ?? '', email: email ?? '' },
    ...{ rate: rate === null ? '' : String(rate), events_since: since },
  };
  const filter = parseFilter(row.filter);
  return { ...facts, ...toRequestValues(row), ...toFilterValues(filter), expected: String(filter.expected) };
}

/** A filter as the fields of the form have it. */
export function toFilterValues(filter: MerchantFilter): Record<string, string> {
  const lists = LISTS.map((name) => [name, filter[name].join('\n')]);
  const match = Object.entries(filter.extra_match).map(([key, value]) => `${key}=${value}`);
  return { ...Object.fromEntries(lists), extra_match: match.join('\n') };
}

/** Reads the fields, and notes in the draft what is wrong with them. @param row the merchant that changes, if there is one. */
export function readMerchant(context: Context, draft: Draft, row?: MerchantRow): MerchantInput {
  const { values, faults } = draft;
  const { name = '', url = '', email = '', rate = '', events_since: since = '' } = values;
  const wall = parseWall(since);
  // the field has whole seconds, so what was not changed stays as it is
  const isKept = row !== undefined && wall === context.calendar.toWallTime(row.events_since);
  if (since !== '' && wall === undefined) faults.events_since = t('Escolha o dia e a hora, ou nada.');
  const input = {
    ...{ name, url: url || null, email: email || null, rate: rate === '' ? null : Number(rate) },
    ...readRequestFields(draft, row),
    filter: { ...readFilter(draft), expected: values.expected === 'true' },
    ...(wall === undefined || isKept ? {} : { events_since: context.calendar.toInstant(wall) }),
  };
  noteFaults(draft, findMerchantFaults(context, toMerchantInput(input), row));
  return input;
}

/** Reads the fields of a filter, and notes in the draft what is wrong with them. */
export function readFilter(draft: Draft): Omit<MerchantFilter, 'expected'> {
  const pairs = linesOf(draft, 'extra_match').map((line) => /^([^=]+)=(.*)$/.exec(line)?.slice(1) ?? []);
  if (pairs.some((pair) => pair.length === 0)) draft.faults.extra_match = t('Uma linha é chave=valor.');
  if (pairs.some(([key]) => key === UNUSABLE_KEY))
    draft.faults.extra_match = t('A chave {key} não pode ser usada.', { key: UNUSABLE_KEY });
  const lists = LISTS.map((name) => [name, linesOf(draft, name)]);
  const given = { ...Object.fromEntries(lists), extra_match: Object.fromEntries(pairs) };
  const { expected: _, ...filter } = completeFilter(given);
  noteFaults(draft, findFilterFaults(filter));
  return filter;
}

/** Notes faults at the form's fields, which have the names of the API's. */
function noteFaults({ faults }: Draft, found: FieldFault[]): void {
  for (const fault of found) faults[fault.field.replace(/^filter\./, '')] ??= sayFault(fault);
}

function linesOf({ values }: Draft, name: string): string[] {
  const lines = (values[name] ?? '').split('\n').map((line) => line.trim());
  return [...new Set(lines)].filter((line) => line !== '');
}

/**
 * The fields of a merchant.
 * @param isNew whether it is added.
 * @param platforms the known ones, with their names.
 */
export function merchantFields(draft: Draft, isNew: boolean, platforms: Record<string, string>): Html {
  const input = (name: string, label: PlainText, hint: PlainText | '', more: Html) =>
    inputField(draft, { name, label, ...(hint && { hint }) }, more);
  return html`<div class="fields wide">${input('name', 'Nome', '', html` maxlength="${MERCHANT_LIMITS.nameCharsMax}" required`)}
${input('url', 'Endereço (URL)', 'Recebe um POST assinado por evento. Vazio: o lojista busca os eventos pela API.', html` type="url" maxlength="${URL_LENGTH_MAX}" placeholder="https://"`)}
${input('email', 'E-mail', 'Avisado quando o endereço não responde. Opcional.', html` type="email" maxlength="${MERCHANT_LIMITS.emailCharsMax}"`)}
${input('rate', 'Callbacks por segundo, no máximo', 'Vazio: sem limite.', html` inputmode="numeric" maxlength="4"`)}
${input('events_since', 'Eventos desde', isNew ? 'Vazio: a partir de agora.' : 'Uma data anterior envia também os eventos desde ela. Vazio: fica como está.', html` type="datetime-local" step="1"`)}</div>
${requestFields(draft)}
<h2>${t('O que ele recebe')}</h2>${filterFields(draft, platforms)}
<div class="fields wide">${choiceField(draft, {
    ...{ name: 'expected', label: 'Mudanças de pedidos', words: EXPECTED_WORDS },
    hint: 'Um callback pix.expected.… por mudança de situação. Valem as plataformas, as operações e o extra; a referência é o número ou uma das referências.',
  })}</div>`;
}

/** The fields of a filter. @param platforms the known ones, with their names. */
export function filterFields(draft: Draft, platforms: Record<string, string>): Html {
  return html`<p class="hint">${t('Um campo vazio aceita tudo. Dentro de um campo basta uma linha; entre os campos, todos valem.')}</p>
<div class="fields wide">${choices(draft, 'operations', 'Operações', OPERATION_WORDS, [])}
${choices(draft, 'statuses', 'Situações', STATUS_WORDS, linesOf(draft, 'statuses'))}
${platformChoices(draft, platforms)}
${lines(draft, 'reference_prefixes', 'Referência começa com', 'Um começo por linha.')}
${lines(draft, 'extra_prefixes', 'Extra começa com', 'Um começo por linha.')}
${lines(draft, 'extra_match', 'Extra (JSON) contém', 'Um chave=valor por linha.')}</div>`;
}

/** Known platforms as choices, if there are few; others are typed, under the same name. */
function platformChoices(draft: Draft, platforms: Record<string, string>): Html {
  const hint = 'Um id por linha; none é o que não tem plataforma.';
  const known = Object.keys(platforms);
  if (known.length === 0 || known.length > PLATFORM_CHOICES_MAX) return lines(draft, 'platforms', 'Plataformas', hint);
  const typed = linesOf(draft, 'platforms').filter((one) => !known.includes(one));
  const others = { ...draft, values: { ...draft.values, platforms: typed.join('\n') } };
  return html`${checkboxes(draft, 'platforms', 'Plataformas', Object.entries(platforms))}
${lines(others, 'platforms', 'Outras plataformas', hint)}`;
}

function lines(draft: Draft, name: string, label: PlainText, hint: PlainText): Html {
  return labelled(
    draft,
    { name, label, hint },
    (attributes) => html`<textarea rows="3" spellcheck="false"${attributes}>${draft.values[name] ?? ''}</textarea>`,
  );
}

function choices(draft: Draft, name: string, label: PlainText, words: Record<string, string>, more: string[]): Html {
  const codes = [...new Set([...Object.keys(words), ...more])].filter(
    (code) => code in OPERATION_WORDS || (STATUSES as readonly string[]).includes(code) || more.includes(code),
  );
  return checkboxes(
    draft,
    name,
    label,
    codes.map((code) => [code, words[code] ?? code]),
  );
}

function checkboxes(draft: Draft, name: string, label: PlainText, entries: [string, string][]): Html {
  const chosen = linesOf(draft, name);
  return html`<fieldset class="choices"><legend>${t(label)}</legend>${entries.map(
    ([code, word]) =>
      html`<label><input type="checkbox" name="${name}" value="${code}"${chosen.includes(code) && html` checked`}> <span>${word}</span></label>`,
  )}</fieldset>`;
}
