/** The lists, and the forms on them. */
export const LISTS_EN = {
  // alerts
  'Nenhum alerta com estes filtros: tire um deles.': 'No alerts with these filters: remove one of them.',
  'Nenhum alerta ativo.': 'No alert is active.',
  'Cada causa envia um alerta, e outro quando acaba. <a href="/alerts?state=ended">Ver os encerrados</a>; <a href="/runbooks">todos os guias</a>.':
    'Each cause sends one alert, and another when it ends. <a href="/alerts?state=ended">See those that ended</a>; <a href="/runbooks">all runbooks</a>.',
  'Alertas, os mais novos primeiro': 'Alerts, the newest first',
  Alerta: 'Alert',
  'até {at}': 'until {at}',
  Canais: 'Channels',
  Guia: 'Runbook',
  'e-mail': 'e-mail',
  'e-mail do lojista': 'the merchant’s e-mail',
  'ainda nenhum': 'none yet',
  'não aceitou: {error}': 'did not accept: {error}',
  'às {time}': 'at {time}',
  'na fila': 'queued',
  // the audit
  'Quem (id)': 'Who (id)',
  'Auditoria, a mais nova primeiro': 'Audit, the newest first',
  'Nada com estes filtros: tire um deles.': 'Nothing with these filters: remove one of them.',
  'Nada até agora.': 'Nothing yet.',
  // callbacks
  'Nenhum callback com estes filtros: remova um deles.': 'No callbacks with these filters: remove one of them.',
  'Nenhum callback até agora: o primeiro sai com a próxima mudança que o filtro aceita.':
    'No callbacks yet: the first goes out with the next change that the filter accepts.',
  // merchants
  'Lojistas, na ordem em que entraram': 'Merchants, in the order in which they were added',
  'Nenhum lojista recebe callbacks até agora: a operação cria o primeiro com Novo lojista.':
    'No merchant receives callbacks yet: operators add the first with New merchant.',
  'Falhando desde': 'Failing since',
  'Novo lojista': 'New merchant',
  Falhando: 'Failing',
  'Disjuntor aberto': 'Circuit breaker open',
  // mismatches
  'Por resolver': 'Unresolved',
  'Resolvidas por decisão': 'Resolved by decision',
  Decisão: 'Decision',
  'Nenhuma divergência com estes filtros: tire um deles.': 'No mismatches with these filters: remove one of them.',
  'Nenhuma divergência por resolver.': 'No unresolved mismatches.',
  'Por causa': 'By cause',
  'Divergências por resolver, por causa': 'Unresolved mismatches, by cause',
  Causa: 'Cause',
  'Uma a uma': 'One by one',
  'fora de uma conferência': 'outside a reconciliation',
  'Nenhuma divergência.': 'No mismatches.',
  'Decida até {n} de uma vez numa planilha: baixe-a, escolha a decisão de cada linha e envie-a de volta.':
    'Decide up to {n} at once in a workbook: download it, choose the decision of each row, and send it back.',
  'Até {n} numa planilha, para ler ou propor a decisão de cada linha. Só um operador a envia de volta.':
    'Up to {n} in a workbook, to read or to propose the decision of each row. Only an operator sends it back.',
  'Baixar para decidir (XLSX)': 'Download to decide (XLSX)',
  'Enviar as decisões': 'Send the decisions',
  'O que muda em cada linha': 'What changes in each row',
  'Com qual': 'With which',
  Efeito: 'Effect',
  'nada muda: já está decidida assim': 'nothing changes: it was decided so before',
  'o pedido e o pagamento são casados; a divergência acaba em seguida':
    'the order and the payment are matched; the mismatch ends right after',
  'a versão do provedor é aceita': 'the provider’s version is accepted',
  'é resolvida com a observação; o razão não muda': 'it is resolved with the note; the ledger does not change',
  Pedido: 'Order',
  'Quem decide': 'Owner',
  'Quem se escolhe vê na Visão geral quantas são suas; e-mail não sai. Um recado se escreve na Observação, quando um operador trata a divergência.':
    'The one chosen sees on the overview how many are theirs; no e-mail is sent. A message goes into the note, when an operator handles the mismatch.',
  'Pagamento, do dia': 'Payment, from day',
  'Pagamento, até o dia': 'Payment, to day',
  'Impede fechar o mês': 'Keeps the month open',
  'Este mês não existe.': 'There is no such month.',
  Escolher: 'Choose',
  'Atribuir as escolhidas': 'Assign those chosen',
  'Atribuir divergências': 'Assign mismatches',
  'Cada uma é mudada por si: se uma não pode ser, as outras são.':
    'Each is changed by itself: if one cannot be, the others are.',
  'Escolha na lista as que uma pessoa vai decidir, até {n}.':
    'Choose in the list those that a person is to decide, up to {n}.',
  'Escolha ao menos uma divergência.': 'Choose at least one mismatch.',
  'No máximo {n} de cada vez.': 'At most {n} at a time.',
  'Escolha quem decide.': 'Choose the owner.',
  'Quem vai decidir': 'New owner',
  'nada muda': 'nothing changes',
  atribuída: 'assigned',
  'não foi mudada: {why}': 'not changed: {why}',
  Eu: 'Me',
  Ninguém: 'Nobody',
  'Dias em aberto': 'Days open',
  'há 1 dia': '1 day ago',
  'há {n} dias': '{n} days ago',
  'Dias em aberto, no mínimo': 'Days open, at least',
  'Escreva um número de dias.': 'Write a number of days.',
  Ordem: 'Order',
  'As mais novas': 'The newest',
  'Há mais tempo em aberto': 'The longest open',
  'Mais em jogo': 'The most at stake',
  'Aberta em': 'Opened at',
  'Observação (exigida para resolver as críticas)': 'Note (required to resolve critical ones)',
  'Estou tratando de todas': 'Acknowledge all',
  'Resolver todas': 'Resolve all',
  'O razão não muda. Cada uma fica registrada na auditoria, com esta observação.':
    'The ledger does not change. Each one is recorded in the audit, with this note.',
  'Uma vez trata de {n}: repita para as outras.': 'It handles {n} at a time: repeat it for the others.',
  'Tratar das {n} em aberto, {stake} em jogo': 'Handle the {n} open ones, {stake} at stake',
  'Tratar das {n} em aberto desta causa, {stake} em jogo': 'Handle the {n} open ones of this cause, {stake} at stake',
  // reconciliations
  'Conferências, as mais novas primeiro': 'Reconciliations, the newest first',
  'Nenhuma conferência até agora: a agenda inicia a primeira, e a operação pode iniciar uma já.':
    'No reconciliations yet: the timetable starts the first, and operators can start one now.',
  '{from} a {to}': '{from} to {to}',
  'Uma conferência lê a lista do provedor, dia a dia, até provar que leu tudo, e aplica ao razão o que faltava.':
    'A reconciliation reads the provider’s list, day by day, until it has proven that it read all of it, and applies to the ledger what was missing.',
  'Iniciar uma conferência': 'Start a reconciliation',
  'Plataforma (opcional)': 'Platform (optional)',
  Iniciar: 'Start',
  'Vem antes do primeiro dia.': 'It is before the first day.',
  'São mais de {n} dias.': 'These are more than {n} days.',
  'A lista do provedor não se filtra pelo que não tem plataforma: deixe vazio para ler todas.':
    'The provider’s list cannot be filtered by what has no platform: leave it empty to read all.',
  // tokens
  'Tokens, os mais novos primeiro': 'Tokens, the newest first',
  'Nenhum token: quem administra cria um com confere tokens create.':
    'No tokens: an admin creates one with confere tokens create.',
  Papel: 'Role',
  'Expira em': 'Expires at',
  'Último uso': 'Last used',
  Revogar: 'Revoke',
  // webhooks
  'Webhooks, os mais novos primeiro': 'Webhooks, the newest first',
  'Nenhum webhook com estes filtros: tire um deles.': 'No webhooks with these filters: remove one of them.',
  'Nenhum webhook chegou ainda: confira no provedor o endereço e o segredo.':
    'No webhook has arrived yet: check the address and the secret at the provider.',
  'Ao vivo: com scripts, a página se renova a cada {n} s.': 'Live: with scripts, the page renews itself each {n} s.',
  'Quarentena por motivo': 'Quarantine by reason',
  Esvaziar: 'Purge',
  'Por motivo': 'By reason',
  'Sem corpo': 'Without body',
  'Esvaziar apaga os corpos e os itens dos que chegaram há mais de {age}. O hash fica: uma repetição ainda é reconhecida. Um webhook com um item aplicado nunca é apagado.':
    'To purge deletes the bodies and items of those that arrived more than {age} ago. The hash stays: a repeat is still recognized. A webhook with an applied item is never deleted.',
};
