import type { Response } from 'express';
import { audit } from '../../../access/audit.ts';
import type { Context } from '../../../context.ts';
import type { BankSummary } from '../../../ledger/bank/summarize-bank.ts';
import { FORMAT_FACTS } from '../../../reports/render/formats/formats.ts';
import { renderingOf, writeSheet } from '../../../reports/serve/export-found.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { t, translate } from '../../../texts/translate.ts';
import { getActor } from '../../access/authorize.ts';
import { sendFile, signalOf } from '../../send-file.ts';
import { sayAgreement } from './describe-bank.ts';
import { type BankSum, listBankSums } from './render-sums.ts';

type Row = { of: string; term: BankSum['terms'][number] };

/** Sends the sums of the bank's page as a workbook, in the language of the page. The download is audited. */
export async function sendBank(context: Context, response: Response, summary: BankSummary): Promise<void> {
  const { clock, calendar } = context;
  const target = `confere-banco-${calendar.dayOf(clock.now())}.xlsx`;
  const nameOf = (account: string): string => {
    const name = summary.accounts.find((one) => one.account === account)?.name;
    return name ? `${name} (${account})` : account;
  };
  const rows = listBankSums(summary).flatMap(({ title, account, terms }) => {
    const of = account === null ? translate(title) : nameOf(account.account);
    return terms.map((term): Row => ({ of, term }));
  });
  const nameTerm = ({ name, account }: Row['term']): string =>
    account === undefined ? name : `${name}: ${nameOf(account)}`;
  const columns = [
    ...[column('of', t('Soma'), 40, ({ of }) => of), column('part', t('Parcela'), 52, ({ term }) => nameTerm(term))],
    {
      ...{ name: 'amount', title: t('Valor'), width: 18, type: 'money' as const },
      cell: ({ term: { cents, isTotal } }: Row) => ({ cents, ...(isTotal ? { style: 'moneyTotal' as const } : {}) }),
    },
    {
      ...{ name: 'lines', title: t('Linhas'), width: 12, type: 'count' as const },
      cell: ({ term }: Row) => ({ count: term.count ?? null }),
    },
  ];
  await audit(context, { actor: getActor(response), action: 'reports.download', target });
  const rendering = { ...renderingOf(context, new Map()), texts: textsOf(language()) };
  const head = { title: t('Banco'), note: sayAgreement(summary).said, columns, signal: signalOf(response) };
  const headers = {
    'content-disposition': `attachment; filename="${target}"`,
    'content-type': FORMAT_FACTS.xlsx.contentType,
  };
  await writeSheet(context, { ...head, pages: once(rows), rendering }, (file) => sendFile(response, file, headers));
}

function column(name: string, title: string, width: number, get: (row: Row) => string) {
  const cell = (row: Row) => ({ text: get(row), style: row.term.isTotal ? ('textTotal' as const) : ('text' as const) });
  return { name, title, width, type: 'text' as const, cell };
}

async function* once(rows: Row[]): AsyncGenerator<Row[], void, undefined> {
  yield rows;
}
