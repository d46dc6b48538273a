/**
 * Every route of the console, written by hand: who may use it, its heading, and whether it shows a person. A new page is
 * entered here alone: the tests of roles, of the audit, of the languages and of the browser read it.
 */
const READERS = 'viewer accountant operator admin';
const WRITERS = 'accountant operator admin';
const ACCOUNTANTS = 'accountant admin';
const OPERATORS = 'operator admin';
const ADMINS = 'admin';
const EVERYBODY = `nobody merchant ${READERS}`;

type Route = {
  /** Default: who may log in. */
  roles?: string;
  /** The picture and the heading of a page. Pages whose names have the same first word are of one kind. */
  page?: readonly [name: string, heading: string | RegExp];
  /** It has a form in two steps, which the same roles send. */
  form?: true;
  /** Shows a person of the examples. */
  showsPersons?: true;
  query?: (today: string) => string;
};

export const CONSOLE: Record<string, Route> = {
  '/': { page: ['overview', 'Não confere'] },
  '/alerts': { page: ['alerts', 'Alertas'] },
  '/runbooks': { page: ['runbooks', 'Guias'], roles: EVERYBODY },
  '/runbooks/:kind': { page: ['runbook', 'O provedor contradiz a história'], roles: EVERYBODY },
  '/transactions': { page: ['transactions', 'Transações'], showsPersons: true },
  '/transactions/:id': { page: ['transaction', 'Entrada de R$ 1.234,56'], showsPersons: true },
  '/transactions/export': { query: () => '?format=csv', showsPersons: true },
  '/transactions/proof': {
    page: ['proof', 'Prova de um pagamento'],
    query: (today) => `?day=${today}&amount=1.234,56`,
    showsPersons: true,
  },
  '/expected': { page: ['orders', 'Pedidos'], showsPersons: true },
  '/expected/undecided': { page: ['orders-undecided', 'A casar'] },
  '/expected/:id': { page: ['order', 'pedido-maria'], showsPersons: true },
  '/expected/:id/cancel': {
    ...{ page: ['order-cancel-form', 'Cancelar o pedido'], roles: WRITERS, form: true, showsPersons: true },
  },
  '/expected/:id/match': {
    ...{ page: ['order-match-form', 'Casar com o pedido'], roles: WRITERS, form: true },
  },
  '/expected/new': { page: ['order-form', 'Novo pedido'], roles: WRITERS, form: true },
  '/expected/export': { showsPersons: true },
  '/balances': { page: ['balances', 'Saldos'] },
  '/charts': { page: ['charts', 'Gráficos'] },
  '/charts/hours': { page: ['charts-hours', 'Gráficos'] },
  '/charts/webhooks': { page: ['charts-webhooks', 'Gráficos'] },
  '/charts/callbacks': { page: ['charts-callbacks', 'Gráficos'] },
  '/balances/statements': { page: ['statements', 'Saldos informados'] },
  '/balances/adjustments': { page: ['adjustments', 'Ajustes'], showsPersons: true },
  '/balances/fees': { page: ['fees', 'Tarifas'] },
  '/balances/fees/new': { page: ['fees-form', 'Informar um contrato'], roles: ACCOUNTANTS, form: true },
  '/balances/fees/:id/undo': { page: ['fees-undo-form', 'Retirar um contrato'], roles: ACCOUNTANTS, form: true },
  '/balances/openings': { page: ['openings', 'Saldos iniciais'] },
  '/balances/statements/new': { page: ['statement-form', 'Informar um saldo'], roles: ACCOUNTANTS, form: true },
  '/balances/adjustments/new': { page: ['adjustment-form', 'Lançar um ajuste'], roles: ACCOUNTANTS, form: true },
  '/balances/openings/new': { page: ['opening-form', 'Informar um saldo inicial'], roles: ADMINS, form: true },
  '/mismatches': { page: ['mismatches', 'Divergências'], showsPersons: true },
  '/mismatches/decisions.xlsx': {},
  '/mismatches/assign': { page: ['mismatches-assign', 'Atribuir divergências'], roles: WRITERS, form: true },
  '/mismatches/:id': { page: ['mismatch', 'Valor mudou'], showsPersons: true },
  '/inbox': { page: ['inbox', 'Webhooks'] },
  '/inbox/:id': { page: ['webhook', 'Webhook'], showsPersons: true },
  '/reconciliations': { page: ['runs', 'Conferências'] },
  '/reconciliations/:id': { page: ['run', / a /] },
  '/reports': { page: ['reports', 'Relatórios'] },
  '/reports/months/:id': { page: ['month', /^Fechamento de /] },
  '/reports/months/:id/close': { page: ['month-close', 'Fechar o mês'], roles: ACCOUNTANTS, form: true },
  '/reports/months/:id/reopen': { page: ['month-reopen', 'Reabrir o mês'], roles: ADMINS, form: true },
  '/balances/platforms': { page: ['platforms', 'Plataformas'] },
  '/balances/imports': { page: ['imports', 'Importar um arquivo'], roles: WRITERS },
  '/balances/imports/:kind/:file': { roles: WRITERS },
  '/balances/adjustments/:id/reverse': {
    ...{ page: ['adjustment-reverse-form', 'Estornar um ajuste'], roles: ACCOUNTANTS, form: true },
  },
  '/balances/openings/:id/reverse': {
    ...{ page: ['opening-reverse-form', 'Estornar um saldo inicial'], roles: ADMINS, form: true },
  },
  '/balances/bank': { page: ['bank', 'Banco'], showsPersons: true },
  '/balances/bank/lines': { page: ['bank-lines', 'Linhas do extrato'], showsPersons: true },
  '/balances/bank/matches': { page: ['bank-matches', 'Pares'], showsPersons: true },
  '/balances/bank/lines/:id/match': { page: ['bank-match-form', 'Casar uma linha'], roles: ACCOUNTANTS, form: true },
  '/balances/bank/lines/:id/mark': { page: ['bank-mark-form', 'Não é do PIX'], roles: ACCOUNTANTS, form: true },
  '/balances/bank/lines/:id/unmark': {
    page: ['bank-unmark-form', 'Desfazer “Não é do PIX”'],
    roles: ACCOUNTANTS,
    form: true,
  },
  '/balances/bank/accounts/:id': { page: ['bank-account-form', 'Conta no banco'], roles: ACCOUNTANTS, form: true },
  '/balances/bank/matches/:id/undo': { page: ['bank-undo-form', 'Desfazer um par'], roles: ACCOUNTANTS, form: true },
  '/reports/accounts': { page: ['account-map', 'Plano de contas'] },
  '/reports/period': { query: (today) => `?from=${today}&to=${today}&format=csv`, showsPersons: true },
  '/reports/:name': { page: ['report', /^\d\d\/\d\d\/\d{4}$/], showsPersons: true },
  '/merchants': { page: ['merchants', 'Lojistas'] },
  '/merchants/:id': { page: ['merchant', 'Café & Cia <b>'] },
  '/merchants/new': { page: ['merchant-new', 'Novo lojista'], roles: ADMINS, form: true },
  '/merchants/:id/edit': { page: ['merchant-edit', 'Editar lojista'], roles: ADMINS, form: true },
  '/merchants/:id/replay': { page: ['merchant-replay', 'Reenviar um período'], roles: OPERATORS, form: true },
  '/merchants/:id/rotate-secret': { page: ['merchant-secret', 'Trocar o segredo'], roles: ADMINS, form: true },
  '/merchants/:id/pull-token': { page: ['merchant-token', 'Dar um token de busca'], roles: ADMINS, form: true },
  '/merchants/:id/decide-address': {
    ...{ page: ['merchant-address', 'Decidir uma mudança de endereço'], roles: ADMINS, form: true },
  },
  '/merchants/:id/portal-token': { page: ['merchant-portal-token', 'Dar acesso ao portal'], roles: ADMINS, form: true },
  '/merchants/:id/revoke-pull-token': {
    ...{ page: ['merchant-token-revoke', 'Revogar o token de busca'], roles: ADMINS, form: true },
  },
  '/callbacks': { page: ['callbacks', 'Callbacks'] },
  '/callbacks/:id': { page: ['callback', /pix\.cashin/], showsPersons: true },
  '/system': { page: ['system', 'Sistema'] },
  '/tokens': { page: ['tokens', 'Tokens'], roles: ADMINS },
  '/users': { page: ['users', 'Pessoas'], roles: ADMINS },
  '/audit': { page: ['audit', 'Auditoria'], roles: ADMINS },
  // the browser tests of the portal open it
  '/openapi': {},
  '/openapi/document.json': {},
  '/openapi/swagger-ui-bundle.js': {},
  '/openapi/swagger-ui.css': {},
};

/** The roles that may press each button, and send each form in one step. */
const BUTTONS: Record<string, string> = {
  '/transactions/:id/match': WRITERS,
  '/expected/:id/unmatch': WRITERS,
  '/expected/:id/reopen': WRITERS,
  '/balances/bank/match': ACCOUNTANTS,
  '/balances/imports/columns': ACCOUNTANTS,
  '/balances/imports': WRITERS,
  '/balances/platforms': WRITERS,
  '/mismatches/acknowledge': OPERATORS,
  '/mismatches/resolve': OPERATORS,
  '/mismatches/:id/acknowledge': OPERATORS,
  '/mismatches/:id/resolve': OPERATORS,
  '/mismatches/:id/assign': WRITERS,
  '/mismatches/:id/accept': OPERATORS,
  '/inbox/:id/reprocess': OPERATORS,
  '/inbox/purge': OPERATORS,
  '/reconciliations': OPERATORS,
  '/reports': WRITERS,
  '/reports/accounts': ACCOUNTANTS,
  '/merchants/:id/enable': ADMINS,
  '/merchants/:id/pause': ADMINS,
  '/merchants/:id/test': ADMINS,
  '/callbacks/:id/redeliver': OPERATORS,
  '/system/check': OPERATORS,
  '/tokens/:id/revoke': ADMINS,
  '/users/:id/log-out': ADMINS,
};

/** The roles that may use each route: `get /alerts`. */
export const CONSOLE_ROLES: Record<string, string> = Object.fromEntries([
  ...Object.entries(CONSOLE).map(([path, { roles = READERS }]) => [`get ${path}`, roles]),
  ...Object.entries(CONSOLE).flatMap(([path, { form, roles }]) => (form ? [[`post ${path}`, roles]] : [])),
  ...Object.entries(BUTTONS).map(([path, roles]) => [`post ${path}`, roles]),
]);

/** The pages, each at the address of an example. */
export function listPages(items: Record<string, string>, today: string) {
  return Object.entries(CONSOLE).flatMap(([route, { page, form = false }]) =>
    page ? [{ name: page[0], heading: page[1], form, route, address: exampleOf(route, items, today) }] : [],
  );
}

/**
 * The address of a route's example.
 * @param items by the address of their list, the API's too: `/merchants`; or a whole address, by its route.
 */
export function exampleOf(route: string, items: Record<string, string>, today: string): string {
  if (items[route]?.startsWith('/')) return items[route];
  const query = CONSOLE[route]?.query?.(today) ?? '';
  const [, list, rest] = /^(.*?)\/:\w+(.*)$/.exec(route) ?? [];
  if (list === undefined) return `${route}${query}`;
  const item = items[list.replace('/api/v1', '')];
  if (item === undefined) throw new Error(`no example for ${route}`);
  return `${list}/${item}${rest}${query}`;
}
