/** Words of codes that files and pages share, and the help of columns. */
import type { AlertKind } from '../alerts/alert-kinds.ts';
import { EN_TEXTS } from '../alerts/texts-en.ts';
import { PT_BR_TEXTS } from '../alerts/texts-pt-br.ts';
import type { Both } from '../both.ts';

/** Alerts and sheets call a kind of mismatch by one name. */
const TITLES: Record<string, Both> = Object.fromEntries(
  Object.entries(EN_TEXTS).map(([kind, { title }]) => [kind, [PT_BR_TEXTS[kind as AlertKind].title, title]]),
);

export const CODES = {
  /** Whose the two sides of a mismatch's evidence are; of a kind that is not here, nobody says it. */
  evidenceSides: {
    'amount_differs.expected': ['no razão', 'in the ledger'],
    'amount_differs.actual': ['o provedor mostra', 'the provider shows'],
    'commission_differs.expected': ['no razão', 'in the ledger'],
    'commission_differs.actual': ['o provedor mostra', 'the provider shows'],
    'reference_differs.expected': ['no razão', 'in the ledger'],
    'reference_differs.actual': ['o provedor mostra', 'the provider shows'],
    'status_differs.expected': ['no razão', 'in the ledger'],
    'status_differs.actual': ['o provedor mostra', 'the provider shows'],
    'commission_not_agreed.expected': ['pelo contrato', 'by contract'],
    'commission_not_agreed.actual': ['cobrado', 'charged'],
    'balance_differs.expected': ['informado', 'stated'],
    'balance_differs.actual': ['no razão', 'in the ledger'],
    'webhook_contradiction.expected': ['o webhook dizia', 'the webhook said'],
    'webhook_contradiction.actual': ['o provedor mostra', 'the provider shows'],
  },
  /** Help beside the header of a column: up to 255 characters. */
  help: {
    kind: [
      'Retenção: dinheiro de um pagamento que ainda não saiu; continua no saldo, mas não está disponível. Liberação: o mesmo dinheiro volta a estar disponível, porque o pagamento foi pago ou recusado. Nenhuma das duas muda o saldo.',
      'Hold: money of a payment that has not left yet; it stays in the balance but is not available. Release: the same money is available again, because the payment was paid or denied. Neither changes the balance.',
    ],
    heldChange: [
      'Quanto este movimento retém (positivo) ou libera (negativo). O retido faz parte do saldo.',
      'How much this movement holds (positive) or releases (negative). What is held is part of the balance.',
    ],
    net: ['Valor − tarifa: quanto o saldo muda.', 'Amount − commission: by how much the balance changes.'],
    recordedAt: [
      'Quando o Confere soube deste movimento; pode ser depois do dia em que aconteceu.',
      'When Confere learnt of this movement; perhaps after the day on which it happened.',
    ],
    source: [
      'De onde veio: um webhook, a lista do provedor, uma consulta, ou uma pessoa.',
      'Where it came from: a webhook, the provider’s list, a query, or a person.',
    ],
    atStake: [
      'O dinheiro que a divergência põe em dúvida; vazio onde não é questão de dinheiro.',
      'The money that the mismatch puts in doubt; empty where it is no matter of money.',
    ],
    effect: [
      'Quanto a devolução muda o saldo, com a tarifa que voltou.',
      'By how much the refund changes the balance, with the commission that came back.',
    ],
  },
  /** The accounts of the ledger and of a chart, without their platforms. */
  accounts: {
    'Assets:Provider:Available': ['Saldo disponível no provedor', 'Available balance at the provider'],
    'Assets:Provider:Held': ['Saldo retido no provedor', 'Held balance at the provider'],
    'Assets:Provider:Blocked': ['Saldo bloqueado no provedor', 'Blocked balance at the provider'],
    'Assets:Bank': ['Conta no banco', 'Bank account'],
    'Expenses:Commission:Cashin': ['Tarifas sobre recebimentos', 'Commissions on receipts'],
    'Expenses:Commission:Cashout': ['Tarifas sobre pagamentos', 'Commissions on payments'],
    'Expenses:Fees': ['Outras tarifas', 'Other fees'],
    'Liabilities:Receipts': ['Recebimentos', 'Receipts'],
    'Liabilities:RefundsMade': ['Devoluções feitas', 'Refunds made'],
    'Liabilities:Payables': ['Pagamentos', 'Payments'],
    'Liabilities:RefundsReceived': ['Devoluções recebidas', 'Refunds received'],
    'Equity:Opening': ['Saldo inicial', 'Opening balance'],
    'Equity:Adjustments': ['Outros ajustes', 'Other adjustments'],
  },
  dayTotal: ['{account}, {platform}; lançamentos somados: {count}', '{account}, {platform}; entries added up: {count}'],
  noPlatform: ['sem plataforma', 'no platform'],
  /** Also of actors that are no person: their ids are these names. */
  roles: {
    viewer: ['Leitura', 'Viewer'],
    accountant: ['Contabilidade', 'Accountant'],
    operator: ['Operação', 'Operator'],
    admin: ['Administração', 'Admin'],
    merchant: ['Lojista', 'Merchant'],
    command: ['Linha de comando', 'Command line'],
  },
  /** Kinds of adjustments, and where the money goes: out of the available balance, or into it. */
  adjustmentKinds: {
    bank_out: ['Saque', 'Withdrawal'],
    bank_in: ['Depósito', 'Deposit'],
    fee_out: ['Tarifa', 'Fee'],
    fee_in: ['Tarifa devolvida', 'Fee returned'],
    block_out: ['Bloqueio', 'Block'],
    block_in: ['Desbloqueio', 'Unblock'],
    other_out: ['Outra saída', 'Other, out'],
    other_in: ['Outra entrada', 'Other, in'],
  },
  resolutions: {
    applied: ['aplicada na hora', 'applied at once'],
    fresh_evidence: ['o que a abriu não vale mais', 'what opened it is no longer so'],
    reprocessed: ['o webhook foi reprocessado com sucesso', 'the webhook was reprocessed'],
    revised: ['a nova revisão do relatório saiu', 'the new revision of the report was made'],
    by_hand: ['resolvida por uma pessoa: a nossa versão fica', 'resolved by a person: our version stays'],
    accepted: ['uma pessoa aceitou a versão do provedor', 'a person accepted the provider’s version'],
  },
  mismatchTitles: TITLES,
} as const;
