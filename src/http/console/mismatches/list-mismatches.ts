import type { Response, Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { readOrderKeys } from '../../../database/shared/read-parties.ts';
import { isMonth } from '../../../domain/calendar.ts';
import { MISMATCH_KINDS, MISMATCH_STATES } from '../../../domain/mismatch.ts';
import { PLATFORM_CHARS_MAX } from '../../../domain/platform.ts';
import { MISMATCH_SORTS, type PresentedMismatch, transactionAmountOf } from '../../../mismatches/read-mismatches.ts';
import { type OpenCause, readOpenCauses } from '../../../mismatches/read-open-causes.ts';
import { nameFilters } from '../../../operations/define-list.ts';
import { CAUSE_CHARS_MAX, mismatches } from '../../../operations/mismatches.ts';
import { language } from '../../../texts/language.ts';
import { sayReceiptsBegin } from '../../../texts/reports/say-receipts-begin.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { type Label, plural, t, words } from '../../../texts/translate.ts';
import { canSeePersonalData } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { type Draft, dayField, filterField, inputField } from '../parts/fields.ts';
import { EMPTY_VALUE, formatCount, formatDay, moment, moneyAtStake, moneyOf, shortId } from '../parts/format.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { badge, type TableColumn, table, transactionLink } from '../parts/page-components.ts';
import { filterChoice, filterDay, filterText, isFiltered, readFilters } from '../parts/parse-filters.ts';
import {
  type PlatformNames,
  platformLink,
  readPlatformNames,
  readPlatformWords,
} from '../parts/read-platform-names.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { MISMATCH_STATE_WORDS, SEVERITY_WORDS } from '../parts/words.ts';
import { MISMATCH_LIST, offerAssign } from './assign-many.ts';
import { nameOwner, readOwnerNames, readOwnerWords } from './assign-mismatch.ts';
import { decisionPages, linkDecisions } from './download-decisions.ts';
import { explainMismatch, MISMATCH_TITLES } from './explain-mismatch.ts';
import { handleManyForm } from './handle-mismatches.ts';
import { sayUncompared } from './say-uncompared.ts';

const query = z
  .object({
    state: filterChoice(['all', 'unresolved', ...MISMATCH_STATES]),
    kind: filterChoice(MISMATCH_KINDS),
    severity: filterChoice(['medium', 'high', 'critical']),
    cause: filterText(CAUSE_CHARS_MAX),
    transaction_id: filterText(128),
    decided: filterChoice(['true']),
    owner: filterText(64),
    platform: filterText(PLATFORM_CHARS_MAX),
    baseline: filterChoice(['true']),
    age: filterText(5).refine((text) => text === undefined || /^\d+$/.test(text), {
      error: () => t('Escreva um número de dias.'),
    }),
    sort: filterChoice(MISMATCH_SORTS),
    from: filterDay,
    to: filterDay,
    blocks: filterText(7).refine((text) => text === undefined || isMonth(text), {
      error: () => t('Este mês não existe.'),
    }),
  })
  .refine(({ from = '', to = from }) => from <= to, { path: ['to'], error: () => t('Vem antes do primeiro dia.') });
const FIRST_STATES = words({ unresolved: 'Por resolver', all: 'Todos' });

const DECIDED_WORDS = words({ true: 'Resolvidas por decisão' });
const BASELINE_WORDS = words({ true: 'Só as da base inicial' });
const SORT_WORDS = words({ age: 'Há mais tempo em aberto', at_stake: 'Mais em jogo' });

/** The list of mismatches: of the unresolved ones, grouped by cause, unless a filter says otherwise. */
export function mismatchListPages(context: Context): Router {
  const router = createRouter();
  router.use(decisionPages(context));
  router.get('/mismatches', async (request, response) => {
    const { filters: asked, draft } = readFilters({ state: 'unresolved', ...request.query }, query);
    const fields = await listFields(context, response, draft);
    if (asked === undefined) {
      sendWrongFilters(request, response, { ...MISMATCH_LIST, filters: { fields, areSet: true } });
      return;
    }
    const { state: shown = 'unresolved', age, ...filters } = asked;
    const named = nameFilters({ ...filters, age, state: request.query.state });
    const given = { state: shown === 'all' ? undefined : shown, named, age: age === undefined ? age : Number(age) };
    const filter = { ...filters, ...given };
    const { rows, next } = await readListPage(context, mismatches, request, response, { filter, via: 'console' });
    const areSet = isFiltered({ ...filters, age }) || shown !== 'unresolved';
    const empty = areSet
      ? 'Nenhuma divergência com estes filtros: tire um deles.'
      : 'Nenhuma divergência por resolver.';
    const render = (more: TableColumn<ListedMismatch>[]) => mismatchTable(context, response, rows, empty, more);
    const { kind, cause, severity: _, ...others } = filters;
    const hasCauses =
      (shown === 'unresolved' || shown === 'open') && !isFiltered({ ...others, age, cursor: request.query.cursor });
    const hasUnresolved = shown !== 'resolved' && filters.decided === undefined && rows.length > 0;
    const causes = hasCauses ? await readOpenCauses(limitStatementTime(context.db), kind) : [];
    const lead =
      kind === undefined
        ? causes.length > 0 && causeTable(context, causes)
        : html`${explain(kind)}${kind === 'receipt_unidentified' && (await sayBegin(context))}${hasCauses && handleManyForm(context, response, { kind, cause, causes })}`;
    sendList(request, response, {
      ...MISMATCH_LIST,
      filters: { fields, areSet },
      lead: html`${hasUnresolved && (await linkDecisions(context, response, { ...filters, age }))}${(kind ?? 'commission_not_agreed') === 'commission_not_agreed' && shown !== 'resolved' && (await sayUncompared(context))}${lead}`,
      rows: await offerAssign(context, response, rows, render),
      next,
    });
  });
  return router;
}

async function listFields(context: Context, response: Response, draft: Draft): Promise<Html[]> {
  return [
    filterField(draft, { name: 'state', label: 'Estado', words: { ...FIRST_STATES, ...MISMATCH_STATE_WORDS } }),
    filterField(draft, { name: 'kind', label: 'Tipo', words: MISMATCH_TITLES, any: 'Todos' }),
    filterField(draft, { name: 'severity', label: 'Gravidade', words: SEVERITY_WORDS, any: 'Todas' }),
    filterField(draft, { name: 'decided', label: 'Decisão', words: DECIDED_WORDS, any: 'Todas' }),
    filterField(draft, {
      name: 'owner',
      label: 'Quem decide',
      words: await readOwnerWords(context, response, draft.values.owner),
      any: 'Todos',
    }),
    filterField(draft, {
      ...{ name: 'platform', label: 'Plataforma', any: 'Todas' },
      words: await readPlatformWords(context, response),
    }),
    dayField(draft, { name: 'from', label: 'Pagamento, do dia' }),
    dayField(draft, { name: 'to', label: 'Pagamento, até o dia' }),
    inputField(draft, { name: 'blocks', label: 'Impede fechar o mês' }, html` type="month" placeholder="2026-11"`),
    inputField(draft, { name: 'age', label: 'Dias em aberto, no mínimo' }, html` inputmode="numeric"`),
    filterField(draft, { name: 'baseline', label: 'Base inicial', words: BASELINE_WORDS, any: 'Todas' }),
    filterField(draft, { name: 'sort', label: 'Ordem', words: SORT_WORDS, any: 'As mais novas' }),
    inputField(draft, { name: 'transaction_id', label: 'Id da transação' }),
    inputField(draft, { name: 'cause', label: 'Causa' }),
  ];
}

function causeTable(context: Context, causes: OpenCause[]): Html {
  const address = ({ kind, cause }: OpenCause): string =>
    `/mismatches?${new URLSearchParams({ kind, ...(cause === null ? {} : { cause }) }).toString()}`;
  return html`<section><h2>${t('Por causa')}</h2>${table({
    caption: 'Divergências por resolver, por causa',
    rows: causes,
    empty: '',
    columns: [
      { title: 'Causa', cell: (row) => html`<a href="${address(row)}">${explainMismatch(row).title}</a>` },
      { title: 'Origem', cell: (row) => describeCause(row) },
      { title: 'Gravidade', cell: (row) => badge(SEVERITY_WORDS, row.severity) },
      { title: 'Por resolver', cell: (row) => formatCount(row.count), align: 'end' },
      { title: 'Em tratamento', cell: (row) => formatCount(row.acknowledged), align: 'end' },
      { title: 'Em jogo', cell: (row) => moneyAtStake(row.stakeCents), align: 'end' },
      { title: 'Desde', cell: (row) => moment(context.calendar, row.first_at) },
    ],
  })}</section><h2>${t('Uma a uma')}</h2>`;
}

/** Describes the cause that mismatches share: the run that found them, or that none did. */
function describeCause({ run_id: run, cause }: OpenCause): Html {
  if (run !== null) return html`<a href="/reconciliations/${run}">${t('conferência')} ${shortId(run)}</a>`;
  return cause === null ? EMPTY_VALUE : html`${t('fora de uma conferência')}`;
}

type ListedMismatch = Omit<PresentedMismatch, 'seq'>;

/** The characters of a note in the list; its page has all of it. */
const NOTE_CHARS_SHOWN = 200;

/** A table of mismatches, each linked to its page. */
export async function mismatchTable(
  context: Context,
  response: Response,
  rows: ListedMismatch[],
  empty: Label = 'Nenhuma divergência.',
  more: TableColumn<ListedMismatch>[] = [],
): Promise<Html> {
  const names = await readPlatformNames(context, response);
  const owners = await readOwnerNames(context, rows);
  const orders = await readOrderNumbers(context, response, rows);
  return table({
    caption: 'Divergências',
    rows,
    empty,
    columns: [
      ...more,
      {
        title: 'Divergência',
        cell: (row) => html`<a href="/mismatches/${row.id}">${explainMismatch(row).title}</a>`,
      },
      { title: 'Gravidade', cell: (row) => badge(SEVERITY_WORDS, row.severity) },
      { title: 'Estado', cell: (row) => badge(MISMATCH_STATE_WORDS, row.state) },
      { title: 'Dia', cell: (row) => formatDay(row.day) },
      { title: 'Transação ou plataforma', cell: (row) => aboutCell(row, names, orders) },
      { title: 'Em jogo', cell: (row) => moneyOf(row.at_stake), align: 'end' },
      { title: 'Valor da transação', cell: (row) => moneyOf(transactionAmountOf(row)), align: 'end' },
      {
        title: 'Quem decide',
        cell: (row) =>
          html`${nameOwner(row, owners)}${row.note && html`<br><span class="hint">${[...row.note].slice(0, NOTE_CHARS_SHOWN).join('')}</span>`}`,
      },
      {
        title: 'Aberta em',
        cell: (row) =>
          html`${moment(context.calendar, row.opened_at)} ${row.age_days > 0 && html`<span class="hint">${plural(row.age_days, 'há 1 dia', 'há {n} dias')}</span>`}`,
      },
    ],
  });
}

/** The numbers of the orders that mismatches are about, as the caller may see them. */
export async function readOrderNumbers(
  { db }: Context,
  response: Response,
  rows: Pick<ListedMismatch, 'expected_payment_id'>[],
): Promise<OrderKeys> {
  const ids = rows.flatMap(({ expected_payment_id: id }) => id ?? []);
  return await readOrderKeys(db, ids, { mask: !canSeePersonalData(response) });
}

type OrderKeys = Awaited<ReturnType<typeof readOrderKeys>>;

function aboutCell(row: ListedMismatch, names: PlatformNames, orders: OrderKeys): Html {
  const { expected_payment_id: order } = row;
  if (order)
    return html`${t('Pedido')} <a href="/expected/${order}">${orders.get(order)?.number ?? shortId(order)}</a>`;
  const { platform } = (row.expected ?? {}) as { platform?: unknown };
  if (!row.transaction_id && !row.reference && typeof platform === 'string') return platformLink(names, platform);
  if (row.transaction_id || !row.reference) return transactionLink(row.transaction_id || null);
  return html`<span class="long">${row.reference}</span>`;
}

/** Says from which day on receipts without an order are listed. */
async function sayBegin({ db }: Context): Promise<Part> {
  const starts = await db.selectFrom('expected_starts').select('since_day').execute();
  const days = starts.map((one) => one.since_day);
  return days.length > 0 && html`<p class="hint">${sayReceiptsBegin(days, textsOf(language()))}</p>`;
}

function explain(kind: string): Html {
  const { title, meaning, todo } = explainMismatch({ kind });
  return html`<p class="explain"><b>${title}.</b> ${meaning}. ${todo}</p>`;
}
