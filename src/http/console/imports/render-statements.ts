import type { BankImport } from '../../../ledger/bank/import-bank-file.ts';
import { plural } from '../languages/translate.ts';
import { type Html, html } from '../parts/html.ts';

/** What a statement of the bank would change. */
export function renderStatements({ statements, matched }: BankImport): Html {
  const pairs = matched.reference + matched.amount;
  return html`<div class="explain"><p>${plural(pairs, 'Um par seria casado.', '{n} pares seriam casados.')}</p>
<ul>${statements.map(
    (one) =>
      html`<li>${one.account}: ${plural(one.new, 'uma linha nova', '{n} linhas novas')}, ${plural(one.known, 'uma já conhecida', '{n} já conhecidas')}</li>`,
  )}</ul></div>`;
}
