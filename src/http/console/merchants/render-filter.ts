import type { BackfillCount } from '../../../callbacks/backfill/count-backfill.ts';
import type { FilterPreview } from '../../../callbacks/manage/preview-filter.ts';
import { PREVIEW_DAYS } from '../../../callbacks/manage/read-previewed-events.ts';
import type { Context } from '../../../context.ts';
import type { FilterSummary, MerchantFilter } from '../../../merchants/match-filter.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t, words } from '../../../texts/translate.ts';
import { formatCount, formatWallTime, moment, money, shortId } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { badge, table, transactionLink } from '../parts/page-components.ts';
import { labelPlatform, type PlatformNames } from '../parts/read-platform-names.ts';
import { OPERATION_WORDS, STATUS_WORDS } from '../parts/words.ts';

const FILTER_WORDS: Record<string, string> = words({
  platforms: 'plataformas',
  operations: 'operações',
  statuses: 'situações',
  reference_prefixes: 'referência começa com',
  extra_prefixes: 'extra começa com',
  extra_match: 'extra contém',
  expected: 'mudanças de pedidos',
});

/** A filter in words. @param names of platforms, which operators gave them. */
export function renderFilter(
  { expected, ...filter }: Omit<MerchantFilter, 'expected'> & Partial<MerchantFilter>,
  names: PlatformNames,
): Html {
  const set = Object.entries(filter).filter(([, value]) => Object.keys(value).length > 0);
  const orders = expected === true && html`<li>${FILTER_WORDS.expected}</li>`;
  if (set.length === 0 && orders) return html`${t('tudo')}<ul class="plain">${orders}</ul>`;
  if (set.length === 0) return html`${t('tudo')}`;
  const describe = (name: string, value: string[] | MerchantFilter['extra_match']): string =>
    Array.isArray(value)
      ? sayValues(names, name, value)
      : Object.entries(value)
          .map(([key, one]) => `${key}=${one}`)
          .join(', ');
  return html`<ul class="plain">${set.map(([name, value]) => html`<li>${FILTER_WORDS[name] ?? name}: ${describe(name, value)}</li>`)}${orders}</ul>`;
}

const VALUE_WORDS = new Map<string, Record<string, string>>(
  Object.entries({ operations: OPERATION_WORDS, statuses: STATUS_WORDS, expected: words({ true: 'sim' }) }),
);

/** The values of a filter's list in words. @param names of platforms. */
function sayValues(names: PlatformNames, list: string, values: readonly string[]): string {
  const say = (one: string): string =>
    list === 'platforms' ? labelPlatform(names, one) : describeCode(VALUE_WORDS.get(list) ?? {}, one);
  return values.map(say).join(', ');
}

/** A filter as the audit keeps it, in a line. @param names of platforms. */
export function describeSummary(filter: FilterSummary, names: PlatformNames): string {
  const set = Object.entries(filter).map(([name, value]) => {
    const said = Array.isArray(value)
      ? sayValues(names, name, value)
      : t(value === 1 ? '1 valor' : '{n} valores', { n: value });
    return `${FILTER_WORDS[name] ?? name}: ${said}`;
  });
  return set.length === 0 ? t('tudo') : set.join('; ');
}

/**
 * How many callbacks of past events a wider filter sends. The preview below compares filters alone, not since when: without
 * this the two seem to contradict each other.
 */
export function renderPast(
  { calendar }: Pick<Context, 'calendar'>,
  { callbacks, complete }: Pick<BackfillCount, 'callbacks' | 'complete'>,
  since: Date,
): Html {
  const said = complete
    ? plural(callbacks, '{n} callback a enfileirar', '{n} callbacks a enfileirar')
    : t('mais de {n} callbacks a enfileirar', { n: formatCount(callbacks) });
  const values = { since: moment(calendar, since), days: PREVIEW_DAYS };
  return html`${said} <span class="hint">${tHtml('O que falta desde {since}, também mudanças de pedidos. Abaixo comparam-se só os filtros, pelos eventos de transações dos últimos {days} dias.', values)}</span>`;
}

/** Which of the last events a filter would have matched. @param names of platforms. @param links whether transactions have a page to link to. */
export function renderFilterPreview(preview: FilterPreview, names: PlatformNames, links = true): Html {
  const { events, complete, matched, before, examples } = preview;
  const read = plural(events, '{n} evento', '{n} eventos');
  const counts = { events: read, days: PREVIEW_DAYS, matched: html`<b>${formatCount(matched)}</b>` };
  const accepted = complete
    ? tHtml('De {events} dos últimos {days} dias, o filtro aceita {matched}.', counts)
    : tHtml('Dos últimos {days} dias só o mais novo foi lido: de {events}, o filtro aceita {matched}.', counts);
  const change =
    before &&
    tHtml('O filtro de hoje aceita {n}; com o novo, <b>{gained}</b> a mais e <b>{lost}</b> a menos.', {
      n: formatCount(before.matched),
      gained: formatCount(before.gained),
      lost: formatCount(before.lost),
    });
  const had =
    before &&
    before.had > 0 &&
    plural(
      before.had,
      '{n} dos que entram já foi enviado ou está na fila: não vai de novo.',
      '{n} dos que entram já foram enviados ou estão na fila: não vão de novo.',
    );
  return html`<section><h2>${t('O que o filtro teria aceitado')}</h2><p>${accepted} ${change} ${had} <span class="hint">${t('Contam-se eventos de transações, com os dados atuais de cada uma; mensagens de pedidos (pix.expected.…), não.')}</span></p>
${describeUnseen(preview, names)}
${table({
  caption: 'Exemplos, os mais novos primeiro',
  rows: examples,
  empty: before ? 'Nenhum destes eventos muda de destino.' : 'Nenhum destes eventos seria enviado.',
  columns: [
    {
      title: 'Transação',
      cell: (row) => (links ? transactionLink(row.transactionId) : shortId(row.transactionId)),
    },
    { title: 'Operação', cell: (row) => describeCode(OPERATION_WORDS, row.operation) },
    { title: 'Situação', cell: (row) => describeCode(STATUS_WORDS, row.status) },
    { title: 'Em', cell: (row) => formatWallTime(row.at) },
    { title: 'Valor', cell: (row) => money(row.amountCents), align: 'end' },
    {
      title: 'Filtro',
      cell: (row) =>
        row.isMatched
          ? badge({ applied: before ? (row.isThere ? t('já enviado') : t('entra')) : t('aceita') }, 'applied')
          : badge({ held: t('sai') }, 'held'),
    },
  ],
})}</section>`;
}

/** Says which values of the filter none of the events has, such as a misspelt status, and which they have. */
function describeUnseen({ unseen, seen }: FilterPreview, names: PlatformNames): Html[] {
  const say = (list: string, codes: string[] = []) => sayValues(names, list, codes);
  return (Object.keys(unseen) as (keyof typeof unseen)[]).map((list) => {
    const values = { list: FILTER_WORDS[list] ?? list, unseen: say(list, unseen[list]), seen: say(list, seen[list]) };
    return html`<p class="explain">${t('Nenhum destes eventos tem estas {list}: {unseen}. Eles têm: {seen}.', values)}</p>`;
  });
}
