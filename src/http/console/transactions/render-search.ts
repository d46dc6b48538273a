/** The form of the search, and what it says about itself: its filters as chips, its readings, its total, its files. */
import { addDays, type Day } from '../../../domain/calendar.ts';
import { isLikelyE2eId } from '../../../domain/e2e-id.ts';
import { OPERATIONS, type Operation } from '../../../domain/statuses.ts';
import { findDoubts, type Reading, SEARCH_CHARS_MAX, type SearchKind } from '../../../ledger/read/classify-search.ts';
import { OUTCOMES, type Outcome, type SearchTotal, TOTAL_MS_MAX } from '../../../ledger/read/read-search-total.ts';
import { INSIDE_DAYS_MAX } from '../../../ledger/read/search-transactions.ts';
import { EXPORT_ROWS_MAX } from '../../../reports/serve/export-found.ts';
import { describeCode } from '../../../texts/fill.ts';
import { type PlainText, t, words } from '../../../texts/translate.ts';
import type { Filters } from '../parts/encrypt-filters.ts';
import { type Draft, dayField, filterField, inputField, platformField } from '../parts/fields.ts';
import { EXAMPLE_CENTS, formatCount, formatDay, formatMoney, money } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { SEARCH_BOX } from '../parts/parse-filters.ts';
import { listFiles } from '../parts/send-list.ts';
import { OPERATION_WORDS, STATUS_WORDS } from '../parts/words.ts';
import { explainE2eId, splitBox, TEXT_FILTERS } from './read-search.ts';

/** The address of the list with other filters. */
export type AddressOf = (filters: Filters) => string;
/** The choices of the select fields, by the value of each. */
export type Choices = { platforms: Record<string, string>; merchants: Record<string, string> };

const TEXT_WORDS = words<(typeof TEXT_FILTERS)[number]>({
  id: 'Id',
  reference: 'Referência',
  extra: 'Extra',
  e2e_id: 'Id E2E',
  document: 'CPF ou CNPJ',
  name: 'Nome',
  amount: 'Valor',
});
const READING_WORDS = words<SearchKind>({
  id: 'id ou começo dele',
  reference: 'referência',
  extra: 'extra',
  e2e_id: 'id E2E',
  document: 'CPF ou CNPJ',
  words: 'começo de palavras',
  amount: 'valor',
  day: 'dia',
});
const BY_WORDS = words({ created: 'Criação', status: 'Situação' });

/** The fields of the form. @param full whether the caller may search by name. */
export function searchFields(draft: Draft, { platforms, merchants }: Choices, full: boolean): Part[] {
  const amount = formatMoney(EXAMPLE_CENTS);
  const hint = full
    ? t(
        'Id ou começo, referência, extra, E2E, número do pedido, CPF ou CNPJ, começo de palavras, {amount}, 22/11/2026. Não em ajustes, nem em observações.',
        { amount },
      )
    : t(
        'Id ou começo, referência, extra, E2E, número do pedido, CPF ou CNPJ, {amount}, 22/11/2026. Não em ajustes, nem em observações.',
        { amount },
      );
  const inside = t('Do nome, e-mail, referência ou extra, num período de até {n} dias.', { n: INSIDE_DAYS_MAX });
  const box = inputField(
    draft,
    { name: SEARCH_BOX, label: 'Buscar', hint },
    html` type="search" maxlength="${SEARCH_CHARS_MAX}"`,
  );
  return [
    html`<div class="box">${box}</div>`,
    ...TEXT_FILTERS.filter((name) => draft.values[name]).map((name) =>
      inputField(draft, { name, label: TEXT_WORDS[name] }),
    ),
    filterField(draft, { name: 'status', label: 'Situação', words: STATUS_WORDS, any: 'Todas' }),
    filterField(draft, { name: 'operation', label: 'Operação', words: OPERATION_WORDS, any: 'Todas' }),
    full && inputField(draft, { name: 'inside', label: 'Dentro das palavras', hint: inside }),
    inputField(draft, { name: 'amount_from', label: 'Valor de' }),
    inputField(draft, { name: 'amount_to', label: 'Valor até' }),
    platformField(draft, platforms),
    filterField(draft, { name: 'merchant', label: 'Lojista', words: merchants, any: 'Todos' }),
    dayField(draft, { name: 'from', label: 'De' }),
    dayField(draft, { name: 'to', label: 'Até' }),
    filterField(draft, { name: 'by', label: 'Dia da', words: BY_WORDS }),
  ];
}

/** The filters that are set, each a link that removes it; and periods that a link sets. */
export function renderChips(
  given: Filters,
  choices: Choices,
  { addressOf, today }: { addressOf: AddressOf; today: Day },
): Html {
  const textOf = (name: string): string => (typeof given[name] === 'string' ? given[name] : '');
  const without = (...names: string[]): string =>
    addressOf(Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name))));
  const named: [string, PlainText, Record<string, string>][] = [
    ['inside', 'Dentro das palavras', {}],
    ['amount_from', 'Valor de', {}],
    ['amount_to', 'Valor até', {}],
    ['status', 'Situação', STATUS_WORDS],
    ['operation', 'Operação', OPERATION_WORDS],
    ['platform', 'Plataforma', choices.platforms],
    ['merchant', 'Lojista', choices.merchants],
  ];
  const period = describePeriod(textOf('from'), textOf('to'), textOf('by'));
  const chips = [
    ...TEXT_FILTERS.map((name) => chip(TEXT_WORDS[name], textOf(name), without(name))),
    ...named.map(([name, label, words]) =>
      chip(t(label), textOf(name) && describeCode(words, textOf(name)), without(name)),
    ),
    chip(t('Período'), period, without('from', 'to', 'by')),
  ].filter((one) => one !== undefined);
  const periods = period ? [] : listPeriods(today);
  const offers = periods.map(
    ([label, from, to]) =>
      html`<li><a class="chip offer" href="${addressOf({ ...given, from, to })}">${label}</a></li>`,
  );
  return html`<ul class="chips" aria-label="${t('Filtros da busca')}">${chips}${offers}</ul>`;
}

function chip(label: string, value: string, address: string): Html | undefined {
  if (value === '') return undefined;
  return html`<li><a class="chip" href="${address}"><span>${label}: <b>${value}</b></span> <span aria-hidden="true">×</span><span class="unseen"> ${t('(tirar este filtro)')}</span></a></li>`;
}

function describePeriod(from: string, to: string, by: string): string {
  if (from === '' && to === '') return '';
  const days =
    from === to
      ? formatDay(from)
      : [from && t('de {day}', { day: formatDay(from) }), to && t('até {day}', { day: formatDay(to) })]
          .filter((part) => part !== '')
          .join(' ');
  return by === 'status' ? t('{days}, pelo dia da situação', { days }) : days;
}

function listPeriods(today: Day): [string, Day, Day][] {
  return [
    [t('Hoje'), today, today],
    [t('Ontem'), addDays(today, -1), addDays(today, -1)],
    [t('7 dias'), addDays(today, -6), today],
    [t('30 dias'), addDays(today, -29), today],
  ];
}

/** Renders the readings of the box's text, and what was not read as meant; several can be narrowed to one. */
export function renderReadings(
  readings: Reading[],
  given: Filters,
  { addressOf, today, full }: { addressOf: AddressOf; today: Day; full: boolean },
): Html | undefined {
  if (readings.length === 0) return undefined;
  const narrowed = typeof given.as === 'string' && given.as !== '';
  const links = readings.map(({ kind }, index) => {
    const word = READING_WORDS[kind];
    const link = html`<a href="${addressOf({ ...given, as: kind })}">${word}</a>`;
    return html`${index > 0 && (index === readings.length - 1 ? ` ${t('ou')} ` : ', ')}${readings.length > 1 ? link : word}`;
  });
  const { as: _, ...others } = given;
  const q = typeof given.q === 'string' ? given.q : '';
  const wider = { ...others, ...splitBox({ q }, today) };
  const { areSeveral, wrongDays } = findDoubts(narrowed ? '' : q, today);
  const doubts = wrongDays.map((text) => t('“{text}” não é um dia: foi procurado como texto.', { text }));
  if (areSeveral) doubts.push(t('Há mais de um valor, ou mais de um dia: foram procurados como texto.'));
  return html`${doubts.map((one) => html`<p class="notice">${one}</p>`)}<p class="hint">${tHtml('Procurado como {readings}.', { readings: links })}${
    narrowed && html` <a href="${addressOf(wider)}">${t('Procurar também como outra coisa')}</a>`
  }${!full && html` ${t('O papel de leitura não busca por nome.')}`}</p>`;
}

/** Says of a search that found nothing what a reading of the box asks for: each character of an end-to-end id, a period. */
export function renderHelp(
  readings: Reading[],
  given: Filters,
  { addressOf, today }: { addressOf: AddressOf; today: Day },
): Html | undefined {
  const [text = ''] = readings.flatMap((one) => ('text' in one && one.kind !== 'id' ? one.text : []));
  if (isLikelyE2eId(text))
    return html`<p class="notice">${t('Nenhuma transação conhecida tem este id E2E.')} ${explainE2eId(text)}</p>`;
  if (!readings.some(({ kind }) => kind === 'words')) return undefined;
  const { [SEARCH_BOX]: _, as: __, ...others } = given;
  const period = { from: given.from || addDays(today, 1 - INSIDE_DAYS_MAX), to: given.to || today };
  const said = tHtml(
    'Buscam-se começos de palavras. Dentro delas, só num período: <a href="{path}">buscar “{text}” dentro das palavras</a>, e escolher os dias.',
    { path: addressOf({ ...others, ...period, inside: text }), text },
  );
  return html`<p class="notice">${said}</p>`;
}

/**
 * `12 transações` and their amounts by direction and outcome, with their limits; undefined: it was not counted in time. The
 * amounts are those of a day's report only where no status has changed since: the hint leads there.
 * @param day the only day that is searched.
 */
export function renderTotal(total: SearchTotal | undefined, day?: Day): Html {
  if (total === undefined)
    return html`<p class="total">${t('O total não foi contado: leva mais de {ms} ms. Escolha menos dias.', { ms: TOTAL_MS_MAX })}</p>`;
  const { count, isMore, cents } = total;
  const n = formatCount(count);
  const said = isMore
    ? tHtml('<b>Mais de {n} transações</b>, mais do que:', { n })
    : html`${tHtml(count === 1 ? '<b>{n} transação</b>' : '<b>{n} transações</b>', { n })}:`;
  const sums = OPERATIONS.flatMap((operation) =>
    OUTCOMES.flatMap((outcome) => {
      const sum = cents[operation][outcome];
      return sum === 0n ? [] : [html`${OUTCOME_WORDS[operation][outcome]} <b>${money(sum)}</b>`];
    }),
  );
  const listed = sums.map((sum, index) => html`${index > 0 && ', '}${sum}`);
  const path = `/reports/${day}`;
  const report =
    day !== undefined &&
    tHtml('O que foi pago e devolvido em {day} está no <a href="{path}">relatório do dia</a>.', {
      day: formatDay(day),
      path,
    });
  return html`<p class="total">${said} ${listed}. <span class="hint">${t('Pela situação de agora. O que foi devolvido depois não está nas pagas; o relatório conta os dois.')} ${report} ${
    isMore && t('Contam-se até {n}: estreite a busca para o total exato.', { n })
  }</span></p>`;
}

/** By what is shown of each direction. */
const OUTCOME_WORDS: Record<Operation, Record<Outcome, string>> = {
  cashin: words({ paid: 'Entradas pagas', refunded: 'Entradas devolvidas', unpaid: 'Entradas não pagas' }),
  cashout: words({ paid: 'Saídas pagas', refunded: 'Saídas devolvidas', unpaid: 'Saídas não pagas' }),
};

/** Links to the files of what is shown. */
export function renderExports(given: Filters, addressOf: AddressOf, full: boolean): Html {
  const n = formatCount(EXPORT_ROWS_MAX);
  const limit = full
    ? t('Até {n} linhas, as mais novas primeiro; fica registrado quem baixou e o quê.', { n })
    : t('Até {n} linhas, as mais novas primeiro; com os dados pessoais mascarados.', { n });
  return listFiles((format) => addressOf({ ...given, format }), limit);
}
