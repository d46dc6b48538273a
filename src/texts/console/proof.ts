/** The proof of a payment: its page, and its words, which the API has too. */
export const PROOF_EN = {
  'Prova de um pagamento': 'Proof of a payment',
  'O que a lista do provedor diz de um pagamento, e como o sabemos: para responder a quem pergunta por ele.':
    "What the provider's list says of a payment, and how we know: the answer to somebody who asks for it.",
  'Dia do pagamento': 'Day of the payment',
  Hora: 'Hour',
  Qualquer: 'Any',
  'Basta ele: sem dia.': 'It is enough: no day.',
  'Escreva o valor, o nome ou o id E2E.': 'Write the amount, the name or the E2E id.',
  'O id E2E já diz o minuto.': 'The E2E id names its minute.',
  Tem: 'Has it',
  'Não tem': 'Has none',
  'Sem conclusão': 'No conclusion',
  'Lista do provedor de {day}': "The provider's list of {day}",
  'Em outras horas do dia, há uma.': 'There is one in other hours of the day.',
  'Em outras horas do dia, há {n}.': 'There are {n} in other hours of the day.',
  'Paga em': 'Paid at',
  'não foi paga': 'it was not paid',
  'Soubemos em': 'We learnt of it',
  'Webhook recebido': 'Webhook received',
  nenhum: 'none',
  'Como sabemos': 'How we know',
  'Lida inteira em': 'Read whole at',
  Contagem: 'Count',
  '{listed} transações; o provedor anunciou {announced}': '{listed} transactions; the provider announced {announced}',
  '{listed} transações, de {from} a {to}': '{listed} transactions, from {from} to {to}',
  'Excedente aceito por uma pessoa': 'Surplus accepted by a person',
  'Provada de novo em': 'Proven again at',
  'Dias antes, não lidos desde então': 'Days before, not read since',
  'Checkpoint publicado': 'Published checkpoint',
  'Mostrar os dados pessoais': 'Show personal data',
  'Mascarar os dados pessoais, para enviar': 'Mask personal data, to send it',
  'Imprima a página, ou salve-a em PDF. A API dá o mesmo em JSON: GET /api/v1/transactions/proof.':
    'Print the page, or save it as PDF. The API gives the same as JSON: GET /api/v1/transactions/proof.',
  'o dia ainda não terminou no provedor': 'the day is not over at the provider',
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
  'ela tem pagamentos sem nome ou sem id E2E, e um deles pode ser este':
    'it has payments without a name or an E2E id, and one of them may be this one',
  'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere não conhece nenhuma transação assim ({asked}), o que não prova que não exista.':
    "Nothing is concluded from the provider's list of {day}: {reason}. Confere knows no such transaction ({asked}), which does not prove that there is none.",
  'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere conhece uma transação assim ({asked}); pode haver outras.':
    "Nothing is concluded from the provider's list of {day}: {reason}. Confere knows one such transaction ({asked}); there may be others.",
  'Sobre a lista do provedor de {day} nada se conclui: {reason}. O Confere conhece {n} transações assim ({asked}); pode haver outras.':
    "Nothing is concluded from the provider's list of {day}: {reason}. Confere knows {n} such transactions ({asked}); there may be others.",
  'A lista do provedor de {day} foi lida inteira em {at}: não tem nenhuma transação assim: {asked}.':
    "The provider's list of {day} was read whole at {at}: it has no such transaction: {asked}.",
  'A lista do provedor de {day} foi lida inteira em {at}: tem uma transação assim: {asked}.':
    "The provider's list of {day} was read whole at {at}: it has one such transaction: {asked}.",
  'A lista do provedor de {day} foi lida inteira em {at}: tem {n} transações assim: {asked}.':
    "The provider's list of {day} was read whole at {at}: it has {n} such transactions: {asked}.",
  'Das transações criadas nos {days} dias antes, nenhuma assim foi paga em {day}: as suas listas foram lidas ou contadas depois desse dia.':
    'Of the transactions created in the {days} days before, none like it was paid on {day}: their lists were read or counted after that day.',
  'Uma transação assim, criada antes de {day}, foi paga nesse dia.':
    'One transaction like it, created before {day}, was paid on that day.',
  '{n} transações assim, criadas antes de {day}, foram pagas nesse dia.':
    '{n} transactions like it, created before {day}, were paid on that day.',
  'Sobre transações criadas antes e pagas em {day} nada se conclui: a lista de um dos {days} dias antes não foi lida depois desse dia.':
    'Nothing is concluded about transactions that were created before and paid on {day}: the list of one of the {days} days before was not read after that day.',
  'Sobre transações criadas antes e pagas em {day} nada se conclui: as listas de {n} dos {days} dias antes não foram lidas depois desse dia.':
    'Nothing is concluded about transactions that were created before and paid on {day}: the lists of {n} of the {days} days before were not read after that day.',
  'nome {name}': 'name {name}',
  'id E2E {id}': 'E2E id {id}',
  'entre {from} e {to} h': 'between {from}:00 and {to}:00',
};
