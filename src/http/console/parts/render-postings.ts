import { money } from './format.ts';
import { type Html, html } from './html.ts';

/** The postings of an entry as a table. Cents, debit positive. */
export function renderPostings(caption: string, postings: { account: string; cents: bigint }[]): Html {
  return html`<table class="postings"><caption class="unseen">${caption}</caption><thead><tr><th scope="col">Conta</th><th scope="col" class="end">Débito</th><th scope="col" class="end">Crédito</th></tr></thead>
<tbody>${postings.map(
    ({ account, cents }) =>
      html`<tr><td class="account">${breakable(account)}</td><td class="end">${cents > 0n && money(cents)}</td><td class="end">${cents < 0n && money(-cents)}</td></tr>`,
  )}</tbody></table>`;
}

/** An account name that may break after each colon, so that it fits a phone. */
function breakable(account: string): Html {
  return html`${account.split(':').map((part, index) => (index === 0 ? part : html`:<wbr>${part}`))}`;
}
