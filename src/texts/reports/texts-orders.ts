/** The words of orders in a report. */
export const ORDERS = {
  title: ['Recebimentos e pedidos (R$)', 'Receipts and orders (R$)'],
  ofOrders: ['Recebimentos de pedidos', 'Receipts of orders'],
  unidentified: ['Recebimentos não identificados', 'Receipts not identified'],
  notExpected: ['Recebimentos de onde não havia pedidos', 'Receipts where there were no orders'],
  sum: ['Recebimentos pela soma dos três', 'Receipts by the sum of the three'],
  sheet: ['Não identificados pela soma da planilha', 'Not identified by the sheet’s sum'],
  unreported: [
    'Não identificados sem divergência em aberto: {count}',
    'Not identified without an open mismatch: {count}',
  ],
  unreportedText: [
    'A divergência “Recebimento sem pedido” abre 24 horas depois do pagamento: até lá, nada se decide sobre o recebimento. A de outros pode já ter sido resolvida.',
    'The mismatch “Receipt without an order” opens 24 hours after the payment: until then, nothing is decided about the receipt. That of others may be resolved already.',
  ],
  since: [
    'Desde a emissão do primeiro pedido da plataforma, em {first}; de antes, só o que já teve divergência.',
    'Since the platform’s first order was issued, on {first}; of before, only what had a mismatch.',
  ],
  sinceEach: [
    'Desde a emissão do primeiro pedido da plataforma, entre {first} e {last}; de antes, só o que já teve divergência.',
    'Since the platform’s first order was issued, between {first} and {last}; of before, only what had a mismatch.',
  ],
  undecided: ['Pedidos: com o que se sabia até', 'Orders: with what was known up to'],
} as const;

/** States of orders; the console has them from here. */
export const ORDER_STATES = {
  open: ['Em aberto', 'Open'],
  paid: ['Pago', 'Paid'],
  underpaid: ['Pago a menos', 'Underpaid'],
  overpaid: ['Pago a mais', 'Overpaid'],
  paid_twice: ['Pago mais de uma vez', 'Paid more than once'],
  partly_refunded: ['Devolvido em parte', 'Partly refunded'],
  refunded: ['Devolvido', 'Refunded'],
  unpaid: ['Não pago', 'Unpaid'],
  not_proven: ['Ainda não provado', 'Not proven yet'],
  cancelled: ['Cancelado', 'Cancelled'],
  paid_after_cancel: ['Pago depois de cancelado', 'Paid after it was cancelled'],
} as const;
