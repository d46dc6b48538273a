import type { Response } from 'express';
import type { Context } from '../../../context.ts';
import { selectTransactions, toLedgerTransaction } from '../../../database/shared/read-transactions.ts';
import { isOfExpectedPayment } from '../../../domain/mismatch.ts';
import { parseSum } from '../../../domain/money.ts';
import { maskTransaction, presentTransaction } from '../../../domain/present-transaction.ts';
import type { ExpectedState } from '../../../expected/decide/decide-state.ts';
import { splitAmount } from '../../../expected/decide/split-amount.ts';
import type { PresentedExpected } from '../../../expected/read/list-expected.ts';
import type { readOpenMismatches } from '../../../mismatches/read-open-mismatches.ts';
import { matchOne } from '../../../operations/expected/expected.ts';
import { describeCode } from '../../../texts/fill.ts';
import { type Label, plural, t, words } from '../../../texts/translate.ts';
import { auditShownTransactions, canSeePersonalData } from '../../access/authorize.ts';
import { MISMATCH_TITLES } from '../mismatches/explain-mismatch.ts';
import { formatCount, formatDay, moment, money, moneyOf, shortId } from '../parts/format.ts';
import { type Html, html, type Part, tHtml } from '../parts/html.ts';
import { badge, buttonLink, facts, type TableColumn, table, transactionLink } from '../parts/page-components.ts';
import { type PlatformNames, spellPlatform } from '../parts/read-platform-names.ts';
import { hasRole } from '../parts/send-page.ts';
import { OPERATION_CHOICES, ORDER_STATE_WORDS } from '../parts/words.ts';

export const EXPECTED = { address: '/expected', title: 'Pedidos' } as const;
export const UNDECIDED = { address: '/expected/undecided', title: 'A casar' } as const;

/** How soon a page asks again whether its order is decided. */
const DECIDED_AFTER_S = 1;

export const RULE_WORDS: Record<string, string> = words({
  person: 'uma pessoa',
  reference: 'referência',
  e2e_id: 'id E2E',
  invoice: 'nota fiscal',
  extra: 'extra',
  document: 'documento e valor',
});

const CANDIDATE_WORDS: Record<string, string> = words({
  not_unique: 'não é o único que serve',
  undone: 'uma pessoa desfez este par',
  pending: 'ainda não foi pago',
});

/** The unresolved mismatches of orders, each kind linked to its list; nothing where there are none. */
export function orderMismatches(open: Awaited<ReturnType<typeof readOpenMismatches>>): Part {
  const kinds = Map.groupBy(
    open.filter(({ kind }) => isOfExpectedPayment(kind)),
    ({ kind }) => kind,
  );
  const count = (rows: readonly { count: number }[]): string =>
    formatCount(rows.reduce((sum, one) => sum + one.count, 0));
  const links = [...kinds].map(
    ([kind, rows], index) =>
      html`${index > 0 && ', '}<a href="/mismatches?kind=${kind}">${describeCode(MISMATCH_TITLES, kind)} ${count(rows)}</a>`,
  );
  return (
    links.length > 0 &&
    html`<p class="strip">${tHtml('Divergências de pedidos por resolver: {n} ({kinds}).', { n: html`<b>${count([...kinds.values()].flat())}</b>`, kinds: links })}</p>`
  );
}

export function stateBadge(state: ExpectedState): Html {
  return badge(ORDER_STATE_WORDS, state);
}

const MARK_WORDS: Record<string, string> = words({ unfindable: 'nenhum pagamento é achado' });

/** A day of payment, and how late it is or was. */
export function dueDay({ due_day: day, late_days: late }: PresentedExpected): Html {
  return html`${formatDay(day)}${late > 0 && html`<br><small>${plural(late, '{n} dia de atraso', '{n} dias de atraso')}</small>`}`;
}

/** Part of the page of an order that waits for the follower: it reloads itself. */
export function untilDecided({ decided }: PresentedExpected) {
  return decided
    ? { hint: undefined, page: {} }
    : {
        hint: html`<p class="explain open">${t('Acaba de mudar: estado, valores e divergências ainda estão sendo calculados. Esta página se atualiza em instantes.')}</p>`,
        page: { refreshS: DECIDED_AFTER_S },
      };
}

/** The badge of the state, and of one for which no payment is found. */
export function stateBadges({ state, unfindable }: PresentedExpected): Html {
  return html`${stateBadge(state)}${unfindable && html` ${badge(MARK_WORDS, 'unfindable')}`}`;
}

export function isCancelled({ state }: { state: ExpectedState }): boolean {
  return state === 'cancelled' || state === 'paid_after_cancel';
}

export function orderLink(id: string): Html {
  return html`<a href="${EXPECTED.address}/${encodeURIComponent(id)}">${shortId(id)}</a>`;
}

/** The address of the form, filled in with a payment. */
export function addressOfMatch(order: string, transactionId = '', does: 'match' | 'unmatch' = 'match'): string {
  return `${EXPECTED.address}/${order}/${does}?${new URLSearchParams({ transaction_id: transactionId }).toString()}`;
}

/** The facts that a source gives. */
type Given = Pick<PresentedExpected, 'source' | 'number' | 'amount' | 'due_day' | 'references' | 'e2e_ids'> & {
  operation: string;
  issued_day: string | null;
} & Pick<PresentedExpected, 'valid_until' | 'platform' | 'extra' | 'name' | 'document' | 'description' | 'invoice_key'>;

/** The facts of an expected payment, as its source gave them. @param names of platforms. */
export function describeFacts(row: Given, names: PlatformNames): Html {
  return facts(listFacts(row, names));
}

/** Each fact with its label, in a fixed order. */
export function listFacts(row: Given, names: PlatformNames): [Label, Part][] {
  return [
    ['Origem', row.source],
    ['Número', row.number],
    ['Operação', describeCode(OPERATION_CHOICES, row.operation)],
    ['Valor', moneyOf(row.amount)],
    ['Vencimento', formatDay(row.due_day)],
    ['Emissão', row.issued_day && formatDay(row.issued_day)],
    ['Válido até', row.valid_until && formatDay(row.valid_until)],
    ['Plataforma', row.platform && spellPlatform(names, row.platform)],
    ['Referência', row.references.join(', ')],
    ['Id E2E', row.e2e_ids.join(', ')],
    ['Extra', row.extra],
    ['Nome', row.name],
    ['Documento', row.document],
    ['Descrição', row.description],
    ['Chave da nota', row.invoice_key],
  ];
}

/** Cents of one order, or of several. */
type Amounts = { amountCents: bigint; settledCents: bigint } & ReturnType<typeof splitAmount>;

/** The columns of an amount: what is paid, missing and too much of it. */
export function amountColumns<Of>(read: (row: Of) => Amounts): TableColumn<Of>[] {
  const column = (title: Label, cell: (row: Of) => Part): TableColumn<Of> => ({ title, cell, align: 'end' });
  const some = (cents: bigint): Part => (cents === 0n ? null : money(cents));
  return [
    column('Valor', (row) => money(read(row).amountCents)),
    column('Pago', (row) => money(read(row).settledCents)),
    column('Falta', (row) => some(read(row).owedCents)),
    column('A mais', (row) => some(read(row).surplusCents)),
    column('Não mais devido', (row) => some(read(row).notOwedCents)),
  ];
}

/** Adds up each amount of some orders. */
export function addAmounts(rows: readonly Amounts[]): Amounts {
  const sum = (name: keyof Amounts): bigint => rows.reduce((cents, row) => cents + row[name], 0n);
  const paid = { amountCents: sum('amountCents'), settledCents: sum('settledCents') };
  return { ...paid, owedCents: sum('owedCents'), surplusCents: sum('surplusCents'), notOwedCents: sum('notOwedCents') };
}

/** Cents of an order, for the columns of amounts. */
export const centsOf = ({ state, amount, paid }: PresentedExpected): Amounts => {
  const cents = { state, amountCents: parseSum(amount) ?? 0n, settledCents: parseSum(paid) ?? 0n };
  return { ...cents, ...splitAmount(cents) };
};

/** The amount of one order, what is paid of it, and what is missing, too much or no longer owed, as the columns of lists have it. */
export function amountFacts(row: PresentedExpected): (readonly [Label, Part])[] {
  return amountColumns(centsOf).map(({ title, cell }) => [title, cell(row)]);
}

/** The payments that may be its own: to those who may decide, each with a link to the form that matches it. */
export function candidateTable(
  context: Context,
  response: Response,
  { row, payments }: { row: PresentedExpected; payments: OrderPayments },
): Html {
  const mayMatch = hasRole(response, ...matchOne.roles);
  return table({
    caption: 'Pagamentos que podem ser deste pedido',
    rows: row.candidates,
    empty: 'Nenhum pagamento a casar.',
    columns: [
      { title: 'Pagamento', cell: (one) => transactionLink(one.transaction_id) },
      { title: 'Valor', cell: (one) => moneyOf(payments.get(one.transaction_id)?.amount), align: 'end' },
      { title: 'Criada em', cell: (one) => moment(context.calendar, payments.get(one.transaction_id)?.created_at) },
      { title: 'Nome', cell: (one) => payments.get(one.transaction_id)?.name ?? null },
      {
        title: 'Por quê',
        cell: (one) => html`${describeCode(RULE_WORDS, one.rule)}: ${describeCode(CANDIDATE_WORDS, one.reason)}`,
      },
      {
        title: 'Ações',
        cell: (one) =>
          mayMatch && one.reason !== 'pending'
            ? buttonLink(addressOfMatch(row.id, one.transaction_id), t('É este'))
            : null,
      },
    ],
  });
}

export type OrderPayments = Awaited<ReturnType<typeof readOrderPayments>>;

/** Reads the payments that are these orders', or may be, as the caller may see them; audited before they are shown. */
export async function readOrderPayments(context: Context, response: Response, orders: PresentedExpected[]) {
  const ids = [
    ...new Set(
      orders.flatMap(({ candidates, matches }) => [...candidates, ...matches].map((one) => one.transaction_id)),
    ),
  ];
  const rows =
    ids.length === 0 ? [] : await selectTransactions(context.db).where('transactions.id', 'in', ids).execute();
  await auditShownTransactions(context, response, 'transactions.list', {
    target: 'expected',
    transactions: rows.map(({ id }) => id),
    via: 'console',
  });
  const full = canSeePersonalData(response);
  return new Map(
    rows.map((row) => {
      const transaction = toLedgerTransaction(row);
      const presented = presentTransaction(transaction, context.calendar);
      return [row.id, full ? presented : maskTransaction(presented, transaction)] as const;
    }),
  );
}
