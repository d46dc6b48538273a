import type { MismatchKind } from '../../domain/mismatch.ts';
import type { Both } from '../both.ts';

/** Names of the causes of mismatches in a report. */
export const MISMATCHES = {
  webhook_lost: [
    'O provedor não anunciou uma mudança (o webhook nunca chegou); ela foi achada pela conferência e aplicada',
    'The provider did not announce a change (the webhook never came); reconciliation found it and applied it',
  ],
  webhook_contradiction: [
    'Um anúncio em nome do provedor (webhook) disse o que ele não mostra',
    'An announcement in the name of the provider (webhook) claimed what it does not show',
  ],
  status_differs: ['O provedor contradiz a história que temos', 'The provider contradicts the history that we hold'],
  illegal_transition: ['A transação saiu de uma situação final', 'The transaction left a final status'],
  amount_differs: ['O valor ou a operação mudou no provedor', 'Amount or operation changed at the provider'],
  commission_differs: ['A tarifa mudou depois do pagamento', 'The commission changed after payment'],
  commission_not_agreed: [
    'As tarifas cobradas num dia não são as do contrato informado',
    "The commissions charged on a day are not the stated contract's",
  ],
  reference_differs: [
    'Referência, extra, plataforma ou data de criação mudou no provedor',
    'Reference, extra, platform or creation date changed at the provider',
  ],
  duplicate_reference: ['Duas transações com a mesma referência', 'Two transactions with one reference'],
  missing_at_provider: ['Temos a transação, o provedor não', 'We hold the transaction, the provider does not'],
  list_omission: ['A lista do provedor omite a transação', "The provider's list omits the transaction"],
  list_unstable: [
    'Não foi possível provar que o dia foi lido por inteiro',
    'It could not be proven that the day was read in full',
  ],
  stuck: ['Em aberto há tempo demais', 'Open for too long'],
  row_refused: ['Uma linha do provedor não pôde ser lida', "A row of the provider's could not be read"],
  field_unreadable: [
    'Um campo da transação não pôde ser lido; ela foi lançada sem ele',
    'A field of the transaction could not be read; it was posted without it',
  ],
  unknown_status: ['Situação que não conhecemos', 'A status that we do not know'],
  webhook_quarantined: [
    'Um anúncio do provedor (webhook) não pôde ser associado a uma transação',
    'An announcement of the provider (webhook) could not be matched with a transaction',
  ],
  e2e_date_differs: [
    'A data no id E2E está longe da data do pagamento',
    'The date in the E2E id is far from the payment',
  ],
  closed_day_changed: ['Um dia que já tinha relatório mudou', 'A day that already had a report changed'],
  balance_differs: ['O saldo informado não é o do razão', "The stated balance is not the ledger's"],
  amount_not_expected: ['Um pedido foi pago com outro valor', 'An order was paid with another amount'],
  paid_twice: ['Um pedido foi pago mais de uma vez', 'An order was paid more than once'],
  paid_after_cancel: ['Um pedido cancelado foi pago', 'A cancelled order was paid'],
  receipt_unidentified: ['Um recebimento não é de pedido nenhum', 'A receipt belongs to no order'],
  books_broken: ['O razão está inconsistente', 'The ledger is inconsistent'],
} as const satisfies Record<MismatchKind, Both>;
