import type { Label } from '../../../texts/translate.ts';
import { money } from './format.ts';
import { type Html, html } from './html.ts';
import { table } from './page-components.ts';

/** The postings of an entry as a table. Cents, debit positive. */
export function renderPostings(caption: Label, postings: { account: string; cents: bigint }[]): Html {
  return table({
    caption,
    rows: postings,
    empty: 'Nenhuma partida.',
    columns: [
      { title: 'Conta', cell: ({ account }) => html`<span class="account">${breakable(account)}</span>` },
      { title: 'Débito', cell: ({ cents }) => cents > 0n && money(cents), align: 'end' },
      { title: 'Crédito', cell: ({ cents }) => cents < 0n && money(-cents), align: 'end' },
    ],
  });
}

/** An account name that may break after each colon, so that it fits a phone. */
function breakable(account: string): Html {
  return html`${account.split(':').map((part, index) => (index === 0 ? part : html`:<wbr>${part}`))}`;
}
