/** Which orders send the merchant messages, and how it sends an order. */
import { NO_PLATFORM } from '../../../domain/platform.ts';
import type { PresentedExpected } from '../../../expected/read/list-expected.ts';
import { asksForExpected, filtersOf, matchesExpected, parseFilter } from '../../../merchants/match-filter.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { t } from '../../../texts/translate.ts';
import { type Html, html } from '../parts/html.ts';
import { curl } from './explain-state.ts';
import { DOCS } from './site.ts';

type Filtered = Pick<MerchantRow, 'filter' | 'own_filter'>;

/** A platform that an order has to name, because a filter of the merchant takes none without; undefined: it need not. */
function findNeededPlatform(merchant: Filtered): string | undefined {
  const needed = filtersOf(merchant).find(({ platforms }) => platforms.length > 0 && !platforms.includes(NO_PLATFORM));
  return needed?.platforms[0];
}

/** Says of which orders the merchant gets messages: the sources of a token limit none. */
export function sayOrderMessages(merchant: Filtered): Html {
  if (parseFilter(merchant.filter).expected)
    return html`${findNeededPlatform(merchant) !== undefined && html`<p class="explain">${t('O filtro pede uma plataforma: um pedido enviado sem platform não cabe nele, e não envia mensagens.')}</p>`}<p class="hint">${t('As mensagens de pedidos (pix.expected.…) vêm dos pedidos de todas as origens que cabem no filtro, também das que este token não lê. Para receber menos, filtre por um começo de referência: vale para o número e as referências do pedido.')}</p>`;
  return html`<p class="hint">${t('As mensagens de pedidos (pix.expected.…) estão desligadas. Peça à operação que as ligue: sem elas, o seu sistema só sabe de um pedido quando pergunta.')}</p>`;
}

/** Says that an order sends no messages, where the merchant gets those of others. */
export function saySilence(
  merchant: MerchantRow,
  { operation, platform, extra, number, references }: PresentedExpected,
) {
  const filters = filtersOf(merchant);
  const names = [number, ...references];
  if (!asksForExpected(filters) || matchesExpected(filters, { operation, platform, extra, names })) return false;
  const isBare = platform === null && findNeededPlatform(merchant) !== undefined;
  return html`<p class="explain">${t('Este pedido não cabe no filtro: as suas mudanças não enviam mensagens.')} ${isBare && t('Ele não tem platform: envie-o de novo com ela (PUT), e as mudanças seguintes enviam.')}</p>`;
}

/** Explains how to send an order, with a command that the merchant's filter lets through. */
export function explainSending(context: PortalContext, { sources, merchant }: MerchantScope, isOpen: boolean): Html {
  const { calendar, clock } = context;
  const platform = findNeededPlatform(merchant);
  const facts = {
    ...{ operation: 'cashin', amount: '199.90', due_day: calendar.dayOf(clock.now()) },
    ...(platform === undefined ? {} : { platform }),
    references: ['1024'],
  };
  return html`<details${isOpen && html` open`}><summary>${t('Como enviar um pedido')}</summary>
<p>${t('Com este token, por estas origens:')} ${sources.map((one) => html`<code>${one}</code> `)}</p><pre>${curl(context, 'PUT', `${sources[0]}/1024`, facts)}</pre>
<p>${t('"decided": false na resposta: o pedido acaba de mudar, pergunte de novo em um segundo.')} <a href="${DOCS.address}/expected">${t(DOCS.title)}</a> · <a href="/portal/openapi">${t('Todos os campos, e como cancelar um pedido')}</a></p></details>`;
}
