/** The search of the console: what its filters mean, and which persons it may find. */
import type { Response } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import type { Day } from '../../../domain/calendar.ts';
import { E2E_CHARS, findOddE2eChar, parseE2eId } from '../../../domain/e2e-id.ts';
import { parseTypedAmount } from '../../../domain/money.ts';
import { foldName, normalizeDocument } from '../../../domain/person/fold-person.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import {
  type Classified,
  classifySearch,
  type Reading,
  SEARCH_CHARS_MAX,
  SEARCH_KINDS,
  type SearchFault,
  splitSearch,
} from '../../../ledger/read/classify-search.ts';
import { areInsideDays, INSIDE_CHARS_MIN, INSIDE_DAYS_MAX } from '../../../ledger/read/search-transactions.ts';
import type { SearchTerms, TransactionQuery } from '../../../ledger/read/transaction-query.ts';
import { authorizeSearch, describeFilters, type TRANSACTION_FILTERS } from '../../../operations/authorize-search.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { canSeePersonalData, getCaller } from '../../access/authorize.ts';
import type { Filters } from '../parts/encrypt-filters.ts';
import type { Draft } from '../parts/fields.ts';
import { EXAMPLE_CENTS, formatMoney } from '../parts/format.ts';
import { filterChoice, filterDay, filterText, SEARCH_BOX } from '../parts/parse-filters.ts';

function describeFault(fault: SearchFault): string {
  switch (fault) {
    case 'too_long':
      return t('No máximo {n} caracteres.', { n: SEARCH_CHARS_MAX });
    case 'no_such_day':
      return t('Este dia não existe: escreva 22/11/2026.');
    case 'no_amount':
      return t('Escreva o valor como {example}.', { example: formatMoney(EXAMPLE_CENTS) });
    case 'amount_too_large':
      return t('Este valor é maior que qualquer transação.');
  }
}

/** Explains what is wrong with a text that is meant as an end-to-end id and finds nothing. */
export function explainE2eId(text: string): string {
  if (text.length !== E2E_CHARS)
    return t('Um id E2E tem {due} caracteres, e este tem {n}.', { due: E2E_CHARS, n: text.length });
  const { at: n, char, due } = findOddE2eChar(text) ?? {};
  if (n === undefined || char === undefined)
    return parseE2eId(text)
      ? t('Confira cada caractere do id E2E.')
      : t('Os caracteres 10 a 21 do id E2E são a data e a hora, e estas não existem.');
  if (due === 'kind') return t('O caractere {n} é “{char}”, e um id E2E começa com E ou D maiúsculo.', { n, char });
  return due === 'digit'
    ? t('O caractere {n} é “{char}”, e ali há um algarismo.', { n, char })
    : t('O caractere {n} é “{char}”, e ali há uma letra sem acento ou um algarismo.', { n, char });
}

const TEXTS_MAX = 2048;
const text = filterText(TEXTS_MAX);
/** Filters that address a text of its own: links lead to them. The box stands for all of them. */
export const TEXT_FILTERS = ['id', 'reference', 'extra', 'e2e_id', 'document', 'name', 'amount'] as const;

const amountText = text.refine((value) => value === undefined || parseTypedAmount(value) !== undefined, {
  error: () => describeFault('no_amount'),
});

export const searchSchema = z
  .object({
    q: filterText(TEXTS_MAX),
    as: filterChoice(SEARCH_KINDS),
    id: text,
    reference: text,
    extra: text,
    e2e_id: text,
    document: text.refine((value) => value === undefined || normalizeDocument(value) !== null, {
      error: () => t('Escreva os dígitos.'),
    }),
    name: text.refine((value) => value === undefined || foldName(value).length > 1, {
      error: () => t('Escreva duas letras ou mais.'),
    }),
    inside: text.refine((value) => value === undefined || value.length >= INSIDE_CHARS_MIN, {
      error: () => t('Escreva {n} letras ou mais.', { n: INSIDE_CHARS_MIN }),
    }),
    amount: amountText,
    amount_from: amountText,
    amount_to: amountText,
    status: filterText(64),
    operation: filterChoice(OPERATIONS),
    platform: filterText(PLATFORM_CHARS_MAX),
    merchant: filterText(40),
    from: filterDay,
    to: filterDay,
    by: filterChoice(['created', 'status']),
  })
  .superRefine((given, issues) => {
    const refuse = (name: string, message: string) => issues.addIssue({ code: 'custom', path: [name], message });
    const { readings, fault } = classifyBox(given);
    if (fault) refuse(SEARCH_BOX, describeFault(fault));
    else if (given.as && !readings.some(({ kind }) => kind === given.as))
      refuse(SEARCH_BOX, t('Este texto não se lê assim: busque-o de novo.'));
    else if (given.q && TEXT_FILTERS.some((name) => given[name] !== undefined))
      refuse(SEARCH_BOX, t('Tire antes o outro texto da busca, ou busque só por ele.'));
    const [least, most] = [given.amount_from, given.amount_to].map((typed) => parseTypedAmount(typed ?? ''));
    if (least !== undefined && most !== undefined && most < least)
      refuse('amount_to', t('É menor que o primeiro valor.'));
    if (given.inside && !areInsideDays(given))
      refuse('inside', t('Escolha o período, de no máximo {n} dias.', { n: INSIDE_DAYS_MAX }));
    if (given.from && given.to && given.to < given.from) refuse('to', t('Vem antes do primeiro dia.'));
  });

export type SearchFilters = z.infer<typeof searchSchema>;
/** A search as its address gives it. */
export type Asked = { filters: SearchFilters; draft: Draft; given: Filters };

export type Search = {
  query: Omit<TransactionQuery, 'limit' | 'after'>;
  /** Readings of the box's text; empty for an empty box. */
  readings: Reading[];
  /** Every filter by its own name, the box's under the names of its readings. */
  named: Partial<Record<(typeof TRANSACTION_FILTERS)[number], string | undefined>>;
  /** The names of the filters, for the audit. */
  target: string;
};

/** The text of the box, and the reading that it is narrowed to. */
type Box = { q?: string | undefined; as?: string | undefined };
type BoxFilters = Pick<SearchFilters, 'q' | 'amount_from' | 'amount_to' | 'from' | 'to' | 'operation'>;

/** The filters that the box stands for, with the words that remain in it. @param today also a day without its year is one. */
export function splitBox({ q = '', as }: Box, today?: Day): BoxFilters | undefined {
  const split = as === undefined || as === 'day' ? splitSearch(q, today) : undefined;
  if (split === undefined) return undefined;
  const { words, amounts, days, operation } = split;
  return {
    q: words || undefined,
    ...(amounts && { amount_from: amounts[0], amount_to: amounts[1] }),
    ...(days && { from: days[0], to: days[1] }),
    ...(operation && { operation }),
  };
}

function classifyBox(box: Box): Classified {
  return classifySearch((splitBox(box) ?? box).q ?? '', language());
}

/** Turns filters into a search. @param mayName whether the caller may search by name: else the box does not. */
export function toSearch(asked: SearchFilters, mayName: boolean): Search {
  const filters = { ...asked, ...splitBox(asked) };
  const { q = '', as, e2e_id: e2eId, amount, amount_from, amount_to, by, ...rest } = filters;
  const all = classifyBox(filters).readings;
  const wanted = as === undefined ? all.filter(({ kind }) => mayName || kind !== 'words') : all;
  const readings = as === undefined ? wanted : wanted.filter(({ kind }) => kind === as);
  const [amountCents, amountMinCents, amountMaxCents] = [amount, amount_from, amount_to].map((value) =>
    value === undefined ? undefined : parseTypedAmount(value),
  );
  const terms = { ...rest, e2eId, amountCents, amountMinCents, amountMaxCents };
  const anyOf = q === '' ? undefined : readings.map(toTerms);
  const read = readings.map((one) => [one.kind, 'text' in one ? one.text : q] as const);
  const named = { ...rest, e2e_id: e2eId, amount, amount_from, amount_to, by, ...Object.fromEntries(read) };
  return {
    query: { ...terms, by: by ?? 'created', anyOf },
    readings,
    named,
    target: describeFilters(named),
  };
}

function toTerms(reading: Reading): SearchTerms {
  switch (reading.kind) {
    case 'id':
      return { idPrefix: reading.text };
    case 'e2e_id':
      return { e2eId: reading.text };
    case 'amount':
      return { amountCents: reading.cents, ...(reading.operation ? { operation: reading.operation } : {}) };
    case 'day':
      return {};
    default:
      return { [reading.kind]: reading.text };
  }
}

/** Authorizes the search for the persons that it may find. @throws ConfereError `forbidden`, `too_many_requests`. */
export async function authorizeFound(context: Context, response: Response, { named }: Search): Promise<void> {
  await authorizeSearch(context, getCaller(response), named);
}

/** The search of these filters by the caller. */
export function searchOf(response: Response, filters: SearchFilters): Search {
  return toSearch(filters, canSeePersonalData(response));
}
