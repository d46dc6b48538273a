/** The titles of the charts on Resumo, in Brazilian Portuguese. */
export const CHARTS_PT_BR = {
  title: 'Gráficos',
  byHour: 'Recebimentos e pagamentos por hora',
  byDay: 'Recebimentos e pagamentos por dia',
  byStatus: 'Transações por situação alcançada',
} as const;

export const CHARTS_EN: Record<keyof typeof CHARTS_PT_BR, string> = {
  title: 'Charts',
  byHour: 'Receipts and payments by hour',
  byDay: 'Receipts and payments by day',
  byStatus: 'Transactions by status reached',
};
