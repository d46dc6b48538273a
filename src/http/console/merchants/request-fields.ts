/**
 * Fields of a merchant's requests: their format, the bearer token and static headers. Values are secrets: the form shows `***`
 * for what is there, and what comes back as `***` stays.
 */
import { CALLBACK_FORMATS, type CallbackFormat } from '../../../merchants/callback-formats.ts';
import { headerNamesOf, type MerchantRow } from '../../../merchants/read-merchants.ts';
import {
  AUTHORIZATION,
  BEARER_CHARS_MAX,
  HEADER_NAME_FAULT,
  type HeaderChange,
  MASKED,
  type RequestChange,
} from '../../../merchants/request-headers.ts';
import { sayFault } from '../../../texts/say-refusal.ts';
import { type Label, type PlainText, t, words } from '../../../texts/translate.ts';
import { choiceField, type Draft, inputField, labelled } from '../parts/fields.ts';
import { type Html, html, type Part } from '../parts/html.ts';

export const REQUEST_FIELDS = ['format', 'bearer_token', 'headers'] as const;

/** A change of a merchant's requests, with the names of what stays. */
export type RequestInput = Omit<RequestChange, 'bearerToken'> & {
  bearer_token: string | null | undefined;
  format: CallbackFormat;
  kept: string[];
};

export const FORMAT_WORDS: Record<string, string> = words({
  standard: 'do Confere (Standard Webhooks)',
  provider: 'do provedor',
});

export function toRequestValues(row: MerchantRow): Record<string, string> {
  const names = headerNamesOf(row);
  const own = names.filter((name) => name !== AUTHORIZATION).map((name) => `${name}: ${MASKED}`);
  const token = names.includes(AUTHORIZATION) ? MASKED : '';
  return { format: row.format, bearer_token: token, headers: own.join('\n') };
}

/** Reads the fields, and notes in the draft what is wrong with them. @param row the merchant that changes, if there is one. */
export function readRequestFields(draft: Draft, row: MerchantRow | undefined): RequestInput {
  const { values, faults } = draft;
  const before = row ? headerNamesOf(row) : [];
  const format = CALLBACK_FORMATS.find((one) => one === values.format) ?? 'standard';
  const lines = (values.headers ?? '').split('\n').map((line) => line.trim());
  const pairs = lines.filter((line) => line !== '').map((line) => /^([^:\s]+):\s*(.+)$/.exec(line)?.slice(1) ?? []);
  if (pairs.some(([name]) => name === undefined)) faults.headers = t('Uma linha é nome: valor.');
  const given = pairs.map(([name = '', value = '']) => [name.toLowerCase(), value] as const);
  const isKept = ([name, value]: readonly [string, string]): boolean => value === MASKED && before.includes(name);
  const kept = given.filter(isKept).map(([name]) => name);
  const gone = before.filter((name) => name !== AUTHORIZATION && !given.some((one) => one[0] === name));
  const headers: HeaderChange = {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...Object.fromEntries(given.filter((one) => !isKept(one))),
  };
  const token = values.bearer_token ?? '';
  const keepsToken = token === MASKED && before.includes(AUTHORIZATION);
  const bearer = keepsToken ? undefined : token === '' ? null : token;
  const isTwice = new Set(given.map(([name]) => name)).size < given.length;
  if (isTwice) faults.headers ??= sayFault(HEADER_NAME_FAULT);
  return { format, bearer_token: bearer, headers, kept: keepsToken ? [...kept, AUTHORIZATION] : kept };
}

export function requestFields(draft: Draft): Html {
  const hint: PlainText =
    'Um nome: valor por linha, em cada requisição. *** é o valor de hoje, que fica; uma linha apagada sai.';
  return html`<h2>${t('Como chega')}</h2><div class="fields wide">${choiceField(draft, {
    ...{ name: 'format', label: 'Formato', words: FORMAT_WORDS },
    hint: 'O do provedor é o corpo e o token que ele mesmo envia: uma integração que já existe muda só o endereço. Não tem correções.',
  })}
${inputField(draft, { name: 'bearer_token', label: 'Token bearer', hint: 'O que o lojista confere em authorization. *** é o de hoje, que fica. Vazio: nenhum.' }, html` maxlength="${BEARER_CHARS_MAX}"`)}
${labelled(
  draft,
  { name: 'headers', label: 'Cabeçalhos próprios', hint },
  (attributes) => html`<textarea rows="3" spellcheck="false"${attributes}>${draft.values.headers ?? ''}</textarea>`,
)}</div>`;
}

/** Describes a merchant's requests, for its page. */
export function describeRequest(shown: {
  format: string;
  has_bearer_token: boolean;
  header_names: readonly string[];
}): (readonly [Label, Part])[] {
  return [
    ['Formato', FORMAT_WORDS[shown.format] ?? shown.format],
    ['Token bearer', shown.has_bearer_token ? MASKED : null],
    ['Cabeçalhos próprios', renderHeaders(shown.header_names.map((name) => `${name}: ${MASKED}`))],
  ];
}

/** Describes requests as a form changes them: a new secret value is called new, and not shown. */
export function describeRequestInput({
  format,
  bearer_token: bearer,
  headers = {},
  kept,
}: RequestInput): [Label, Part][] {
  const set = Object.entries(headers).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${t('valor novo')}`],
  );
  const own = kept.filter((name) => name !== AUTHORIZATION).map((name) => `${name}: ${MASKED}`);
  const token = kept.includes(AUTHORIZATION) ? MASKED : bearer ? t('valor novo') : null;
  return [
    ['Formato', FORMAT_WORDS[format] ?? format],
    ['Token bearer', token],
    ['Cabeçalhos próprios', renderHeaders([...own, ...set])],
  ];
}

function renderHeaders(lines: string[]): Part {
  return lines.length === 0 ? null : lines.map((line, index) => html`${index > 0 && html`<br>`}<code>${line}</code>`);
}
