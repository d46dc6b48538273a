/** The pages of one item, the login, errors, and runbooks. */
export const PAGES_EN = {
  // runbooks
  Guias: 'Runbooks',
  'O que fazer em cada alerta': 'What to do about each alert',
  'Todos os guias': 'All runbooks',
};
