/** The pages of one item, the login, errors, and runbooks. */
export const PAGES_EN = {
  // runbooks
  Guias: 'Runbooks',
  'Guia do contador': 'Guide for accountants',
  'As planilhas, coluna por coluna': 'The spreadsheets, column by column',
  'O que fazer em cada alerta': 'What to do about each alert',
  'Todos os guias': 'All runbooks',
  // the login
  Entrar: 'Log in',
  'Este token não existe ou foi revogado, ou expirou.': 'This token does not exist, is revoked or has expired.',
  'Cole o seu token de acesso. Quem administra o Confere lhe dá um.':
    'Paste your access token. An admin of Confere gives you one.',
  // errors
  'Algo deu errado': 'Something went wrong',
  'Uma falha inesperada; ela está no log. Tente de novo e, se continuar, avise quem opera o Confere.':
    'An unexpected failure; it is in the log. Try again and, if it persists, inform the operators of Confere.',
  'Não encontrado': 'Not found',
  'Não há nada neste endereço, ou o id não é de nada nosso.':
    'There is nothing at this address, or the id is of nothing of ours.',
  'Requisição inválida': 'Invalid request',
  'Um campo não pôde ser lido. Volte e corrija.': 'A field could not be read. Go back and correct it.',
  'Mudou no meio do caminho': 'It has changed meanwhile',
  'O estado já não permite isto; alguém pode ter agido antes. Volte, recarregue a página e confira.':
    'The state does not allow this any more; somebody may have acted before. Go back, reload the page and check it.',
  'Sem sessão': 'No session',
  'Entre com o seu token.': 'Log in with your token.',
  'Não permitido': 'Not allowed',
  'O seu papel não permite isto, ou o formulário veio de outra sessão. Recarregue a página e tente de novo.':
    'Your role does not allow this, or the form came from another session. Reload the page and try again.',
  'Buscas demais': 'Too many searches',
  'O papel de leitura busca poucos documentos por hora. Tente mais tarde, ou peça à operação.':
    'A viewer can search for few documents per hour. Try later, or ask an operator.',
  Indisponível: 'Unavailable',
  'Um serviço de que isto precisa não responde. Tente de novo.':
    'A service that this needs does not answer. Try again.',
  'Ir para a visão geral': 'Go to the overview',
  'O endereço ou o formulário não pôde ser lido.': 'The address or the form could not be read.',
  // a callback and its message
  'Entregar de novo': 'Deliver again',
  Entregar: 'Deliver',
  'Situação anterior': 'Previous status',
  'Entregue em': 'Delivered at',
  'Entregue antes em': 'Delivered before at',
  'Tentativas, a mais antiga primeiro': 'Attempts, the oldest first',
  'Nenhuma tentativa até agora.': 'No attempts yet.',
  'Cabeçalhos da requisição': 'Request headers',
  Nº: 'No.',
  Mensagem: 'Message',
  'Não pode ser montada: o razão não tem o evento dela.': 'It cannot be rendered: the ledger does not have its event.',
  'O corpo é montado agora, com os dados atuais; o de uma tentativa anterior pode ter sido outro. A assinatura não é guardada.':
    'The body is rendered now, from what the ledger knows; that of an earlier attempt may have been another one. A signature is not stored.',
  Corpo: 'Body',
  corpo: 'body',
  'Cabeçalhos da última tentativa': 'Headers of the last attempt',
  'Assinar e enviar com openssl e curl': 'Sign and send with openssl and curl',
  'Preencha o segredo e o endereço. O script mostra a assinatura de <code>id.timestamp.{body}</code>: o sistema que recebe calcula a mesma e a compara com o cabeçalho <code>webhook-signature</code>. Enquanto roda, o segredo aparece na lista de processos (<code>ps</code>): use um computador só seu.':
    'Fill in the secret and the address. The script prints the signature of <code>id.timestamp.{body}</code>: the receiving system computes the same, and compares it with the header <code>webhook-signature</code>. While it runs, the secret is in the list of processes (<code>ps</code>): use a computer of your own.',
  'Comandos para assinar e enviar': 'Commands that sign and send',
  // a transaction
  '{operation} de {amount}': '{operation} of {amount}',
  'Os dados pessoais aparecem mascarados para o papel de leitura.': 'Personal data is masked for viewers.',
  'Nenhum lojista é avisado desta transação.': 'No merchant is notified of this transaction.',
  'ainda desconhecida': 'not known yet',
  'Nesta situação desde': 'In this status since',
  'Lançamentos sem evento': 'Entries without an event',
  'lido na lista, {run}': 'read in the list, {run}',
  'lido na lista, {run}, página {page}': 'read in the list, {run}, page {page}',
  'consultado por causa do {webhook}': 'fetched because of {webhook}',
  'consultado no provedor pela {run}': 'fetched from the provider by {run}',
  'consultado no provedor': 'fetched from the provider',
  'por uma pessoa': 'by a person',
  'na hora': 'at once',
  'Soubemos {delay}, em {at}: {source}. Sequência {sequence}.':
    'Learnt {delay}, at {at}: {source}. Sequence {sequence}.',
  '<b>Fora de vigor:</b> o provedor não o mostra mais, e uma pessoa aceitou isso.':
    '<b>Not in force:</b> the provider does not show it any more, and a person accepted that.',
  'Não move dinheiro: nada foi lançado.': 'It moves no money: nothing was posted.',
  estorna: 'reverses',
  'conhecido em {at}': 'known at {at}',
  'Partidas de {id}': 'Postings of {id}',
  // a webhook
  Reprocessar: 'Reprocess',
  'Endereço de origem': 'Source address',
  'O corpo foi apagado.': 'The body was deleted.',
  'Corpo recebido': 'Received body',
  cortado: 'cut',
  'Itens do webhook': 'Items of the webhook',
  'Nenhum item: o corpo não pôde ser lido, ou ainda não foi.': 'No items: the body could not be read, or is not yet.',
  Diz: 'Claims',
  'o provedor não mostra o que ele diz': 'the provider does not show what it claims',
  Consultas: 'Show calls',
  'Mudou depois da página que você viu: agora é isto.': 'It changed after the page that you saw: now it is this.',
  'Demora demais': 'Takes too long',
  'O banco de dados não responde': 'The database does not answer',
  'O que você enviou pode ter sido gravado: confira antes de enviar de novo.':
    'What you sent may have been stored: check it before you send it again.',
  'Nada do que esta página mostra pode ser lido agora. Recarregue-a em um minuto; se continuar, avise quem opera o Confere.':
    'Nothing that this page shows can be read now. Load it again in a minute; if it goes on, inform the operators of Confere.',
  'O banco de dados encerrou a leitura desta página no limite de tempo. Escolha menos dias ou uma plataforma, ou tente de novo.':
    'The database ended the reading of this page at its time limit. Choose fewer days or one platform, or try again.',
  'No que lê agora: {pages} de {known} páginas conhecidas até agora. Nada conclui antes de provar o dia.':
    'Of what it reads now: {pages} of {known} pages known so far. It concludes nothing before the day is proven.',
  'Esta página precisa de scripts. O documento acima não.': 'This page needs scripts. The document above does not.',
  // a mismatch
  'O que se viu': 'What was seen',
  'O que aconteceu': 'What happened',
  'Valor da transação': 'Amount of the transaction',
  'Em tratamento desde': 'Acknowledged since',
  'Resolvida em': 'Resolved at',
  'Como acabou': 'How it ended',
  Reaberta: 'Reopened',
  '{n} vez': '{n} time',
  '{n} vezes': '{n} times',
  'Base inicial': 'Baseline',
  'Só as da base inicial': 'Only those of the baseline',
  'sim: compara um contrato informado com as tarifas de um dia de antes de o Confere receber os anúncios do provedor (webhooks)':
    'yes: it compares a stated contract with the commissions of a day from before the provider’s announcements (webhooks) were received',
  'sim: é sobre pagamentos ou dias de antes de o Confere receber os anúncios do provedor (webhooks)':
    'yes: it is about payments or days from before the provider’s announcements (webhooks) were received',
  'por {actor}': 'by {actor}',
  'outra evidência': 'other evidence',
  'Escreva o que você descobriu ou decidiu.': 'Write what you found out or decided.',
  'Aceitar diz que o total anunciado conta linhas que não existem: o dia fica provado enquanto esse número não mudar, e o Resumo diz quem o aceitou.':
    'To accept says that the announced total counts rows that do not exist: the day is proven as long as that number does not change, and the sheet Summary says who accepted it.',
  'Aceitar estorna o lançamento em vigor na data dele, lança o que o provedor mostra e avisa os lojistas. A próxima página mostra o que muda antes de gravar.':
    'To accept reverses the entry in force on its date, posts what the provider shows, and notifies the merchants. The next page shows what changes before it is saved.',
  'Estou tratando': 'Acknowledge',
  'Tratar a divergência': 'Handle the mismatch',
  'Aceitar {n} a mais': 'Accept {n} more',
  'Aceitar a do provedor': 'Accept the provider’s',
  'Manter a nossa versão': 'Keep our version',
  Resolver: 'Resolve',
  'A diferença fica como está: só a pergunta se encerra.': 'The difference stays as it is: only the question ends.',
  'O dia fica provado enquanto esse número não mudar, e o Resumo diz quem o aceitou.':
    'The day is proven as long as that number does not change, and the sheet Summary says who accepted it.',
  'O lançamento em vigor é estornado na data dele, e os lojistas são avisados.':
    'The entry in force is reversed on its date, and the merchants are notified.',
  'Observação (obrigatória)': 'Note (required)',
  'O saldo informado de {platform} em {at} é do começo dos livros ou de antes: nenhum ajuste o explica. Se está certo, estorne o saldo inicial e informe outro.':
    'The balance of {platform} stated for {at} is of the start of the books or before: no adjustment explains it. If it is right, reverse the opening balance and state another one.',
  'O ajuste que a explicaria': 'The adjustment that would explain it',
  'Na plataforma {platform}, o painel do provedor tinha {amount} a menos que o razão em {at}.':
    'On platform {platform}, the provider’s dashboard had {amount} less than the ledger at {at}.',
  'Na plataforma {platform}, o painel do provedor tinha {amount} a mais que o razão em {at}.':
    'On platform {platform}, the provider’s dashboard had {amount} more than the ledger at {at}.',
  'Lançar um ajuste de {amount}': 'Enter an adjustment of {amount}',
  'Informar outro saldo': 'State another balance',
  'O extrato do banco tem uma linha em aberto deste valor, em {day}.':
    'The bank’s statement has an open line of this amount, on {day}.',
  'Se é este dinheiro, lance-o por ela': 'If it is this money, enter it by that line',
  // a reconciliation
  'Espera por um worker livre.': 'It waits for a free worker.',
  'Está lendo a lista do provedor.': 'It is reading the provider’s list.',
  'Provou que leu a lista inteira destes dias.': 'It has proven that it read the whole list of these days.',
  'Leu inteira a lista de {read} dos {days} dias e só contou {n}: isso prova os totais, não de quem é cada transação.':
    'It read the whole list of {read} of the {days} days and only counted {n}: that proves the totals, not whose each transaction is.',
  'Contou estes dias, sem os ler: isso prova os totais, não de quem é cada transação.':
    'It counted these days, without reading them: that proves the totals, not whose each transaction is.',
  'A leitura de {day} começou em {at}, cedo demais para a prova de um pagamento desse dia: vale uma começada a partir de {since}.':
    'The reading of {day} began at {at}, too early for the proof of a payment of that day: one that begins from {since} on counts.',
  'Leu a lista de uma só plataforma; a prova de um pagamento pede a de todas.':
    'It read the list of one platform alone; the proof of a payment asks for that of all.',
  'Nos dias em que leu só o que é novo, o total do provedor confere: sobre o que falta neles, nada conclui.':
    'In the days of which it read only what is new, the provider’s total agrees: it concludes nothing about what is missing there.',
  'Não conseguiu provar que leu tudo: nada conclui sobre o que falta.':
    'It could not prove that it read everything: it concludes nothing about what is missing.',
  'Parou no meio; os dias já provados continuam provados.': 'It stopped midway; the days that were proven stay proven.',
  'Por ler': 'To be read',
  'Provado por contagem': 'Proven by counting',
  'Lido o que é novo': 'What is new was read',
  'Não provado': 'Not proven',
  desconhecido: 'unknown',
  Números: 'Numbers',
  'Divergências que levantou': 'Mismatches that it raised',
  Janelas: 'Windows',
  'Conferência de {days}': 'Reconciliation of {days}',
  'Anunciadas pelo provedor': 'Announced by the provider',
  'Lidas, sem repetição': 'Read, without repeats',
  'Aplicadas ao razão': 'Applied to the ledger',
  'Requisições ao provedor': 'Requests to the provider',
  'Dias provados por contagem': 'Days proven by counting',
  'Dias em que leu só o que é novo': 'Days of which only what is new was read',
  'Passadas no pior dia': 'Passes of the worst day',
  Começou: 'Started',
  'Divergências por tipo': 'Mismatches by type',
  'Nenhuma.': 'None.',
  '{done} de {total} janelas terminadas': '{done} of {total} windows finished',
  'Janelas de dias': 'Windows of days',
  resumidas: 'folded',
  'Ainda não foi dividida em janelas.': 'It is not divided into windows yet.',
  Passadas: 'Passes',
  Lidas: 'Read',
  'Prova começou em': 'Proof began at',
  // the system
  'Em ordem': 'In order',
  'Verificar agora': 'Check now',
  Tarefas: 'Jobs',
  Processos: 'Processes',
  Verificação: 'Checks',
  'Banco de dados, permissões, relógio, arquivos e provedor, vistos do processo que responde a esta página: o mesmo que confere doctor.':
    'Database, grants, clock, files and provider, as seen by the process that answers with this page: the same as confere doctor.',
  Acesso: 'Access',
  'Tarefas da agenda': 'Jobs of the timetable',
  Tarefa: 'Job',
  Horário: 'Schedule',
  'Processos que deram sinal de vida nas últimas 24 horas': 'Processes that were alive in the last 24 hours',
  'Nenhum processo deu sinal de vida nas últimas 24 horas: nenhum worker está no ar.':
    'No process was alive in the last 24 hours: no worker is running.',
  Processo: 'Process',
  Máquina: 'Host',
  'Último sinal': 'Last sign of life',
  Partes: 'Parts',
  '{n} MB livres': '{n} MB free',
  'Achados da verificação': 'Findings of the checks',
};
