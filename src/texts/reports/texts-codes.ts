/** Words of codes that files and pages share, and the help of columns. */
import { EN_TEXTS } from '../alerts/texts-en.ts';
import { PT_BR_TEXTS } from '../alerts/texts-pt-br.ts';

export const CODES_PT_BR = {
  /** Whose the two sides of a mismatch's evidence are; of a kind that is not here, nobody says it. */
  evidenceSides: {
    'amount_differs.expected': 'no razão',
    'amount_differs.actual': 'o provedor mostra',
    'commission_differs.expected': 'no razão',
    'commission_differs.actual': 'o provedor mostra',
    'reference_differs.expected': 'no razão',
    'reference_differs.actual': 'o provedor mostra',
    'status_differs.expected': 'no razão',
    'status_differs.actual': 'o provedor mostra',
    'commission_not_agreed.expected': 'pelo contrato',
    'commission_not_agreed.actual': 'cobrado',
    'balance_differs.expected': 'informado',
    'balance_differs.actual': 'no razão',
    'webhook_contradiction.expected': 'o webhook dizia',
    'webhook_contradiction.actual': 'o provedor mostra',
  },
  /** Help beside the header of a column: up to 255 characters. */
  help: {
    kind: 'Retenção: dinheiro de um pagamento que ainda não saiu; continua no saldo, mas não está disponível. Liberação: o mesmo dinheiro volta a estar disponível, porque o pagamento foi pago ou recusado. Nenhuma das duas muda o saldo.',
    heldChange: 'Quanto este movimento retém (positivo) ou libera (negativo). O retido faz parte do saldo.',
    net: 'Valor − tarifa: quanto o saldo muda.',
    recordedAt: 'Quando o Confere soube deste movimento; pode ser depois do dia em que aconteceu.',
    source: 'De onde veio: um webhook, a lista do provedor, uma consulta, ou uma pessoa.',
    atStake: 'O dinheiro que a divergência põe em dúvida; vazio onde não é questão de dinheiro.',
    effect: 'Quanto a devolução muda o saldo, com a tarifa que voltou.',
  },
  /** The accounts of the ledger and of a chart, without their platforms. */
  accounts: {
    'Assets:Provider:Available': 'Saldo disponível no provedor',
    'Assets:Provider:Held': 'Saldo retido no provedor',
    'Assets:Provider:Blocked': 'Saldo bloqueado no provedor',
    'Assets:Bank': 'Conta no banco',
    'Expenses:Commission:Cashin': 'Tarifas sobre recebimentos',
    'Expenses:Commission:Cashout': 'Tarifas sobre pagamentos',
    'Expenses:Fees': 'Outras tarifas',
    'Liabilities:Receipts': 'Recebimentos',
    'Liabilities:RefundsMade': 'Devoluções feitas',
    'Liabilities:Payables': 'Pagamentos',
    'Liabilities:RefundsReceived': 'Devoluções recebidas',
    'Equity:Opening': 'Saldo inicial',
    'Equity:Adjustments': 'Outros ajustes',
  },
  dayTotal: '{account}, {platform}; lançamentos somados: {count}',
  noPlatform: 'sem plataforma',
  /** Also of actors that are no person: their ids are these names. */
  roles: {
    viewer: 'Leitura',
    accountant: 'Contabilidade',
    operator: 'Operação',
    admin: 'Administração',
    merchant: 'Lojista',
    command: 'Linha de comando',
  },
  /** Kinds of adjustments, and where the money goes: out of the available balance, or into it. */
  adjustmentKinds: {
    bank_out: 'Saque',
    bank_in: 'Depósito',
    fee_out: 'Tarifa',
    fee_in: 'Tarifa devolvida',
    block_out: 'Bloqueio',
    block_in: 'Desbloqueio',
    other_out: 'Outra saída',
    other_in: 'Outra entrada',
  },
  resolutions: {
    applied: 'aplicada na hora',
    fresh_evidence: 'o que a abriu não vale mais',
    reprocessed: 'o webhook foi reprocessado com sucesso',
    revised: 'a nova revisão do relatório saiu',
    by_hand: 'resolvida por uma pessoa: a nossa versão fica',
    accepted: 'uma pessoa aceitou a versão do provedor',
  },
  mismatchTitles: titlesOf(PT_BR_TEXTS),
} as const;

export const CODES_EN = {
  evidenceSides: {
    'amount_differs.expected': 'in the ledger',
    'amount_differs.actual': 'the provider shows',
    'commission_differs.expected': 'in the ledger',
    'commission_differs.actual': 'the provider shows',
    'reference_differs.expected': 'in the ledger',
    'reference_differs.actual': 'the provider shows',
    'status_differs.expected': 'in the ledger',
    'status_differs.actual': 'the provider shows',
    'commission_not_agreed.expected': 'by contract',
    'commission_not_agreed.actual': 'charged',
    'balance_differs.expected': 'stated',
    'balance_differs.actual': 'in the ledger',
    'webhook_contradiction.expected': 'the webhook said',
    'webhook_contradiction.actual': 'the provider shows',
  },
  help: {
    kind: 'Hold: money of a payment that has not left yet; it stays in the balance but is not available. Release: the same money is available again, because the payment was paid or denied. Neither changes the balance.',
    heldChange: 'How much this movement holds (positive) or releases (negative). What is held is part of the balance.',
    net: 'Amount − commission: by how much the balance changes.',
    recordedAt: 'When Confere learnt of this movement; perhaps after the day on which it happened.',
    source: 'Where it came from: a webhook, the provider’s list, a query, or a person.',
    atStake: 'The money that the mismatch puts in doubt; empty where it is no matter of money.',
    effect: 'By how much the refund changes the balance, with the commission that came back.',
  },
  accounts: {
    'Assets:Provider:Available': 'Available balance at the provider',
    'Assets:Provider:Held': 'Held balance at the provider',
    'Assets:Provider:Blocked': 'Blocked balance at the provider',
    'Assets:Bank': 'Bank account',
    'Expenses:Commission:Cashin': 'Commissions on receipts',
    'Expenses:Commission:Cashout': 'Commissions on payments',
    'Expenses:Fees': 'Other fees',
    'Liabilities:Receipts': 'Receipts',
    'Liabilities:RefundsMade': 'Refunds made',
    'Liabilities:Payables': 'Payments',
    'Liabilities:RefundsReceived': 'Refunds received',
    'Equity:Opening': 'Opening balance',
    'Equity:Adjustments': 'Other adjustments',
  },
  dayTotal: '{account}, {platform}; entries added up: {count}',
  noPlatform: 'no platform',
  roles: {
    viewer: 'Viewer',
    accountant: 'Accountant',
    operator: 'Operator',
    admin: 'Admin',
    merchant: 'Merchant',
    command: 'Command line',
  },
  adjustmentKinds: {
    bank_out: 'Withdrawal',
    bank_in: 'Deposit',
    fee_out: 'Fee',
    fee_in: 'Fee returned',
    block_out: 'Block',
    block_in: 'Unblock',
    other_out: 'Other, out',
    other_in: 'Other, in',
  },
  resolutions: {
    applied: 'applied at once',
    fresh_evidence: 'what opened it is no longer so',
    reprocessed: 'the webhook was reprocessed',
    revised: 'the new revision of the report was made',
    by_hand: 'resolved by a person: our version stays',
    accepted: 'a person accepted the provider’s version',
  },
  mismatchTitles: titlesOf(EN_TEXTS),
};

/** Alerts and sheets call a kind of mismatch by one name. */
function titlesOf(texts: Record<string, { title: string }>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([kind, { title }]) => [kind, title]));
}
