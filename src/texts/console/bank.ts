/** The company's bank account. */
export const BANK_EN = {
  Banco: 'Bank',
  'O extrato da conta da empresa no banco, linha por linha, ao lado dos ajustes do tipo banco e dos saques por PIX. Um par não muda o razão: ele diz o que está fechado.':
    'The statement of the company’s bank account, line by line, beside the adjustments of kind bank and the withdrawals by PIX. A match does not change the ledger: it says what is closed.',
  'Contas no banco': 'Bank accounts',
  'O banco e o razão': 'The bank and the ledger',
  'Linhas do extrato em aberto': 'Open lines of the statement',
  'Linhas do extrato sem lançamento': 'Lines of the statement without an entry',
  'Todas as linhas em aberto': 'All open lines',
  'Linhas casadas': 'Matched lines',
  Pares: 'Matches',
  'Lançamentos do banco em aberto': 'Open entries of the bank',
  'Procurar pares de novo': 'Match again',
  'Importar um extrato': 'Import a statement',
  'Escolha um arquivo.': 'Choose a file.',
  'Um par seria casado.': 'One match would be made.',
  '{n} pares seriam casados.': '{n} matches would be made.',
  'uma linha nova': 'one new line',
  '{n} linhas novas': '{n} new lines',
  'uma já conhecida': 'one known before',
  '{n} já conhecidas': '{n} known before',
  'Nenhum extrato foi importado até agora.': 'No statement has been imported.',
  'Saldo no banco': 'Balance at the bank',
  Lacunas: 'Gaps',
  'o arquivo não traz o saldo': 'the file has no balance',
  'em {day}': 'on {day}',
  'entre {from} e {to} faltam linhas que somam {sum}': 'between {from} and {to} lines of {sum} are missing',
  'Assets:Bank no razão': 'Assets:Bank in the ledger',
  'Saldo antes da primeira linha': 'Balance before the first line',
  'Mais saques por PIX casados': 'Plus matched withdrawals by PIX',
  'Mais linhas em aberto': 'Plus open lines',
  'Menos lançamentos em aberto': 'Less open entries',
  'Menos linhas depois do saldo': 'Less lines after the balance',
  'Casado com ajustes': 'Matched with adjustments',
  'Assets:Bank está fechado: cada ajuste do tipo banco tem a sua linha no extrato.':
    'Assets:Bank is closed: each adjustment of kind bank has its line in the statement.',
  'Assets:Bank está em aberto em {sum}.': 'Assets:Bank is open by {sum}.',
  '{n} em aberto, que somam {sum}.': '{n} open, which add up to {sum}.',
  // lists
  'Linhas do extrato': 'Lines of the statement',
  'Linhas do extrato, as mais novas primeiro': 'Lines of the statement, the newest first',
  'Nenhuma linha.': 'No lines.',
  Texto: 'Text',
  Casar: 'Match',
  'sem candidato': 'no candidate',
  'um candidato': 'one candidate',
  'mais de um candidato': 'more than one candidate',
  'nomeado na linha': 'named in the line',
  'Saque por PIX': 'Withdrawal by PIX',
  'Lançamentos do banco sem linha no extrato': 'Entries of the bank without a line in the statement',
  'Nenhum: cada ajuste do tipo banco tem a sua linha no extrato.':
    'None: each adjustment of kind bank has its line in the statement.',
  Candidatas: 'Candidates',
  'pela referência': 'by reference',
  'pelo valor e pelo dia': 'by amount and day',
  'desfeito por uma pessoa': 'undone by a person',
  'Em aberto': 'Open',
  Casada: 'Matched',
  Desfeito: 'Undone',
  'Encerrado: o lançamento foi estornado': 'Ended: the entry was reversed',
  'Desfaz outro': 'Undoes another',
  'Pares, os mais novos primeiro': 'Matches, the newest first',
  'Nenhum par até agora.': 'No matches.',
  Como: 'How',
  Desfazer: 'Undo',
  // forms
  'Casar uma linha': 'Match a line',
  'Escolha o lançamento que esta linha do extrato é. O valor tem de ser o mesmo, e os dias a no máximo 31 um do outro.':
    'Choose the entry that this line of the statement is. The amounts must be equal, and the days at most 31 apart.',
  Candidato: 'Candidate',
  'Ou o id de outro ajuste do tipo banco': 'Or the id of another adjustment of kind bank',
  'Ou o id de um saque por PIX': 'Or the id of a withdrawal by PIX',
  'Escolha um lançamento, e só um.': 'Choose one entry, and only one.',
  'O razão não muda. O par fica registrado, com quem o fez e quando.':
    'The ledger does not change. The match is on record, with who made it and when.',
  'Desfazer um par': 'Undo a match',
  'A linha e o lançamento ficam em aberto de novo. O Confere não casa estes dois outra vez; uma pessoa pode.':
    'The line and the entry are open again. Confere does not match these two again; a person can.',
  // faults of a file
  'linha {line}: {fault}': 'line {line}: {fault}',
  'o arquivo tem mais de {value} MiB': 'the file is larger than {value} MiB',
  'o arquivo não é um texto em UTF-8 ou windows-1252': 'the file is not a text in UTF-8 or windows-1252',
  'o arquivo não começa com um cabeçalho OFX 1.x ou 2.x': 'the file does not begin with a header of OFX 1.x or 2.x',
  'aqui deve haver um elemento, sem texto antes dele': 'a tag must be here, with nothing before it',
  '</{value}> não tem início': '</{value}> has no start',
  '<{value}> não tem fim': '<{value}> is not closed',
  'há mais de {value} elementos um dentro do outro': 'elements are nested deeper than {value} levels',
  'o arquivo tem mais de {value} elementos': 'the file has more than {value} elements',
  'o arquivo tem mais de {value} movimentos: exporte menos dias por vez':
    'the file has more than {value} transactions: export fewer days at once',
  'o arquivo não tem extrato bancário (STMTRS)': 'the file has no bank statement (STMTRS)',
  'o banco respondeu com um erro em vez de um extrato (STATUS)':
    'the bank answered with an error instead of a statement (STATUS)',
  'este arquivo foi feito pelo Confere: importe o do banco': 'Confere wrote this file: import the one of your bank',
  'falta {value}': '{value} is missing',
  '{value} aparece duas vezes': '{value} is there twice',
  '{value} é longo demais': '{value} is too long',
  '{value} só pode ter letras, algarismos, espaços, pontos, hifens e barras':
    '{value} may hold letters, digits, blanks, points, hyphens and slashes',
  '{value} deve ser um valor com no máximo dois decimais, sem separar milhares':
    '{value} must be an amount with at most two decimals and without grouping',
  '{value} deve ser uma data: AAAAMMDD, talvez com a hora': '{value} must be a date: YYYYMMDD, perhaps with a time',
  '{value} deve ser BRL': '{value} must be BRL',
  'um movimento (STMTTRN) está fora da lista de um extrato (BANKTRANLIST)':
    'a transaction (STMTTRN) stands outside of the list of a statement (BANKTRANLIST)',
  'um movimento que corrige outro (CORRECTFITID) não é aceito':
    'a transaction that corrects another one (CORRECTFITID) is not accepted',
  'falta {value}: escreva banco, agência e conta': '{value} is missing: write bank, branch and number',
  'o arquivo tem várias contas, e só uma pode receber um nome':
    'the file has several accounts, and only one may be given a name',
  'nenhum extrato mostra esta conta: diga que é nova, se é mesmo outra':
    'no statement shows this account: say that it is new, if it is another one',
  'nenhum extrato mostra esta conta, que pode ser {value}: escreva essa, ou diga que é nova':
    'no statement shows this account, which may be {value}: write that one, or say that it is new',
  'falta CURDEF: diga que os valores são em BRL': 'CURDEF is missing: say that the amounts are in BRL',
  '{value} diz saída, e o valor não tem sinal': '{value} says money out, and the amount has no sign',
  'o saldo não tem decimais, e nenhum saldo anterior prova se está em centavos':
    'the balance has no decimals, and no earlier balance proves whether it is in cents',
  '{value} pode ser saída, e nenhum valor do arquivo tem sinal':
    '{value} may be money out, and no amount of the file has a sign',
  'nenhum valor tem decimais, e nenhum saldo anterior prova se estão em centavos':
    'no amount has decimals, and no earlier balance proves whether they are in cents',
  'o texto pode ser de um saldo, de um total ou de um pagamento':
    'the text may be that of a balance, a total or a payment',
  'falta neste arquivo uma linha já importada deste valor e dia, ou deste valor e texto até 3 dias antes ou depois: pode ser a mesma':
    'the file lacks a stored line of this amount and day, or of this amount and text up to 3 days apart: it may be that one',
  'a linha {value} é igual em tudo, também no FITID': 'line {value} is equal in all, also in its FITID',
  'o dia tem linhas sem FITID, ou com um novo, e faltam neste arquivo linhas já importadas dele: importe o dia inteiro':
    'the day has lines without FITID, or with new ones, and the file lacks some of its stored lines: import the whole day',
  'é a fatura de um cartão de crédito: o Confere lê extratos de contas (STMTRS)':
    'it is the statement of a credit card: Confere reads those of bank accounts (STMTRS)',
  'O arquivo não diz tudo: responda, e confira de novo.': 'The file does not say all: answer, and check again.',
  'uma a vir, que fica de fora': 'one to come, which is left out',
  '{n} a vir, que ficam de fora': '{n} to come, which are left out',
  'linha {line}, {day}, {amount}': 'line {line}, {day}, {amount}',
  'o saldo fica de fora': 'the balance is left out',
  'um débito sem sinal, tomado como saída': 'one debit without a sign, taken as money out',
  '{n} débitos sem sinal, tomados como saída': '{n} debits without a sign, taken as money out',
  'saldo de {day}: {amount}': 'balance of {day}: {amount}',
  'o FITID já foi importado, com outro dia ou valor': 'the FITID was imported before, with another day or amount',
  'Sem um extrato não se sabe se Assets:Bank confere: importe um.':
    'Without a statement nobody knows whether Assets:Bank agrees: import one.',
};
