/** Notices of forms that are done. */
export const NOTICES_EN = {
  'Versão do provedor aceita: o lançamento foi estornado e refeito, e os lojistas são avisados.':
    'The provider’s version is accepted: the entry is reversed and posted anew, and the merchants are notified.',
  'Divergência em tratamento: está registrado quem e quando.': 'Mismatch acknowledged: who and when is on record.',
  'Divergência resolvida.': 'Mismatch resolved.',
  'Salvo: quem decide esta divergência.': 'Saved: who decides this mismatch.',
  'Nome da plataforma salvo.': 'The platform’s name is saved.',
  'Plano de contas salvo.': 'The chart of accounts is saved.',
  'Saldo informado e comparado com o razão.': 'The balance is stated and compared with the ledger.',
  'Ajuste lançado.': 'The adjustment is posted.',
  'Arquivo importado: todas as linhas.': 'The file is imported: all its rows.',
  'Ajuste estornado.': 'The adjustment is reversed.',
  'Saldo inicial lançado: os livros da plataforma começam nesse dia.':
    'The opening balance is posted: the platform’s books begin on that day.',
  'Saldo inicial estornado: os livros da plataforma foram refeitos sem ele.':
    'The opening balance is reversed: the platform’s books were posted anew without it.',
  'Linha e lançamento casados.': 'Line and entry matched.',
  'Busca feita: há novos pares; o que tem mais de um par possível segue em aberto.':
    'Done: there are new matches; what has more than one candidate stays open.',
  'Busca feita: nenhum par novo. O que segue em aberto não tem par, ou tem mais de um possível.':
    'Done: no new match. What stays open has no candidate, or more than one.',
  'Par desfeito: a linha e o lançamento estão em aberto de novo.':
    'The match is undone: the line and the entry are open again.',
  'Divergências em tratamento: está registrado quem e quando.': 'Mismatches acknowledged: who and when is on record.',
  'Divergências resolvidas, cada uma com a observação.': 'Mismatches resolved, each with the note.',
  'Feito com as 500 mais antigas: repita para as outras.': 'Done with the oldest 500: repeat it for the others.',
  'Quarentena esvaziada: os corpos foram apagados, os hashes ficam.':
    'The quarantine is purged: the bodies are deleted, the hashes stay.',
  'O webhook voltou para a fila e será verificado de novo.': 'The webhook is queued and will be verified again.',
  'O callback voltou para a fila, com o mesmo webhook-id.': 'The callback is queued again, with the same webhook-id.',
  'Conferência na fila: esta página se atualiza sozinha.': 'The reconciliation is queued: this page refreshes itself.',
  'Relatório feito: uma nova revisão.': 'The report is made: a new revision.',
  'Relatórios feitos: cada dia em que algo mudou tem uma nova revisão.':
    'The reports are made: each day in which something changed has a new revision.',
  'Alguns relatórios não puderam ser feitos: o log diz por quê, e a agenda tenta de novo.':
    'Some reports could not be made: the log says why, and the timetable tries again.',
  'Os relatórios estão sendo feitos, um depois do outro: recarregue a página daqui a pouco.':
    'The reports are being made, one after the other: reload the page in a moment.',
  'Nada mudou desde a última revisão: não há uma nova.':
    'Nothing has changed since the last revision: there is no new one.',
  'Mês fechado: as suas cifras não mudam mais.': 'The month is closed: its figures do not change any more.',
  'Mês reaberto: a sua planilha mostra as cifras de agora.':
    'The month is reopened: its workbook shows the figures of now.',
  'Os envios seguem: o que estava retido será entregue, do mais antigo ao mais novo.':
    'Sending goes on: what was held will be delivered, the oldest first.',
  'Enviando agora uma mensagem que esperava.': 'Sending one message that waited now.',
  'Enviando agora {n} mensagens que esperavam.': 'Sending {n} messages that waited now.',
  'Lojista em pausa: os callbacks ficam retidos até que os envios sejam retomados.':
    'The merchant is paused: callbacks are held until deliveries are resumed.',
  'Callback de teste na fila: esta página se atualiza até o resultado.':
    'The test callback is queued: this page refreshes until there is a result.',
  'Lojista salvo.': 'The merchant is saved.',
  'Token de busca revogado: não abre mais os eventos.': 'The pull token is revoked: it no longer opens the events.',
  'Os callbacks voltaram para a fila, com os mesmos webhook-ids.':
    'The callbacks are queued again, with the same webhook-ids.',
  'Já tinha sido gravado: nada mudou desta vez. Um segredo só aparece uma vez; se ninguém o guardou, troque-o.':
    'It was saved before: nothing changed this time. A secret is shown only once; if nobody kept it, rotate it.',
  'Token revogado: as sessões que ele abriu terminaram.':
    'The token is revoked: the sessions that it opened have ended.',
  'Sessões encerradas: a pessoa entra de novo com o papel que tem agora.':
    'Sessions ended: the person logs in again with the role of now.',
  'Você saiu.': 'You are logged out.',
  '<b>Banco de dados restaurado, e ainda não confirmado.</b> Tem tudo até {at}; o que veio depois está sendo lido de novo, e os callbacks estão retidos.':
    '<b>Restored database, not confirmed yet.</b> It has everything up to {at}; what came later is being read again, and callbacks are held.',
  'De antes da restauração': 'From before the restore',
};
