import { CHANGES } from './texts-changes.ts';
import { CODES } from './texts-codes.ts';
import { COLUMNS } from './texts-columns.ts';
import { EVIDENCE, EVIDENCE_CODES, WEBHOOK_REASONS } from './texts-evidence.ts';
import { MISMATCHES } from './texts-mismatches.ts';
import { ORDER_STATES, ORDERS } from './texts-orders.ts';
import { PERIOD } from './texts-period.ts';
import { SUMMARY } from './texts-summary.ts';

/** Every word of a report, in both languages. */
export const REPORT_TEXTS = {
  sheets: {
    summary: ['Resumo', 'Summary'],
    statement: ['Extrato', 'Statement'],
    receipts: ['Recebimentos', 'Receipts'],
    payments: ['Pagamentos', 'Payments'],
    refunds: ['Devoluções', 'Refunds'],
    pending: ['Pendentes', 'Pending'],
    receivable: ['A receber', 'Receivable'],
    unidentified: ['Não identificados', 'Not identified'],
    mismatches: ['Divergências', 'Mismatches'],
    changes: ['Alterações', 'Changes'],
    adjustments: ['Ajustes de meses anteriores', 'Changes of earlier months'],
  },
  notes: {
    statement: [
      'Cada movimento do razão no dia, na ordem em que aconteceu. Valor − tarifa = líquido; o saldo é disponível + retido.',
      'Every movement of the ledger in the day, in the order in which it happened. Amount − commission = net; balance is available + held.',
    ],
    receipts: ['Cada recebimento, no dia em que foi pago.', 'Each receipt, on the day when it was paid.'],
    payments: ['Cada pagamento, no dia em que foi pago.', 'Each payment, on the day when it was paid.'],
    refunds: [
      'Cada devolução, no dia em que aconteceu, qualquer que seja o dia do pagamento.',
      'Each refund, on its own day, which may be later than that of the payment.',
    ],
    pending: [
      'O que estava em aberto no fim do dia: todos os pagamentos, cuja soma é o saldo retido, e os recebimentos criados no dia.',
      "What was open at the day's end: every payment, whose sum is the held balance, and the receipts created that day.",
    ],
    receivable: [
      'Pedidos que venceram, foram pagos, devolvidos ou mudaram no dia, e os vencidos há até 95 dias, no estado que tinham no corte.',
      'Orders that were due, paid, returned or changed that day, and those overdue for up to 95 days, in the state that they had at the cut.',
    ],
    unidentified: [
      'Recebimentos, no todo ou em parte, que não são de pedido algum, nas plataformas que têm pedidos.',
      'Receipts, whole or in part, that are of no order, on platforms that have orders.',
    ],
    mismatches: [
      'Em aberto, de todos os dias, e surgidas no dia, também resolvidas; o Resumo conta só as em aberto.',
      'Open ones of all days, and those that arose that day, also resolved; the summary counts open ones.',
    ],
    changes: [
      'O que mudou neste dia desde a revisão anterior, e por quê.',
      'What changed in this day since the revision before, and why.',
    ],
    adjustments: [
      'O que mudou nos dias até o fim de {month} depois que esse mês foi fechado, em {at}: as cifras entregues não mudam.',
      'What changed in the days to the end of {month} after that month was closed at {at}: figures that were handed in do not move.',
    ],
    revision: [
      'Revisão {revision} · {state} · valores em reais · relógio do provedor ({zone})',
      "Revision {revision} · {state} · amounts in reais · the provider's clock ({zone})",
    ],
    part: [' ({part})', ' ({part})'],
    shown: ['Linhas visíveis', 'Visible rows'],
    none: [
      'Primeira revisão deste dia: não há anterior com que comparar.',
      'First revision of this day: there is none before it to compare with.',
    ],
    afterPartial: [
      'A revisão {revision} foi feita com o dia em curso, em {at}: tudo o que veio depois é novo e não está listado.',
      'Revision {revision} was made while the day was running, at {at}: all that came later is new and is not listed.',
    ],
    label: [
      'o provedor foi relido desde a revisão {revision}',
      'the provider was read again since revision {revision}',
    ],
    labelLost: ['deixou de estar provado desde a revisão {revision}', 'no longer proven since revision {revision}'],
    labelPartial: [
      'a revisão {revision} foi feita em {at}, com o dia em curso',
      'revision {revision} was made at {at}, while the day was running',
    ],
  },
  columns: COLUMNS,
  kinds: {
    receipt: ['Recebimento', 'Receipt'],
    payment: ['Pagamento', 'Payment'],
    refund_made: ['Devolução feita', 'Refund made'],
    refund_received: ['Devolução recebida', 'Refund received'],
    hold: ['Retenção', 'Hold'],
    release: ['Liberação', 'Release'],
    commission: ['Tarifa', 'Commission'],
    adjustment: ['Ajuste', 'Adjustment'],
    opening: ['Saldo inicial', 'Opening balance'],
  },
  reversal: ['Estorno de {kind}', 'Reversal of {kind}'],
  enteredBy: ['lançado por {name}', 'entered by {name}'],
  earlierMonth: ['Ajuste de mês anterior, {day}: {kind}', 'Change of an earlier month, {day}: {kind}'],
  mail: {
    subject: [
      'Confere: relatório de {day}, revisão {revision}, {state}',
      'Confere: report of {day}, revision {revision}, {state}',
    ],
    intro: [
      'O relatório de {day} está pronto: revisão {revision}, {state}.',
      'The report of {day} is ready: revision {revision}, {state}.',
    ],
    proven: ['O dia está provado com o provedor.', 'The day is proven with the provider.'],
    notProven: ['O dia ainda não está provado com o provedor.', 'The day is not proven with the provider yet.'],
    changed: [
      'O que mudou desde a revisão anterior está na aba Alterações.',
      'What changed since the revision before is in the sheet Changes.',
    ],
    download: ['Para baixar (é preciso entrar no console)', 'To download it (you have to log in to the console)'],
    digest: ['SHA-256 das linhas', 'SHA-256 of the rows'],
    outro: ['Este e-mail não contém dados do dia.', 'This mail holds no data of the day.'],
  },
  statuses: {
    pending: ['Pendente', 'Pending'],
    in_process: ['Em processamento', 'In process'],
    in_analysis: ['Em análise', 'In analysis'],
    paid: ['Pago', 'Paid'],
    denied: ['Negado', 'Denied'],
    canceled: ['Cancelado', 'Canceled'],
    expired: ['Expirado', 'Expired'],
    refund: ['Devolvido', 'Refunded'],
  },
  operations: { cashin: ['Entrada', 'Cashin'], cashout: ['Saída', 'Cashout'] },
  forgotten: ['removido', 'removed'],
  sources: {
    webhook: ['Webhook', 'Webhook'],
    list: ['Lista', 'List'],
    show: ['Consulta', 'Show call'],
    person: ['Pessoa', 'Person'],
  },
  states: {
    partial: ['parcial', 'partial'],
    provisional: ['provisório', 'provisional'],
    closed: ['completo', 'complete'],
  },
  stateNotes: {
    partial: [
      'O dia ainda não acabou: vale até o momento em que foi feito.',
      'The day is not over: this holds up to the moment when it was made.',
    ],
    provisional: [
      'O dia acabou; mudanças tardias ainda podem chegar até que os 95 dias anteriores sejam relidos.',
      'The day is over; late changes may still come until the 95 days before it are read again.',
    ],
    closed: [
      'Todos os dias de criação que podem tocar este dia foram relidos ou contados depois do seu fim.',
      'Every creation day that can touch this day was read again or counted after its end.',
    ],
  },
  severities: { medium: ['Média', 'Medium'], high: ['Alta', 'High'], critical: ['Crítica', 'Critical'] },
  mismatchStates: {
    open: ['Aberta', 'Open'],
    acknowledged: ['Em tratamento', 'Acknowledged'],
    resolved: ['Resolvida', 'Resolved'],
  },
  summary: SUMMARY,
  /** The titles of the charts on Resumo. */
  charts: {
    title: ['Gráficos', 'Charts'],
    byHour: ['Recebimentos e pagamentos por hora', 'Receipts and payments by hour'],
    byDay: ['Recebimentos e pagamentos por dia', 'Receipts and payments by day'],
    byStatus: ['Transações por situação alcançada', 'Transactions by status reached'],
  },
  orders: ORDERS,
  orderStates: ORDER_STATES,
  period: PERIOD,
  evidence: EVIDENCE,
  evidenceCodes: EVIDENCE_CODES,
  webhookReasons: WEBHOOK_REASONS,
  ...CODES,
  changes: CHANGES,
  mismatchKinds: MISMATCHES,
} as const;
