import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { listImports } from '../../../imports/import-file.ts';
import { findImportKind, isImportKind } from '../../../imports/import-kinds.ts';
import { listBankStatements } from '../../../ledger/bank/list-bank-matches.ts';
import { readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { language } from '../../../texts/language.ts';
import { t } from '../../../texts/translate.ts';
import { nameActors } from '../access/name-actors.ts';
import { showAccount } from '../balances/describe-stated.ts';
import { formatCount, formatDay, moment, shortId } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';

const IMPORTS_SHOWN = 20;
/** A file may have statements of several accounts. */
const STATEMENTS_READ = 100;

/** Renders the last files that were imported. */
export async function renderImports(context: Context, response: Response): Promise<Html> {
  const { db, calendar } = context;
  const rows = await listImports(db, IMPORTS_SHOWN);
  const statements = Map.groupBy(await listBankStatements(db, STATEMENTS_READ, undefined), ({ sha256 }) => sha256);
  const accounts = await readBankAccounts(db);
  const nameOf = await nameActors(
    context,
    response,
    rows.map((row) => row.created_by),
  );
  return table({
    caption: 'Importados',
    rows,
    empty: 'Nenhum arquivo foi importado até agora.',
    columns: [
      { title: 'Quando', cell: (row) => moment(calendar, row.created_at) },
      {
        title: 'Tipo',
        cell: (row) =>
          html`${isImportKind(row.kind) ? findImportKind(row.kind).titles[language()] : row.kind}${statements.get(row.sha256)?.map(({ account, from, to }) => html`<br><span class="hint">${showAccount(accounts, account)}${from && to && html` · ${t('Período: {from} a {to}', { from: formatDay(from), to: formatDay(to) })}`}</span>`)}`,
      },
      { title: 'Linhas', cell: (row) => formatCount(row.rows), align: 'end' },
      { title: 'Por quem', cell: (row) => nameOf(row.created_by) },
      { title: 'SHA-256', cell: (row) => shortId(row.sha256) },
    ],
  });
}
