/** The balances, and the forms that move money. */
export const BALANCES_EN = {
  // the page
  'Saldo neste instante': 'Balance at this instant',
  'Como se sabia em': 'As known at',
  'O que aconteceu antes de {before}, como se sabe agora.': 'What happened before {before}, as known now.',
  'O que aconteceu antes de {before}, como se sabia antes de {known}.':
    'What happened before {before}, as known before {known}.',
  'A diferença é entre o último saldo informado até ali e o que o razão diz hoje daquele instante.':
    'The difference is between the last balance stated until then and the ledger’s balance of that instant as known today.',
  'Por plataforma': 'By platform',
  'Nomes das plataformas': 'Names of platforms',
  Contas: 'Accounts',
  'Todas as contas do razão': 'All accounts of the ledger',
  'Saldo por plataforma': 'Balance by platform',
  'Nada foi lançado até este instante.': 'Nothing was posted until this instant.',
  'Último informado': 'Last stated',
  'em {at}': 'at {at}',
  Confere: 'Agrees',
  'o dia ainda não foi lido até lá': 'the day is not read until then yet',
  'ver a divergência': 'see the mismatch',
  'Saldo de cada conta, débito positivo': 'Balance of each account, debit positive',
  // what people state
  'Saldos informados': 'Stated balances',
  Ajustes: 'Adjustments',
  'Saldos iniciais': 'Opening balances',
  'Saldos informados, os mais novos primeiro': 'Stated balances, the newest first',
  'Ninguém informou um saldo até agora: informe o que o painel do provedor mostra.':
    'Nobody has stated a balance: state the one that the provider’s dashboard shows.',
  Informado: 'Stated',
  'No razão': 'In the ledger',
  'Ajustes, os mais novos primeiro': 'Adjustments, the newest first',
  'Nenhum ajuste até agora.': 'No adjustments.',
  '<b>{n} ajuste</b>: entradas {in}, saídas {out}.': '<b>{n} adjustment</b>: in {in}, out {out}.',
  '<b>{n} ajustes</b>, com os estornos: entradas {in}, saídas {out}.':
    '<b>{n} adjustments</b>, with the reversals: in {in}, out {out}.',
  'Saldos iniciais, os mais novos primeiro': 'Opening balances, the newest first',
  'Nenhum saldo inicial: os livros começam na primeira transação conhecida.':
    'No opening balance: the books begin with the first known transaction.',
  'Primeiro dia': 'First day',
  Estornado: 'Reversed',
  Estornar: 'Reverse',
  'Em vigor': 'In force',
  'O dinheiro sai do provedor e entra no banco.': 'The money leaves the provider and goes to the bank.',
  'O dinheiro sai do banco e entra no provedor.': 'The money leaves the bank and goes to the provider.',
  'O provedor fica com o dinheiro: é uma despesa.': 'The provider keeps the money: it is an expense.',
  'O provedor devolve o dinheiro de uma tarifa.': 'The provider returns the money of a fee.',
  'O provedor bloqueia o dinheiro: ele continua nosso, mas não está disponível.':
    'The provider blocks the money: it is still ours, but not available.',
  'O provedor desbloqueia o dinheiro: ele fica disponível de novo.':
    'The provider unblocks the money: it is available again.',
  'O dinheiro sai do disponível.': 'The money leaves the available balance.',
  'O dinheiro entra no disponível.': 'The money enters the available balance.',
  'Escreva o valor sem sinal: o tipo diz para onde o dinheiro vai.':
    'Write the amount without a sign: the kind says where the money goes.',
  Tarifa: 'Fee',
  'Informar um contrato': 'State a contract',
  'O que o provedor pode cobrar por transação: um valor fixo mais uma parte do valor. O contrato mais novo vale sobre os anteriores.':
    'What the provider may charge for a transaction: a fixed amount and a part of the amount. A newer contract takes precedence.',
  'Valor fixo, em R$': 'Fixed amount, in R$',
  'Parte do valor, em %': 'Part of the amount, in %',
  'Duas casas no máximo.': 'At most two decimals.',
  'Vazio: até que outro seja informado.': 'Empty: until another one is stated.',
  'Escreva o valor sem sinal.': 'Write the amount without a sign.',
  'De 0 a 100 %.': '0 to 100 %.',
  'Por este contrato': 'By this contract',
  'Só os dias do contrato, até hoje.': 'The days of the contract alone, until today.',
  'Ele ainda não vale: o mês passado, como se já valesse nele.':
    'It is not in force yet: last month, as if it had been in force.',
  'Plataformas com um contrato próprio ficam de fora.': 'Platforms with a contract of their own are left out.',
  'Teria custado': 'Would have cost',
  'Nenhuma transação destes dias é coberta por este contrato ({days}): não há o que comparar.':
    'No transaction of these days is covered by this contract ({days}): there is nothing to compare.',
  'Contratos informados': 'Stated contracts',
  'Contratos, os mais novos primeiro': 'Contracts, newest first',
  'Nenhum contrato até agora.': 'No contract so far.',
  'Um trecho dele.': 'A part of it.',
  'Valor fixo': 'Fixed amount',
  'Parte do valor': 'Part of the amount',
  Retirado: 'Withdrawn',
  'Retirar um contrato': 'Withdraw a contract',
  'O contrato continua na lista e deixa de valer, também para os dias que já passaram.':
    'The contract stays in the list and no longer applies, nor to the days that have passed.',
  'Aqui estão {count} de {total}.': 'Here are {count} of {total}.',
  'Das transações pagas no mês, entradas e saídas, com a tarifa que têm agora. A diferença conta só as que um contrato cobre.':
    'Of the transactions paid in the month, in and out, with their commission of now. The difference counts those that a contract covers.',
  'O contrato dá frações de centavo, e o provedor arredonda cada uma para cima ou para baixo: um centavo de diferença numa transação não é erro e não abre divergência. A coluna Diferença soma também esses centavos.':
    'The contract gives fractions of a cent, and the provider rounds each up or down: a cent of difference in a transaction is no error and opens no mismatch. The column Difference adds these cents too.',
  'Tarifas por plataforma e operação': 'Fees by platform and operation',
  'Nada foi pago neste mês.': 'Nothing was paid in this month.',
  Cobrado: 'Charged',
  'Pelo contrato': 'By the contract',
  'Lançadas por pessoas': 'Entered by people',
  'Transações fora do contrato': 'Transactions that differ from the contract',
  'Nenhuma das que um contrato cobre.': 'None of those that a contract covers.',
  'Nenhum contrato cobre estas transações.': 'No contract covers these transactions.',
  // names of platforms
  'Outra plataforma já tem este nome.': 'Another platform has this name.',
  'O nome aparece nas planilhas e no console; o id continua a valer em todo o resto.':
    'The name appears in the workbooks and the console; the id stays valid everywhere else.',
  'Plataformas com nome': 'Platforms with a name',
  'Nenhuma plataforma tem nome até agora.': 'No platform has a name.',
  'Vazio retira o nome.': 'Empty removes the name.',
  'Dar um nome': 'Give a name',
  Salvar: 'Save',
  'Sem plataforma': 'No platform',
  // fields
  'Como {example}.': 'Such as {example}.',
  '{hint} Como {example}.': '{hint} Such as {example}.',
  'No máximo {max}.': 'At most {max}.',
  'Escreva um valor como {example} ou -{example}.': 'Write an amount as {example} or -{example}.',
  'Escolha uma da lista, ou escreva outra: não as duas.': 'Choose one of the list, or write another one: not both.',
  'Escolha uma plataforma, ou escreva outra.': 'Choose a platform, or write another one.',
  'Nenhuma ainda': 'None yet',
  'Ou outra plataforma': 'Or another platform',
  'Só se ela ainda não está na lista.': 'Only if it is not in the list yet.',
  'Escolha o tipo.': 'Choose the type.',
  'Um ajuste de zero não muda nada.': 'An adjustment of zero changes nothing.',
  'Escreva por quê.': 'Write why.',
  'nova na lista': 'new in the list',
  // the forms in two steps
  'Ver o que muda': 'See what changes',
  'Nada é gravado antes de você confirmar na próxima página.': 'Nothing is saved before you confirm on the next page.',
  'Voltar e corrigir': 'Go back and correct',
  'Informar um saldo': 'State a balance',
  'O saldo (disponível mais retido) que o painel do provedor mostra num instante. O Confere o compara com o razão e abre uma divergência se não bate.':
    'The balance (available plus held) that the provider’s dashboard shows at an instant. Confere compares it with the ledger and opens a mismatch if they differ.',
  'Instante, no relógio do provedor': 'Instant, on the provider’s clock',
  'Saldo no painel, em R$': 'Balance on the dashboard, in R$',
  'Saldo informado': 'Stated balance',
  substituído: 'replaced',
  'No razão nesse instante': 'In the ledger at that instant',
  'nenhuma: o saldo confere': 'none: the balances agree',
  'O saldo informado é o do razão. Uma divergência de saldo em aberto desta plataforma se resolve.':
    'The stated balance is the ledger’s. An open balance mismatch of this platform is resolved.',
  'O saldo informado não é o do razão. A divergência “Saldo não bate” abre, ou continua aberta, assim que o dia estiver lido até esse instante; um ajuste que a explique a resolve.':
    'The stated balance is not the ledger’s. The mismatch “Balance differs” opens, or stays open, once the day is read until that instant; an adjustment that explains it resolves it.',
  'Lançar um ajuste': 'Enter an adjustment',
  'Um movimento que a lista do provedor não mostra. Entra no começo do dia.':
    'A movement that the provider’s list does not show. It is dated at the start of the day.',
  'Valor, em R$': 'Amount, in R$',
  'Informar um saldo inicial': 'State an opening balance',
  'O saldo (disponível mais retido) do painel do provedor no começo de um dia: ali começam os livros da plataforma. O que o razão tem de antes desse dia é estornado.':
    'The balance (available plus held) of the provider’s dashboard at the start of a day: the platform’s books begin there. What the ledger has from before that day is reversed.',
  'Saldo no começo do dia, em R$': 'Balance at the start of the day, in R$',
  'Primeiro dia dos livros': 'First day of the books',
  'Esta plataforma tem muitas transações: abaixo está só o lançamento do saldo inicial. O que o razão tem de antes desse dia ({amount}) é estornado depois, em lotes, e os dias já relatados de antes dele ganham uma revisão. Ao fim:':
    'This platform has many transactions: below is only the entry of the opening balance. What the ledger has from before that day ({amount}) is reversed afterwards, in batches, and the reported days before it get a revision. In the end:',
  'Este dia vem antes dos livros, que começam em {first}: {n} dia a mais passa a ter um relatório por fazer. Se o dinheiro já estava na conta, informe um saldo inicial.':
    'This day is before the books, which begin on {first}: {n} more day gets a report to make. If the money was in the account already, state an opening balance.',
  'Este dia vem antes dos livros, que começam em {first}: {n} dias a mais passam a ter um relatório por fazer. Se o dinheiro já estava na conta, informe um saldo inicial.':
    'This day is before the books, which begin on {first}: {n} more days get a report to make. If the money was in the account already, state an opening balance.',
  'Desde {day}, {n} dia terminado está sem prova. Ao confirmar, uma conferência começa 96 dias antes dos livros e o lê; até lá o veredito e o fechamento do mês esperam.':
    'Since {day}, {n} ended day is not proven. Once you confirm, a reconciliation begins 96 days before the books and reads it; until then the verdict and the closing of the month wait.',
  'Desde {day}, {n} dias terminados estão sem prova. Ao confirmar, uma conferência começa 96 dias antes dos livros e os lê; até lá o veredito e o fechamento do mês esperam.':
    'Since {day}, {n} ended days are not proven. Once you confirm, a reconciliation begins 96 days before the books and reads them; until then the verdict and the closing of the month wait.',
  // reversals
  'Estornar um ajuste': 'Reverse an adjustment',
  'O estorno entra no mesmo dia, com o sinal trocado. O ajuste e o estorno continuam na lista.':
    'The reversal is dated on the same day, with the opposite sign. The adjustment and its reversal stay in the list.',
  'Por que estornar': 'Why it is reversed',
  'Estornar um saldo inicial': 'Reverse an opening balance',
  'Os livros da plataforma voltam a ter tudo o que o Confere conhece, também o de antes desse dia. Depois outro saldo inicial pode ser informado.':
    'The platform’s books get everything that Confere knows, also from before that day. Afterwards another opening balance can be stated.',
  'Lançado por': 'Entered by',
  'Informado por': 'Stated by',
  'Esta plataforma tem muitas transações: abaixo está só o estorno do saldo inicial. O que aconteceu antes desse dia é lançado depois, em lotes; só então se conhece o saldo.':
    'This platform has many transactions: below is only the reversal of the opening balance. What happened before that day is posted afterwards, in batches; only then is the balance known.',
  // the preview
  'Mudou depois da prévia que você viu: confira de novo o que muda.':
    'It changed after the preview that you saw: check again what changes.',
  'Nada é lançado: nenhum saldo muda, e nenhum dia já relatado.':
    'Nothing is posted: no balance changes, and no reported day.',
  'Efeito no saldo': 'Effect on the balance',
  'Saldo antes e depois': 'Balance before and after',
  'Nenhum saldo muda.': 'No balance changes.',
  'Saldo agora': 'Balance now',
  'Saldo depois': 'Balance after',
  'Nada é lançado.': 'Nothing is posted.',
  'com data de {at}': 'dated {at}',
  'Partidas do lançamento {n}': 'Postings of entry {n}',
  'E mais {n} lançamentos.': 'And {n} more entries.',
  'Ao confirmar, você causa o alerta “{title}”.': 'By confirming, you cause the alert “{title}”.',
  'Nenhum alerta novo.': 'No new alert.',
  'Mês fechado, cujas cifras não mudam: {list}. O que muda nele aparece na planilha do mês seguinte, em Ajustes de meses anteriores.':
    'A closed month, whose figures do not change: {list}. What changes in it is in the workbook of the following month, under adjustments of earlier months.',
  'Nenhum dia já relatado muda.': 'No reported day changes.',
  'e mais {n}': 'and {n} more',
  'Um dia já relatado ganha uma nova revisão: {list}.': 'One reported day gets a new revision: {list}.',
  'A agenda a faz na próxima vez que fizer relatórios; antes dela, o botão na página do dia.':
    'The schedule makes it when it next makes reports; before that, the button on the page of the day.',
  '{count} dias já relatados ganham uma nova revisão: {list}.': '{count} reported days get a new revision: {list}.',
  'linha {row}: um ajuste deste dia e valor já está lançado: {note} ({who}, {when}).':
    'row {row}: an adjustment of this day and amount is posted already: {note} ({who}, {when}).',
  'linha {row}: este saldo já foi informado ({who}, {when}).':
    'row {row}: this balance is stated already ({who}, {when}).',
  'Importar também as linhas {list}: não são as que já estão lançadas.':
    'Import also the rows {list}: they are not those that are posted already.',
  'Um ajuste deste dia e valor já está lançado: {note} ({who}, {when}). Confirme só se este é outro movimento.':
    'An adjustment of this day and amount is posted already: {note} ({who}, {when}). Confirm only if this is another movement.',
};
