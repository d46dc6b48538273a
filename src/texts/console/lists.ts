/** The lists, and the forms on them. */
export const LISTS_EN = {
  // alerts
  'Nenhum alerta com estes filtros.': 'No alerts with these filters.',
  'Nenhum alerta ativo.': 'No alert is active.',
  'Cada causa avisa uma vez, e outra quando acaba. <a href="/alerts?state=ended">Ver os encerrados</a>; <a href="/runbooks">todos os guias</a>.':
    'Each cause alerts once, and once more when it ends. <a href="/alerts?state=ended">See those that ended</a>; <a href="/runbooks">all runbooks</a>.',
  'Alertas, os mais novos primeiro': 'Alerts, the newest first',
  Alerta: 'Alert',
  'até {at}': 'until {at}',
  Canais: 'Channels',
  Guia: 'Runbook',
  'e-mail': 'e-mail',
  'e-mail do lojista': 'the merchant’s e-mail',
  'ainda nenhum': 'none yet',
  'não aceitou: {error}': 'did not accept: {error}',
  'às {time}': 'at {time}',
  'na fila': 'queued',
  // the audit
  'Quem (id)': 'Who (id)',
  'Auditoria, a mais nova primeiro': 'Audit, the newest first',
  'Nada com estes filtros.': 'Nothing with these filters.',
  'Nada até agora.': 'Nothing yet.',
  // callbacks
  'Nenhum callback com estes filtros.': 'No callbacks with these filters.',
  'Nenhum callback até agora.': 'No callbacks yet.',
  'Entregue ou próxima': 'Delivered or next',
  // merchants
  'Lojistas, na ordem em que entraram': 'Merchants, in the order in which they were added',
  'Nenhum lojista recebe callbacks até agora.': 'No merchant receives callbacks yet.',
  'Falhando desde': 'Failing since',
  'Novo lojista': 'New merchant',
  Falhando: 'Failing',
  'Disjuntor aberto': 'Circuit breaker open',
  // mismatches
  'Por resolver': 'Unresolved',
  'Resolvidas por decisão': 'Resolved by decision',
  Decisão: 'Decision',
  'Nenhuma divergência com estes filtros.': 'No mismatches with these filters.',
  'Nenhuma divergência por resolver.': 'No unresolved mismatches.',
  'Por causa': 'By cause',
  'Divergências por resolver, por causa': 'Unresolved mismatches, by cause',
  Causa: 'Cause',
  'Uma a uma': 'One by one',
  'fora de uma conferência': 'outside a reconciliation',
  'Nenhuma divergência.': 'No mismatches.',
  'Divergências, as mais novas primeiro': 'Mismatches, the newest first',
  'Aberta em': 'Opened at',
  'Observação (exigida para resolver as críticas)': 'Note (required to resolve critical ones)',
  'Estou tratando de todas': 'Acknowledge all',
  'Resolver todas': 'Resolve all',
  'O razão não muda. Cada uma fica registrada na auditoria, com esta observação.':
    'The ledger does not change. Each one is recorded in the audit, with this note.',
  'Uma vez trata de {n}: repita para as outras.': 'It handles {n} at a time: repeat it for the others.',
  'Tratar das {n} em aberto, {stake} em jogo': 'Handle the {n} open ones, {stake} at stake',
  'Tratar das {n} em aberto desta causa, {stake} em jogo': 'Handle the {n} open ones of this cause, {stake} at stake',
  // reconciliations
  'Conferências, as mais novas primeiro': 'Reconciliations, the newest first',
  'Nenhuma conferência até agora.': 'No reconciliations yet.',
  '{from} a {to}': '{from} to {to}',
  'Uma conferência lê a lista do provedor, dia a dia, até provar que leu tudo, e aplica ao razão o que faltava.':
    'A reconciliation reads the provider’s list, day by day, until it has proven that it read all of it, and applies to the ledger what was missing.',
  'Iniciar uma conferência': 'Start a reconciliation',
  'Plataforma (opcional)': 'Platform (optional)',
  Iniciar: 'Start',
  'Vem antes do primeiro dia.': 'It is before the first day.',
  'São mais de {n} dias.': 'These are more than {n} days.',
  'A lista do provedor não se filtra pelo que não tem plataforma: deixe vazio para ler todas.':
    'The provider’s list cannot be filtered by what has no platform: leave it empty to read all.',
  // tokens
  'Tokens, os mais novos primeiro': 'Tokens, the newest first',
  'Nenhum token: quem administra cria um com confere tokens create.':
    'No tokens: an admin creates one with confere tokens create.',
  Papel: 'Role',
  'Expira em': 'Expires at',
  'Último uso': 'Last used',
  Revogar: 'Revoke',
  // webhooks
  'Webhooks, os mais novos primeiro': 'Webhooks, the newest first',
  'Nenhum webhook com estes filtros.': 'No webhooks with these filters.',
  'Nenhum webhook chegou ainda.': 'No webhook has arrived yet.',
  'Ao vivo: com scripts, a página se renova a cada {n} s.': 'Live: with scripts, the page renews itself each {n} s.',
  'Quarentena por motivo': 'Quarantine by reason',
  Esvaziar: 'Purge',
  'Por motivo': 'By reason',
  'Sem corpo': 'Without body',
  'Esvaziar apaga os corpos e os itens dos que chegaram há mais de {age}. O hash fica: uma repetição ainda é reconhecida. Um webhook com um item aplicado nunca é apagado.':
    'To purge deletes the bodies and items of those that arrived more than {age} ago. The hash stays: a repeat is still recognized. A webhook with an applied item is never deleted.',
};
