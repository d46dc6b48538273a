/** The pages of expected payments. */
export const EXPECTED_EN = {
  Pedidos: 'Orders',
  Pagamento: 'Payment',
  'Acaba de mudar: estado, valores e divergências ainda estão sendo calculados. Esta página se atualiza em instantes.':
    'It has just changed: state, amounts and mismatches are still being computed. This page reloads itself in a moment.',
  '"decided": false na resposta: o pedido acaba de mudar, pergunte de novo em um segundo.':
    '"decided": false in the answer: the order has just changed, ask again after a second.',
  'Cobre o que falta. Ou, se o valor certo é o que foi pago, envie o pedido com ele:':
    'Collect what is missing. Or, if the right amount is what was paid, send the order with it:',
  'Devolva o que sobrou. Ou, se o valor certo é o que foi pago, envie o pedido com ele:':
    'Return what is too much. Or, if the right amount is what was paid, send the order with it:',
  'Devolva o pagamento que sobra: o estado muda sozinho quando a devolução chega.':
    'Return the payment that is too much: the state changes by itself once the refund arrives.',
  'Devolva o pagamento: cancelar não devolve nada. Ou reabra o pedido:':
    'Return the payment: cancelling returns nothing. Or reopen the order:',
  'Se foi engano, reabra o pedido:': 'If it was a mistake, reopen the order:',
  'Antes de cobrar de novo, veja se o pagamento veio com outra referência, ou conta para outro pedido. Um que chega depois ainda conta. Ou cancele o pedido:':
    'Before you collect again, see whether the payment came with another reference, or counts for another order. One that arrives later still counts. Or cancel the order:',
  'Antes de cobrar de novo, confira os pagamentos parecidos, abaixo. Um que chega depois ainda conta. Ou cancele o pedido:':
    'Before you collect again, check the similar payments, below. One that arrives later still counts. Or cancel the order:',
  'Pagamentos parecidos': 'Similar payments',
  'São pistas: nenhum foi casado com este pedido, e pode haver outros.':
    'These are hints: none was matched with this order, and there may be others.',
  'Se um é deste pedido, envie o pedido de novo com a referência e a plataforma que vieram (PUT), ou peça à operação que o case.':
    'If one belongs to this order, send the order again with the reference and the platform that came (PUT), or ask the operators to match it.',
  'Se um é deste pedido, case-o.': 'If one belongs to this order, match it.',
  'igual documento e valor': 'equal document and amount',
  'igual extra': 'equal extra',
  'parecido: a referência só difere na escrita': 'similar: the reference differs in its spelling alone',
  'é deste pedido, mas de outra plataforma que a sua': 'is of this order, but of another platform than its own',
  'parecido: igual valor, e nada mais': 'similar: equal amount, and nothing else',
  'casou com o pedido {order}': 'matched with order {order}',
  'casou com outro pedido': 'matched with another order',
  'Espere: a operação ainda confere estes dias. Um pagamento que chega ainda conta.':
    'Wait: the operators are still proving these days. A payment that arrives still counts.',
  'A casar': 'To match',
  'nenhuma sai': 'none is sent',
  'Não cobre ainda: há um pagamento que pode ser deste pedido, abaixo.':
    'Do not collect yet: there is a payment that may belong to this order, below.',
  'O número inteiro.': 'The whole number.',
  'A referência inteira.': 'The whole reference.',
  Pago: 'Paid',
  Devolvido: 'Refunded',
  Cancelado: 'Cancelled',
  'uma pessoa': 'a person',
  'nota fiscal': 'invoice',
  'documento e valor': 'document and amount',
  'não é o único que serve': 'not the only one that fits',
  'uma pessoa desfez este par': 'a person undid this pair',
  'ainda não foi pago': 'not paid yet',
  'a receber': 'to receive',
  'a pagar': 'to pay',
  Número: 'Number',
  'Número do pedido': 'Order number',
  'Casado à mão, sem observação': 'Matched by hand, without a note',
  'Casar um pagamento': 'Match a payment',
  'O pagamento passa a contar para este pedido. Dá para desfazer na página do pedido.':
    'The payment counts for this order from then on. It can be undone on the page of the order.',
  'O id da transação, ou o seu id E2E.': 'The id of the transaction, or its E2E id.',
  'Observação (opcional)': 'Note (optional)',
  'Escreva o id de um pagamento.': 'Write the id of a payment.',
  Falta: 'Missing',
  'A mais': 'Too much',
  'Não mais devido': 'No longer owed',
  'Conta para o pedido': 'Counts for the order',
  'Deixa de contar para o pedido': 'No longer counts for the order',
  'Separar do pedido': 'Take off the order',
  'O pagamento deixa de contar para este pedido, e nenhuma regra casa este par de novo. Dá para casá-lo à mão outra vez.':
    'The payment no longer counts for this order, and no rule matches this pair again. It can be matched by hand again.',
  'Valor do pagamento': 'Amount of the payment',
  'O pedido fica:': 'The order becomes:',
  'Resolve a divergência {titles}.': 'It resolves the mismatch {titles}.',
  'Abre a divergência {titles}.': 'It opens the mismatch {titles}.',
  'Nenhuma divergência muda.': 'No mismatch changes.',
  'Casar com o pedido': 'Match with the order',
  'Pagamentos deste valor desde a emissão': 'Payments of this amount since the issue',
  'Este pagamento não é de pedido nenhum': 'This payment belongs to no order',
  'Novo pedido deste pagamento': 'New order of this payment',
  Vencimento: 'Due',
  Emissão: 'Issued',
  'Válido até': 'Valid until',
  'Chave da nota': 'Invoice key',
  'Pagamentos que podem ser deste pedido': 'Payments that may belong to this order',
  'Nenhum pagamento a casar.': 'No payment to match.',
  'É este': 'It is this one',
  'Todos os estados': 'All states',
  'Documento do pagamento': 'Document of the payment',
  'Documento do pedido': 'Document of the order',
  'Os documentos são diferentes: confira se quem pagou pagou este pedido.':
    'The documents differ: check whether who paid did pay this order.',
  'devolvido {amount}': 'refunded {amount}',
  'Pagamento parecido': 'Payment alike',
  'há um': 'there is one',
  'Igual valor, ou igual referência em outra plataforma: abra cada pedido para compará-lo com o pagamento.':
    'Of equal amount, or of equal reference at another platform: open each order to compare it with the payment.',
  'a cobrar': 'to ask for payment',
  Cobrança: 'Asking for payment',
  'Para cobrar: os não pagos sem disputa, nem pagamento parecido':
    'To ask for payment: the unpaid ones without a dispute, or a similar payment',
  'Antes de cobrar: os não pagos que um pagamento que não é de pedido nenhum pode ter pago':
    'Before you ask for payment: the unpaid ones that a payment that is no order’s may have paid',
  'Pode ser um destes pedidos': 'It may be one of these orders',
  'Os meses mais próximos com pedidos que vencem neles, com os outros filtros:{links}.':
    'The nearest months in which orders are due, with the other filters:{links}.',
  'Nenhum pedido por pagar deste valor vence até 30 dias antes ou depois do pagamento.':
    'No unpaid order of this amount is due within 30 days before or after the payment.',
  'Escreva um valor como nas listas.': 'Write an amount as the lists do.',
  'Nenhum pedido tem pagamento a casar.': 'No order has a payment to match.',
  'O Confere não desempata: escolha o pagamento de cada pedido, ou deixe como está.':
    'Confere breaks no ties: choose the payment of each order, or leave it as it is.',
  'Vence de': 'Due from',
  'Vence até': 'Due to',
  'Novo pedido': 'New order',
  'Pedidos, os mais novos primeiro': 'Orders, newest first',
  'Nenhum pedido.': 'No orders.',
  'Nenhum pedido: tire um filtro, ou crie um com Novo pedido.':
    'No orders: remove a filter, or make one with New order.',
  'Totais por estado': 'Totals by state',
  'Somam os {count} mais novos: filtre para somar outros.': 'Totals of the newest {count}: filter to sum others.',
  Quantos: 'How many',
  'Dias de atraso': 'Days late',
  '{n} dia de atraso': '{n} day late',
  '{n} dias de atraso': '{n} days late',
  'Pagamentos deste pedido': 'Payments of this order',
  'Nenhum pagamento até agora.': 'No payment so far.',
  'nenhum pagamento é achado': 'no payment is found',
  'Contas que mudam': 'Accounts that change',
  'Nenhuma conta muda.': 'No account changes.',
  'Pedidos do arquivo': 'Orders of the file',
  '{operation}: {count}, {amount} ao todo.': '{operation}: {count}, {amount} in total.',
  'As primeiras {n} de {count}.': 'The first {n} of {count}.',
  'Os recebimentos de {platform} desde {day} passam a precisar de um pedido: {n} não são de nenhum até agora, e os que continuarem assim abrem a divergência “Recebimento sem pedido”.':
    'The receipts of {platform} since {day} must be of an order from now on: {n} are of none so far, and those that stay so open the mismatch “Receipt of no order”.',
  'todas as plataformas': 'all platforms',
  'Um pedido sem chave: nenhum pagamento é achado para ele.': 'One order without a key: no payment is found for it.',
  '{n} pedidos sem chave: nenhum pagamento é achado para eles.':
    '{n} orders without a key: no payment is found for them.',
  'Nenhuma transação tem a plataforma “{platform}”, que está em uma linha: enquanto for assim, nenhum pagamento é achado para ela.':
    'No transaction has the platform “{platform}”, which one row has: as long as this is so, no payment is found for it.',
  'Nenhuma transação tem a plataforma “{platform}”, que está em {n} linhas: enquanto for assim, nenhum pagamento é achado para elas.':
    'No transaction has the platform “{platform}”, which {n} rows have: as long as this is so, no payment is found for them.',
  'Nenhuma transação tem esta plataforma: enquanto for assim, nenhum pagamento é achado para o pedido.':
    'No transaction has this platform: as long as this is so, no payment is found for the order.',
  Reabrir: 'Reopen',
  'Cancelar o pedido': 'Cancel the order',
  'O pedido deixa de ser esperado. Cancelar não devolve nada do que já foi pago; dá para reabrir.':
    'The order is no longer expected. Cancelling returns nothing of what is paid already; it can be reopened.',
  'Divergência em aberto: {link}. Um operador pode aceitá-la ali, dizendo por quê.':
    'Open mismatch: {link}. An operator may accept it there, saying why.',
  'Estado depois': 'State afterwards',
  'Um pagamento que ainda chegar abre uma divergência.': 'A payment that still arrives opens a mismatch.',
  'Abre a divergência “{title}”: devolva o pagamento, ou reabra o pedido.':
    'It opens the mismatch “{title}”: return the payment, or reopen the order.',
  'Casado com': 'Matched with',
  'Separado de': 'Separated from',
  'à mão': 'by hand',
  'não está mais pago': 'it is no longer paid',
  'casado de novo de outro modo': 'matched again in another way',
  'conta para outro pedido': 'it counts for another order',
  'em disputa: serve a mais de um pedido': 'in dispute: it fits more than one order',
  'o pedido ou o pagamento mudou': 'the order or the payment changed',
  'a referência ou o id E2E era também de {orders}': 'its reference or E2E id was also that of {orders}',
  'O que aconteceu com o pedido': 'What became of the order',
  'Nada aconteceu até agora.': 'Nothing so far.',
  'O que': 'What',
  'vence em {day}': 'due on {day}',
  Paga: 'Pays',
  'Pode ser de': 'May belong to',
  'Pedidos de ontem: {states}; com pagamento a casar: {undecided}.':
    'Yesterday’s orders: {states}; with a payment to match: {undecided}.',
  'Divergências de pedidos por resolver: {n} ({kinds}).': 'Unresolved mismatches of orders: {n} ({kinds}).',
  'O que alguém deve pagar, ou o que vamos pagar. O Confere diz quando foi pago, e por quem.':
    'What somebody owes us, or we owe. Confere says when it was paid, and by whom.',
  'A que o pagamento terá, se você a escolhe.': 'The one that the payment will have, if you choose it.',
  'Este número já é de um pedido: o que está abaixo o substitui por inteiro.':
    'This number is that of an order already: what is below replaces it as a whole.',
  'Nada muda: o pedido já é assim.': 'Nothing changes: the order is like this already.',
  'Confira este campo.': 'Check this field.',
  'Escreva um CPF ou CNPJ, com os dígitos certos.': 'Write a CPF or CNPJ with right digits.',
  'De 1 a 120 caracteres.': '1 to 120 characters.',
  'Pedidos que venceram no mês: {unpaid} não pagos, {undecided} com pagamento a casar.':
    'Orders that were due in the month: {unpaid} unpaid, {undecided} with a payment to match.',
};
