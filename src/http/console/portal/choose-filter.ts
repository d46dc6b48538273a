import type { Router } from 'express';
import { completeFilter, parseFilter } from '../../../merchants/match-filter.ts';
import { chooseOwnFilter } from '../../../operations/merchants/portal.ts';
import type { PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { ofChange } from '../forms/two-step-form.ts';
import { FILTER_FIELDS, filterFields, readFilter, toFilterValues } from '../merchants/merchant-fields.ts';
import { renderFilter, renderFilterPreview, renderPast } from '../merchants/render-filter.ts';
import { html } from '../parts/html.ts';
import { facts } from '../parts/page-components.ts';
import { labelPlatform } from '../parts/read-platform-names.ts';
import { sayOrderMessages } from './explain-orders.ts';
import type { CreatePortalForm } from './portal-form.ts';

/**
 * The form of the filter that the merchant chooses itself, within what operators allow. Its preview counts none but the
 * events that they let it receive.
 */
export function filterForm(context: Pick<PortalContext, 'calendar'>, form: CreatePortalForm): Router {
  return form({
    ...ofChange(chooseOwnFilter),
    address: '/portal/filter',
    title: 'Filtrar o que chega',
    lead: 'Do que a operação envia, você recebe só o que o seu filtro aceita. Um filtro mais amplo envia também os eventos anteriores que passam a caber nele.',
    names: FILTER_FIELDS,
    initial: ({ merchant }) => toFilterValues(parseFilter(merchant.own_filter ?? '{}')),
    fields: async (draft, scope) => {
      const { merchant } = scope;
      const [allowed, names] = [parseFilter(merchant.filter), await scope.readPlatformNames()];
      const known = [...new Set([...allowed.platforms, ...names.keys()])];
      const platforms = Object.fromEntries(known.map((platform) => [platform, labelPlatform(names, platform)]));
      return html`<h2>${t('O que a operação envia')}</h2>${renderFilter(allowed, names)}${sayOrderMessages(merchant)}
<h2>${t('O que você escolheu receber')}</h2>${filterFields(draft, platforms)}`;
    },
    read: (draft) => ({ filter: readFilter(draft), dry_run: false }),
    async preview({ filter }, scope) {
      const { past, ...preview } = await scope.previewFilter(filter);
      const { merchant } = scope;
      const names = await scope.readPlatformNames();
      return html`${facts([
        ['Hoje', renderFilter(parseFilter(merchant.own_filter ?? '{}'), names)],
        ['O que a operação envia', renderFilter(parseFilter(merchant.filter), names)],
        ['O que você escolheu receber', renderFilter(completeFilter(filter), names)],
        ['Eventos anteriores', past && renderPast(context, past, merchant.events_since)],
      ])}${renderFilterPreview(preview, names, false)}`;
    },
    done: 'filter_chosen',
  });
}
