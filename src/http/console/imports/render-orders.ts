import type { ImportedOrders } from '../../../imports/import-kind.ts';
import { describeCode } from '../../../texts/fill.ts';
import { plural, t } from '../../../texts/translate.ts';
import { formatCount, formatDay, money } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { OPERATION_CHOICES } from '../parts/words.ts';

/** Platforms that a warning lists. */
const UNSEEN_SHOWN_MAX = 50;

/** Renders what keeps payments from being found for the orders of a file, their sums, and the first of them. */
export function renderOrders({ first, sums, unfindable, unseen, asked }: ImportedOrders, names: PlatformNames): Html {
  const rest = unseen.length - UNSEEN_SHOWN_MAX;
  const warnings = [
    ...(unfindable > 0
      ? [
          plural(
            unfindable,
            'Um pedido sem chave: nenhum pagamento é achado para ele.',
            '{n} pedidos sem chave: nenhum pagamento é achado para eles.',
          ),
        ]
      : []),
    ...unseen
      .slice(0, UNSEEN_SHOWN_MAX)
      .map(({ platform, rows }) =>
        plural(
          rows,
          'Nenhuma transação tem a plataforma “{platform}”, que está em uma linha: enquanto for assim, nenhum pagamento é achado para ela.',
          'Nenhuma transação tem a plataforma “{platform}”, que está em {n} linhas: enquanto for assim, nenhum pagamento é achado para elas.',
          { platform },
        ),
      ),
    ...asked.map(({ platform, from, receipts }) => {
      const named = platform === null ? t('todas as plataformas') : html`${showPlatform(names, platform)}`;
      const values = { day: formatDay(from), platform: named, n: html`<b>${formatCount(receipts)}</b>` };
      return tHtml(
        'Os recebimentos de {platform} desde {day} passam a precisar de um pedido: {n} não são de nenhum até agora, e os que continuarem assim abrem a divergência “Recebimento sem pedido”.',
        values,
      );
    }),
    ...(rest > 0 ? [t('e mais {n}', { n: formatCount(rest) })] : []),
  ];
  const rows = sums.reduce((sum, one) => sum + one.rows, 0);
  return html`${warnings.length > 0 && html`<div class="explain bad"><ul>${warnings.map((one) => html`<li>${one}</li>`)}</ul></div>`}
<section><h2>${t('Pedidos do arquivo')}</h2>${sums.map((one) => html`<p>${tHtml('{operation}: {count}, {amount} ao todo.', { operation: describeCode(OPERATION_CHOICES, one.operation), count: formatCount(one.rows), amount: money(one.cents) })}</p>`)}
${rows > first.length && html`<p class="hint">${t('As primeiras {n} de {count}.', { n: formatCount(first.length), count: formatCount(rows) })}</p>`}${table(
  {
    caption: 'Pedidos do arquivo',
    rows: first,
    empty: 'Nenhum pedido.',
    columns: [
      { title: 'Linha', cell: (one) => formatCount(one.row), align: 'end' },
      { title: 'Número', cell: (one) => one.number },
      { title: 'Plataforma', cell: (one) => showPlatform(names, one.platform) },
      { title: 'Operação', cell: (one) => describeCode(OPERATION_CHOICES, one.operation) },
      { title: 'Valor', cell: (one) => money(one.cents), align: 'end' },
      { title: 'Vencimento', cell: (one) => formatDay(one.due_day) },
    ],
  },
)}</section>`;
}
