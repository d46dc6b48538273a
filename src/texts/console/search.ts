/** The search for transactions, and the filters of every list. */
export const SEARCH_EN = {
  // filters
  Filtros: 'Filters',
  'Buscar transações': 'Search transactions',
  'Escreva um só texto.': 'Write one text.',
  'Escolha um da lista.': 'Choose one of the list.',
  'Este dia não existe.': 'This day does not exist.',
  'Esta busca valia só para a sessão em que foi feita: faça-a de novo.':
    'This search was valid only for the session in which it was made: search again.',
  'Outras plataformas': 'Other platforms',
  'Transação ou plataforma': 'Transaction or platform',
  // what is wrong with a search
  'Este dia não existe: escreva 22/11/2026.': 'This day does not exist: write 2026-11-22.',
  'É menor que o primeiro valor.': 'It is below the first amount.',
  'Escreva o valor como {example}.': 'Write the amount as {example}.',
  'Este valor é maior que qualquer transação.': 'This amount is larger than any transaction.',
  'Escreva os dígitos.': 'Write its digits.',
  'Escreva duas letras ou mais.': 'Write two letters or more.',
  'Escreva {n} letras ou mais.': 'Write {n} letters or more.',
  'Escolha o período, de no máximo {n} dias.': 'Choose the period, of at most {n} days.',
  'Este texto não se lê assim: busque-o de novo.': 'This text has no such reading: search for it again.',
  'Um id E2E tem {due} caracteres, e este tem {n}.': 'An E2E id has {due} characters, and this one has {n}.',
  'O caractere {n} é “{char}”, e um id E2E começa com E ou D maiúsculo.':
    'Character {n} is “{char}”, and an E2E id begins with a capital E or D.',
  'O caractere {n} é “{char}”, e ali há um algarismo.': 'Character {n} is “{char}”, and a digit stands there.',
  'O caractere {n} é “{char}”, e ali há uma letra sem acento ou um algarismo.':
    'Character {n} is “{char}”, and a plain letter or a digit stands there.',
  'Os caracteres 10 a 21 do id E2E são a data e a hora, e estas não existem.':
    'Characters 10 to 21 of an E2E id are its date and time, and there are none such.',
  'Confira cada caractere do id E2E.': 'Check each character of the E2E id.',
  'Nenhuma transação conhecida tem este id E2E.': 'No known transaction has this E2E id.',
  'Buscam-se começos de palavras. Dentro delas, só num período: <a href="{path}">buscar “{text}” dentro das palavras</a>, e escolher os dias.':
    'Beginnings of words are searched. Inside of them, in a period alone: <a href="{path}">search “{text}” inside of words</a>, and choose the days.',
  'Tire antes o outro texto da busca, ou busque só por ele.':
    'Remove the other text of the search first, or search for it alone.',
  'Escolha menos dias: esta busca leva mais de {ms} ms.': 'Choose fewer days: this search takes more than {ms} ms.',
  // fields
  'Id ou começo, referência, extra, E2E, número do pedido, CPF ou CNPJ, começo de palavras, {amount}, 22/11/2026. Não em ajustes, nem em observações.':
    'An id or its beginning, reference, extra, E2E, order number, CPF or CNPJ, beginnings of words, {amount}, 2026-11-22. Not in adjustments or notes.',
  'Dentro das palavras': 'Inside of words',
  'Do nome, e-mail, referência ou extra, num período de até {n} dias.':
    'Of the name, e-mail, reference or extra, in a period of up to {n} days.',
  'Id ou começo, referência, extra, E2E, número do pedido, CPF ou CNPJ, {amount}, 22/11/2026. Não em ajustes, nem em observações.':
    'An id or its beginning, reference, extra, E2E, order number, CPF or CNPJ, {amount}, 2026-11-22. Not in adjustments or notes.',
  'CPF ou CNPJ': 'CPF or CNPJ',
  'Dia da': 'Day of the',
  Criação: 'Creation',
  // chips
  'Filtros da busca': 'Filters of the search',
  Período: 'Period',
  '(tirar este filtro)': '(remove this filter)',
  'de {day}': 'from {day}',
  'até {day}': 'to {day}',
  '{days}, pelo dia da situação': '{days}, by the day of the status',
  Ontem: 'Yesterday',
  '7 dias': '7 days',
  '30 dias': '30 days',
  // readings
  'id ou começo dele': 'id or its beginning',
  referência: 'reference',
  extra: 'extra',
  'id E2E': 'E2E id',
  'começo de palavras': 'beginnings of words',
  valor: 'amount',
  dia: 'day',
  ou: 'or',
  'Procurado como {readings}.': 'Searched as {readings}.',
  'Há mais de um valor, ou mais de um dia: foram procurados como texto.':
    'There is more than one amount, or more than one day: they were searched as text.',
  '“{text}” não é um dia: foi procurado como texto.': '“{text}” is not a day: it was searched as text.',
  'Procurar também como outra coisa': 'Search as anything else too',
  'O papel de leitura não busca por nome.': 'The role of a viewer does not search by name.',
  // totals and files
  'O total não foi contado: leva mais de {ms} ms. Escolha menos dias.':
    'The total was not counted: it takes more than {ms} ms. Choose fewer days.',
  '<b>{n} transação</b>': '<b>{n} transaction</b>',
  '<b>{n} transações</b>': '<b>{n} transactions</b>',
  '<b>Mais de {n} transações</b>, mais do que:': '<b>More than {n} transactions</b>, more than:',
  'Entradas pagas': 'Cashins paid',
  'Entradas devolvidas': 'Cashins refunded',
  'Entradas não pagas': 'Cashins not paid',
  'Saídas pagas': 'Cashouts paid',
  'Saídas devolvidas': 'Cashouts refunded',
  'Saídas não pagas': 'Cashouts not paid',
  'Pela situação de agora. O que foi devolvido depois não está nas pagas; o relatório conta os dois.':
    'By the status of now. What was refunded later is not among the paid; the report counts both.',
  'Pedido com este número:': 'Order of this number:',
  'Nenhuma transação com isto; {n} pedido, acima.': 'No transaction with this; {n} order, above.',
  'Nenhuma transação com isto; {n} pedidos, acima.': 'No transaction with this; {n} orders, above.',
  'O que foi pago e devolvido em {day} está no <a href="{path}">relatório do dia</a>.':
    'What was paid and refunded on {day} is in the <a href="{path}">report of the day</a>.',
  'Contam-se até {n}: estreite a busca para o total exato.':
    'Up to {n} are counted: narrow the search for the exact total.',
  'Valor de': 'Amount from',
  'Valor até': 'Amount to',
  'Baixar o que se vê, em todas as páginas:': 'Download what is shown, of all pages:',
  'Até {n} linhas, as mais novas primeiro; fica registrado quem baixou e o quê.':
    'Up to {n} rows, the newest first; who downloaded which is on record.',
  'Até {n} linhas, as mais novas primeiro; com os dados pessoais mascarados.':
    'Up to {n} rows, the newest first; with personal data masked.',
  'O tempo desta busca acabou em {day}: ela continua na próxima página.':
    'The time of this search ended at {day}: it goes on at the next page.',
  // the table
  'Transações, as mais novas primeiro': 'Transactions, the newest first',
  'Nenhuma transação assim.': 'No transaction like this.',
  'Primeiro, o que tem exatamente este texto.': 'First, what has exactly this text.',
  'Nenhuma transação com estes filtros: tire um deles.': 'No transactions with these filters: remove one of them.',
  'O razão ainda não tem transações: elas entram com a primeira conferência ou o primeiro webhook.':
    'The ledger has no transactions yet: they come with the first reconciliation or the first webhook.',
};
