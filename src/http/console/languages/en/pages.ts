/** The pages of one item, the login, errors, and runbooks. */
export const PAGES_EN = {
  // runbooks
  Guias: 'Runbooks',
  'O que fazer em cada alerta': 'What to do about each alert',
  'Todos os guias': 'All runbooks',
  // the login
  Entrar: 'Log in',
  'Este token não existe ou foi revogado, ou expirou.': 'This token does not exist, is revoked or has expired.',
  'Cole um token de acesso. Quem administra o Confere cria um com <code>confere tokens create --role viewer</code>.':
    'Paste an access token. An admin of Confere creates one with <code>confere tokens create --role viewer</code>.',
  // errors
  'Algo deu errado': 'Something went wrong',
  'Uma falha inesperada; ela está no log. Tente de novo e, se continuar, avise quem opera o Confere.':
    'An unexpected failure; it is in the log. Try again and, if it persists, inform the operators of Confere.',
  'Não encontrado': 'Not found',
  'Não há nada neste endereço, ou o id não é de nada nosso.':
    'There is nothing at this address, or the id is of nothing of ours.',
  'Pedido inválido': 'Invalid request',
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
  'O papel de leitura busca poucos documentos por hora. Tente mais tarde, ou peça a um operador.':
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
  'Tentativas, a mais antiga primeiro': 'Attempts, the oldest first',
  'Nenhuma tentativa até agora.': 'No attempts yet.',
  'Cabeçalhos do pedido': 'Request headers',
  Nº: 'No.',
  Mensagem: 'Message',
  'Não pode ser montada: o razão não tem o evento dela.': 'It cannot be rendered: the ledger does not have its event.',
  'O corpo é montado agora, do que o razão sabe; o de uma tentativa anterior pode ter sido outro. Uma assinatura não se guarda.':
    'The body is rendered now, from what the ledger knows; that of an earlier attempt may have been another one. A signature is not stored.',
  Corpo: 'Body',
  corpo: 'body',
  'Cabeçalhos da última tentativa': 'Headers of the last attempt',
  'Assinar e enviar com openssl e curl': 'Sign and send with openssl and curl',
  'Preencha o segredo e o endereço. A assinatura que sai deve ser a que o lojista calcula de <code>id.timestamp.{body}</code>; quem recebe compara com o cabeçalho <code>webhook-signature</code>. Enquanto roda, o segredo aparece na lista de processos (<code>ps</code>): use um computador só seu.':
    'Fill in the secret and the address. The printed signature must be the one that the merchant computes of <code>id.timestamp.{body}</code>; the receiver compares it with the header <code>webhook-signature</code>. While it runs, the secret is in the list of processes (<code>ps</code>): use a computer of your own.',
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
    'Nothing that this page shows can be read now. Load it again in a minute; if it goes on, ask an operator of Confere.',
  'O banco de dados encerrou a leitura desta página no limite de tempo. Escolha menos dias ou uma plataforma, ou tente de novo.':
    'The database ended the reading of this page at its time limit. Choose fewer days or one platform, or try again.',
  'No que lê agora: {pages} de {known} páginas conhecidas até agora. Nada conclui antes de provar o dia.':
    'Of what it reads now: {pages} of {known} pages known so far. It concludes nothing before the day is proven.',
};
