/** Codes as Portuguese names them: in the texts of alerts and in the console. */
export const PT_BR_TRIGGERS = {
  api: 'API',
  console: 'Console',
  command: 'Comando',
  gap: 'Falta de webhooks',
  opening: 'Saldo inicial: desde 96 dias antes',
  restored: 'Restauração: dias do intervalo',
  restored_late: 'Restauração: 96 dias, por contagem',
  reconcile_recent: 'Agenda: hoje e ontem',
  reconcile_week: 'Agenda: 7 dias',
  reconcile_month: 'Agenda: 35 dias',
  reconcile_quarter: 'Agenda: 96 dias',
  reconcile_counts: 'Agenda: 96 dias, por contagem',
  reconcile_unclosed: 'Agenda: dias de que um relatório espera',
  reconcile_open: 'Agenda: dias com transações em aberto',
} as const;

/** Loops of a worker, and disks. */
export const PT_BR_PARTS = {
  inbox: 'webhooks',
  sealer: 'selo do razão',
  alerts: 'alertas',
  watch: 'vigia',
  provider: 'provedor',
  database: 'gravações no banco de dados',
  DATA_DIR: 'disco de dados',
  SPOOL_DIR: 'disco do spool',
} as const;

/** How the provider fails; a status stands for itself. */
export const PT_BR_FAULTS = { no_answer: 'sem resposta', unreadable: 'resposta ilegível', slow: 'lento' } as const;
