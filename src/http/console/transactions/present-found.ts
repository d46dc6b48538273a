import type { Context } from '../../../context.ts';
import type { PresentedTransaction } from '../../../domain/present-transaction.ts';
import { describeCode } from '../../../texts/fill.ts';
import type { Label } from '../../../texts/translate.ts';
import { EMPTY_VALUE, moment, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { badge, table, transactionLink } from '../parts/page-components.ts';
import { type PlatformNames, platformLink } from '../parts/read-platform-names.ts';
import { OPERATION_WORDS, STATUS_WORDS } from '../parts/words.ts';

/** The table of found transactions, each linked to its page. */
export function foundTable(
  context: Context,
  rows: PresentedTransaction[],
  { names, empty }: { names: PlatformNames; empty: Label },
): Html {
  return table({
    caption: 'Transações, as mais novas primeiro',
    rows,
    empty,
    columns: [
      { title: 'Transação', cell: (row) => transactionLink(row.id) },
      { title: 'Criada em', cell: (row) => moment(context.calendar, row.created_at) },
      { title: 'Operação', cell: (row) => describeCode(OPERATION_WORDS, row.operation) },
      { title: 'Situação', cell: (row) => badge(STATUS_WORDS, row.status) },
      {
        title: 'Referência',
        cell: (row) => (row.reference ? html`<span class="long">${row.reference}</span>` : EMPTY_VALUE),
      },
      { title: 'Nome', cell: (row) => row.name ?? EMPTY_VALUE },
      { title: 'Plataforma', cell: (row) => platformLink(names, row.platform) },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
    ],
  });
}
