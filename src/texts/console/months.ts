/** The closing of months. */
export const MONTHS_EN = {
  'Lançar uma tarifa': 'Enter a fee',
  'Total das tarifas': 'Total of the fees',
  'As tarifas de {from} a {to} ainda estão sendo comparadas com os contratos: até terminar, o número e a soma de “{title}” podem mudar.':
    'The fees from {from} to {to} are still being compared with the contracts: until that is done, the count and sum of “{title}” may change.',
  Reaberto: 'Reopened',
  'Fechamento de {month}': 'Closing of {month}',
  'Fechamento do mês': 'Closing of the month',
  Fechado: 'Closed',
  'Mês fechado': 'Month closed',
  'Fechamentos e reaberturas': 'Closings and reopenings',
  'De {from} a {to}, nenhuma divergência nova de tarifas abre.': 'From {from} to {to}, no new mismatch of fees opens.',
  '1 já existe e passa ao novo valor. Ao todo:': '1 is there already and takes its new amount. In all:',
  '{n} já existem, uma por dia e plataforma, e passam aos novos valores. Ao todo:':
    '{n} are there already, one a day and platform, and take their new amounts. In all:',
  'Divergências de tarifas, agora e depois': 'Mismatches of fees, now and then',
  Terminam: 'End',
  'Mudam de valor': 'Change their amount',
  'Ficam como estão': 'Stay as they are',
  Abrem: 'Open',
  'Em aberto agora': 'Open now',
  'Em jogo agora': 'At stake now',
  'Em aberto depois': 'Open then',
  'Em jogo depois': 'At stake then',
  'De {from} a {to}, nenhuma divergência de tarifas abre.': 'From {from} to {to}, no mismatch of fees opens.',
  'Ele ainda não vale: nenhum dia se compara agora.': 'It is not in force yet: no day is compared now.',
  'De {from} a {to}, abre uma divergência de tarifas.': 'From {from} to {to}, one mismatch of fees opens.',
  'De {from} a {to}, abrem {n} divergências de tarifas, uma por dia e plataforma.':
    'From {from} to {to}, {n} mismatches of fees open, one a day and platform.',
  '{platform}: {n} fora do contrato, que custaram {charged} em vez de {agreed} (entradas e saídas)':
    '{platform}: {n} not as the contract says, which cost {charged} instead of {agreed} (cashins and cashouts)',
  'Passa a valer sobre': 'Takes precedence over',
  'Todas estão na planilha; as de uma plataforma, pelo nome dela acima.':
    'The workbook has all; those of one platform are behind its name above.',
  'O mês nunca foi fechado.': 'The month was never closed.',
  'As cifras deste mês não mudam mais. O que o Confere ainda souber dele aparece na planilha do mês seguinte, em Ajustes de meses anteriores.':
    'The figures of this month do not change any more. What Confere still learns of it is in the workbook of the next month, in Changes of earlier months.',
  'Para reabri-lo é preciso reabrir antes:': 'To reopen it, reopen first:',
  'Nada impede o fechamento: os dias estão provados, nenhuma divergência crítica está em aberto e os saldos informados conferem.':
    'Nothing keeps it open: its days are proven, no critical mismatch is open, and the stated balances agree.',
  'O mês não pode ser fechado:': 'The month cannot be closed:',
  'A divergência que impede fechar': 'The mismatch that keeps it open',
  'As {n} divergências que impedem fechar': 'The {n} mismatches that keep it open',
  '{n} delas de um mês anterior': '{n} of them of an earlier month',
  '{n} delas de meses anteriores': '{n} of them of earlier months',
  'Só estas numa planilha (XLSX)': 'Only these in a workbook (XLSX)',
  'Um contador fecha o mês nesta página. Depois, as suas cifras não mudam mais: baixe daqui a planilha e os arquivos contábeis.':
    'An accountant closes the month on this page. After that its figures change no more: download the workbook and the accounting files from here.',
  'cobrado a mais': 'charged too much',
  'cobrado a menos': 'charged too little',
  arredondamento: 'rounding',
  'Ver o passo do fechamento': 'Show the step that closes it',
  'Não impede o fechamento, mas importa:': 'Does not keep it open, and matters:',
  'De uma plataforma não foi informado o saldo do provedor neste mês: nada o compara com o razão.':
    'Of one platform no balance of the provider was stated in this month: nothing compares it with the ledger.',
  'O saldo de uma plataforma é negativo no fim do mês: confira o seu saldo inicial e o que não está na lista do provedor (depósitos, saques, tarifas).':
    "A platform's balance is negative at the month's end: check its opening balance, and what the provider's list lacks (deposits, withdrawals, fees).",
  'Os saldos de {n} plataformas são negativos no fim do mês: confira os seus saldos iniciais e o que não está na lista do provedor (depósitos, saques, tarifas).':
    "The balances of {n} platforms are negative at the month's end: check their opening balances, and what the provider's list lacks (deposits, withdrawals, fees).",
  'De {n} plataformas não foi informado o saldo do provedor neste mês: nada o compara com o razão.':
    'Of {n} platforms no balance of the provider was stated in this month: nothing compares it with the ledger.',
  '{title}: uma divergência em aberto, em jogo {sum}.': '{title}: one open mismatch, at stake {sum}.',
  '{title}: {n} divergências em aberto, em jogo {sum}.': '{title}: {n} open mismatches, at stake {sum}.',
  'Um dia não tem relatório diário.': 'One day has no daily report.',
  '{n} dias não têm relatório diário.': '{n} days have no daily report.',
  'Fechado em': 'Closed at',
  'Posição do razão': 'Position of the ledger',
  'Hash da cadeia nessa posição': 'Hash of the chain at that position',
  'Hash dos saldos': 'Hash of the balances',
  // what keeps a month open
  'O mês terminou antes do primeiro lançamento dos livros: não há o que fechar.':
    'The month ended before the first entry of the books: there is nothing to close.',
  'Os meses anteriores, desde {month}, ficam em aberto: depois deste fechamento não podem ser fechados.':
    'The earlier months, from {month} on, stay open: after this closing they cannot be closed.',
  'O mês ainda não terminou no provedor.': 'The month has not ended at the provider.',
  'Antes é preciso fechar {month}: os meses se fecham em ordem.': 'Close {month} first: months are closed in order.',
  'Um mês posterior já está fechado: {month}.': 'A later month is closed: {month}.',
  '{from} a {to}, antes do começo dos livros, não foi lido nem contado no provedor, e o que começou ali pode mexer no mês: a conferência do saldo inicial o lê.':
    '{from} to {to}, before the books begin, was neither read nor counted at the provider, and what began then may move in the month: the reconciliation of the opening balance reads it.',
  '{day} não foi lido nem contado no provedor depois do seu fim.':
    '{day} was neither read nor counted at the provider after its end.',
  'Uma divergência crítica está em aberto: {meaning}. Um operador a resolve.':
    'A critical mismatch is open: {meaning}. An operator resolves it.',
  '{n} divergências críticas estão em aberto: {meaning}. Um operador as resolve:':
    '{n} critical mismatches are open: {meaning}. An operator resolves them:',
  'Mais uma divergência crítica está em aberto.': 'One more critical mismatch is open.',
  'Mais {n} divergências críticas estão em aberto.': '{n} more critical mismatches are open.',
  'O saldo informado de {platform} em {at} é {balance}, e o do razão {ledger}: uma diferença de {difference}.':
    'The stated balance of {platform} at {at} is {balance}, the ledger’s {ledger}: a difference of {difference}.',
  'Os livros de {platform} ainda estão sendo lançados a partir do saldo inicial.':
    'The books of {platform} are still being posted from their opening balance.',
  'Nenhum extrato do banco foi importado: nada compara os saques e depósitos do mês.':
    'No bank statement was imported: nothing compares the month’s withdrawals and deposits.',
  'criada em {day}': 'created on {day}',
  'O extrato de {name} só vai até {day}.': 'The statement of {name} only goes to {day}.',
  'Nenhum contrato de tarifas foi informado: nada compara as tarifas do mês.':
    'No contract of fees is stated: nothing compares the month’s fees.',
  // balances
  'Saldos do mês por plataforma': 'Balances of the month by platform',
  'Saldo no começo do mês': 'Balance at the start of the month',
  'Saldo no fim do mês': 'Balance at the end of the month',
  'Retido no fim do mês': 'Held at the end of the month',
  'Mudou depois do fechamento': 'Changed after the closing',
  // forms
  'Fechar o mês': 'Close the month',
  'As cifras do mês ficam como estão agora, na planilha, no CSV e no diário. O que o Confere ainda souber dele é lançado como antes e aparece na planilha do mês seguinte.':
    'The month’s figures stay as they are now, in the workbook, the CSV and the journal. What Confere still learns of it is posted as before, and is in the workbook of the next month.',
  'Reabrir o mês': 'Reopen the month',
  'A planilha do mês volta a mostrar as cifras de agora, e o mês pode ser fechado de novo. O fechamento continua registrado.':
    'The month’s workbook shows the figures of now again, and the month can be closed anew. The closing stays on record.',
  'Por que reabrir': 'Why reopen it',
  'Saldo até agora': 'Balance until now',
  'Retido até agora': 'Held until now',
};
