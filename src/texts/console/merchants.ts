/** The pages and forms about merchants. */
export const MERCHANTS_EN = {
  // actions
  Editar: 'Edit',
  'Reenviar um período': 'Replay a period',
  'Trocar o segredo': 'Rotate the secret',
  'Trocar o token de busca': 'Replace the pull token',
  'Dar um token de busca': 'Give a pull token',
  'Revogar o token': 'Revoke the token',
  'Enviar um teste': 'Send a test',
  Pausar: 'Pause',
  'Retomar os envios': 'Resume deliveries',
  'Fechar o disjuntor': 'Close the circuit breaker',
  // fields
  'Escolha o dia e a hora, ou nada.': 'Choose the day and the time, or nothing.',
  'A chave {key} não pode ser usada.': 'The key {key} cannot be used.',
  'Uma data anterior envia também os eventos desde ela. Vazio: fica como está.':
    'An earlier date sends the events since then too. Empty: it stays as it is.',
  'Vazio: só quando for revogado ou trocado.': 'Empty: only when it is revoked or replaced.',
  'Escolha um instante que ainda não passou.': 'Choose an instant that has not passed.',
  'não expira por si': 'it does not expire by itself',
  'Uma linha é chave=valor.': 'A line is key=value.',
  'Endereço (URL)': 'Address (URL)',
  'Recebe um POST assinado por evento. Vazio: o lojista busca os eventos pela API.':
    'Receives a signed POST for each event. Empty: the merchant fetches its events by the API.',
  'Avisado quando o endereço não responde. Opcional.': 'Notified when the address does not answer. Optional.',
  'Callbacks por segundo, no máximo': 'Callbacks per second, at most',
  'Vazio: sem limite.': 'Empty: no limit.',
  'Vazio: a partir de agora.': 'Empty: from now on.',
  'O que ele recebe': 'What it receives',
  'Mudanças de pedidos': 'Changes of orders',
  'não recebe': 'does not receive them',
  recebe: 'receives them',
  'Um callback pix.expected.… por mudança de situação. Valem as plataformas, as operações e o extra; a referência é o número ou uma das referências.':
    'A callback pix.expected.… for each change of state. Platforms, operations and extra apply; the reference is the number or any reference.',
  'mudanças de pedidos': 'changes of orders',
  'Transação ou pedido': 'Transaction or order',
  'Um campo vazio aceita tudo. Dentro de um campo basta uma linha; entre os campos, todos valem.':
    'An empty field accepts everything. Within a field one line is enough; between fields, all apply.',
  Operações: 'Operations',
  Situações: 'Statuses',
  'Um id por linha; none é o que não tem plataforma.': 'One id a line; none is what has no platform.',
  'Referência começa com': 'Reference begins with',
  'Um começo por linha.': 'One beginning a line.',
  'Extra começa com': 'Extra begins with',
  'Extra (JSON) contém': 'Extra (JSON) contains',
  'Um chave=valor por linha.': 'One key=value a line.',
  // how messages come
  'Como chega': 'How it comes',
  'do Confere (Standard Webhooks)': 'Confere’s (Standard Webhooks)',
  'do provedor': 'the provider’s',
  'Token bearer': 'Bearer token',
  'Cabeçalhos próprios': 'Headers of its own',
  'valor novo': 'a new value',
  'O do provedor é o corpo e o token que ele mesmo envia: uma integração que já existe muda só o endereço. Não tem correções.':
    'The provider’s is the body and the token that it sends itself: an integration that exists changes only its address. It has no corrections.',
  'O que o lojista confere em authorization. *** é o de hoje, que fica. Vazio: nenhum.':
    'What the merchant compares in authorization. *** is the one of today, which stays. Empty: none.',
  'Um nome: valor por linha, em cada requisição. *** é o valor de hoje, que fica; uma linha apagada sai.':
    'One name: value a line, in each request. *** is the value of today, which stays; a deleted line ends.',
  'Uma linha é nome: valor.': 'A line is name: value.',
  // adding and changing
  'Quem recebe callbacks: um POST assinado para cada mudança de uma transação. O segredo que os assina aparece uma só vez, depois de confirmar.':
    'A receiver of callbacks: a signed POST for each change of a transaction. The secret that signs them is shown only once, after you confirm.',
  'O lojista recebe callbacks a partir de agora.': 'The merchant receives callbacks from now on.',
  'Editar lojista': 'Edit merchant',
  'O que já foi enfileirado segue como está. Um filtro mais largo envia também os eventos anteriores que agora passam, desde a data do lojista.':
    'What is queued already stays as it is. A wider filter also sends the past events that now pass, since the merchant’s date.',
  'busca os eventos pela API': 'fetches its events by the API',
  'sem limite': 'no limit',
  'O que muda': 'What changes',
  'Nada muda: os campos são os de hoje.': 'Nothing changes: the fields are as they are today.',
  Campo: 'Field',
  Depois: 'After',
  '{name}: guarde este segredo agora. Ele não aparece de novo.': '{name}: keep this secret now. It is not shown again.',
  'Já guardei: abrir o lojista': 'I have kept it: open the merchant',
  // filters
  'Nenhum destes eventos tem estas {list}: {unseen}. Eles têm: {seen}.':
    'None of these events has these {list}: {unseen}. They have: {seen}.',
  plataformas: 'platforms',
  operações: 'operations',
  situações: 'statuses',
  'referência começa com': 'reference begins with',
  'extra começa com': 'extra begins with',
  'extra contém': 'extra contains',
  tudo: 'everything',
  'O que o filtro teria aceitado': 'What the filter would have accepted',
  '{n} evento': '{n} event',
  '{n} eventos': '{n} events',
  'De {events} dos últimos {days} dias, o filtro aceita {matched}.':
    'Of {events} of the last {days} days, the filter accepts {matched}.',
  'Dos últimos {days} dias só o mais novo foi lido: de {events}, o filtro aceita {matched}.':
    'Of the last {days} days only the newest part was read: of {events}, the filter accepts {matched}.',
  'O filtro de hoje aceita {n}; com o novo, <b>{gained}</b> a mais e <b>{lost}</b> a menos.':
    'Today’s filter accepts {n}; with the new one <b>{gained}</b> more and <b>{lost}</b> fewer.',
  '{n} dos que entram já foi enviado ou está na fila: não vai de novo.':
    '{n} of those added was sent already, or is queued: it does not go again.',
  '{n} dos que entram já foram enviados ou estão na fila: não vão de novo.':
    '{n} of those added were sent already, or are queued: they do not go again.',
  'Contam-se eventos de transações, com os dados atuais de cada uma; mensagens de pedidos (pix.expected.…), não.':
    'Events of transactions are counted, by what the ledger knows today of each; messages of orders (pix.expected.…) are not.',
  'Exemplos, os mais novos primeiro': 'Examples, the newest first',
  'Nenhum destes eventos muda de destino.': 'None of these events changes its destination.',
  'Nenhum destes eventos seria enviado.': 'None of these events would be sent.',
  entra: 'added',
  'já enviado': 'sent already',
  aceita: 'accepted',
  sai: 'removed',
  // replaying
  'Entregues e falhos': 'Delivered and failed',
  'Só os que falharam': 'Only those that failed',
  'Só os entregues': 'Only those that were delivered',
  'Período em que': 'Period in which',
  'o Confere criou a mensagem': 'Confere made the message',
  'o evento aconteceu (horário do provedor)': 'the event happened (provider’s time)',
  'Nunca é quando a mensagem chegou: na dúvida, comece mais cedo, e o que já chegou volta com o mesmo webhook-id. Correções e mensagens de pedidos não têm evento: contam por quando foram criadas. Pela data do evento, um dia inteiro repete as mensagens que o manifesto desse dia nomeia, sob os mesmos ids: o manifesto não muda nem vai de novo, e não nomeia mensagens de pedidos.':
    'It is never when the message arrived: in doubt begin earlier, and what has arrived comes again with the same webhook-id. Corrections and messages of orders have no event: they count by when they were made. By their events, a whole day repeats the messages that its day manifest names, under the same ids: the manifest does not change nor go again, and names no messages of orders.',
  'Envia de novo os callbacks de um período, com os mesmos webhook-ids e na ordem de cada transação. O que ainda espera não entra: será enviado de qualquer modo.':
    'Sends the callbacks of a period again, with the same webhook-ids and in the order of each transaction. Those that still wait are left out: they will be sent in any case.',
  'No horário do provedor ({zone}).': 'On the provider’s clock ({zone}).',
  'Callbacks que voltariam para a fila': 'Callbacks that would be queued again',
  'O fim vem depois do começo.': 'The end comes after the beginning.',
  'Escolha quais.': 'Choose which.',
  // secrets and tokens
  'O segredo de hoje assina junto por mais 24 horas; um que ainda valia de uma troca anterior acaba já.':
    'Today’s secret signs too for 24 more hours; one that was still valid from an earlier rotation ends now.',
  'O lojista ganha um segredo novo para conferir a assinatura dos callbacks.':
    'The merchant gets a new secret to verify the signature of callbacks.',
  '{name}: guarde este segredo. Ele fica à mostra também em Mudar um endereço.':
    '{name}: keep this secret. Change an address shows it too.',
  'O novo fica à mostra em Mudar um endereço.': 'Change an address shows the new one.',
  'O novo aparece uma só vez.': 'The new one is shown only once.',
  'O segredo anterior assina junto até {at}.': 'The previous secret signs too until {at}.',
  'Hoje ele não tem token.': 'Today it has no token.',
  'Hoje ele já tem um token: o novo o substitui, e o de hoje deixa de valer na hora.':
    'Today it has a token: the new one replaces it, and today’s is invalid at once.',
  'Com ele o lojista busca os seus eventos em GET /api/v1/events. Ele abre só os eventos deste lojista.':
    'With it the merchant fetches its events at GET /api/v1/events. It opens the events of this merchant alone.',
  'O texto do token aparece uma só vez.': 'The token’s text is shown only once.',
  'Como usar:': 'How to use it:',
  'endereço do Confere': 'address of Confere',
  'Revogar o token de busca': 'Revoke the pull token',
  'O lojista deixa de poder buscar os seus eventos, na hora. Os callbacks seguem como estão.':
    'The merchant can no longer fetch its events, at once. Callbacks stay as they are.',
  '{name} deixa de buscar eventos na hora.': '{name} can no longer fetch events, at once.',
  // delivery
  Entrega: 'Delivery',
  'Último erro em 24 h': 'Last error in 24 h',
  'Última entrega em 24 h': 'Last delivery in 24 h',
  'As últimas 24 horas': 'The last 24 hours',
  '<b>Este endereço não aceita nada há {age}.</b> Nada se perde: os callbacks esperam.':
    '<b>This address has accepted nothing for {age}.</b> Nothing is lost: callbacks wait.',
  'A operação, e o lojista que deu um e-mail, são avisados depois de {after}.':
    'Operators, and the merchant if it gave an e-mail address, are notified after {after}.',
  'A resposta que recebemos: {outcome}': 'The answer that we got: {outcome}',
  'nenhuma até que os envios sejam retomados': 'none until deliveries are resumed',
  'Mensagens que saem ao retomar, em ordem, aos poucos: {n}.':
    'Messages sent on resuming, in order, a few at a time: {n}.',
  'Por tipo': 'By type',
  'A primeira': 'The first',
  'A última': 'The last',
  'nada espera': 'nothing waits',
  'nenhuma: os eventos são buscados pela API': 'none: events are fetched by the API',
  'eventos anteriores: quando não houver outra mensagem': 'past events: when no other message waits',
  'um só callback, para ver se o endereço voltou': 'a single callback, to see whether the address is back',
  'mais de {n}': 'more than {n}',
  'Nenhuma tentativa em 24 horas.': 'No attempts in 24 hours.',
  'Todas as tentativas dos callbacks criados desde {at}, e as de até {n} mais antigos não entregues.':
    'All attempts of the callbacks created since {at}, and those of up to {n} older ones that are not delivered.',
  'Estimativa, de uma amostra das tentativas de cada hora: 0 % não diz que nenhum foi aceito.':
    'An estimate, of a sample of the attempts of each hour: 0 % does not say that none was accepted.',
  'Última entrega: pode haver uma mais nova, de um callback reenviado.':
    'Last delivery: there may be a newer one, of a callback that was sent again.',
  'Testes e exemplos não contam aqui: a lista de callbacks os mostra.':
    'Tests and examples do not count here: the list of callbacks shows them.',
  'Só quem tem o papel {role} corrige o endereço, envia um teste, pausa ou retoma os envios a este lojista.':
    'Only the role {role} may correct the address, send a test, pause or resume deliveries to this merchant.',
  'Você pode {callbacks}.': 'You may {callbacks}.',
  'Você pode {callbacks}, falar com o lojista e, quando o endereço voltar, {replay}.':
    'You may {callbacks}, talk to the merchant and, once the address is back, {replay}.',
  'Você pode {callbacks}, falar com o lojista e, retomados os envios, repetir um período.':
    'You may {callbacks}, talk to the merchant and, once deliveries are resumed, replay a period.',
  'ver os callbacks e os seus erros': 'see the callbacks and their errors',
  'repetir um período': 'replay a period',
  'Nada é enviado a este lojista: ele busca os seus eventos, e pode pedi-los de novo a partir de um cursor anterior.':
    'Nothing is sent to this merchant: it fetches its events, and can ask for them again from an earlier cursor.',
  'Nada é enviado agora: o lojista não está ativo. Os callbacks ficam retidos até que os envios sejam retomados.':
    'Nothing is sent now: the merchant is not active. Callbacks are held until deliveries are resumed.',
  'Um teste ou exemplo vai ao endereço de produção: se for aceito, o disjuntor fecha e as mensagens retidas saem.':
    'A test or example goes to the production address: if it is accepted, the circuit breaker closes and what is held is sent.',
  'Com este teste aceito, o disjuntor fechou: os callbacks retidos saem desde então.':
    'This test was accepted, and closed the circuit breaker: the callbacks that were held are being sent since then.',
  'Testes e exemplos saem também com os envios retidos. Para tentar outra vez, envie um novo.':
    'Tests and examples are sent even while callbacks are held. To try again, send a new one.',
  'Nada é enviado agora: o disjuntor está aberto. Um só callback é tentado a cada {every}; os outros seguem quando ele for aceito, ou quando o disjuntor for fechado.':
    'Nothing is sent now: the circuit breaker is open. A single callback is tried every {every}; the others follow once it is accepted, or once the breaker is closed.',
  // the page
  'Últimos callbacks': 'Last callbacks',
  'Todos os callbacks deste lojista': 'All callbacks of this merchant',
  nunca: 'never',
  'Última busca': 'Last fetch',
  'Desativado porque': 'Disabled because',
  'Eventos anteriores': 'Past events',
  'O que falta desde {since}, também mudanças de pedidos. Abaixo comparam-se só os filtros, pelos eventos de transações dos últimos {days} dias.':
    'What is missing since {since}, changes of orders too. Below, only the filters are compared, by the events of transactions of the last {days} days.',
  '{n} callback a enfileirar': '{n} callback to enqueue',
  '{n} callbacks a enfileirar': '{n} callbacks to enqueue',
  'mais de {n} callbacks a enfileirar': 'more than {n} callbacks to enqueue',
  '{state}: {callbacks} callbacks de {transactions} transações':
    '{state}: {callbacks} callbacks of {transactions} transactions',
  enfileirando: 'being queued',
  concluído: 'done',
};
