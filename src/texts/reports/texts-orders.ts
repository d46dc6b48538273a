/** The words of orders in a report, in Brazilian Portuguese. */
export const ORDERS_PT_BR = {
  title: 'Recebimentos e pedidos (R$)',
  ofOrders: 'Recebimentos de pedidos',
  unidentified: 'Recebimentos não identificados',
  notExpected: 'Recebimentos de onde não havia pedidos',
  sum: 'Recebimentos pela soma dos três',
  sheet: 'Não identificados pela soma da planilha',
  unreported: 'Não identificados sem divergência em aberto: {count}',
  unreportedText:
    'A divergência “Recebimento sem pedido” abre 24 horas depois do pagamento: até lá, nada se decide sobre o recebimento. A de outros pode já ter sido resolvida.',
  since: 'Desde a emissão do primeiro pedido da plataforma, em {first}; de antes, só o que já teve divergência.',
  sinceEach:
    'Desde a emissão do primeiro pedido da plataforma, entre {first} e {last}; de antes, só o que já teve divergência.',
  undecided: 'Pedidos: com o que se sabia até',
} as const;

export const ORDERS_EN: Record<keyof typeof ORDERS_PT_BR, string> = {
  title: 'Receipts and orders (R$)',
  ofOrders: 'Receipts of orders',
  unidentified: 'Receipts not identified',
  notExpected: 'Receipts where there were no orders',
  sum: 'Receipts by the sum of the three',
  sheet: 'Not identified by the sheet’s sum',
  unreported: 'Not identified without an open mismatch: {count}',
  unreportedText:
    'The mismatch “Receipt without an order” opens 24 hours after the payment: until then, nothing is decided about the receipt. That of others may be resolved already.',
  since: 'Since the platform’s first order was issued, on {first}; of before, only what had a mismatch.',
  sinceEach:
    'Since the platform’s first order was issued, between {first} and {last}; of before, only what had a mismatch.',
  undecided: 'Orders: with what was known up to',
};

/** States of orders; the console has them from here. */
export const ORDER_STATES_PT_BR = {
  open: 'Em aberto',
  paid: 'Pago',
  underpaid: 'Pago a menos',
  overpaid: 'Pago a mais',
  paid_twice: 'Pago mais de uma vez',
  partly_refunded: 'Devolvido em parte',
  refunded: 'Devolvido',
  unpaid: 'Não pago',
  not_proven: 'Ainda não provado',
  cancelled: 'Cancelado',
  paid_after_cancel: 'Pago depois de cancelado',
} as const;

export const ORDER_STATES_EN: Record<keyof typeof ORDER_STATES_PT_BR, string> = {
  open: 'Open',
  paid: 'Paid',
  underpaid: 'Underpaid',
  overpaid: 'Overpaid',
  paid_twice: 'Paid more than once',
  partly_refunded: 'Partly refunded',
  refunded: 'Refunded',
  unpaid: 'Unpaid',
  not_proven: 'Not proven yet',
  cancelled: 'Cancelled',
  paid_after_cancel: 'Paid after it was cancelled',
};
