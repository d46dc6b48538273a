import { splitAccount } from '../../../ledger/journal/plan-entries.ts';
import { describeCode } from '../../../texts/fill.ts';
import type { Label } from '../../../texts/translate.ts';
import { money } from './format.ts';
import { type Html, html } from './html.ts';
import { table } from './page-components.ts';
import { type PlatformNames, showPlatform } from './read-platform-names.ts';
import { ACCOUNT_WORDS } from './words.ts';

/** The postings of an entry as a table. Cents, debit positive. */
export function renderPostings(
  names: PlatformNames,
  caption: Label,
  postings: { account: string; cents: bigint }[],
): Html {
  return table({
    caption,
    rows: postings,
    empty: 'Nenhuma partida.',
    columns: [
      { title: 'Conta', cell: ({ account }) => showAccount(names, account) },
      { title: 'Débito', cell: ({ cents }) => cents > 0n && money(cents), align: 'end' },
      { title: 'Crédito', cell: ({ cents }) => cents < 0n && money(-cents), align: 'end' },
    ],
  });
}

/** An account of the ledger for people: its name in words, and its platform. @param name as the caller may see it. */
export function showAccount(names: PlatformNames, name: string): Html {
  const { account, platform } = splitAccount(name);
  return html`${describeCode(ACCOUNT_WORDS, account)} <span class="hint">${showPlatform(names, platform)}</span>`;
}
