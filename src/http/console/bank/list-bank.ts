import type { Router } from 'express';
import { z } from 'zod';
import type { Context } from '../../../context.ts';
import { LINE_STATES } from '../../../ledger/bank/list-bank-lines.ts';
import { readLineTexts } from '../../../ledger/bank/list-bank-matches.ts';
import { parseNumbered } from '../../../ledger/bank/pick-match.ts';
import { BANK_ACCOUNT_CHARS_MAX, listBankAccounts, readBankAccounts } from '../../../ledger/stated/bank-accounts.ts';
import { bankLines, bankMatches, undoBankMatch } from '../../../operations/books/bank.ts';
import { t, words } from '../../../texts/translate.ts';
import { canSeePersonalData } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { readListPage } from '../../mount-operations.ts';
import { nameActors } from '../access/name-actors.ts';
import { BANK, balanceTabs, showAccount } from '../balances/describe-stated.ts';
import { dayField, filterField } from '../parts/fields.ts';
import { formatDay, moment, moneyOf } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { filterChoice, filterDay, filterText, isFiltered, readFilters } from '../parts/parse-filters.ts';
import { sendList, sendWrongFilters } from '../parts/send-list.ts';
import { hasRole } from '../parts/send-page.ts';
import { BANK_LISTS, describePaired, describeTexts, lineTable, RULE_WORDS } from './describe-bank.ts';

const STATE_WORDS = words({ open: 'Em aberto', matched: 'Casada', not_pix: 'Não é do PIX' });
const MATCH_STATE_WORDS: Record<string, string> = words({
  matched: 'Em vigor',
  undone: 'Desfeito',
  reversed: 'Encerrado: o lançamento foi estornado',
  undo: 'Desfaz outro',
});
const lineQuery = z.object({
  ...{ state: filterChoice(LINE_STATES), account: filterText(BANK_ACCOUNT_CHARS_MAX) },
  ...{ from: filterDay, to: filterDay },
});

/** The lists of the bank's lines and of matches. */
export function bankLists(context: Context): Router {
  const router = createRouter();
  router.get(BANK_LISTS.lines.address, async (request, response) => {
    const { filters, draft } = readFilters(request.query, lineQuery);
    const names = await readBankAccounts(context.db);
    const accounts = await listBankAccounts(context.db);
    const accountWords = Object.fromEntries(accounts.map((one) => [one, names.get(one)?.name ?? one]));
    const fields = [
      filterField(draft, { name: 'state', label: 'Estado', words: STATE_WORDS, any: 'Todas' }),
      filterField(draft, { name: 'account', label: 'Conta', words: accountWords, any: 'Todas' }),
      dayField(draft, { name: 'from', label: 'De' }),
      dayField(draft, { name: 'to', label: 'Até' }),
    ];
    const list = { ...BANK_LISTS.lines, lead: balanceTabs(response, BANK.address) };
    if (filters === undefined) {
      sendWrongFilters(request, response, { ...list, filters: { fields, areSet: true } });
      return;
    }
    const given = { filter: filters, via: 'console' } as const;
    const { rows, next } = await readListPage(context, bankLines, request, response, given);
    const shown = lineTable(response, rows, names, 'Linhas do extrato, as últimas importadas primeiro');
    sendList(request, response, { ...list, filters: { fields, areSet: isFiltered(filters) }, rows: shown, next });
  });

  router.get(BANK_LISTS.matches.address, async (request, response) => {
    const { rows, next } = await readListPage(context, bankMatches, request, response, { via: 'console' });
    const nameOf = await nameActors(
      context,
      response,
      rows.map((row) => row.created_by),
    );
    const accounts = await readBankAccounts(context.db);
    // a viewer sees no texts; for others the list was audited
    const texts = canSeePersonalData(response)
      ? await readLineTexts(
          context.db,
          rows.map(({ line_id: id }) => parseNumbered('bl', id)),
        )
      : undefined;
    const textOf = (id: string): Html | undefined => {
      const text = texts?.get(parseNumbered('bl', id));
      return text && html`<br><span class="hint long">${describeTexts(text)}</span>`;
    };
    const mayUndo = hasRole(response, ...undoBankMatch.roles);
    const shown = table({
      caption: 'Pares, os mais novos primeiro',
      rows,
      empty: 'Nenhum par até agora: importe um extrato, ou case uma linha.',
      columns: [
        { title: 'Conta', cell: (row) => showAccount(accounts, row.account) },
        { title: 'Linha', cell: (row) => html`${formatDay(row.day)}${textOf(row.line_id)}` },
        { title: 'Lançamento', cell: (row) => html`${describePaired(row)} ${formatDay(row.entry_day)}` },
        { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
        { title: 'Como', cell: (row) => RULE_WORDS[row.rule] },
        { title: 'Por quê', cell: (row) => html`<span class="long">${row.note}</span>` },
        { title: 'Quem', cell: (row) => nameOf(row.created_by) },
        { title: 'Quando', cell: (row) => moment(context.calendar, row.created_at) },
        {
          title: 'Situação',
          cell: (row) =>
            row.state === 'matched' && mayUndo
              ? html`<a href="${BANK_LISTS.matches.address}/${row.id}/undo">${t('Desfazer')}</a>`
              : MATCH_STATE_WORDS[row.state],
        },
      ],
    });
    sendList(request, response, {
      ...BANK_LISTS.matches,
      lead: balanceTabs(response, BANK.address),
      rows: shown,
      next,
    });
  });
  return router;
}
