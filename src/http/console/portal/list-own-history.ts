import type { Request, Response, Router } from 'express';
import { z } from 'zod';
import { SYSTEM_ACTOR } from '../../../access/audit.ts';
import type { PortalContext } from '../../../portal/open-scope.ts';
import { OWN_ACTIONS, type OwnAction, type OwnChange } from '../../../portal/read-own-history.ts';
import { describeCode } from '../../../texts/fill.ts';
import { type Label, plural, t, words } from '../../../texts/translate.ts';
import { getScope } from '../../access/require-scope.ts';
import { createRouter } from '../../create-router.ts';
import { parsePage } from '../../parse-page.ts';
import { ADDRESS_WORDS } from '../merchants/decide-address.ts';
import { describeSummary } from '../merchants/render-filter.ts';
import { type Draft, filterField } from '../parts/fields.ts';
import { EMPTY_VALUE, moment, moneyOf, shortId } from '../parts/format.ts';
import { html, type Part } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { filterChoice, isFiltered, readFilters } from '../parts/parse-filters.ts';
import type { PlatformNames } from '../parts/read-platform-names.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { CALLBACKS, HISTORY, ORDERS } from './site.ts';

const query = z.object({ action: filterChoice(OWN_ACTIONS) });

const ACTION_WORDS: Record<OwnAction, Label> = words({
  'merchant.added': 'lojista criado',
  'merchant.changed': 'dados mudados',
  'merchant.filter_chosen': 'filtro mudado',
  'merchant.secret_rotated': 'segredo trocado',
  'merchant.address_asked': 'mudança de endereço pedida',
  'merchant.address_withdrawn': 'mudança de endereço retirada',
  'merchant.address_decided': 'mudança de endereço decidida',
  'merchant.address_agreed': 'mudança de endereço confirmada em parte',
  'merchant.address_changed': 'endereço mudado',
  'merchant.address_refused': 'mudança de endereço recusada',
  'merchant.address_unanswered': 'endereço novo não respondeu ao desafio',
  'merchant.paused': 'envios pausados',
  'merchant.enabled': 'envios retomados, ou o que esperava foi enviado na hora',
  'merchant.disabled': 'envios desativados',
  'merchant.breaker_opened': 'envios suspensos: falhas seguidas',
  'merchant.breaker_closed': 'envios retomados: uma tentativa deu certo',
  'merchant.tested': 'teste ou exemplo enviado',
  'callback.redelivered': 'callback enviado de novo',
  'callbacks.replayed': 'período reenviado',
  'merchant.pull_token_given': 'token de busca criado',
  'merchant.pull_token_revoked': 'token de busca revogado',
  'expected.put': 'pedido enviado',
  'expected.cancel': 'pedido cancelado',
  'expected.reopen': 'pedido reaberto',
  'portal.login': 'entrada no portal',
});

/** Words for a press of the button: where nothing was stopped, it sent what waited. */
const ENABLED_WORDS = { sent: 'o que esperava foi enviado na hora', resumed: 'envios retomados' } as const;

const EFFECT_WORDS = words({
  confirm: 'pedido confirmado',
  refuse: 'pedido recusado',
  unconfirmed: 'vale na hora; até ser confirmado, recebe só exemplos fictícios',
  at_once: 'vale na hora',
  removed: 'retirada: sem ele, os testes vão para o endereço de produção',
});

/** The page that says who changed what at the merchant, and when. */
export function historyPage({ calendar }: PortalContext): Router {
  const router = createRouter();
  router.get(HISTORY.address, async (request: Request, response: Response) => {
    const { filters, draft } = readFilters(request.query, query);
    if (filters === undefined) {
      sendWrongFilters(request, response, { ...HISTORY, filters: { fields: fields(draft), areSet: true } });
      return;
    }
    const scope = getScope(response);
    const { changes, next } = await scope.listHistory(filters, parsePage(request));
    const names = await scope.readPlatformNames();
    const rows = table({
      caption: 'Histórico de mudanças',
      rows: changes,
      empty: 'Nenhuma mudança até agora.',
      columns: [
        { title: 'Quando', cell: ({ at }) => moment(calendar, at) },
        { title: 'Quem', cell: describeWho },
        {
          title: 'O quê',
          cell: ({ action, was }) =>
            action === 'merchant.enabled'
              ? t(ENABLED_WORDS[was === 'enabled' ? 'sent' : 'resumed'])
              : describeCode(ACTION_WORDS, action),
        },
        { title: 'Detalhe', cell: (row) => describeRange(calendar, row, names) ?? describeDetails(row, names) },
      ],
    });
    sendList(request, response, {
      ...HISTORY,
      filters: { fields: fields(draft), areSet: isFiltered(filters) },
      rows,
      next,
    });
  });
  return router;
}

function fields(draft: Draft) {
  return [filterField(draft, { name: 'action', label: 'O quê', words: ACTION_WORDS, any: 'Todos' })];
}

function describeWho({ by, token_name: name }: OwnChange): Part {
  if (by === 'token') return name;
  if (by === SYSTEM_ACTOR) return 'Confere';
  return by === 'operators' ? t('a operação') : t('um link enviado por e-mail');
}

function describeRange(
  calendar: PortalContext['calendar'],
  { range, count, fields, addresses, filter }: OwnChange,
  names: PlatformNames,
): Part {
  if (fields.length > 0)
    return html`<code>${fields.join(', ')}</code>${addresses.map((one) => html`<br>${describeCode(ADDRESS_WORDS, one.kind)} <span class="id">${one.old_value ?? EMPTY_VALUE} → ${one.value ?? EMPTY_VALUE}</span>`)}${filter && html`<br>${describeFilter(filter, names)}`}`;
  if (range === null) return undefined;
  const chosen = range.tests ? t('só testes e exemplos') : range.by === 'event' && t('pela data do evento');
  return html`${moment(calendar, range.from)} – ${moment(calendar, range.to)}${chosen && html` (${chosen})`}: ${plural(count ?? 0, '1 callback', '{n} callbacks')}`;
}

const SECRET_WORDS: Record<string, string> = words({
  url: 'o do endereço de produção',
  test_url: 'o do endereço de teste',
});

const STOP_WORDS = words({
  enabled: 'nada estava parado',
  breaker: 'o disjuntor estava aberto',
  paused_by_operator: 'estavam pausados pela operação',
  paused_by_merchant: 'estavam pausados por você',
  gone: 'o endereço respondeu 410: não existe mais',
  failing: 'cinco dias sem uma entrega',
  filter: 'o filtro estava além dos limites',
  disabled: 'estavam desativados',
});

function describeFilter({ before, after }: NonNullable<OwnChange['filter']>, names: PlatformNames): string {
  return `${describeSummary(before, names)} → ${describeSummary(after, names)}`;
}

function describeDetails(
  { kind, effects, value, old_value: old, filter, callback, types, ...order }: OwnChange,
  names: PlatformNames,
): Part {
  const stop = order.was ?? order.disabled_for;
  if (stop !== null) return describeCode(STOP_WORDS, stop);
  if (types !== null)
    return types.length === 1 ? html`<code>${types[0]}</code>` : t('{n} exemplos', { n: types.length });
  if (order.expected_payment_id !== null) return describeOrder(order);
  if (callback !== null) return html`<a href="${CALLBACKS.address}/${callback}">${shortId(callback)}</a>`;
  if (filter !== null)
    return html`${describeFilter(filter, names)} <a href="/portal/filter">${t('o filtro de agora')}</a>`;
  if (order.action === 'merchant.secret_rotated') return kind === null ? EMPTY_VALUE : describeCode(SECRET_WORDS, kind);
  // the audit has the host that did not answer alone
  const from = order.action !== 'merchant.address_unanswered' && html`${old ?? EMPTY_VALUE} → `;
  const addresses = (value ?? old) !== null && html` <span class="id">${from}${value ?? EMPTY_VALUE}</span>`;
  if (kind === null && addresses === false) return EMPTY_VALUE;
  const did = effects.map((effect) => describeCode(EFFECT_WORDS, effect)).join('; ');
  return html`${kind !== null && describeCode(ADDRESS_WORDS, kind)}${addresses}${did !== '' && html` <span class="hint">${did}</span>`}`;
}

type Order = Omit<
  OwnChange,
  'kind' | 'effects' | 'value' | 'old_value' | 'addresses' | 'filter' | 'callback' | 'types' | 'fields' | 'range'
>;

function describeOrder({ expected_payment_id: id, source, number, amount, old_amount: old, count, note }: Order): Part {
  const isOther = old !== null && old !== amount;
  const name = source === null ? shortId(id ?? '') : `${source}/${number}`;
  return html`<a href="${ORDERS.address}/${id}">${name}</a> ${isOther && html`${moneyOf(old)} → `}${amount !== null && moneyOf(amount)}${
    count !== null && html` ${t('e mais {n}', { n: count - 1 })}`
  }${note !== null && html` <span class="hint">${note}</span>`}`;
}
