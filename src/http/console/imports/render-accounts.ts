import type { ChangedAccount } from '../../../imports/import-kind.ts';
import type { MappedAccount } from '../../../ledger/stated/check-accounts.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t } from '../../../texts/translate.ts';
import { type AccountNames, showAccount } from '../balances/describe-stated.ts';
import { type Html, html, type Part } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { type PlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { ACCOUNT_WORDS } from '../parts/words.ts';

/** Renders the accounts of the chart that a file changes, before and after. */
export function renderAccounts(changes: ChangedAccount[], names: PlatformNames, banks: AccountNames): Html {
  const of = ({ before, after }: ChangedAccount): Partial<MappedAccount> => after ?? before ?? {};
  return html`<section><h2>${t('Contas que mudam')}</h2>${table({
    caption: 'Contas que mudam',
    rows: changes,
    empty: 'Nenhuma conta muda.',
    columns: [
      { title: 'Conta do razão', cell: (one) => describeCode(ACCOUNT_WORDS, of(one).account ?? '') },
      { title: 'Plataforma', cell: (one) => showOwner(of(one).platform ?? null, names, banks) },
      { title: 'Antes', cell: ({ before }) => describeTarget(before) },
      { title: 'Depois', cell: ({ after }) => describeTarget(after) },
    ],
  })}</section>`;
}

/** Shows whose an account of the chart is: a platform's, a bank account's by its name, or of all. */
export function showOwner(owner: string | null, names: PlatformNames, banks: AccountNames): Part {
  if (owner === null) return t('todas');
  return banks.has(owner) ? showAccount(banks, owner) : showPlatform(names, owner);
}

function describeTarget(row: MappedAccount | null): string {
  const { code = null, category = null, cost_center: center = null, history = null } = row ?? {};
  return [code, category, center, history].filter((one) => one !== null).join(' · ');
}
