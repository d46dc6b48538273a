import type { Alike } from '../../../expected/read/read-alike.ts';
import { describeCode } from '../../../texts/fill.ts';
import { type Label, t, words } from '../../../texts/translate.ts';
import { formatDay, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { type TableColumn, table } from '../parts/page-components.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';

const ALIKE_WORDS: Record<Alike['alike'], Label> = words({
  platform: 'é deste pedido, mas de outra plataforma que a sua',
  document: 'igual documento e valor',
  extra: 'igual extra',
  reference: 'parecido: a referência só difere na escrita',
  amount: 'parecido: igual valor, e nada mais',
});

/** Payments that may have been meant for an order that has none. @param names of platforms. @param actions further columns. @param explain what one does about them. */
export function renderAlike(
  alike: Alike[],
  links: { payment: (id: string) => Html; orders: string },
  { names, explain, actions = [] }: { names: PlatformNames; explain: Part; actions?: TableColumn<Alike>[] },
): Html | false {
  if (alike.length === 0) return false;
  const matchedOf = ({ matched, order }: Alike) =>
    matched &&
    html`; ${order ? tHtml('casou com o pedido {order}', { order: html`<a href="${links.orders}/${order.id}">${order.source}/${order.number}</a>` }) : t('casou com outro pedido')}`;
  return html`<section><h2>${t('Pagamentos parecidos')}</h2><p class="hint">${t('São pistas: nenhum foi casado com este pedido, e pode haver outros.')} ${explain}</p>
${table({
  caption: 'Pagamentos parecidos',
  rows: alike,
  empty: 'Nenhum pagamento até agora.',
  columns: [
    { title: 'Pagamento', cell: (one) => links.payment(one.transaction_id) },
    { title: 'Valor', cell: (one) => moneyOf(one.amount), align: 'end' },
    { title: 'Pago em', cell: (one) => formatDay(one.paid_day) },
    { title: 'Referência', cell: (one) => one.reference },
    { title: 'Plataforma', cell: (one) => showPlatform(names, one.platform) },
    { title: 'Por quê', cell: (one) => html`${describeCode(ALIKE_WORDS, one.alike)}${matchedOf(one)}` },
    ...actions,
  ],
})}</section>`;
}
