import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitReads } from '../../../database/limit-statement-time.ts';
import { type Day, monthOf } from '../../../domain/calendar.ts';
import { formatAmount, parseSum } from '../../../domain/money.ts';
import { WITHHELD } from '../../../domain/person/mask-person.ts';
import { listContracts } from '../../../ledger/stated/commission-contracts.ts';
import { isCovered, readFees } from '../../../ledger/stated/read-fees.ts';
import {
  addCommission,
  fees,
  type PresentedFees,
  presentDiffering,
  undoCommission,
} from '../../../operations/books/commissions.ts';
import { authorizePlatform } from '../../../operations/choose-platform.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { FEE_COLUMNS, type FeeColumn } from '../../../reports/serve/export-fees.ts';
import { describeCode } from '../../../texts/fill.ts';
import { language } from '../../../texts/language.ts';
import { textsOf } from '../../../texts/reports/texts.ts';
import { t, untranslated, wordsBy } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { nameActors } from '../access/name-actors.ts';
import { balanceTabs, FEES } from '../balances/describe-stated.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { sayUncompared } from '../mismatches/say-uncompared.ts';
import { formatMoneyInput, inputField } from '../parts/fields.ts';
import { formatCount, formatDay, formatMoney, formatWallTime, moment, moneyOf } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { buttonLink, filterForm, table, transactionLink } from '../parts/page-components.ts';
import { readQuery } from '../parts/parse-filters.ts';
import { type PlatformNames, platformLink, readPlatformNames, showPlatform } from '../parts/read-platform-names.ts';
import { hasRole, sendPage } from '../parts/send-page.ts';
import { OPERATION_WORDS } from '../parts/words.ts';
import { nameMonth, parseMonth } from '../reports/month.ts';
import { contractForm, withdrawalForm } from './contract-forms.ts';
import { sendFees } from './send-fees.ts';

const CONTRACTS_SHOWN = 50;
/** Payments out of contract of one platform; the file has all. */
const LISTED_MAX = 5_000;

/** The page of a month's fees, and the forms that state and withdraw a contract. */
export function feePages(context: Context): Router {
  const reading = limitReads(context);
  const router = createRouter();
  router.use([serveTwoStepForm(context, contractForm(context)), serveTwoStepForm(context, withdrawalForm(context))]);
  router.get(FEES.address, (request, response) => send(reading, request, response));
  return router;
}

async function send(context: Context, request: Request, response: Response): Promise<void> {
  const today = monthOf(context.calendar.dayOf(context.clock.now()));
  const month = parseMonth(readQuery(request, 'month') || today);
  const by = { caller: getCaller(response), id: '', via: 'console' } as const;
  if (request.query.format !== undefined) {
    await sendFees(context, response, month, request.query.format);
    return;
  }
  const shown = await fees.read(context, by, { month });
  const { total } = shown;
  const platform = readQuery(request, 'platform') || undefined;
  authorizePlatform(by.caller, platform);
  const payments =
    platform === undefined
      ? shown.payments
      : presentDiffering(by.caller, (await readFees(context.db, month, { max: LISTED_MAX, platform })).payments);
  const address = `${FEES.address}?month=${month}`;
  const names = await readPlatformNames(context, response);
  const own = platform === undefined ? [total] : shown.rows.filter((row) => row.platform === platform);
  const differing = own.reduce((sum, row) => sum + row.differing, 0);
  const field = inputField(
    { values: { month }, faults: {} },
    { name: 'month', label: 'Mês' },
    html` type="month" max="${today}"`,
  );
  const body = html`<h1>${t(FEES.title)}</h1>${balanceTabs(response, FEES.address)}
${filterForm(FEES.address, field, false)}
<section><h2>${nameMonth(month)}</h2>${feeTable(shown, names)}
<p class="hint">${t('Das transações pagas no mês, entradas e saídas, com a tarifa que têm agora. A diferença conta só as que um contrato cobre.')} ${t('O contrato dá frações de centavo, e o provedor arredonda cada uma para cima ou para baixo: um centavo de diferença numa transação não é erro e não abre divergência. A coluna Diferença soma também esses centavos.')}</p>
${renderDownloads(address)}
${hasRole(response, ...addCommission.roles) && html`<p class="actions">${buttonLink(`${FEES.address}/new`, t('Informar um contrato'))}<a href="/balances/adjustments/new?kind=fee_out">${t('Lançar uma tarifa')}</a></p>`}</section>
<section><h2>${t('Contratos informados')}</h2>${await sayUncompared(context)}${await contractTable(context, response, names)}</section>
<section id="differing"><h2>${t('Transações fora do contrato')}</h2>${platform !== undefined && html`<p class="hint">${tHtml('Só a plataforma {platform}.', { platform: showPlatform(names, platform) })} <a href="${address}">${t('Todas')}</a></p>`}${differingTable({ payments, total, differing }, names)}${differing > payments.length && html`<p class="hint">${t('Aqui estão {count} de {total}.', { count: formatCount(payments.length), total: formatCount(differing) })} ${t('Todas estão na planilha; as de uma plataforma, pelo nome dela acima.')}</p>${renderDownloads(address)}`}</section>`;
  sendPage(request, response, { title: `${t(FEES.title)} · ${nameMonth(month)}`, body });
}

function renderDownloads(address: string): Html {
  return html`<p class="hint">${t('Baixar')}: <span class="files"><a href="${`${address}&format=csv`}" download>${untranslated('CSV')}</a> <a href="${`${address}&format=xlsx`}" download>${t('Planilha')}</a></span></p>`;
}

type Shown = Omit<PresentedFees['total'], 'charged'> & { head: Html; operation: string; charged: string };

/** The fees of payments, and those entered by people, which no contract covers; with their sum. */
function feeTable({ month, rows, total, by_hand: byHand }: PresentedFees, names: PlatformNames): Html {
  const nothing = { payments: 0, covered: '0.00', agreed: '0.00', difference: '0.00', differing: 0, uncovered: 0 };
  const charged = [total.charged, ...byHand.map(({ amount }) => amount)];
  const lines = [
    ...rows.map((row) => ({
      ...row,
      head:
        row.differing > 0 && row.platform !== WITHHELD
          ? html`<a href="${FEES.address}?month=${month}&amp;platform=${encodeURIComponent(row.platform)}#differing">${showPlatform(names, row.platform)}</a>`
          : platformLink(names, row.platform),
      operation: describeCode(OPERATION_WORDS, row.operation),
    })),
    ...byHand.map(({ platform, amount }) => ({
      ...{ ...nothing, platform, charged: amount, head: platformLink(names, platform) },
      operation: t('Lançadas por pessoas'),
    })),
  ];
  const byPlatform = [...Map.groupBy(lines, ({ platform }) => platform)];
  const shown: Shown[] = [
    ...byPlatform.flatMap(([platform, own]) =>
      own.length === 1 || platform === WITHHELD
        ? own
        : [...own, { ...addUp(own), head: html`<b>${showPlatform(names, platform)}</b>`, operation: t('Soma') }],
    ),
    ...(rows.length + byHand.length > 1
      ? [{ ...total, charged: addAmounts(charged), head: html`<b>${t('Total das tarifas')}</b>`, operation: '' }]
      : []),
  ];
  return table({
    caption: 'Tarifas por plataforma e operação',
    rows: shown,
    empty: 'Nada foi pago neste mês.',
    columns: FEE_COLUMNS.map((name) => ({
      title: FEE_TITLES[name],
      cell: FEE_CELLS[name],
      ...(name !== 'platform' && name !== 'operation' && { align: 'end' }),
    })),
  });
}

/** Adds up the lines of one platform. */
function addUp(lines: PresentedFees['total'][]): PresentedFees['total'] {
  const sum = (name: 'charged' | 'covered' | 'agreed' | 'difference') => addAmounts(lines.map((one) => one[name]));
  const count = (name: 'payments' | 'differing' | 'uncovered') => lines.reduce((all, one) => all + one[name], 0);
  return {
    ...{ charged: sum('charged'), covered: sum('covered'), agreed: sum('agreed'), difference: sum('difference') },
    ...{ payments: count('payments'), differing: count('differing'), uncovered: count('uncovered') },
  };
}

/** A difference, and in whose favour it is; of no payment that differs it is rounding alone. */
function showDifference(amount: string | null, differing: number): Html {
  const cents = parseSum(amount ?? '') ?? 0n;
  const said = differing === 0 ? t('arredondamento') : cents > 0n ? t('cobrado a mais') : t('cobrado a menos');
  if (cents === 0n) return moneyOf(amount);
  // more than agreed is what harms the reader
  return html`<span class="money${cents > 0n && differing > 0 && ' negative'}">${formatMoney(cents)}</span><br><span class="hint">${said}</span>`;
}

const FEE_TITLES = wordsBy(FEE_COLUMNS, (name) => textsOf(language()).columns[name]);
const FEE_CELLS: Record<FeeColumn, (row: Shown) => Part> = {
  platform: (row) => row.head,
  operation: (row) => row.operation,
  payments: (row) => formatCount(row.payments),
  charged: (row) => moneyOf(row.charged),
  covered: (row) => moneyOf(isCovered(row) ? row.covered : null),
  agreed: (row) => moneyOf(isCovered(row) ? row.agreed : null),
  difference: (row) => showDifference(isCovered(row) ? row.difference : null, row.differing),
  differing: (row) => formatCount(row.differing),
  uncovered: (row) => formatCount(row.uncovered),
};

function addAmounts(amounts: string[]): string {
  return formatAmount(amounts.reduce((sum, amount) => sum + (parseSum(amount) ?? 0n), 0n));
}

function differingTable(
  { payments, total, differing }: Pick<PresentedFees, 'payments' | 'total'> & { differing: number },
  names: PlatformNames,
): Html {
  // a list that is cut has no sum
  const sum = (name: 'amount' | 'charged' | 'agreed' | 'difference') => addAmounts(payments.map((one) => one[name]));
  const whole = {
    ...{ transaction_id: undefined, platform: null, operation: undefined, at: undefined, amount: sum('amount') },
    ...{ charged: sum('charged'), agreed: sum('agreed'), difference: sum('difference') },
  };
  return table({
    caption: 'Transações fora do contrato',
    rows: payments.length > 1 && payments.length === differing ? [...payments, whole] : payments,
    empty:
      total.uncovered === total.payments
        ? 'Nenhum contrato cobre estas transações.'
        : 'Nenhuma das que um contrato cobre.',
    columns: [
      {
        title: 'Transação',
        cell: (row) =>
          row.transaction_id === undefined ? html`<b>${t('Soma')}</b>` : transactionLink(row.transaction_id),
      },
      { title: 'Plataforma', cell: (row) => showPlatform(names, row.platform) },
      { title: 'Operação', cell: (row) => row.operation && describeCode(OPERATION_WORDS, row.operation) },
      { title: 'Quando', cell: (row) => row.at && formatWallTime(row.at) },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Cobrado', cell: (row) => moneyOf(row.charged), align: 'end' },
      { title: 'Pelo contrato', cell: (row) => moneyOf(row.agreed), align: 'end' },
      { title: 'Diferença', cell: (row) => showDifference(row.difference, 1), align: 'end' },
    ],
  });
}

/** The newest contracts, with who stated each; those withdrawn or over are past. */
async function contractTable(context: Context, response: Response, names: PlatformNames): Promise<Html> {
  const found = await listContracts(context.db, CONTRACTS_SHOWN + 1, undefined);
  const rows = found.slice(0, CONTRACTS_SHOWN).map((row) => presentPlatform(getCaller(response), row));
  const nameOf = await nameActors(
    context,
    response,
    rows.map((row) => row.created_by),
  );
  const today = context.calendar.dayOf(context.clock.now());
  const mayWithdraw = hasRole(response, ...undoCommission.roles);
  const contracts = table({
    caption: 'Contratos, os mais novos primeiro',
    rows,
    empty: 'Nenhum contrato até agora.',
    columns: [
      { title: 'Plataforma', cell: ({ platform }) => (platform === null ? t('Todas') : platformLink(names, platform)) },
      { title: 'Operação', cell: (row) => describeCode(OPERATION_WORDS, row.operation) },
      { title: 'Valor fixo', cell: (row) => moneyOf(row.fixed), align: 'end' },
      { title: 'Parte do valor', cell: (row) => `${formatMoneyInput(BigInt(row.basis_points))} %`, align: 'end' },
      { title: 'De', cell: (row) => formatDay(row.from) },
      { title: 'Até', cell: (row) => row.to && formatDay(row.to) },
      { title: 'Quem', cell: (row) => nameOf(row.created_by) },
      { title: 'Quando', cell: (row) => moment(context.calendar, row.created_at) },
      {
        title: 'Situação',
        cell: (row) => html`${nameState(row, today)} ${mayWithdraw && !row.withdrawn && withdrawalLink(row)}`,
      },
    ],
  });
  return html`${contracts}${found.length > rows.length && html`<p class="hint">${t('Aqui estão {count}.', { count: formatCount(rows.length) })}</p>`}`;
}

function withdrawalLink({ id }: { id: string }): Html {
  return html`<a href="${FEES.address}/${id}/undo">${t('Retirar')}</a>`;
}

function nameState({ withdrawn, from, to }: { withdrawn: boolean; from: Day; to: Day | null }, today: Day): string {
  if (withdrawn) return t('Retirado');
  if (from > today) return t('Por vir');
  return to !== null && to < today ? t('Encerrado') : t('Em vigor');
}
