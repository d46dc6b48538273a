/** The days of a contract's preview: what they would have cost by it, month by month. */
import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { addDays, addMonths, boundsOfMonth, type Day, monthOf } from '../../../domain/calendar.ts';
import { append } from '../../../domain/lists.ts';
import { readContracts } from '../../../ledger/journal/read-contracts.ts';
import { type FeeRow, readFees, type Span } from '../../../ledger/stated/read-fees.ts';
import type { addCommission } from '../../../operations/books/commissions.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { t } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { formatCount, formatDay, formatMoney, money } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { table } from '../parts/page-components.ts';
import { readPlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { nameMonth } from '../reports/month.ts';

export type Stated = GivenOf<typeof addCommission>;
export type ContractDays = { from: Day; to: Day | null };

/** Months that a preview compares, the newest of a contract. */
const COMPARED_MONTHS_MAX = 3;

/** The days to show a contract by: its own until today, within its newest months; the last month for one that is to come. */
function listCompared({ from, to }: ContractDays, today: Day): Span[] {
  if (from > today) return [boundsOfMonth(addMonths(monthOf(today), -1))];
  const last = to !== null && to < today ? to : today;
  const spans: Span[] = [];
  for (let end = last; end >= from && spans.length < COMPARED_MONTHS_MAX; end = addDays(spans[0]?.from ?? end, -1)) {
    const { from: first } = boundsOfMonth(monthOf(end));
    spans.unshift({ from: first < from ? from : first, to: end });
  }
  return spans;
}

/** `outubro de 2026`, or the days of a part of a month. */
function nameSpan({ from, to }: Span): string {
  const month = boundsOfMonth(monthOf(from));
  if (from === month.from && to === month.to) return nameMonth(monthOf(from));
  return from === to ? formatDay(from) : `${formatDay(from)} – ${formatDay(to)}`;
}

type Would = Pick<FeeRow, 'payments' | 'agreed' | 'covered'> & { span: Span | undefined; platform: string | null };

/** Shows what the days of a contract would have cost by it, by month and platform. */
export async function describeWould(context: Context, response: Response, stated: Stated): Promise<Html> {
  const today = context.calendar.dayOf(context.clock.now());
  const spans = listCompared(stated, today);
  const own = (await readContracts(context.db)).filter(
    (one) => stated.platform === null && one.operation === stated.operation,
  );
  const rows: Would[] = [];
  for (const span of spans) {
    const { from, to } = span;
    const contract = { ...stated, id: '', fixedCents: stated.fixed, basisPoints: stated.basis_points, from, to };
    // a platform's own contract takes precedence over one for all
    const apart = own.filter((one) => one.from <= to && (one.to === null || one.to >= from));
    const fees = await readFees(context.db, monthOf(from), { given: [contract] });
    const found = fees.rows.filter(
      (row) => row.uncovered < row.payments && !apart.some(({ platform }) => platform === row.platform),
    );
    append(
      rows,
      // the other ones are of days of the month that it does not cover
      found.map((row) => ({ ...row, payments: row.payments - row.uncovered, span })),
    );
  }
  const compared = spans.map(nameSpan).join(', ');
  if (rows.length === 0)
    return html`<p class="explain">${t('Nenhuma transação destes dias é coberta por este contrato ({days}): não há o que comparar.', { days: compared })}</p>`;
  const names = await readPlatformNames(context, response);
  const shown = rows.length === 1 ? rows : [...rows, addUp(rows)];
  return html`<section><h2>${t('Por este contrato')}</h2><p class="hint">${stated.from > today ? t('Ele ainda não vale: o mês passado, como se já valesse nele.') : t('Só os dias do contrato, até hoje.')}${stated.platform === null && html` ${t('Plataformas com um contrato próprio ficam de fora.')}`}</p>${table(
    {
      caption: 'Por este contrato',
      rows: shown,
      empty: 'Nada foi pago neste mês.',
      columns: [
        { title: 'Dias', cell: ({ span }) => (span === undefined ? html`<b>${t('Soma')}</b>` : nameSpan(span)) },
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
    ...{ span: undefined, platform: null, payments: rows.reduce((all, row) => all + row.payments, 0) },
    ...{ agreed: sum((row) => row.agreed), covered: sum((row) => row.covered) },
  };
}
