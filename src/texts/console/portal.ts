/** The portal: the pages of merchants. */
export const PORTAL_EN = {
  'Cole o token do portal, que a operação lhe deu. Ele começa com cfm_.':
    'Paste the portal token that the operators gave you. It begins with cfm_.',
  'Todos os callbacks': 'All callbacks',
  'Todos, sem testes': 'All without tests',
  'Inteiro, não só o começo.': 'All of it, not its beginning alone.',
  'Referência, E2E, pedido': 'Reference, E2E, order or id',
  Testes: 'Tests',
  'Reenviar os testes que falharam desde {at}': 'Send the tests that failed since {at} again',
  'Nenhuma tentativa segue por si: entregue de novo.': 'No attempt follows by itself: deliver it again.',
  'Se a próxima tentativa falhar, seguem outras depois de {waits}; cada espera varia até {percent} %.':
    'If the next attempt fails, others follow after {waits}; each wait varies by up to {percent} %.',
  'A próxima tentativa é a última: se falhar, a mensagem falha, ou fica retida se você não aceita nenhuma.':
    'The next attempt is the last one: if it fails, the message fails, or is held if you accept none.',
  'Um teste ou exemplo é tentado uma vez só.': 'A test or example is tried once.',
  'Testes, exemplos e manifestos dos dias não fazem parte de um período.':
    'Tests, examples and day manifests are not part of a period.',
  'Reenviar os testes que falharam': 'Send the tests that failed again',
  'sem testes': 'without tests',
  'só testes': 'tests alone',
  'A operação pausou os envios: só ela pode retomá-los.': 'The operators paused deliveries: only they can resume them.',
  '{state}: {callbacks} callbacks': '{state}: {callbacks} callbacks',
  'Filtrar o que chega': 'Filter what arrives',
  'O que a operação envia': 'What the operators send',
  'O que você escolheu receber': 'Of that, what you chose',
  'O que o lojista escolheu receber': 'Of that, what it chose',
  'Pausado por': 'Paused by',
  'ele mesmo': 'the merchant itself',
  'Do que a operação envia, você recebe só o que o seu filtro aceita. Um filtro mais amplo envia também os eventos anteriores que passam a caber nele.':
    'Of what the operators send, you receive only what your filter accepts. A wider filter also sends the past events that now pass.',
  'O segredo confere a assinatura dos callbacks. Instale o novo no seu sistema enquanto o atual ainda vale.':
    'A new secret verifies the signature of callbacks. Install it in your system while today’s is still valid.',
  'O segredo atual continua assinando por mais 24 horas; até lá não dá para trocar de novo.':
    'Today’s secret also signs for 24 more hours; until then there is no other rotation.',
  '{address}: o segredo anterior ainda assina até {at}; até lá não dá para trocar. Se tem pressa, fale com a operação.':
    '{address}: the secret before it also signs until {at}; until then there is no rotation. If it is urgent, ask the operators.',
  'As mensagens de pedidos (pix.expected.…) estão desligadas. Peça à operação que as ligue: sem elas, o seu sistema só sabe de um pedido quando pergunta.':
    'Messages about orders (pix.expected.…) are off. Ask the operators to turn them on: without them, your system learns of an order only when it asks.',
  'O filtro pede uma plataforma: um pedido enviado sem platform não cabe nele, e não envia mensagens.':
    'The filter asks for a platform: an order sent without platform does not fit it, and sends no messages.',
  'Os pedidos que não enviam mensagens': 'The orders that send no messages',
  'Este pedido não cabe no filtro: as suas mudanças não enviam mensagens.':
    'This order does not fit the filter: its changes send no messages.',
  'Um pedido com platform só casa com pagamentos dela:':
    'An order with a platform is matched with payments of that one alone:',
  'Ele não tem platform: envie-o de novo com ela (PUT), e as mudanças seguintes enviam.':
    'It has no platform: send it again with one (PUT), and the changes after that send some.',
  'As mensagens de pedidos (pix.expected.…) vêm dos pedidos de todas as origens que cabem no filtro, também das que este token não lê. Para receber menos, filtre por um começo de referência: vale para o número e as referências do pedido.':
    'Messages about orders (pix.expected.…) come for orders of every source that fit the filter, also of those that this token does not read. To receive fewer, filter by a beginning of the reference: it applies to the number and the references of the order.',
  'o do endereço de produção': 'that of the production address',
  'o do endereço de teste': 'that of the test address',
  'De qual endereço': 'Of which address',
  'Já guardei': 'I have kept it',
  // orders
  'Este token não tem origens de pedidos: peça à operação um que as tenha.':
    'This token has no sources of orders: ask the operators for one that has.',
  'Nenhum pedido com estes filtros: remova um deles.': 'No order with these filters: remove one of them.',
  'Nenhum pedido até agora: envie o primeiro como abaixo.': 'No orders so far: send the first one as below.',
  'em disputa': 'disputed',
  'O pagamento é de antes da emissão deste pedido: se uma referência sua se repete, ele pode ser de outro.':
    'The payment is from before this order was issued: if you use a reference again, it may be another’s.',
  'chegou, mas serve a mais de um pedido: não conta para este':
    'it arrived, but fits more than one order: it does not count for this one',
  'o endereço mudou depois, e o de então não está mais guardado':
    'the address has changed since, and the one of then is no longer kept',
  'a operação o separou deste pedido': 'the operators separated it from this order',
  'O que houve': 'What happened',
  'Nenhum outro pedido serve a este pagamento: a operação decide.':
    'No other order fits this payment: the operators decide.',
  'Um pedido de outra origem, que você não vê, serve ao mesmo pagamento. Ele não conta para nenhum, até que só um sirva.':
    'An order of another source, which you do not see, fits the same payment. It counts for none, until only one fits.',
  '{n} pedidos de outras origens, que você não vê, servem ao mesmo pagamento. Ele não conta para nenhum, até que só um sirva.':
    '{n} orders of other sources, which you do not see, fit the same payment. It counts for none, until only one fits.',
  'só testes e exemplos': 'tests and examples alone',
  'pela data do evento': 'by the time of the event',
  'Disputa com outra origem': 'In dispute with another source',
  'Peça à operação que case o pagamento {payment} com o pedido {number}, se é dele; ou envie o pedido com outra referência (PUT).':
    'Ask the operators to match payment {payment} with order {number}, if it is its own; or send the order with another reference (PUT).',
  'Estes pedidos têm a mesma referência. Um pagamento com ela não conta para nenhum deles, até que só um a tenha.':
    'These orders have the same reference. A payment with it counts for none of them, until only one has it.',
  'Estes pedidos servem ao mesmo pagamento. Ele não conta para nenhum deles, até que só um sirva.':
    'These orders fit the same payment. It counts for none of them, until only one fits.',
  'Este pedido e os abaixo estão cancelados e servem ao mesmo pagamento: ele não conta para nenhum.':
    'This order and those below are cancelled, and fit the same payment: it counts for none.',
  'Reabra aquele que ele paga: em segundos conta para esse. Ou devolva o pagamento, ou peça à operação que o case com um deles.':
    'Reopen the one that it pays: within seconds it counts for that one. Or return the payment, or ask the operators to match it with one of them.',
  'Pedidos que disputam o pagamento': 'Orders that compete for the payment',
  'Cancele o que não vale (DELETE) ou envie-o com outra referência (PUT): em segundos o pagamento conta para o que restar.':
    'Cancel the one that is void (DELETE), or send it with another reference (PUT): within seconds the payment counts for the one that is left.',
  'Em comum': 'In common',
  'Pago em': 'Paid on',
  'Como enviar um pedido': 'How to send an order',
  'Com este token, por estas origens:': 'With this token, under these sources:',
  'Todos os campos, e como cancelar um pedido': 'All fields, and how to cancel an order',
  // addresses
  Espera: 'Waits for',
  Recusar: 'Refuse',
  Endereços: 'Addresses',
  'Endereço de teste': 'Address for tests',
  'Mudar um endereço': 'Change an address',
  'Um token que vazou não pode desviar os dados de quem paga: o URL e o e-mail só mudam depois da confirmação.':
    'A token that leaked must not redirect payers’ data: the URL and the e-mail change only once confirmed.',
  'O endereço de teste recebe só os testes e os exemplos, com um segredo próprio, que a prévia mostra; outra query, como ?v=2, dá outro segredo. Vazio: nenhum.':
    'The address for tests receives tests and examples alone, with a secret of its own, which the preview shows; another query, such as ?v=2, has another secret. Empty: none.',
  'Segredo de teste': 'Test secret',
  'Um endereço começa com https://, com qualquer porta, caminho e query, sem usuário nem senha. Um redirecionamento não é seguido: conta como falha.':
    'An address begins with https://, with any port, path and query, without user or password. A redirect is not followed: it counts as a failure.',
  'Ele fica fora de redes internas.': 'It is outside of internal networks.',
  'Quando a mudança valer, o que já falhou no endereço de hoje ainda é tentado nele, por até {hours} horas ou até falhar mais uma vez (nada, se os envios estão suspensos por falhas). Tudo o mais vai logo ao novo, também o que está retido.':
    'Once the change counts, what has failed at the address of today is still tried there, for up to {hours} hours or until it fails once more (nothing, if deliveries are suspended by failures). All else goes to the new one at once, also what is held.',
  'Ao confirmar, uma mensagem assinada (confere.challenge) vai para o endereço novo. Ele responde em 15 s com um status 2xx e o corpo <code>{body}</code>, onde … é o valor de data.challenge que chegou.':
    'When you confirm, a signed message (confere.challenge) goes to the new address. It answers within 15 s with a status 2xx and the body <code>{body}</code>, where … is the value of data.challenge that came.',
  'Depois use o link que vai para o e-mail cadastrado, em até 48 horas.':
    'Then use the link mailed to the e-mail on file, within 48 hours.',
  'Um e-mail novo recebe então outro.': 'A new e-mail then receives another.',
  'Sem endereço de teste, os testes vão para o endereço de produção.':
    'Without a test address, tests go to the production address.',
  'Depois a operação confirma: não há e-mail cadastrado.': 'Then the operators confirm: there is no e-mail on file.',
  'Um endereço de teste vale na hora, sem confirmação, e recebe só exemplos fictícios. Para que repitam as suas mensagens, peça o mesmo endereço de novo: então a operação o confirma.':
    'An address for tests counts at once, unconfirmed, and receives invented examples alone. For examples that repeat your messages, ask for the same address again: then the operators confirm it.',
  'Um endereço de teste não confirmado sai na hora: os testes vão então para o endereço de produção.':
    'An unconfirmed address for tests goes at once: tests then go to the address of production.',
  'Não confirmado: recebe só exemplos fictícios. Para confirmá-lo, peça o mesmo endereço de novo.':
    'Unconfirmed: it receives invented examples alone. To have it confirmed, ask for the same address again.',
  'Depois a operação confirma: este servidor não envia e-mails.':
    'Then the operators confirm: this server sends no mail.',
  'Não há e-mail cadastrado.': 'There is no e-mail on file.',
  'Este servidor não envia e-mails.': 'This server sends no mail.',
  'Onde se promete um e-mail, olhe o portal; onde um link confirma, a operação confirma.':
    'Where an e-mail is promised, open the portal; where a link confirms, the operators confirm.',
  '1 mensagem em voo ainda vai ao endereço antigo até {at}.':
    '1 message in flight still goes to the old address until {at}.',
  '{n} mensagens em voo ainda vão ao endereço antigo até {at}.':
    '{n} messages in flight still go to the old address until {at}.',
  'Mudança pendente': 'Change that waits',
  'Mudança pendente: {what}': 'Change that waits: {what}',
  Mostrar: 'Show',
  Retirar: 'Withdraw',
  'Novo valor': 'New value',
  'Pedido por': 'Asked for by',
  'o link no e-mail cadastrado': 'the link in the e-mail on file',
  'a operação': 'the operators',
  'o link no e-mail novo': 'the link in the new e-mail',
  'Confirmar uma mudança': 'Confirm a change',
  'Foi pedido no portal. Se não foi você, recuse e avise a operação: um token do portal pode ter vazado.':
    'It was asked for in the portal. If it was not you, refuse it and notify the operators: a token of the portal may have leaked.',
  'Este e-mail passa a receber os e-mails sobre este lojista e os links que confirmam mudanças.':
    'This e-mail will receive the mails about this merchant and the links that confirm changes.',
  'Este link não vale mais: já foi usado, expirou ou foi retirado, ou agora só a operação pode confirmar.':
    'This link is void: it was used, has expired or was withdrawn, or only the operators confirm now.',
  'Decidir uma mudança de endereço': 'Decide a change of address',
  'Pedida no portal. Confirme só o que o lojista disse por outro meio: um token do portal pode ter vazado.':
    'Asked for in the portal. Confirm only what the merchant said by other means: a token of the portal may have leaked.',
  'Nenhuma mudança pendente.': 'No change waits.',
  // giving access
  'Dar acesso ao portal': 'Give access to the portal',
  'Com ele o lojista entra no portal, em {address}, e usa a API do portal. Ele abre só os dados deste lojista.':
    'With it the merchant logs in to the portal, at {address}, and uses the portal’s API. It opens the data of this merchant alone.',
  'Um token por pessoa ou sistema: a auditoria guarda o nome dele.':
    'One token for each person or system: the audit keeps its name.',
  'Quem vai usar': 'Who will use it',
  'Origens de pedidos': 'Sources of orders',
  'As que ele pode ler e escrever, separadas por espaços; nenhuma, se só usa o portal.':
    'Those that it may read and write, with blanks between; none, if it only uses the portal.',
  'Até 20 origens, cada uma de letras minúsculas, algarismos, ponto, _ e -.':
    'Up to 20 sources, each of small letters, digits, dot, _ and -.',
  '{n} tentativas': '{n} attempts',
  // history
  'Histórico de mudanças': 'History of changes',
  Mudanças: 'Changes',
  'o filtro de agora': 'the filter of now',
  '1 valor': '1 value',
  '{n} valores': '{n} values',
  'Nenhuma mudança até agora.': 'No change so far.',
  'um link enviado por e-mail': 'a mailed link',
  'lojista criado': 'merchant created',
  'dados mudados': 'data changed',
  'filtro mudado': 'filter changed',
  'segredo trocado': 'secret rotated',
  'mudança de endereço pedida': 'change of address asked for',
  'mudança de endereço retirada': 'change of address withdrawn',
  'mudança de endereço decidida': 'change of address decided',
  'mudança de endereço confirmada em parte': 'change of address confirmed by one side',
  'endereço mudado': 'address changed',
  'mudança de endereço recusada': 'change of address refused',
  'endereço novo não respondeu ao desafio': 'new address did not answer the challenge',
  'pedido confirmado': 'request confirmed',
  'pedido recusado': 'request refused',
  'vale na hora': 'counts at once',
  'vale na hora; até ser confirmado, recebe só exemplos fictícios':
    'counts at once; until it is confirmed, it receives invented examples alone',
  'retirada: sem ele, os testes vão para o endereço de produção':
    'removal: without it, tests go to the production address',
  '{n} exemplos': '{n} examples',
  'envios pausados': 'deliveries paused',
  'envios retomados': 'deliveries resumed',
  'envios desativados': 'deliveries disabled',
  'envios suspensos: falhas seguidas': 'deliveries suspended: failures in a row',
  'envios retomados: uma tentativa deu certo': 'deliveries resumed: an attempt succeeded',
  'o que esperava foi enviado na hora': 'what waited was sent at once',
  'envios retomados, ou o que esperava foi enviado na hora': 'deliveries resumed, or what waited was sent at once',
  'nada estava parado': 'nothing was stopped',
  'o disjuntor estava aberto': 'the circuit breaker was open',
  'estavam pausados pela operação': 'had been paused by the operators',
  'estavam pausados por você': 'had been paused by you',
  'o filtro estava além dos limites': 'the filter was beyond the limits',
  'estavam desativados': 'they were disabled',
  'o endereço respondeu 410: não existe mais': 'the address answered 410: it is gone',
  'cinco dias sem uma entrega': 'five days without a delivery',
  'teste ou exemplo enviado': 'test or example sent',
  'callback enviado de novo': 'callback sent again',
  'período reenviado': 'range sent again',
  '1 callback': '1 callback',
  '{n} callbacks': '{n} callbacks',
  'token de busca criado': 'pull token made',
  'token de busca revogado': 'pull token revoked',
  'pedido enviado': 'order sent',
  'pedido cancelado': 'order cancelled',
  'pedido reaberto': 'order reopened',
  'entrada no portal': 'login to the portal',
  // messages, feed, documents
  'Cursor e manifestos': 'Cursor and manifests',
  Documentação: 'Documentation',
  'O webhook de cada exemplo é assinado e leva "test": true; um manifesto fictício dentro dele não tem assinatura, de propósito, e não passa na conferência. O seu sistema confere o webhook, responde 2xx e não faz nada com ele.':
    'The webhook of each example is signed and has "test": true; an invented manifest inside one is unsigned, on purpose, and does not verify. Your system verifies the webhook, answers 2xx, and does nothing with it.',
  'Fictício: nenhum manifesto lhe foi enviado até agora.': 'Invented: no manifest was sent to you so far.',
  'Um exemplo repete a sua mensagem mais recente do tipo; se não há nenhuma, é fictício. Um sistema que ainda não lê "test" trataria um exemplo como pagamento.':
    'An example repeats your newest message of the type; where there is none, it is invented. A system that does not read "test" yet would treat an example as a payment.',
  'Enviar um exemplo de cada tipo': 'Send an example of each type',
  'Enviar este exemplo': 'Send this example',
  Exemplo: 'Example',
  Esquema: 'Schema',
  'Fictício: ninguém confirmou o endereço de teste.': 'Invented: nobody confirmed the address for tests.',
  'Fictício: entre as suas {n} mensagens mais novas não há deste tipo.':
    'Invented: none of your {n} newest messages is of this type.',
  'A sua mensagem mais recente deste tipo:': 'Your newest message of this type:',
  'O id é outro a cada envio.': 'The id is another each time.',
  'O formato do provedor não tem esta mensagem: ela não é enviada.':
    'The format of the provider has no such message: it is not sent.',
  'Vai um exemplo fictício, como abaixo, para:': 'An invented example, as below, goes to:',
  'Vai a sua mensagem mais recente deste tipo, como abaixo, para:':
    'Your newest message of this type, as below, goes to:',
  'Enviar exemplos': 'Send examples',
  'Sem um endereço de teste, exemplos chegam ao sistema que trata pagamentos.':
    'Without an address for tests, examples reach the system that handles payments.',
  'Cada um sai uma vez, assinado.': 'Each is sent once, signed.',
  'endereço de teste': 'address for tests',
  'endereço de teste não confirmado: só exemplos fictícios': 'unconfirmed address for tests: invented examples alone',
  'endereço de produção': 'production address',
  Destino: 'They go to',
  'o seu feed de eventos': 'your feed of events',
  'Escolha um tipo da lista.': 'Choose a type of the list.',
  exemplo: 'example',
  teste: 'test',
  'Desativado: {why}. Nada é enviado, e os callbacks ficam retidos. Conserte o endereço e retome os envios: eles seguem então.':
    'Disabled: {why}. Nothing is sent, and callbacks are held. Repair the address and resume deliveries: they follow then.',
  'A operação e você são avisados depois de {after}.': 'Operators and you are notified after {after}.',
  'A operação é avisada depois de {after}.': 'Operators are notified after {after}.',
  'Tentar agora': 'Try now',
  'Enviar agora tudo o que espera': 'Send now all that waits',
  'O que está retido não tem tentativa marcada: o endereço falha, e as tentativas acabaram ou o disjuntor abriu. Segue quando ele aceitar qualquer mensagem, ou com Enviar agora tudo o que espera.':
    'What is held has no attempt planned: the address fails, and the attempts are used up or the circuit breaker opened. It follows once the address accepts any message, or by Send now all that waits.',
  'Consertou o seu servidor? Envie agora o que espera.': 'Is your server repaired? Send at once what waits.',
  'Aguarda uma mensagem anterior da mesma transação ou do mesmo pedido: quando aquela for entregue, esta segue.':
    'Waits for an earlier message of the same transaction or order: deliver that one, and this follows.',
  'aguarda uma mensagem anterior': 'waits for an earlier message',
  '{tool} busca, verifica e dispara mensagens na sua máquina: npx ./confere-cli.tgz --help':
    '{tool} gets, verifies and triggers messages on your machine: npx ./confere-cli.tgz --help',
  'O cursor': 'The cursor',
  'Token de busca': 'Pull token',
  'não há: peça um à operação': 'there is none: ask the operators for it',
  emitido: 'given',
  'Vale até': 'Valid until',
  'Confirmado até o cursor': 'Acknowledged up to the cursor',
  'Lido até o cursor': 'Read up to the cursor',
  'Último cursor': 'Last cursor',
  'Próximo pedido': 'Next request',
  'Você tem endereço: um cursor não confirma nada.': 'You have an address: a cursor acknowledges nothing.',
  'Manifestos dos últimos 14 dias': 'Manifests of the last 14 days',
  'Só buscas com o token de busca, sem peek=true, contam aqui; com este token, peça com &peek=true. O último cursor é numerado a cada busca.':
    'Only reads by the pull token without peek=true count here; with this token, ask with &peek=true. The last cursor is numbered by each read.',
  'O de um dia é feito depois que ele termina. Os próximos: {at}.':
    'That of a day is made once it has ended. The next ones: {at}.',
  'não há: você recebe eventos desde {day}': 'none: you receive events since {day}',
  'não há: sem mensagens suas': 'none: no messages of yours',
  'não é feito: a operação desligou os manifestos': 'not made: the operators switched manifests off',
  'vem depois que o envio dos eventos anteriores terminar': 'comes once the sending of earlier events has ended',
  'vem em {at}': 'comes at {at}',
  'vem em {at}, se houver mensagens suas; senão não há':
    'comes at {at} if there are messages of yours; else there is none',
  'A operação desligou os manifestos.': 'The operators switched manifests off.',
  'Nenhum manifesto até agora.': 'No manifests so far.',
  Mensagens: 'Messages',
  'Tipos de mensagem': 'Types of messages',
  'Depois de cada dia: as mensagens dele, entregues ou não, assinadas':
    'After each day: its messages, delivered or not, signed',
  'Um teste, pedido no portal ou pela operação': 'A test, asked for in the portal or by the operators',
  'O desafio de um endereço novo': 'The challenge of a new address',
  'fatos corrigidos': 'facts corrected',
  Arquivos: 'Files',
  'Para verificar um:': 'To verify one:',
  Assinado: 'Signed',
  'Muitas requisições': 'Too many requests',
  'Foram muitas requisições em pouco tempo.': 'There were many requests in a short time.',
  'Recarregue a página em 1 segundo.': 'Reload the page in 1 second.',
  'Recarregue a página em {n} segundos.': 'Reload the page in {n} seconds.',
  'Pausar os envios': 'Pause deliveries',
  'Nada se perde: o que acontecer é retido, e sai em ordem quando você retomar.':
    'Nothing is lost: what happens is held, and goes out in order once you resume.',
  'Espera agora': 'Waits now',
  'Enquanto estiver pausado, nada novo é enviado, e os seus sistemas não ficam sabendo de pagamentos por aqui. Testes e exemplos continuam saindo. Para voltar: Retomar os envios, na primeira página; só você ou a operação retoma.':
    'While paused, nothing new is sent, and your systems do not learn of payments from here. Tests and examples still go out. To go on: Resume deliveries, on the first page; only you or the operators resume.',
  'Um exemplo na fila: recarregue a página para ver o resultado.':
    'One example is queued: reload the page to see its outcome.',
  '{n} exemplos na fila, abaixo: recarregue a página para ver o resultado de cada um.':
    '{n} examples are queued, below: reload the page to see the outcome of each.',
};
