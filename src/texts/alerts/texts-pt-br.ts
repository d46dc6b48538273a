import type { AlertText } from './alert-facts.ts';
import type { EN_TEXTS, EN_WORDS } from './texts-en.ts';

export const PT_BR_WORDS: typeof EN_WORDS = {
  severities: { critical: 'crítica', high: 'alta', medium: 'média' },
  over: 'encerrado',
  since: 'desde',
  until: 'até',
  open: 'abrir',
  runbook: 'o que fazer',
  alerts: (count) => `${count} alertas`,
  areOver: (count) => `${count} alertas encerrados`,
};

export const PT_BR_TEXTS: Record<keyof typeof EN_TEXTS, AlertText> = {
  webhook_lost: {
    title: 'Webhook perdido',
    todo: 'Nada a corrigir no razão: se a taxa de perdas subir, peça ao provedor que verifique os envios para o nosso endereço.',
  },
  webhook_contradiction: {
    title: 'Webhook contradiz o provedor',
    todo: 'Não aja pelo webhook: confira a transação no painel do provedor; se ele não a confirma, um operador trata o webhook como forjado e troca o segredo.',
  },
  status_differs: {
    title: 'O provedor contradiz a história',
    todo: 'Pergunte ao provedor por que um evento nosso sumiu ou por que a situação da linha não é a do último evento; só então aceite a versão dele (com estorno) ou mantenha a nossa.',
  },
  illegal_transition: {
    title: 'Transição impossível',
    todo: 'Já foi lançada como o provedor a mostra: confirme com ele qual é a situação final e resolva com a resposta na observação.',
  },
  amount_differs: {
    title: 'Valor mudou',
    todo: 'O razão mantém o primeiro valor: compare com o comprovante do pagamento e decida entre manter ou aceitar com estorno.',
  },
  commission_differs: {
    title: 'Tarifa mudou',
    todo: 'O razão mantém a primeira: compare com a fatura do provedor e decida entre manter ou aceitar a nova.',
  },
  commission_not_agreed: {
    title: 'Tarifas fora do contrato',
    todo: 'Veja as transações em Saldos, Tarifas: conteste a diferença com o provedor, ou informe o contrato que vale.',
  },
  reference_differs: {
    title: 'Referência mudou',
    todo: 'O razão mantém a primeira: descubra quem a alterou, porque é por ela que o pedido do lojista é encontrado.',
  },
  duplicate_reference: {
    title: 'Referência repetida',
    todo: 'Veja com o lojista se o pedido foi cobrado duas vezes e cancele ou devolva a que sobra: a divergência se resolve sozinha.',
  },
  missing_at_provider: {
    title: 'Ausente no provedor',
    todo: 'Abra um chamado no provedor com o id: o dinheiro está no nosso razão e ele diz não conhecer a transação.',
  },
  list_omission: {
    title: 'Omitida na lista',
    todo: 'Nada a fazer agora: a transação existe e a próxima conferência completa deve trazê-la; se persistir, avise o provedor.',
  },
  list_unstable: {
    title: 'Dia não provado',
    todo: 'Inicie uma conferência deste dia num horário calmo; enquanto não houver prova, nada se conclui sobre ausências; se o total anunciado sobra pelo mesmo número em todas as leituras, confirme-o com o provedor e aceite-o.',
  },
  stuck: {
    title: 'Parada',
    todo: 'Num pagamento, confirme no painel do provedor antes de pagar de novo; num recebimento, cobre do provedor o fim da análise.',
  },
  row_refused: {
    title: 'Linha ilegível',
    todo: 'A linha está guardada como veio e fora do razão: mostre-a ao provedor e peça que a corrija.',
  },
  field_unreadable: {
    title: 'Campo ilegível',
    todo: 'A transação foi lançada sem esse campo (um `extra` que não é texto: como o seu JSON) e a linha está guardada como veio: peça ao provedor que o corrija; ao ser lido, a divergência se resolve sozinha.',
  },
  unknown_status: {
    title: 'Situação desconhecida',
    todo: 'Nada foi lançado por ela: pergunte ao provedor o que significa e avise quem desenvolve o Confere.',
  },
  webhook_quarantined: {
    title: 'Webhook em quarentena',
    todo: 'Um operador abre o webhook, vê o motivo e, corrigida a causa, o reprocessa; o que for lixo, resolve com uma observação.',
  },
  e2e_date_differs: {
    title: 'Data do E2E distante',
    todo: 'Confira no comprovante se o id E2E é mesmo deste pagamento; costuma ser erro de preenchimento no provedor.',
  },
  closed_day_changed: {
    title: 'Dia já relatado mudou',
    todo: 'Faça a nova revisão do relatório desse dia, cuja aba Alterações diz o que mudou; se não foi por um lançamento ou saldo inicial informado, a contabilidade precisa saber.',
  },
  balance_differs: {
    title: 'Saldo não bate',
    todo: 'Procure no painel do provedor o que a lista não mostra (tarifa, bloqueio, saque) e lance-o como ajuste, ou corrija o saldo informado.',
  },
  amount_not_expected: {
    title: 'Valor diferente do esperado',
    todo: 'Compare o que foi pago com o pedido: cobre ou devolva a diferença, ou corrija o pedido.',
  },
  paid_twice: {
    title: 'Pedido pago mais de uma vez',
    todo: 'Devolva o que sobra, a não ser que o cliente queira pagar tudo.',
  },
  paid_after_cancel: {
    title: 'Pedido cancelado foi pago',
    todo: 'Devolva o pagamento, ou reabra o pedido e entregue.',
  },
  receipt_unidentified: {
    title: 'Recebimento sem pedido',
    todo: 'Case-o com o seu pedido, ou lance o pedido; devolva o que não é de ninguém.',
  },
  books_broken: {
    title: 'Razão inconsistente',
    todo: 'Pare de fechar meses e rode confere doctor --books, que diz onde: é um defeito nosso ou uma escrita por fora, nunca coisa do provedor.',
  },
  address_change_waits: {
    title: 'Mudança de endereço espera um admin',
    todo: 'Pergunte ao lojista por outro meio, e confirme ou recuse na página dele.',
  },
  baseline_mismatches: {
    title: 'Divergências da base inicial',
    todo: 'Reveja-as uma vez e resolva as que estão explicadas.',
  },
  callback_failed: {
    title: 'Callbacks falharam de vez',
    todo: 'Fale com o lojista e depois reenvie os callbacks que falharam.',
  },
  callbacks_behind: {
    title: 'Callbacks atrasados',
    todo: 'Veja o log dos workers; se é só trabalho demais, inicie mais um.',
  },
  clock_differs: {
    title: 'Um relógio está errado',
    todo: 'Acerte por NTP os relógios dessa máquina e do banco de dados.',
  },
  database_read_only: {
    title: 'O banco de dados não aceita gravações',
    todo: 'Torne-o gravável de novo ou passe para o primário: até lá nada é verificado, lançado ou entregue.',
  },
  disk_full: {
    title: 'Disco quase cheio',
    todo: 'Libere espaço: um disco cheio interrompe o banco de dados e o recebimento de webhooks.',
  },
  expected_behind: {
    title: 'Pedidos decididos com atraso',
    todo: 'Veja no log dos workers falhas do laço expected.',
  },
  inbound_silence: {
    title: 'Não chegam webhooks',
    todo: 'Verifique o receptor, o proxy e o endereço para o qual o provedor envia.',
  },
  inbox_behind: {
    title: 'Verificação atrasada',
    todo: 'Veja o log dos workers e se o provedor está lento.',
  },
  job_failed: {
    title: 'Tarefa falhou',
    todo: 'Veja o erro com confere jobs, corrija a causa e rode a tarefa de novo.',
  },
  job_overdue: {
    title: 'Tarefa atrasada',
    todo: 'Veja com confere jobs se ela não começou ou se demora demais.',
  },
  merchant_disabled: {
    title: 'Lojista desativado',
    todo: 'Fale com o lojista e retome os envios: o que está retido será entregue.',
  },
  merchant_failing: {
    title: 'Lojista não recebe',
    todo: 'Fale com o lojista: os callbacks esperam pelo endereço dele.',
  },
  no_complete_run: {
    title: 'Hoje não foi lido por inteiro',
    todo: 'Veja o erro das últimas conferências: sem elas, não se sabe o que nenhum webhook anunciou.',
  },
  opening_to_come: {
    title: 'Saldo inicial com data futura',
    todo: 'Estorne o saldo inicial e informe-o de novo com o dia certo.',
  },
  provider_failing: {
    title: 'O provedor falha',
    todo: 'Veja a página de status dele e ligue: os webhooks são recebidos e verificados quando ele responder.',
  },
  provider_unauthorized: {
    title: 'O provedor recusa a chave',
    todo: 'Um administrador do servidor configura uma chave válida do provedor (PROVIDER_API_KEY).',
  },
  quarantine_full: {
    title: 'Quarentena quase cheia',
    todo: 'Veja a quarentena, reprocesse o que é genuíno e apague o resto.',
  },
  report_differs: {
    title: 'Relatório não confere com o razão',
    todo: 'Nada foi publicado: siga o guia, e não entregue números destes dias até haver um relatório.',
  },
  report_missing: {
    title: 'Falta um relatório',
    todo: 'Veja no log por que a tarefa não o fez, corrija a causa e faça o relatório.',
  },
  restore_unconfirmed: {
    title: 'Callbacks retidos após uma restauração',
    todo: 'Rode confere doctor --restored, leia o que ele diz e confirme.',
  },
  run_failed: {
    title: 'Conferência falhou',
    todo: 'Veja se o provedor responde: a próxima conferência do mesmo tipo tenta de novo.',
  },
  time_zone_differs: {
    title: 'Fuso horário errado',
    todo: 'Nenhum dia é encerrado até lá: um administrador do servidor corrige o fuso (PROVIDER_TIME_ZONE), como diz o guia.',
  },
  two_writers: {
    title: 'Dois servidores de banco de dados aceitam gravações',
    todo: 'Deixe só um gravável: o que é lançado num falta no outro.',
  },
  webhook_loss_rate: {
    title: 'Webhooks perdidos demais',
    todo: 'Veja o log do proxy e peça ao provedor que verifique os envios para o nosso endereço.',
  },
  witness_away: {
    title: 'Uma testemunha não assina',
    todo: 'Fale com quem a opera: até ela responder, o registro tem uma assinatura a menos.',
  },
  witness_refused: {
    title: 'Uma testemunha viu outra história',
    todo: 'Não mude nada no banco e compare-o com um backup, como diz o guia.',
  },
  worker_dead: {
    title: 'Nenhum worker está vivo',
    todo: 'Inicie serve --worker ou veja o log do que está no ar.',
  },
};
