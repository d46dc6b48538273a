/** The first page: the verdict, and what stands below it. */
export const OVERVIEW_EN = {
  'O banco de dados demorou demais para ler esta parte: recarregue a página.':
    'The database took too long to read this part: reload the page.',
  // the verdict
  'Não confere': 'Does not agree',
  'Ainda não sabemos': 'Not known yet',
  'Uma conferência completa de hoje começou há menos de dez minutos, todos os dias terminados estão provados, os saldos informados batem e nenhum alerta diz que algo está errado.':
    'A complete reconciliation of today began less than ten minutes ago, all ended days are proven, the stated balances agree and no alert is active.',
  'O que está errado': 'What is wrong',
  'O que ainda não sabemos': 'What is not known yet',
  '{stake} em jogo': '{stake} at stake',
  Abrir: 'Open',
  'e mais {n} alerta': 'and {n} more alert',
  'e mais {n} alertas': 'and {n} more alerts',
  'Ver os alertas': 'See the alerts',
  'O saldo informado da plataforma {platform} difere do razão em {amount}':
    'The stated balance of platform {platform} differs from the ledger by {amount}',
  'Ver os saldos': 'See the balances',
  '; {n} é crítica: das divergências, só uma crítica impede fechar um mês':
    '; {n} is critical: of mismatches, only a critical one keeps a month open',
  '; {n} são críticas: das divergências, só as críticas impedem fechar um mês':
    '; {n} are critical: of mismatches, only critical ones keep a month open',
  'A cadeia e os saldos dos livros conferem (verificados {age})':
    'Chain and balances of the books agree (checked {age})',
  '{n} divergência em aberto ao todo': '{n} open mismatch in all',
  '{n} divergências em aberto ao todo': '{n} open mismatches in all',
  'Ver as divergências': 'See the mismatches',
  'O lojista {name} está desativado': 'The merchant {name} is disabled',
  'O lojista {name} não aceita callbacks': 'The merchant {name} does not accept callbacks',
  'O lojista {name} está desativado há {duration}': 'The merchant {name} has been disabled for {duration}',
  'O lojista {name} não aceita callbacks há {duration}': 'The merchant {name} has accepted no callbacks for {duration}',
  'Ver o lojista': 'See the merchant',
  'e mais {n} lojista': 'and {n} more merchant',
  'e mais {n} lojistas': 'and {n} more merchants',
  'Ver os lojistas': 'See the merchants',
  '1 callback falhou de vez': '1 callback failed for good',
  '{n} callbacks falharam de vez': '{n} callbacks failed for good',
  'Ver os callbacks': 'See the callbacks',
  'Acompanhar a conferência em curso': 'Follow the running reconciliation',
  'a conferência em curso leu {pages} de {known} páginas até agora':
    'the running reconciliation has read {pages} of {known} pages so far',
  'A última conferência completa de hoje começou {age}': 'The last complete reconciliation of today began {age}',
  'Nenhuma conferência leu hoje por inteiro': 'No reconciliation has read today in full',
  'Conferir hoje': 'Reconcile today',
  '{n} dia terminado sem prova desde {from}, o mais antigo {oldest}':
    '{n} ended day not proven since {from}, the oldest {oldest}',
  '{n} dias terminados sem prova desde {from}, o mais antigo {oldest}':
    '{n} ended days not proven since {from}, the oldest {oldest}',
  'Conferir esses dias': 'Reconcile these days',
  'Sem saldo inicial: {platforms}': 'Without an opening balance: {platforms}',
  'Nada foi lançado ainda, e não há saldo inicial': 'Nothing is posted yet, and there is no opening balance',
  'Informar o saldo inicial': 'State the opening balance',
  '{n} resolvida por decisão': '{n} resolved by decision',
  '{n} resolvidas por decisão': '{n} resolved by decision',
  'a evidência continua a mesma': 'the evidence is still the same',
  'Ver as decisões': 'See the decisions',
  'Ver as conferências': 'See the reconciliations',
  '{n} de gravidade {severity}': '{n} of severity {severity}',
  '{n} alerta ativo': '{n} active alert',
  '{n} alertas ativos': '{n} active alerts',
  'Sem conseguir avisar: {channels}.': 'Could not notify: {channels}.',
  '{n} alerta é de antes da restauração, e nada diz que ainda vale':
    '{n} alert is of before the restore, and nothing says that it still holds',
  '{n} alertas são de antes da restauração, e nada diz que ainda valem':
    '{n} alerts are of before the restore, and nothing says that they still hold',
  '{n} processo em silêncio': '{n} silent process',
  '{n} processos em silêncio': '{n} silent processes',
  // below it
  '{n} divergência sua': '{n} mismatch of yours',
  '{n} divergências suas': '{n} mismatches of yours',
  'é você quem decide.': 'you decide.',
  'Últimos dias': 'Last days',
  'Divergências em aberto': 'Open mismatches',
  'Callbacks por lojista': 'Callbacks by merchant',
  'Como os webhooks chegam': 'How webhooks arrive',
  'Últimas conferências': 'Last reconciliations',
  'Todas as conferências': 'All reconciliations',
  'Nada foi lançado ainda.': 'Nothing is posted yet.',
  'Recebimentos de hoje': 'Receipts of today',
  '{n} recebimento': '{n} receipt',
  '{n} recebimentos': '{n} receipts',
  '{amount} de devoluções feitas': '{amount} of refunds made',
  'Pagamentos de hoje': 'Payments of today',
  '{n} pagamento': '{n} payment',
  '{n} pagamentos': '{n} payments',
  '{amount} de devoluções recebidas': '{amount} of refunds received',
  '{amount} de tarifas, sobre ambos': '{amount} of commissions on both',
  'Divergências em aberto por tipo': 'Open mismatches by type',
  'nenhum ainda': 'none yet',
  'Em quarentena': 'Quarantined',
  'O mais antigo destes sem prova é <b>{day}</b>, há {n} dia.':
    'The oldest of these not proven is <b>{day}</b>, {n} day ago.',
  'O mais antigo destes sem prova é <b>{day}</b>, há {n} dias.':
    'The oldest of these not proven is <b>{day}</b>, {n} days ago.',
  '<b>{proven} de {total}</b> dia terminado desde {from} lido ou contado por inteiro depois do seu fim.':
    '<b>{proven} of {total}</b> ended day since {from} read or counted in full after its end.',
  '<b>{proven} de {total}</b> dias terminados desde {from} lidos ou contados por inteiro depois do seu fim.':
    '<b>{proven} of {total}</b> ended days since {from} read or counted in full after their end.',
  'Callbacks por entregar, por lojista': 'Undelivered callbacks, by merchant',
  'Tudo entregue.': 'Everything is delivered.',
  'O vigia, que encontra o que parou, rodou pela última vez {age}':
    'The watch, which finds what has stopped, last went round {age}',
  'O banco de dados não aceita gravações ({age}): a página mostra o que estava gravado antes':
    'The database takes no writes ({age}): the page shows what was stored before',
  'O banco de dados não aceita gravações': 'The database takes no writes',
  'Ele só pode ser lido agora, e nada foi gravado. Tente de novo mais tarde; se continuar, avise quem opera o Confere.':
    'It can only be read now, and nothing was stored. Try again later; if it stays, inform the operators of Confere.',
  'Um anúncio (webhook) espera verificação {age}': 'An announcement (webhook) waits for its verification {age}',
  '{percent} % das consultas ao provedor falham ou demoram ({cause})':
    '{percent} % of the requests to the provider fail or are slow ({cause})',
  'Ver os webhooks': 'See the webhooks',
  certo: 'right',
  '{duration} adiantado': '{duration} ahead',
  '{duration} atrasado': '{duration} behind',
  'O vigia, que encontra o que parou, ainda não rodou':
    'The watch, which finds what has stopped, has not gone round yet',
  'Ver o sistema': 'See the system',
};
