/** The map of our accounts to the customer's chart: by command, API and console. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderAccountMap } from '../../../src/imports/kinds/accounts.ts';
import { readAccountMap } from '../../../src/ledger/stated/account-map.ts';
import { setBankAccount } from '../../../src/ledger/stated/bank-accounts.ts';
import { CHART_ACCOUNTS, LEDGER_ACCOUNTS } from '../../../src/ledger/stated/check-accounts.ts';
import { parseCsv } from '../../../src/spreadsheet/parse-csv.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { readRows } from '../../support/read-rows.ts';
import { SECRET_KEY, temporaryDirectory } from '../../support/start-serve.ts';

const home = closeAfterAll(temporaryDirectory());
const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));

async function run(text: string | Buffer, ...args: string[]) {
  const file = path.join(home.path, 'map.csv');
  writeFileSync(file, text);
  return await env.confere('accounts', ...(args.length > 0 ? args : ['map', file, '--json']));
}

const call = (role: 'viewer' | 'accountant' | 'operator', body?: object, address = '/accounts') =>
  env.api(role, body ? 'PUT' : 'GET', address, body);

const listAudited = () =>
  readRows(env.context.db, 'audit', ['actor', 'target', 'detail'], { action: 'imports.create' });

test('the accounts that a map may name are those that the code posts to', () => {
  const root = path.resolve(import.meta.dirname, '../../../src/ledger');
  const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('check-accounts.ts'))
    .map((name) => readFileSync(path.join(root, name), 'utf8'))
    .join('\n');
  const posted = code.matchAll(/'((?:Assets|Expenses|Liabilities|Equity):[A-Za-z:]+)'/g);
  expect(new Set([...posted].map(([, account]) => account))).toEqual(new Set(LEDGER_ACCOUNTS));
});

test('a map is given by command once, from Excel too, and replaces the one before; each change is audited', async () => {
  const csv = 'Conta;Codigo;"Centro de Custo"\r\nAssets:Provider:Available;"1.1.2;01";Caixa é\r\nAssets:Bank;;\r\n';
  expect(await run(Buffer.from(csv, 'latin1'))).toMatchObject({ code: 0, json: { rows: 1, changed: true } });
  const { accounts, changed_by } = await readAccountMap(env.context.db);
  expect([accounts, changed_by]).toEqual([
    [
      {
        account: 'Assets:Provider:Available',
        ...{ platform: null, code: '1.1.2;01', category: null, cost_center: 'Caixa é', history: null },
      },
    ],
    'command',
  ]);
  const again = await run(`\uFEFF${csv}`);
  expect(again).toMatchObject({ code: 0, json: { changed: false } });
  expect(again.json.unmapped).toContain('Liabilities:Receipts');
  expect(await env.context.db.selectFrom('account_maps').select('seq').execute()).toHaveLength(1);
  expect(
    (await listAudited()).map(({ detail, ...by }) => ({ ...by, ...(JSON.parse(detail ?? '') as object) })),
  ).toMatchObject([
    { actor: 'command', target: 'accounts', rows: 1, changed: 1 },
    { actor: 'command', target: 'accounts', rows: 1, changed: 0 },
  ]);
  const { out } = await run('', 'list');
  const other = 'conta;código\nAssets:Bank;1\n';
  expect((await run(other)).json).toMatchObject({ changed: true });
  // the map as it was listed, and the first file again, take the place of the other one
  expect((await run(out)).json).toMatchObject({ rows: 1, changed: true });
  expect((await readAccountMap(env.context.db)).accounts).toEqual(accounts);
  expect((await run(other)).json).toMatchObject({ changed: true });
  expect((await run(Buffer.from(csv, 'latin1'))).json).toMatchObject({ rows: 1, changed: true });
  expect((await readAccountMap(env.context.db)).accounts).toEqual(accounts);
  for (const account of CHART_ACCOUNTS) expect(out).toContain(`\n${account};`);
});

test('a map that is listed has a row for each of its accounts, also of a platform with a line end', () => {
  const platforms = ['a\nAssets:Bank', 'a;"b"', '=1+1', 'a\u2028b'];
  const more = { code: '1', category: null, cost_center: null, history: null };
  const rows = platforms.map((platform) => ({ account: 'Assets:Provider:Held', platform, ...more }));
  const read = [...parseCsv(renderAccountMap(rows), ';')].map(({ cells }) => cells.map((cell) => cell?.text ?? ''));
  expect(read.slice(1, 5).map(([, platform]) => platform)).toEqual([platforms[0], 'a;"b"', "'=1+1", 'a⟨U+2028⟩b']);
  expect(read.slice(1).map(([account]) => account)).toEqual([
    ...rows.map(({ account }) => account),
    ...CHART_ACCOUNTS.filter((account) => account !== 'Assets:Provider:Held'),
  ]);
});

test('a bank account is named by its number or by the name that people gave it', async () => {
  const account = '748/12345-6';
  await setBankAccount(env.context, { account, name: 'Sicredi Vale', isNew: true, actor: 'test' });
  const [before, texts] = [await run('', 'list'), ['sicredi VALE', account]];
  for (const text of texts) {
    await run(`conta;plataforma;código\nConta no banco;${text};${texts.indexOf(text)}.1\n`);
    expect((await readAccountMap(env.context.db)).accounts).toMatchObject([
      { account: 'Assets:Bank', platform: account },
    ]);
  }
  const file = Buffer.from(`conta;plataforma;código\nConta no banco;${account};1.3\n`).toString('base64');
  const console = await openConsoleSession(env, 'accountant');
  const preview = await console.post('/balances/imports', { kind: 'accounts', file });
  expect(preview.text).toMatch(/Conta no banco Sicredi Vale 748\/12345-6 {1,2}1\.1 {1,2}1\.3/);
  const wrong = await run('conta;plataforma;código\nRecebimentos;Sicredi Vale;1\n');
  expect(wrong.err).toContain('Sicredi Vale');
  expect((await run(before.out)).code).toBe(0);
});

test('a map with faults stores nothing, and names each fault by its line and column', async () => {
  const before = await readAccountMap(env.context.db);
  const lines = [
    'conta;plataforma;código;categoria;centro de custo;histórico',
    'Assets:Caixa;;1;;;',
    'Assets:Bank;;=1+1;;;x',
    'Assets:Bank;;2;;;',
    'Expenses:Fees;nobody;3;;;',
    `Equity:Opening;;${'4'.repeat(41)};;;`,
    'Equity:Adjustments;;;;Sede;',
  ];
  const { code, err } = await run(lines.join('\n'));
  expect(code).toBe(2);
  for (const fault of [
    'row 2, conta: no account of the ledger: it is one of Assets:Provider:Available, ',
    'row 3, código: must be one line that begins with a letter or a digit',
    'row 3, histórico: must be a number',
    'row 4, conta: the same account and platform are in an earlier row',
    'row 5, plataforma: nothing is known of a platform nobody',
    'row 6, código: must have at most 40 characters',
    'row 7, código: a code or a category is required',
  ]) {
    expect(err).toContain(fault);
  }
  expect((await run('account;wrong\nAssets:Bank;1\n')).err).toContain(
    'row 1: the header is conta; [plataforma]; [código]',
  );
  expect((await run('conta;código\nAssets:Bank;\n')).err).toContain('the file has no rows');
  expect(await readAccountMap(env.context.db)).toEqual(before);
});

test('the API gives the map to viewers and takes it from accountants, with all faults by row', async () => {
  const accounts = [
    { account: 'Assets:Provider:Available', code: '1.1' },
    { account: 'Liabilities:Receipts', platform: env.paid.platform, code: '2.1', category: 'Vendas' },
  ];
  expect((await call('viewer', { accounts })).status).toBe(403);
  expect((await call('operator', { accounts })).status).toBe(403);
  const given = await call('accountant', { accounts });
  expect([given.status, JSON.parse(given.text)]).toMatchObject([200, { accounts, changed_at: expect.any(String) }]);
  expect(JSON.parse((await call('viewer')).text)).toMatchObject({
    accounts,
    unmapped: expect.arrayContaining(['Liabilities:Receipts']),
  });
  const refused = await call('accountant', {
    accounts: [{ account: 'Assets' }, { account: 'Assets:Bank', history: 'x' }],
  });
  expect([refused.status, JSON.parse(refused.text).errors]).toEqual([
    422,
    {
      'accounts.0.account': [expect.stringContaining('no account of the ledger')],
      'accounts.0.code': ['a code or a category is required'],
      'accounts.1.code': ['a code or a category is required'],
      'accounts.1.history': ['must be a number'],
    },
  ]);
});

test("the console's form has each account of the ledger in words, and says what is wrong beside its field", async () => {
  const address = '/reports/accounts';
  const [viewer, accountant] = [await openConsoleSession(env, 'viewer'), await openConsoleSession(env, 'accountant')];
  expect((await viewer.get(address)).html).not.toContain('name="code_0"');
  const form = await accountant.get(address);
  const listed = [...form.html.matchAll(/name="account_\d+" value="([^"]+)"/g)].map(([, account]) => account);
  expect(listed.slice(0, CHART_ACCOUNTS.length)).toEqual(CHART_ACCOUNTS);
  expect(form.text).toContain('Tarifas sobre recebimentos');
  const bank = { account_0: 'Assets:Bank', platform_0: '', code_0: '1.1.9', category_0: 'Banco' };
  const empty = { account_1: 'Equity:Opening', platform_1: '', code_1: '' };
  const ofOne = { account_2: 'Assets:Bank', platform_2: env.paid.platform ?? '', category_2: 'Banco da loja' };
  expect((await viewer.post(address, bank)).status).toBe(403);
  const wrong = await accountant.post(address, { ...bank, ...empty, ...ofOne, history_2: 'x' });
  expect(wrong.status).toBe(422);
  expect(wrong.html).toMatch(
    /name="history_2" value="x"[^>]* aria-invalid="true"[^>]*><span class="fault"[^>]*>Histórico: escreva um número/,
  );
  const { accounts } = JSON.parse((await call('accountant')).text) as { accounts: unknown[] };
  expect(await accountant.post(address, { ...bank, ...empty, ...ofOne })).toMatchObject({
    ...{ status: 303, to: `${address}?done=mapped` },
  });
  const saved = JSON.parse((await call('accountant')).text) as { accounts: unknown[] };
  expect(saved.accounts).not.toEqual(accounts);
  expect(saved.accounts).toMatchObject([
    { account: 'Assets:Bank', platform: null, code: '1.1.9', category: 'Banco', history: null },
    { account: 'Assets:Bank', platform: env.paid.platform, code: null, category: 'Banco da loja' },
  ]);
  const shown = (await accountant.get(`${address}?done=mapped`)).text;
  expect(shown).toContain('Plano de contas salvo.');
  expect(shown).toContain('Sem linha, a de um recebimento é lançada na conta de Recebimentos');
  expect((await viewer.get(address)).text).toContain('1.1.9');
  const range = `from=${env.today}&to=${env.today}`;
  const unmapped = await accountant.get(`/reports/period?${range}&format=calima`);
  expect(unmapped.status).toBe(422);
  expect(unmapped.text).toMatch(/Sem código no plano de contas: Saldo disponível no provedor, /);
  const categories = await accountant.get(`/reports/period?${range}&format=conta-azul`);
  expect(categories.text).toMatch(/Sem categoria no plano de contas: /);
  expect(form.text).toContain('histórico: um número de até 10 algarismos');
  expect(form.html).toMatch(/name="history_0" [^>]*maxlength="10"/);
  // the browser goes to where the fault stands
  expect(unmapped.html).toMatch(/id="period"><h2>[\s\S]*id="range-fault"[\s\S]*action="\/reports\/period#period"/);
});

test('the API and the console send each format under its own name and type, masked for viewers', async () => {
  const rows = LEDGER_ACCOUNTS.map((account) => ({ account, code: '1', category: 'c' }));
  expect((await call('accountant', { accounts: rows })).status).toBe(200);
  const viewer = await openConsoleSession(env, 'viewer');
  for (const [extension, type] of [
    ['ofx', 'application/x-ofx'],
    ['lancamentos.csv', 'text/csv; charset=utf-8'],
    ['conta-azul.csv', 'text/csv; charset=utf-8'],
    ['calima.csv', 'text/csv; charset=windows-1252'],
    ['continued.journal', 'text/plain; charset=utf-8'],
  ]) {
    const headers = { authorization: `Bearer ${env.tokens.viewer}` };
    const answer = await fetch(`${env.url}/api/v1/reports/${env.today}..${env.today}.${extension}`, { headers });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
      200,
      type,
      `attachment; filename="confere-${env.today}-${env.today}-masked.${extension}"`,
    ]);
    expect(await answer.text()).not.toContain(env.paid.name);
  }
  const gone = await call('viewer', undefined, `/reports/${env.today}..${env.today}.beancount`);
  expect([gone.status, gone.text]).toEqual([404, expect.stringContaining('formats are .xlsx, .csv, .journal, .ofx')]);
  expect((await viewer.get(`/reports/period?from=${env.today}&to=${env.today}&format=ofx`)).html).toContain('<OFX>');
  expect((await viewer.get('/reports')).html).toContain('<option value="calima">');
});
