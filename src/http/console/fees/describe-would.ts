/** The months of a contract's preview: what they would have cost by it. */
import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { addMonths, boundsOfMonth, type Day, type Month, monthOf } from '../../../domain/calendar.ts';
import { append } from '../../../domain/lists.ts';
import { readContracts } from '../../../ledger/journal/read-contracts.ts';
import { type FeeRow, readFees } from '../../../ledger/stated/read-fees.ts';
import type { addCommission } from '../../../operations/books/commissions.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { formatCount, formatMoney, money } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { readPlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { nameMonth } from '../reports/month.ts';

export type Stated = GivenOf<typeof addCommission>;
export type ContractDays = { from: Day; to: Day | null };

/** Months that a preview compares, the newest of a contract that are over. */
const COMPARED_MONTHS_MAX = 3;

/** The months to show a contract by: its newest ones that are over, else the last month. */
function listCompared({ calendar, clock }: Context, { from, to }: ContractDays): Month[] {
  const over = addMonths(monthOf(calendar.dayOf(clock.now())), -1);
  const last = to !== null && monthOf(to) < over ? monthOf(to) : over;
  const months = [last];
  while (months.length < COMPARED_MONTHS_MAX && (months[0] ?? last) > monthOf(from))
    months.unshift(addMonths(months[0] ?? last, -1));
  return months;
}

type Would = Pick<FeeRow, 'payments' | 'agreed' | 'covered'> & { month: Month | undefined; platform: string | null };

/** Shows what whole months would have cost by a contract, by month and platform. */
export async function describeWould(context: Context, response: Response, stated: Stated): Promise<Html> {
  const months = listCompared(context, stated);
  const own = (await readContracts(context.db)).filter(
    (one) => stated.platform === null && one.operation === stated.operation,
  );
  const rows: Would[] = [];
  for (const month of months) {
    const { from, to } = boundsOfMonth(month);
    const contract = { ...stated, id: '', fixedCents: stated.fixed, basisPoints: stated.basis_points, from, to };
    // a platform's own contract takes precedence over one for all
    const apart = own.filter((one) => one.from <= to && (one.to === null || one.to >= from));
    const fees = await readFees(context.db, month, { given: [contract] });
    const found = fees.rows.filter(
      (row) => row.uncovered < row.payments && !apart.some(({ platform }) => platform === row.platform),
    );
    append(
      rows,
      found.map((row) => ({ ...row, month })),
    );
  }
  const compared = months.map(nameMonth).join(', ');
  if (rows.length === 0)
    return html`<p class="explain">${t('Nenhuma transação de {months} é coberta por este contrato: não há o que comparar.', { months: compared })}</p>`;
  const names = await readPlatformNames(context, response);
  const shown = rows.length === 1 ? rows : [...rows, addUp(rows)];
  return html`<section><h2>${t('Por este contrato')}</h2><p class="hint">${t('Meses inteiros, como se o contrato valesse neles.')}${stated.platform === null && html` ${t('Plataformas com um contrato próprio ficam de fora.')}`}</p>${table(
    {
      caption: 'Por este contrato',
      rows: shown,
      empty: 'Nada foi pago neste mês.',
      columns: [
        { title: 'Mês', cell: ({ month }) => (month === undefined ? html`<b>${t('Soma')}</b>` : nameMonth(month)) },
        {
          title: 'Plataforma',
          cell: (row) => showPlatform(names, presentPlatform(getCaller(response), row).platform),
        },
        { title: 'Transações', cell: (row) => formatCount(row.payments), align: 'end' },
        { title: 'Teria custado', cell: (row) => money(row.agreed), align: 'end' },
        { title: 'Cobrado', cell: (row) => money(row.covered), align: 'end' },
        { title: 'Diferença', cell: (row) => formatMoney(row.covered - row.agreed), align: 'end' },
      ],
    },
  )}</section>`;
}

function addUp(rows: Would[]): Would {
  const sum = (get: (row: Would) => bigint): bigint => rows.reduce((all, row) => all + get(row), 0n);
  return {
    ...{ month: undefined, platform: null, payments: rows.reduce((all, row) => all + row.payments, 0) },
    ...{ agreed: sum((row) => row.agreed), covered: sum((row) => row.covered) },
  };
}
