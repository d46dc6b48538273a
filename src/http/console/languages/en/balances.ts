/** The balances, and the forms that move money. */
export const BALANCES_EN = {
  // fields
  'No máximo {max}.': 'At most {max}.',
  'Escreva um valor como {example} ou -{example}.': 'Write an amount as {example} or -{example}.',
};
