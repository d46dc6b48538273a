/**
 * Every route of the console and of the API, written by hand: who may use it; a page's heading, and whether it shows a person. A new route is
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
  '/expected/:id/unmatch': {
    ...{ page: ['order-unmatch-form', 'Separar do pedido'], roles: WRITERS, form: true },
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

/** The roles that may call each route of the program interfaces. The provider's routes take its own credentials: see the receiver. */
export const API_ROLES: Record<string, string> = {
  'get /healthz': EVERYBODY,
  'get /readyz': EVERYBODY,
  // from loopback
  'get /metrics': EVERYBODY,
  'post /webhooks/pix': '',
  'post /webhooks/pix/:token': '',
  'get /api/v1/events': 'merchant',
  'get /.well-known/confere-manifest-keys.json': EVERYBODY,
  // with a merchant's token: its own alone
  'get /api/v1/manifests/:day': `merchant ${READERS}`,
  'get /api/v1/manifests/:day/ids': `merchant ${READERS}`,
  'get /log/checkpoint': READERS,
  'get /log/tile/*tile': READERS,
  'get /api/v1/log/proof': READERS,
  'get /api/v1/openapi.json': READERS,
  'get /api/v1/transactions': READERS,
  'get /api/v1/transactions/:id': READERS,
  'get /api/v1/transactions/proof': READERS,
  'get /api/v1/balances': READERS,
  'get /api/v1/numbers': READERS,
  'get /api/v1/series/money': READERS,
  'get /api/v1/series/callbacks': READERS,
  'get /api/v1/jobs': READERS,
  'get /api/v1/expected-payments.csv': READERS,
  'get /api/v1/openings': READERS,
  'post /api/v1/openings': ADMINS,
  'get /api/v1/adjustments': READERS,
  'post /api/v1/adjustments': ACCOUNTANTS,
  'get /api/v1/statements': READERS,
  'post /api/v1/statements': ACCOUNTANTS,
  'get /api/v1/bank': READERS,
  'post /api/v1/bank/imports': ACCOUNTANTS,
  'get /api/v1/bank/accounts': READERS,
  'put /api/v1/bank/accounts': ACCOUNTANTS,
  'post /api/v1/bank/lines/:id/mark': ACCOUNTANTS,
  'post /api/v1/bank/lines/:id/unmark': ACCOUNTANTS,
  'get /api/v1/bank/statements': READERS,
  'get /api/v1/bank/lines': READERS,
  'get /api/v1/bank/entries': READERS,
  'get /api/v1/bank/matches': READERS,
  'post /api/v1/bank/match': ACCOUNTANTS,
  'post /api/v1/bank/matches': ACCOUNTANTS,
  'post /api/v1/bank/matches/:id/undo': ACCOUNTANTS,
  'get /api/v1/expected-payments': READERS,
  'get /api/v1/expected-payments/:id': READERS,
  'get /api/v1/expected-payments/:source/:number': READERS,
  'put /api/v1/expected-payments/:source/:number': WRITERS,
  'post /api/v1/expected-payments': WRITERS,
  'delete /api/v1/expected-payments/:source/:number': WRITERS,
  'post /api/v1/expected-payments/:id/reopen': WRITERS,
  'post /api/v1/expected-payments/:id/match': WRITERS,
  'post /api/v1/expected-payments/:id/unmatch': WRITERS,
  'get /api/v1/commissions': READERS,
  'post /api/v1/commissions': ACCOUNTANTS,
  'get /api/v1/fees': READERS,
  'get /api/v1/reconciliations': READERS,
  'post /api/v1/reconciliations': OPERATORS,
  'get /api/v1/reconciliations/:id': READERS,
  'get /api/v1/reconciliations/:id/pages': READERS,
  'get /api/v1/alerts': READERS,
  'get /api/v1/platforms': READERS,
  'put /api/v1/platforms': WRITERS,
  'get /api/v1/accounts': READERS,
  'put /api/v1/accounts': ACCOUNTANTS,
  'get /api/v1/imports': READERS,
  'post /api/v1/imports/:kind': WRITERS,
  'get /api/v1/imports/:kind/:file': READERS,
  'get /api/v1/mismatches': READERS,
  'get /api/v1/mismatches.xlsx': READERS,
  'get /api/v1/mismatches/:id': READERS,
  'post /api/v1/mismatches/:id/acknowledge': OPERATORS,
  'post /api/v1/mismatches/:id/resolve': OPERATORS,
  'post /api/v1/mismatches/:id/assign': WRITERS,
  'post /api/v1/mismatches/resolve': OPERATORS,
  'post /api/v1/mismatches/:id/accept': OPERATORS,
  'get /api/v1/reports': READERS,
  'post /api/v1/reports': WRITERS,
  'get /api/v1/reports/:file': READERS,
  'get /api/v1/months': READERS,
  'get /api/v1/months/:month': READERS,
  'post /api/v1/months/:month/close': ACCOUNTANTS,
  'post /api/v1/months/:month/reopen': ADMINS,
  'get /api/v1/webhooks': READERS,
  'get /api/v1/webhooks/:id': READERS,
  'post /api/v1/webhooks/:id/reprocess': OPERATORS,
  'get /api/v1/callbacks': READERS,
  'get /api/v1/callbacks/:id': READERS,
  'post /api/v1/callbacks/:id/redeliver': OPERATORS,
  'post /api/v1/callbacks/replay': OPERATORS,
  'get /api/v1/merchants': READERS,
  'post /api/v1/merchants': ADMINS,
  'get /api/v1/merchants/:id': READERS,
  'patch /api/v1/merchants/:id': ADMINS,
  'delete /api/v1/merchants/:id': ADMINS,
  'post /api/v1/merchants/:id/rotate-secret': ADMINS,
  'get /api/v1/merchants/:id/address-changes': READERS,
  'post /api/v1/merchants/:id/address-changes': ADMINS,
  'post /api/v1/merchants/:id/enable': ADMINS,
  'post /api/v1/merchants/:id/pause': ADMINS,
  'post /api/v1/merchants/:id/test': ADMINS,
  'post /api/v1/merchants/:id/pull-token': ADMINS,
  'delete /api/v1/merchants/:id/pull-token': ADMINS,
  'get /api/v1/tokens': ADMINS,
  'post /api/v1/tokens': ADMINS,
  'delete /api/v1/tokens/:id': ADMINS,
  'get /api/v1/audit': ADMINS,
};

/** The routes that show the person of the tests. The others show none. */
export const SHOWING = [
  '/api/v1/transactions',
  '/api/v1/transactions/:id',
  '/api/v1/transactions/proof',
  '/api/v1/mismatches',
  '/api/v1/mismatches/:id',
  '/api/v1/adjustments',
  '/api/v1/bank/accounts',
  '/api/v1/bank/lines',
  '/api/v1/expected-payments',
  '/api/v1/expected-payments.csv',
  '/api/v1/expected-payments/:id',
  '/api/v1/expected-payments/:source/:number',
  '/api/v1/bank/entries',
  '/api/v1/bank/matches',
  '/api/v1/webhooks/:id',
  '/api/v1/callbacks/:id',
  '/api/v1/reports/:file',
  ...Object.keys(CONSOLE).filter((route) => CONSOLE[route]?.showsPersons),
];
