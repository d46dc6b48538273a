/** Explanations on the pages of orders: how a state or a dispute ends, which orders send messages, and how to send one. */
import { NO_PLATFORM } from '../../../domain/platform.ts';
import { isSilent } from '../../../expected/read/find-silent.ts';
import type { PresentedExpected } from '../../../expected/read/list-expected.ts';
import type { Competing } from '../../../expected/read/read-competing.ts';
import { asksForExpected, filtersOf, parseFilter } from '../../../merchants/match-filter.ts';
import type { MerchantRow } from '../../../merchants/read-merchants.ts';
import type { MerchantScope, PortalContext } from '../../../portal/open-scope.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t, words } from '../../../texts/translate.ts';
import { isCancelled, stateBadge } from '../expected/describe-expected.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import type { PlatformNames } from '../parts/read-platform-names.ts';
import { DOCS, ORDERS } from './site.ts';

const WAYS_OUT: Record<string, string> = words({
  underpaid: 'Cobre o que falta. Ou, se o valor certo é o que foi pago, envie o pedido com ele:',
  overpaid: 'Devolva o que sobrou. Ou, se o valor certo é o que foi pago, envie o pedido com ele:',
  paid_twice: 'Devolva o pagamento que sobra: o estado muda sozinho quando a devolução chega.',
  paid_after_cancel: 'Devolva o pagamento: cancelar não devolve nada. Ou reabra o pedido:',
  cancelled: 'Se foi engano, reabra o pedido:',
  unpaid:
    'Antes de cobrar de novo, veja se o pagamento veio com outra referência, ou conta para outro pedido. Um que chega depois ainda conta. Ou cancele o pedido:',
  not_proven: 'Espere: a operação ainda confere estes dias. Um pagamento que chega ainda conta.',
  alike:
    'Antes de cobrar de novo, confira os pagamentos parecidos, abaixo. Um que chega depois ainda conta. Ou cancele o pedido:',
  paid_before:
    'O pagamento é de antes da emissão deste pedido: se uma referência sua se repete, ele pode ser de outro.',
  disputed: 'Não cobre ainda: há um pagamento que pode ser deste pedido, abaixo.',
});
/** States whose way out is another payment: none while one came that may be the order's own. */
const UNPAID: readonly string[] = ['unpaid', 'not_proven', 'underpaid'];

/** Explains what the merchant does about the state of its order, with the request where one is enough. @param hasAlike whether payments are shown that may have been meant for it. */
export function explainState(context: PortalContext, order: PresentedExpected, hasAlike: boolean): Html | false {
  const { state, issued_day: issued, paid_day: paid } = order;
  if (state === 'paid' && issued !== null && paid !== null && paid < issued)
    return html`<p class="explain">${describeCode(WAYS_OUT, 'paid_before')}</p>`;
  if (!(state in WAYS_OUT)) return false;
  const isDisputed = UNPAID.includes(order.state) && order.candidates.some(({ reason }) => reason !== 'undone');
  if (isDisputed) return html`<p class="explain">${describeCode(WAYS_OUT, 'disputed')}</p>`;
  const request = requestOf(context, order);
  return html`<p class="explain">${describeCode(WAYS_OUT, hasAlike && order.state === 'unpaid' ? 'alike' : order.state)}</p>${request !== undefined && html`<pre>${request}</pre>`}`;
}

/** Commands shown to end a dispute: one for each order. */
const COMMANDS_SHOWN_MAX = 5;

/** The orders that compete with this one, and how the merchant ends that. */
export function explainCompeting(
  context: PortalContext,
  order: PresentedExpected,
  { competing, elsewhere }: { competing: Competing[]; elsewhere: number },
): Html | false {
  // no advice to cancel what a payment counts for
  if (competing.length === 0 || (order.matches.length > 0 && !order.disputed))
    return (
      order.disputed &&
      elsewhere === 0 &&
      html`<p class="explain">${t('Nenhum outro pedido serve a este pagamento: a operação decide.')}</p>`
    );
  const rivals = [order, ...competing].filter((one) => !isCancelled(one));
  const isOpen = rivals.length > 0;
  const why = isOpen
    ? competing.some(({ shared }) => shared !== null)
      ? t(
          'Estes pedidos têm a mesma referência. Um pagamento com ela não conta para nenhum deles, até que só um a tenha.',
        )
      : t('Estes pedidos servem ao mesmo pagamento. Ele não conta para nenhum deles, até que só um sirva.')
    : t('Este pedido e os abaixo estão cancelados e servem ao mesmo pagamento: ele não conta para nenhum.');
  const end = isOpen
    ? html`<p>${t('Cancele o que não vale (DELETE) ou envie-o com outra referência (PUT): em segundos o pagamento conta para o que restar.')}</p>${rivals.slice(0, COMMANDS_SHOWN_MAX).map((one) => html`<pre>${curl(context, 'DELETE', keyOf(one))}</pre>`)}`
    : html`<p>${t('Reabra aquele que ele paga: em segundos conta para esse. Ou devolva o pagamento, ou peça à operação que o case com um deles.')}</p>`;
  return html`<section><h2>${t('Pedidos que disputam o pagamento')}</h2><p class="explain bad">${why}</p>${end}
${table({
  caption: 'Pedidos que disputam o pagamento',
  rows: competing,
  empty: 'Nenhuma até agora.',
  columns: [
    { title: 'Número', cell: ({ id, number }) => html`<a href="${ORDERS.address}/${id}">${number}</a>` },
    { title: 'Origem', cell: ({ source }) => source },
    { title: 'Em comum', cell: ({ shared }) => shared },
    { title: 'Estado', cell: ({ state }) => stateBadge(state) },
  ],
})}</section>`;
}

/** Says how many orders that the merchant does not see dispute its payment, and what to ask the operators for. */
export function explainElsewhere({ number, candidates, disputed }: PresentedExpected, count: number): Html | false {
  const [payment] = candidates.filter(({ reason }) => reason === 'not_unique');
  if (!disputed || count === 0 || !payment) return false;
  const why = plural(
    count,
    'Um pedido de outra origem, que você não vê, serve ao mesmo pagamento. Ele não conta para nenhum, até que só um sirva.',
    '{n} pedidos de outras origens, que você não vê, servem ao mesmo pagamento. Ele não conta para nenhum, até que só um sirva.',
  );
  return html`<section><h2>${t('Disputa com outra origem')}</h2><p class="explain bad">${why}</p>
<p>${t('Peça à operação que case o pagamento {payment} com o pedido {number}, se é dele; ou envie o pedido com outra referência (PUT).', { payment: payment.transaction_id, number })}</p></section>`;
}

function requestOf(context: PortalContext, order: PresentedExpected): string | undefined {
  const key = keyOf(order);
  switch (order.state) {
    case 'underpaid':
    case 'overpaid':
      return curl(context, 'PUT', key, { ...givenFacts(order), amount: order.paid });
    case 'paid_after_cancel':
    case 'cancelled':
      return curl(context, 'POST', `${order.id}/reopen`, { note: '…' });
    case 'unpaid':
      return curl(context, 'DELETE', key);
    default:
      return undefined;
  }
}

/** The key of an order, as addresses have it. */
function keyOf({ source, number }: Pick<PresentedExpected, 'source' | 'number'>): string {
  return `${encodeURIComponent(source)}/${encodeURIComponent(number)}`;
}

/** Formats a request to an order for the shell. */
export function curl({ config }: PortalContext, method: string, path: string, body?: object): string {
  const address = `curl -X ${method} ${config.PUBLIC_URL}/api/v1/expected-payments/${path} -H 'Authorization: Bearer cfm_…'`;
  if (body === undefined) return address;
  const json = JSON.stringify(body).replaceAll("'", "'\\''");
  return `${address} \\\n  -H 'Content-Type: application/json' -d '${json}'`;
}

/** Returns the facts that are given: PUT replaces all of them. */
function givenFacts(order: PresentedExpected): object {
  const { operation, amount, due_day, issued_day, valid_until, platform, references, e2e_ids, extra } = order;
  const { document, name, description, invoice_key } = order;
  const optional = { issued_day, valid_until, platform, references, e2e_ids, extra, document, name };
  const given = Object.entries({ ...optional, description, invoice_key }).filter(
    ([, value]) => value !== null && value.length > 0,
  );
  return { operation, amount, due_day, ...Object.fromEntries(given) };
}

type Filtered = Pick<MerchantRow, 'filter' | 'own_filter'>;

const PLATFORMS_SHOWN_MAX = 10;

/** The platforms of which an order has to name one, because a filter of the merchant takes none without; empty: it need not. */
function listNeededPlatforms(merchant: Filtered): string[] {
  const needed = filtersOf(merchant).find(({ platforms }) => platforms.length > 0 && !platforms.includes(NO_PLATFORM));
  return needed?.platforms ?? [];
}

/** Explains which platforms an order may name. @param names of platforms. */
function explainPlatforms(platforms: string[], names: PlatformNames): Html {
  const shown = platforms.slice(0, PLATFORMS_SHOWN_MAX);
  return html`${t('Um pedido com platform só casa com pagamentos dela:')}<ul>${shown.map((one) => html`<li><code>${one}</code> ${names.get(one)}</li>`)}</ul>`;
}

/** Says of which orders the merchant gets messages: the sources of a token limit none. @param linksSilent whether a link leads to those that send none. */
export function sayOrderMessages(merchant: Filtered, linksSilent = false): Html {
  const hasKeys = filtersOf(merchant).some(({ extra_match: keys }) => Object.keys(keys).length > 0);
  const silent =
    linksSilent &&
    !hasKeys &&
    html`<p class="hint"><a href="${ORDERS.address}?silent=true">${t('Os pedidos que não enviam mensagens')}</a></p>`;
  if (parseFilter(merchant.filter).expected)
    return html`${silent}${listNeededPlatforms(merchant).length > 0 && html`<p class="explain">${t('O filtro pede uma plataforma: um pedido enviado sem platform não cabe nele, e não envia mensagens.')}</p>`}<p class="hint">${t('As mensagens de pedidos (pix.expected.…) vêm dos pedidos de todas as origens que cabem no filtro, também das que este token não lê. Para receber menos, filtre por um começo de referência: vale para o número e as referências do pedido.')}</p>`;
  return html`<p class="hint">${t('As mensagens de pedidos (pix.expected.…) estão desligadas. Peça à operação que as ligue: sem elas, o seu sistema só sabe de um pedido quando pergunta.')}</p>`;
}

/** Says that an order sends no messages, where the merchant gets those of others. */
export function saySilence(merchant: MerchantRow, order: PresentedExpected, platformNames: PlatformNames) {
  const filters = filtersOf(merchant);
  if (!asksForExpected(filters) || !isSilent(filters, order)) return false;
  const needed = order.platform === null ? listNeededPlatforms(merchant) : [];
  return html`<div class="explain"><p>${t('Este pedido não cabe no filtro: as suas mudanças não enviam mensagens.')} ${needed.length > 0 && t('Ele não tem platform: envie-o de novo com ela (PUT), e as mudanças seguintes enviam.')}</p>${needed.length > 0 && explainPlatforms(needed, platformNames)}</div>`;
}

/** Explains how to send an order, with a command that the merchant's filter lets through. */
export function explainSending(
  context: PortalContext,
  { sources, merchant }: MerchantScope,
  { isOpen, names }: { isOpen: boolean; names: PlatformNames },
): Html {
  const { calendar, clock } = context;
  const needed = listNeededPlatforms(merchant);
  const [platform] = needed;
  const facts = {
    ...{ operation: 'cashin', amount: '199.90', due_day: calendar.dayOf(clock.now()) },
    ...(platform === undefined ? {} : { platform }),
    references: ['1024'],
  };
  return html`<details${isOpen && html` open`}><summary>${t('Como enviar um pedido')}</summary>
<p>${t('Com este token, por estas origens:')} ${sources.map((one) => html`<code>${one}</code> `)}</p><pre>${curl(context, 'PUT', `${sources[0]}/1024`, facts)}</pre>${needed.length > 0 && explainPlatforms(needed, names)}
<p>${t('"decided": false na resposta: o pedido acaba de mudar, pergunte de novo em um segundo.')} <a href="${DOCS.address}/expected">${t(DOCS.title)}</a> · <a href="/portal/openapi">${t('Todos os campos, e como cancelar um pedido')}</a></p></details>`;
}
