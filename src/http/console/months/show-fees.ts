import type { Request, Response, Router } from 'express';
import type { Context } from '../../../context.ts';
import { limitStatementTime } from '../../../database/limit-statement-time.ts';
import { addMonths, type Day, monthOf } from '../../../domain/calendar.ts';
import { parseTypedAmount } from '../../../domain/money.ts';
import { OPERATIONS } from '../../../domain/statuses.ts';
import { listContracts } from '../../../ledger/stated/commission-contracts.ts';
import { type Fees, readFees } from '../../../ledger/stated/read-fees.ts';
import { addCommission, fees, type PresentedFees, undoCommission } from '../../../operations/books/commissions.ts';
import type { GivenOf } from '../../../operations/define-change.ts';
import { presentPlatform } from '../../../operations/mask-texts.ts';
import { describeCode } from '../../../texts/fill.ts';
import { t, untranslated } from '../../../texts/translate.ts';
import { getCaller } from '../../access/authorize.ts';
import { createRouter } from '../../create-router.ts';
import { nameActors } from '../access/name-actors.ts';
import { balanceTabs, FEES } from '../balances/describe-stated.ts';
import { moneyField, readMoney } from '../balances/form-fields.ts';
import { serveTwoStepForm } from '../forms/serve-two-step-form.ts';
import { ofChange, previewOf, type TwoStepForm } from '../forms/two-step-form.ts';
import { choiceField, dayField, formatMoneyInput, inputField } from '../parts/fields.ts';
import { formatCount, formatDay, formatWallTime, moment, money, moneyOf } from '../parts/format.ts';
import { type Html, html, tHtml } from '../parts/html.ts';
import { buttonLink, facts, filterForm, table, transactionLink } from '../parts/page-components.ts';
import { readQuery } from '../parts/parse-filters.ts';
import {
  type PlatformNames,
  platformLink,
  readBookedPlatformWords,
  readPlatformNames,
} from '../parts/read-platform-names.ts';
import { hasRole, sendPage } from '../parts/send-page.ts';
import { OPERATION_WORDS } from '../parts/words.ts';
import { nameMonth, parseMonth } from '../reports/month.ts';
import { sendFees } from './send-fees.ts';

const BASIS_POINTS_MAX = 10_000n;
const CONTRACTS_SHOWN = 50;

/** The page of a month's fees, and the form that states a contract. */
export function feePages(context: Context): Router {
  const reading = { ...context, db: limitStatementTime(context.db) };
  const router = createRouter();
  router.use(serveTwoStepForm(context, contractForm(context)));
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
  const { payments, total } = shown;
  const names = await readPlatformNames(context, response);
  const field = inputField(
    { values: { month }, faults: {} },
    { name: 'month', label: 'Mês' },
    html` type="month" max="${today}"`,
  );
  const body = html`<h1>${t(FEES.title)}</h1>${balanceTabs(response, FEES.address)}
${filterForm(FEES.address, field, false)}
<section><h2>${nameMonth(month)}</h2>${feeTable(shown, names)}
<p class="hint">${t('Dos pagamentos pagos no mês, com a tarifa que têm agora. A diferença conta só os que um contrato cobre.')} ${t('A diferença inclui o arredondamento de cada pagamento; a divergência (commission_not_agreed) não: podem diferir por centavos.')}</p>
${renderDownloads(`${FEES.address}?month=${month}`)}
${hasRole(response, ...addCommission.roles) && html`<p class="actions">${buttonLink(`${FEES.address}/new`, t('Informar um contrato'))}</p>`}</section>
${shown.by_hand.length > 0 && html`<section><h2>${t('Tarifas lançadas por pessoas')}</h2>${byHandTable(shown, names)}</section>`}
<section><h2>${t('Contratos informados')}</h2>${await contractTable(context, response, names)}</section>
<section><h2>${t('Pagamentos fora do contrato')}</h2>${differingTable(shown)}${total.differing > payments.length && html`<p class="hint">${t('Aqui estão {count} de {total}.', { count: formatCount(payments.length), total: formatCount(total.differing) })}</p>`}</section>`;
  sendPage(request, response, { title: `${t(FEES.title)} · ${nameMonth(month)}`, body });
}

function renderDownloads(address: string): Html {
  return html`<p class="hint">${t('Baixar')}: <span class="files"><a href="${`${address}&format=csv`}" download>${untranslated('CSV')}</a> <a href="${`${address}&format=xlsx`}" download>${t('Planilha')}</a></span></p>`;
}

function feeTable({ rows, total }: PresentedFees, names: PlatformNames): Html {
  const shown: (Omit<PresentedFees['rows'][number], 'platform' | 'operation'> & { head: Html; operation: string })[] = [
    ...rows.map((row) => ({
      ...row,
      head: platformLink(names, row.platform),
      operation: describeCode(OPERATION_WORDS, row.operation),
    })),
    ...(rows.length > 1 ? [{ ...total, head: html`<b>${t('Total')}</b>`, operation: '' }] : []),
  ];
  return table({
    caption: 'Tarifas por plataforma e operação',
    rows: shown,
    empty: 'Nada foi pago neste mês.',
    columns: [
      { title: 'Plataforma', cell: (row) => row.head },
      { title: 'Operação', cell: (row) => row.operation },
      { title: 'Pagamentos', cell: (row) => formatCount(row.payments), align: 'end' },
      { title: 'Cobrado', cell: (row) => moneyOf(row.charged), align: 'end' },
      { title: 'Pelo contrato', cell: (row) => moneyOf(isCovered(row) ? row.agreed : null), align: 'end' },
      { title: 'Diferença', cell: (row) => moneyOf(isCovered(row) ? row.difference : null), align: 'end' },
      { title: 'Fora do contrato', cell: (row) => formatCount(row.differing), align: 'end' },
      { title: 'Sem contrato', cell: (row) => formatCount(row.uncovered), align: 'end' },
    ],
  });
}

function isCovered({ payments, uncovered }: { payments: number; uncovered: number }): boolean {
  return uncovered < payments;
}

function byHandTable({ by_hand: rows }: PresentedFees, names: PlatformNames): Html {
  return table({
    caption: 'Tarifas lançadas por pessoas',
    rows,
    empty: '',
    columns: [
      { title: 'Plataforma', cell: (row) => platformLink(names, row.platform) },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
    ],
  });
}

function differingTable({ payments, total }: PresentedFees): Html {
  return table({
    caption: 'Pagamentos fora do contrato',
    rows: payments,
    empty:
      total.uncovered === total.payments
        ? 'Nenhum contrato cobre estes pagamentos.'
        : 'Nenhum dos que um contrato cobre.',
    columns: [
      { title: 'Transação', cell: (row) => transactionLink(row.transaction_id) },
      { title: 'Quando', cell: (row) => formatWallTime(row.at) },
      { title: 'Valor', cell: (row) => moneyOf(row.amount), align: 'end' },
      { title: 'Cobrado', cell: (row) => moneyOf(row.charged), align: 'end' },
      { title: 'Pelo contrato', cell: (row) => moneyOf(row.agreed), align: 'end' },
      { title: 'Diferença', cell: (row) => moneyOf(row.difference), align: 'end' },
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
      { title: 'Situação', cell: (row) => nameState(row, today) },
    ],
  });
  const undo = hasRole(response, ...undoCommission.roles) && rows.find(({ withdrawn }) => !withdrawn);
  return html`${contracts}${found.length > rows.length && html`<p class="hint">${t('Aqui estão {count}.', { count: formatCount(rows.length) })}</p>`}
${undo && html`<p class="hint">${tHtml('Para retirar um contrato: {command}.', { command: html`<code>confere commissions undo ${undo.id}</code>` })}</p>`}`;
}

function nameState({ withdrawn, from, to }: { withdrawn: boolean; from: Day; to: Day | null }, today: Day): string {
  if (withdrawn) return t('Retirado');
  if (from > today) return t('Por vir');
  return to !== null && to < today ? t('Encerrado') : t('Em vigor');
}

type Stated = GivenOf<typeof addCommission>;

function contractForm(context: Context): TwoStepForm<Stated, Record<string, string>> {
  return {
    ...ofChange(addCommission),
    address: `${FEES.address}/new`,
    title: 'Informar um contrato',
    lead: 'O que o provedor pode cobrar por pagamento: um valor fixo mais uma parte do valor. O contrato mais novo vale sobre os anteriores.',
    list: FEES,
    names: ['platform', 'operation', 'fixed', 'percent', 'from', 'to'],
    find: (_request, response) => readBookedPlatformWords(context, response),
    fields: async (
      draft,
      platforms,
    ) => html`<div class="fields">${choiceField(draft, { name: 'platform', label: 'Plataforma', words: platforms, any: 'Todas' })}
${choiceField(draft, { name: 'operation', label: 'Operação', words: OPERATION_WORDS })}
${moneyField(draft, { name: 'fixed', label: 'Valor fixo, em R$' })}
${inputField(draft, { name: 'percent', label: 'Parte do valor, em %', hint: 'Duas casas no máximo.' }, html` maxlength="6" placeholder="${formatMoneyInput(99n)}"`)}
${dayField(draft, { name: 'from', label: 'De' })}${dayField(draft, { name: 'to', label: 'Até', hint: 'Vazio: até que outro seja informado.' })}</div>`,
    read(draft) {
      const { platform, operation, from = '', to } = draft.values;
      const { fixed: typedFixed = '', percent = '' } = draft.values;
      // one may be left blank beside the other
      const fixed = typedFixed === '' && percent !== '' ? 0n : readMoney(draft, 'fixed');
      const points = percent === '' && typedFixed !== '' ? 0n : (parseTypedAmount(percent) ?? -1n);
      if (fixed < 0n) draft.faults.fixed ??= t('Escreva o valor sem sinal.');
      if (points < 0n || points > BASIS_POINTS_MAX) draft.faults.percent = t('De 0 a 100 %.');
      if (from === '') draft.faults.from = t('Escolha um dia.');
      if (to && to < from) draft.faults.to = t('Vem antes do primeiro dia.');
      const of = OPERATIONS.find((one) => one === operation) ?? 'cashin';
      return { platform: platform || null, operation: of, fixed, basis_points: Number(points), from, to: to || null };
    },
    async preview(stated, platforms) {
      await previewOf(context, addCommission, stated);
      const month = addMonths(monthOf(context.calendar.dayOf(context.clock.now())), -1);
      const contract = {
        ...stated,
        id: '',
        fixedCents: stated.fixed,
        basisPoints: stated.basis_points,
        from: `${month}-01`,
        to: null,
      };
      const would = sumOf(await readFees(context.db, month, { given: [contract] }), stated);
      return html`${facts([
        ['Plataforma', stated.platform === null ? t('Todas') : (platforms[stated.platform] ?? stated.platform)],
        ['Operação', describeCode(OPERATION_WORDS, stated.operation)],
        ['Valor fixo, em R$', money(stated.fixed)],
        ['Parte do valor, em %', formatMoneyInput(BigInt(stated.basis_points))],
        ['De', formatDay(stated.from)],
        ['Até', stated.to && formatDay(stated.to)],
      ])}<p class="explain">${would.payments === 0 ? t('{month} não teve pagamentos que este contrato cobre: não há o que comparar.', { month: nameMonth(month) }) : tHtml('Por este contrato, {month} teria custado {agreed}; foi cobrado {charged}.', { month: nameMonth(month), agreed: money(would.agreed), charged: money(would.charged) })}</p>`;
    },
    done: 'contract_stated',
  };
}

function sumOf({ rows }: Fees, { platform, operation }: Stated) {
  const own = rows.filter((row) => row.operation === operation && (platform === null || row.platform === platform));
  const add = (get: (row: (typeof own)[number]) => bigint): bigint => own.reduce((sum, row) => sum + get(row), 0n);
  const payments = own.reduce((sum, row) => sum + row.payments, 0);
  return { agreed: add((row) => row.agreed), charged: add((row) => row.charged), payments };
}
