/** The proof of a payment: its page, and its words, which the API has too. */
export const PROOF_EN = {
  'Prova de um pagamento': 'Proof of a payment',
  'O que a lista do provedor diz de um pagamento, e como o sabemos: para responder a quem pergunta por ele.':
    "What the provider's list says of a payment, and how we know: the answer to somebody who asks for it.",
  'Dia do pagamento': 'Day of the payment',
  Qualquer: 'Any',
  'Palavras dele, ou o começo delas.': 'Words of it, or their beginnings.',
  'Basta ele: sem dia.': 'It is enough: no day.',
  'Escreva o valor, o nome ou o id E2E.': 'Write the amount, the name or the E2E id.',
  'Confira-o, ou escolha também um dia.': 'Check it, or choose a day too.',
  'Lida inteira cedo demais': 'Read whole too early',
  'Detalhes técnicos': 'Technical details',
  'O id E2E já diz o minuto.': 'The E2E id names its minute.',
  'Não tem': 'Has none',
  'Não se sabe': 'Not known',
  'Não entrou': 'Not received',
  'Saídas de dinheiro não se procuram assim: a lista do provedor não traz o id E2E delas.':
    "Money out is not searched like this: the provider's list does not have its E2E id.",
  'Sem este id E2E, em dúvida': 'Without this E2E id, in doubt',
  'Falta o nome da empresa: um administrador do servidor o define na configuração dos e-mails.':
    "The company's name is missing: an administrator of the server sets it in the configuration of e-mails.",
  'Não nesta lista': 'Not in this list',
  'Criado antes: não se sabe': 'Created before: not known',
  'Envie este endereço a um operador:': 'Send this address to an operator:',
  'No Confere: {outcome}': 'In Confere: {outcome}',
  'Lista do provedor de {day}: {asked}': "The provider's list of {day}: {asked}",
  'Está na lista, {outcome}': 'In the list, {outcome}',
  'Criado antes, {outcome}': 'Created before, {outcome}',
  'pago em {day}': 'paid on {day}',
  'devolvido em {at}': 'refunded on {at}',
  'Devolvida em': 'Refunded at',
  'Emitida por {issuer} em {at}.': 'Issued by {issuer} on {at}.',
  'Feita em {at}.': 'Made on {at}.',
  'O nome da empresa é o dos e-mails do Confere: um administrador do servidor o muda.':
    'The company’s name is that of the e-mails of Confere: an administrator of the server changes it.',
  'não pago ({status} em {day})': 'not paid ({status} on {day})',
  'saída de dinheiro ({status} em {day})': 'money out ({status} on {day})',
  'Fuso horário do provedor': "The provider's time zone",
  'Neste dia há assim ({asked}), em outra hora: {hours}.':
    'On this day there is one like this ({asked}), at another hour: {hours}.',
  'Não nesta hora': 'Not at this hour',
  'Ver, a qualquer hora': 'Show, at any hour',
  'Paga em': 'Paid at',
  'não foi paga': 'it was not paid',
  'Soubemos em': 'We learnt of it',
  'Anúncio do provedor (webhook)': "The provider's announcement (webhook)",
  'Como sabemos': 'How we know',
  'Lida inteira em': 'Read whole at',
  Contagem: 'Count',
  '{listed} transações, de {from} a {to}; o provedor anunciou {announced}':
    '{listed} transactions, from {from} to {to}; the provider announced {announced}',
  'Dias antes, não lidos inteiros desde então': 'Days before, not read whole since',
  'Checkpoint publicado': 'Published checkpoint',
  'Mostrar os dados pessoais': 'Show personal data',
  'Mascarar os dados pessoais, para enviar': 'Mask personal data, to send it',
  'Imprima a página, ou salve-a em PDF. A API dá o mesmo em JSON: GET /api/v1/transactions/proof.':
    'Print the page, or save it as PDF. The API gives the same as JSON: GET /api/v1/transactions/proof.',
  'o dia ainda não terminou no provedor': 'the day is not over at the provider',
  'o Confere conhece um pagamento que uma leitura inteira dela não tinha':
    'Confere knows a payment that a whole reading of it did not have',
  'A leitura inteira mais nova dela começou em {at}, cedo demais: só vale uma começada a partir de {since}.':
    'Its newest whole reading began at {at}, too early: only one that begins from {since} on counts.',
  'A leitura inteira mais nova desses dias começou antes disso, em {at}.':
    'The newest whole reading of these days began before that, at {at}.',
  'Só nesta tela: a impressão e o texto da prova não têm isto.':
    'On this screen alone: the print and the text of the proof do not have this.',
  'ela não foi lida inteira desde o fim do dia': 'it was not read whole since the day ended',
  'desde o fim do dia ela só foi contada, e uma contagem não diz de quem é cada transação':
    'since the day ended it was only counted, and a count does not say whose each transaction is',
  'a leitura mais nova já não conseguiu prová-la': 'the newest reading could not prove it any more',
  'depois da leitura apareceu uma transação que ela não tinha':
    'after the reading a transaction appeared that it did not have',
  'o dia é de antes dos livros, e ela não foi lida': 'the day is before the books, and it was not read',
  'o fuso horário do provedor está em dúvida, e com ele o dia de cada pagamento':
    "the provider's time zone is in doubt, and with it the day of each payment",
  'ela tem linhas que o Confere não conseguiu ler': 'it has rows that Confere could not read',
  'o id E2E não tem a forma de um; confira cada caractere':
    'the E2E id does not have the form of one; check each character',
  'ela tem pagamentos sem nome, sem id E2E ou com outras maiúsculas nele, e um deles pode ser este':
    'it has payments without a name, without an E2E id or with other capitals in it, and one of them may be this one',
  'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere {has} assim ({asked}), e isso pode não ser tudo.':
    "Nothing is concluded from the provider's list of {day}: {reason}. Confere {has} like this ({asked}), and that may not be all.",
  'A lista do provedor de {day} foi lida inteira em {at} e {has} assim: {asked}.':
    "The provider's list of {day} was read whole at {at} and {has} like this: {asked}.",
  'Sobre o que foi criado antes e pago em {day} nada se conclui: dos {days} dias antes, {n} não foram lidos inteiros desde {since}.':
    'Nothing is concluded about what was created before and paid on {day}: of the {days} days before, {n} were not read whole since {since}.',
  'Contados, sem serem lidos: {n}; isso prova os totais dos livros, não de quem é cada transação.':
    'Counted without being read: {n}; that proves the totals of the books, not whose each transaction is.',
  'Para concluir, um operador inicia uma conferência de {from} a {to}.':
    'To conclude, an operator starts a reconciliation from {from} to {to}.',
  'Sobre o que foi criado antes e pago em {day} também nada se conclui.':
    'Nothing is concluded either about what was created before and paid on {day}.',
  'ela tem mais nomes do que os que se comparam; escreva também o valor, a hora ou o id E2E':
    'it has more names than are compared; write the amount, the hour or the E2E id too',
  'O que foi criado nos {days} dias antes {has} assim, paga em {day}.':
    'What was created in the {days} days before {has} like this, paid on {day}.',
  'A lista de cada um desses dias foi lida inteira depois do seu fim, e nenhuma cobrança deste valor ficou sem pagamento e sem ser vista de novo depois de {day}.':
    'The list of each of these days was read whole after its end, and no charge of this amount was left unpaid and not seen again after {day}.',
  'Só uma cobrança deste valor, criada antes, pode ter sido paga em {day}: não consta como paga e não foi vista desde {since}.':
    'Only one charge of this amount, created before, may have been paid on {day}: it is not known as paid and was not seen since {since}.',
  'Só {n} cobranças deste valor, criadas antes, podem ter sido pagas em {day}: não constam como pagas e não foram vistas desde {since}.':
    'Only {n} charges of this amount, created before, may have been paid on {day}: they are not known as paid and were not seen since {since}.',
  'Com o valor, talvez se possa concluir.': 'With the amount, it may be possible to conclude.',
  'A próxima leitura inteira dela começa em {at}; se ela a provar, a partir daí se pode concluir.':
    'Its next whole reading begins at {at}; if that proves it, a conclusion is possible from then on.',
  'A próxima leitura inteira desses dias começa em {at}; se ela os provar, a partir daí se pode concluir.':
    'The next whole reading of these days begins at {at}; if that proves them, a conclusion is possible from then on.',
  'Cobranças em dúvida': 'Charges in doubt',
  'não tem nenhuma transação': 'has no transaction',
  'tem uma transação': 'has one transaction',
  'tem {n} transações': 'has {n} transactions',
  'nome com “{name}”': 'name with “{name}”',
  'Não com este nome': 'Not under this name',
  'Com outro nome há uma transação deste valor neste dia.':
    'Under another name there is one transaction of this amount on this day.',
  'Com outro nome há ao menos {n} transações deste valor neste dia.':
    'Under another name there are at least {n} transactions of this amount on this day.',
  'Há em {day}.': 'There is one on {day}.',
  'Ver, com qualquer nome': 'Show, under any name',
  'Ver {day}': 'Show {day}',
  'Iniciar essa conferência': 'Start that reconciliation',
  'id E2E {id}': 'E2E id {id}',
  'entre {from} e {to} h': 'between {from}:00 and {to}:00',
};
