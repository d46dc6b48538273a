/** The month of reports, and the page of a day. */
export const REPORTS_EN = {
  // the state of a day
  'Antes dos livros': 'Before the books',
  'Por vir': 'To come',
  'Não feito': 'Not made',
  Mudou: 'Changed',
  Provisório: 'Provisional',
  Revisado: 'Revised',
  'Dia encerrado': 'Day closed',
  'Dia completo': 'Day complete',
  'Antes dos livros: nada foi lançado até o fim deste dia.':
    'Before the books: nothing was posted until the end of this day.',
  'Por vir: o dia ainda não começou no provedor.': 'To come: the day has not begun at the provider.',
  'Em curso: o dia não terminou no provedor; um relatório de agora é parcial.':
    'Running: the day has not ended at the provider; a report made now is partial.',
  'Não feito: o dia terminou e não tem relatório.': 'Not made: the day has ended and has no report.',
  'Não feito: a revisão {revision} é de quando o dia corria, e nenhuma o mostra inteiro.':
    'Not made: revision {revision} is from when the day was running, and none shows all of it.',
  'Mudou depois da revisão {revision}: a próxima dirá o que mudou e por quê.':
    'Changed after revision {revision}: the next one will say what changed, and why.',
  'Provisório: o fuso horário do provedor está em dúvida.': 'Provisional: the provider’s time zone is in doubt.',
  'Provisório: falta uma leitura completa depois do fim do dia.':
    'Provisional: a complete reading after the end of the day is missing.',
  'Provisório: falta uma leitura completa depois do fim do dia, e de um dia antes dele.':
    'Provisional: a complete reading after the end of the day is missing, and one of a day before it.',
  'Provisório: falta uma leitura completa depois do fim do dia, e de {n} dias antes dele.':
    'Provisional: a complete reading after the end of the day is missing, and one of {n} days before it.',
  'Provisório: falta ler {from}, um dos {late} dias antes dele, cujas transações ainda podem mudá-lo.':
    'Provisional: {from} was not read since, one of the {late} days before it, whose transactions may still change it.',
  'Provisório: falta ler {n} dos {late} dias antes dele (de {from} a {to}), cujas transações ainda podem mudá-lo.':
    'Provisional: {n} of the {late} days before it ({from} to {to}) were not read since; their transactions may still change it.',
  'Revisado e completo: a revisão {revision} mudou linhas da anterior.':
    'Revised and closed: revision {revision} changed rows of the one before.',
  'Completo: ele e os {late} dias antes dele foram lidos ou contados depois do seu fim.':
    'Closed: it and the {late} days before it were read or counted after its end.',
  'O próprio dia foi provado por contagem.': 'The day itself was proven by counts.',
  'A revisão {revision} ainda não o diz: a próxima dirá.':
    'Revision {revision} does not say so yet: the next one will.',
  'A revisão é de uma versão anterior do Confere: a agenda ainda vai somar as suas linhas.':
    'The revision is of an earlier version of Confere: the timetable will add up its rows.',
  'O saldo é o do razão agora.': 'The balance is the ledger’s, now.',
  'Sem relatório, só o saldo do razão.': 'Without a report, only the ledger’s balance.',
  // what ends it
  'Fazer um relatório parcial': 'Make a partial report',
  'Fazer o relatório': 'Make the report',
  'Fazer a revisão {revision}': 'Make revision {revision}',
  'Conferir esse dia': 'Reconcile that day',
  'Conferir o que falta, de {from} a {to}': 'Reconcile what is missing, {from} to {to}',
  'Fazer o relatório que falta': 'Make the missing report',
  'Fazer os {n} relatórios que faltam': 'Make the {n} missing reports',
  'Fazer os relatórios dos dias escolhidos': 'Make the reports of the chosen days',
  'Um dia em que nada mudou não ganha revisão.': 'A day in which nothing changed gets no revision.',
  'Escolha ao menos um dia.': 'Choose at least one day.',
  'Escolha no máximo {max} dias.': 'Choose {max} days at most.',
  // the month
  'Um por dia do calendário do provedor. Quando um dia muda depois de relatado, sai uma nova revisão; as anteriores ficam.':
    'One for each day of the provider’s calendar. A day that changes after its report gets a new revision; the earlier ones stay.',
  'Só a plataforma {platform}.': 'Only the platform {platform}.',
  'Relatórios de {month}': 'Reports of {month}',
  Mês: 'Month',
  Meses: 'Months',
  'de {month}': '{month}',
  Ver: 'Show',
  'Dia a dia': 'Day by day',
  'Ajustes deste dia': 'Adjustments of this day',
  'Como no Resumo da última revisão de cada dia, em reais. A página do dia tem as suas divergências.':
    'As on the Summary of each day’s newest revision, in reais. The page of a day has its mismatches.',
  'Os dias do mês, em reais': 'The days of the month, in reais',
  'Nada foi lançado até o fim deste mês.': 'Nothing was posted until the end of this month.',
  'Sem soma: as revisões dos dias não são do mesmo momento. Faça os relatórios dos dias que mudaram.':
    'No sum: the revisions of the days are not of one moment. Make the reports of the days that changed.',
  'Escolher {day}': 'Choose {day}',
  'um dia': 'one day',
  '{n} dias': '{n} days',
  Recebimentos: 'Receipts',
  Pagamentos: 'Payments',
  'Devoluções feitas': 'Refunds made',
  'Devoluções recebidas': 'Refunds received',
  'Saldo final': 'Closing balance',
  'do qual retido': 'of which held',
  'ainda não gerado': 'not made yet',
  'Arquivos que mudaram depois de feitos': 'Files that changed since they were made',
  'Um destes dias mudou depois de um relatório dele.': 'One of these days changed after a report of it.',
  '{n} destes dias mudaram depois de um relatório deles.': '{n} of these days changed after a report of them.',
  'A soma tem a revisão mais nova de cada um.': 'The sum has the newest revision of each.',
  'De um, a soma ainda não tem a mudança.': 'Of one, the sum does not have the change yet.',
  'De {n}, a soma ainda não tem a mudança.': 'Of {n}, the sum does not have the change yet.',
  'Quem recebeu um destes tem números antigos: entregue a revisão mais nova.':
    'Who has one of these has old figures: deliver the newest revision.',
  'Linhas, e não o saldo final': 'Rows, and not the closing balance',
  'Linhas, e não as somas': 'Rows, and not the sums',
  'ainda sem nova revisão': 'no new revision yet',
  'saques e depósitos': 'withdrawals and deposits',
  // a range of days
  'O mês num só arquivo, até {day}:': 'The month in one file, up to {day}:',
  'Baixar um período': 'Download a range',
  '{month} ainda não foi {closed}: um arquivo dele pode mudar depois de lançado no seu programa.':
    '{month} is not {closed} yet: a file of it can change after it was entered in your program.',
  fechado: 'closed',
  'Um arquivo de até {max} dias, feito a pedido num só corte do razão. Não é uma revisão e não fica guardado.':
    'One file over up to {max} days, made on request from one cut of the ledger. It is no revision and is not stored.',
  'CPF e CNPJ saem mascarados, porque os arquivos circulam: por extenso, o console os mostra à contabilidade e à operação. Um administrador do servidor pode mudar isso, na configuração.':
    'CPF and CNPJ are masked, as files are passed on: the console shows them in full to accountants and operators. A server admin can change that, in the configuration.',
  Formato: 'Format',
  Baixar: 'Download',
  'Nos arquivos de lançamentos, o histórico traz o tipo e a referência, sem o nome do pagador: ele está na planilha, no OFX e na coluna própria do Conta Azul.':
    "In files of entries, an entry's text has its kind and reference, not the payer's name: the workbook, OFX and Conta Azul's own column have it.",
  Planilha: 'Workbook',
  CSV: 'CSV',
  'Diário hledger': 'hledger journal',
  'Diário hledger que continua o anterior': 'hledger journal that continues the one before',
  'Escolha o primeiro e o último dia.': 'Choose the first and the last day.',
  // a day
  'Relatório de {day}': 'Report of {day}',
  'Números de {platform}': 'Figures of {platform}',
  'Saldo no razão agora': 'Balance in the ledger now',
  'Saldo final no razão agora': 'Closing balance in the ledger now',
  'Nada foi lançado neste dia.': 'Nothing was posted on this day.',
  Revisões: 'Revisions',
  'Revisão {revision}': 'Revision {revision}',
  'Revisões, as mais novas primeiro': 'Revisions, the newest first',
  'Nenhuma até agora.': 'None so far.',
  'Situação quando foi feita': 'State when it was made',
  'dados de pessoas removidos': 'personal data removed',
  Sim: 'Yes',
  Não: 'No',
  'Feita em': 'Made at',
  '{format} de {day}, revisão {revision}': '{format} of {day}, revision {revision}',
  'Divergências deste dia': 'Mismatches of this day',
  'Em aberto, de todos os dias': 'Open, of all days',
  'Nenhuma está em aberto neste dia.': 'None of this day is open.',
  '{n} em aberto neste dia': '{n} of this day are open',
  'Aqui estão {count}.': 'These are {count}.',
  'Também as resolvidas': 'Resolved ones too',
  // two revisions
  'O que mudou entre duas revisões': 'What changed between two revisions',
  Da: 'From',
  'Para a': 'To',
  Comparar: 'Compare',
  'Escolha duas revisões do dia.': 'Choose two revisions of the day.',
  'A primeira tem de ser anterior à segunda.': 'The first must be before the second.',
  'Números de Resumo': 'Figures of Summary',
  'Números de Resumo que mudaram': 'Figures of Summary that changed',
  'Nenhum número mudou.': 'No figure changed.',
  Linhas: 'Rows',
  Linha: 'Line',
  Antes: 'Before',
  'Linhas que mudaram, na ordem em que o Confere as conheceu':
    'Rows that changed, in the order in which Confere learnt them',
  'Nenhuma linha mudou.': 'No row changed.',
  'O que mudou': 'What changed',
  'A revisão {revision} foi feita com o dia em curso: o que veio depois é novo, e não está listado.':
    'Revision {revision} was made while the day was running: what came later is new, and not listed.',
  'Aqui estão as primeiras {count}. A aba <i>Alterações</i> da revisão {revision} tem todas desde a anterior.':
    'These are the first {count}. The sheet <i>Changes</i> of revision {revision} has all since the one before.',
  'arquivo perdido ou danificado, refeito em {at} pela versão {version}: as linhas são as mesmas, o SHA-256 é outro':
    'lost or damaged file, rebuilt on {at} by version {version}: the rows are the same, the SHA-256 is not',
  'As linhas não foram comparadas: leva mais de {n} s. A aba Alterações da revisão {revision} tem todas desde a anterior.':
    'The rows were not compared: that takes more than {n} s. The sheet Changes of revision {revision} has all since the one before.',
  'Este formato não existe.': 'There is no such format.',
};
