/** Files that people import: by command, API and console. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { listPlatformNames } from '../../../src/database/shared/list-platform-names.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { importFile } from '../../../src/imports/import-file.ts';
import { IMPORT_KIND_NAMES } from '../../../src/imports/import-kinds.ts';
import { listBankLines } from '../../../src/ledger/bank/list-bank-lines.ts';
import { listBankMatches } from '../../../src/ledger/bank/list-bank-matches.ts';
import { summarizeBank } from '../../../src/ledger/bank/summarize-bank.ts';
import { readAccountMap } from '../../../src/ledger/stated/account-map.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank } from '../../support/import-bank.ts';
import type { MadeLine } from '../../support/make-ofx.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf, hiddenFields, openConsoleSession } from '../../support/open-console-session.ts';
import { packWorkbook } from '../../support/pack-zip.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY, temporaryDirectory } from '../../support/start-serve.ts';
import { readWorkbook } from '../reports/read-workbook.ts';

const ADDRESS = '/balances/imports';
const home = closeAfterAll(temporaryDirectory());
const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));
const header = 'plataforma;dia;tipo;valor;observação';

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function run(args: string[]) {
  const variables = { DATABASE_URL: env.context.config.DATABASE_URL ?? '', SECRET_KEY, DATA_DIR: env.dataDir };
  const { code, out, err } = await runCommandInProcess(['import', ...args], variables);
  return { code, out, err, json: out.startsWith('{') ? (JSON.parse(out) as Record<string, unknown>) : {} };
}

function save(name: string, content: string | Buffer): string {
  const file = path.join(home.path, name);
  writeFileSync(file, content);
  return file;
}

async function call(
  address: string,
  body?: string | Buffer,
  role: 'viewer' | 'accountant' | 'operator' = 'accountant',
) {
  const response = await fetch(`${env.url}/api/v1/imports${address}`, {
    headers: { authorization: `Bearer ${env.tokens[role]}` },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, bytes, json: isJson ? JSON.parse(bytes.toString()) : undefined };
}

const count = async (table: 'adjustments' | 'statements' | 'imports' | 'entries'): Promise<number> => {
  const { rows } = await env.context.db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  return Number(rows);
};
const readAudited = () =>
  env.context.db
    .selectFrom('audit')
    .select(['actor', 'target', 'detail'])
    .where('action', '=', 'imports.create')
    .orderBy('seq', 'desc')
    .executeTakeFirst();

test('adjustments are imported by command once, and audited with the SHA-256 of the file', async () => {
  const text = `${header}\n${env.paid.platform};${env.today};tarifa;-12,34;tarifa do mês\n${env.paid.platform};${env.today};bank;100;\uFEFFsaque\n`;
  const file = save('adjustments.csv', text);
  const before = await count('adjustments');
  const dry = await run(['adjustments', file, '--dry-run', '--json']);
  expect(dry).toMatchObject({ code: 0, json: { rows: 2, changed: 2, repeats: null, dry_run: true } });
  expect([await count('adjustments'), await count('imports')]).toEqual([before, 0]);

  const made = await run(['adjustments', file, '--json']);
  expect(made).toMatchObject({ code: 0, json: { rows: 2, changed: 2, sha256: sha256(text), repeats: null } });
  const audited = await readAudited();
  expect(audited).toMatchObject({ actor: 'command', target: 'adjustments' });
  expect(JSON.parse(audited?.detail ?? '')).toEqual({ sha256: sha256(text), rows: 2, changed: 2 });
  const rows = await env.context.db
    .selectFrom('adjustments')
    .select(['kind', 'amount_cents', 'note', 'actor'])
    .orderBy('seq', 'desc')
    .limit(2)
    .execute();
  expect(rows.reverse()).toEqual([
    { kind: 'fee', amount_cents: -1_234n, note: 'tarifa do mês', actor: 'command' },
    { kind: 'bank', amount_cents: 10_000n, note: expect.stringContaining('saque'), actor: 'command' },
  ]);

  const other = save('other.csv', `${header}\n${env.paid.platform};${env.today};tarifa;-12,34;outra\n`);
  const refusal = expect.stringMatching(
    /row 2: equals adj_\w+, which is posted already: allow_equal=true \(--allow-equal\)/,
  );
  for (const more of [[], ['--dry-run']])
    expect(await run(['adjustments', other, ...more])).toMatchObject({ code: 2, err: refusal });
  const booked = await run(['adjustments', other, '--dry-run', '--allow-equal', '--json']);
  const equal = { row: 2, id: expect.stringMatching(/^adj_/), created_by: 'command' };
  expect(booked.json).toMatchObject({ rows: 1, changed: 1, already_booked: [equal] });
  expect((await run(['adjustments', other, '--dry-run', '--allow-equal'])).out).toMatch(
    /row 2 equals adj_\w+, entered on .* by command/,
  );

  const again = await run(['adjustments', file, '--json']);
  expect(again).toMatchObject({ code: 0, json: { rows: 2, changed: 0, repeats: { by: 'command' } } });
  expect((await run(['adjustments', file])).out).toMatch(
    /^this file was imported before on .* by command: nothing changed/,
  );
  expect(await count('adjustments')).toBe(before + 2);
  await expect(sql`DELETE FROM imports`.execute(env.context.db)).rejects.toThrow('imports is append-only');
});

test('with one fault nothing is imported, and all faults are listed by row and column, also those that a change refuses', async () => {
  const before = [await count('adjustments'), await count('entries'), await count('imports')];
  const file = save(
    'faults.csv',
    `${header}\n${env.paid.platform};${env.today};tarifa;1;good\nnobody;${env.today};tarifa;1;x\n${env.paid.platform};2998-01-01;tarifa;1;x\n${env.paid.platform};${env.today};tarifa;1,234;x\n`,
  );
  const { code, err } = await run(['adjustments', file]);
  expect(code).toBe(2);
  expect(err).toContain('nothing was imported:\nrow 3, plataforma: platform is shown by no transaction (nobody');
  expect(err).toContain('row 4, dia: day is a day to come');
  expect(err).toContain('row 5, valor: must be an amount');
  expect(err).not.toContain('row 2');
  const answer = await call('/adjustments', `${header}\nx;;y;z;\n`);
  expect([answer.status, Object.keys(answer.json.errors)]).toEqual([
    422,
    ['row 2, tipo', 'row 2, valor', 'row 2, dia', 'row 2, observação'],
  ]);
  expect([await count('adjustments'), await count('entries'), await count('imports')]).toEqual(before);
});

test('rows that equal what is booked are refused, each by its row, unless they are allowed', async () => {
  const { platform } = env.paid;
  const row = (amount: string) => `${platform};${env.today};tarifa;${amount};n\n`;
  const at = (second: string, balance: string) => `${platform};${env.today} 00:00:${second};${balance}\n`;
  const kinds = {
    adjustments: { header, rows: [row('-3,01'), row('-3,02')], others: [row('-3,03'), row('-3,02'), row('-3,01')] },
    statements: {
      header: 'plataforma;instante;saldo',
      rows: [at('02', '7,01'), at('03', '7,02')],
      others: [at('02', '7,03'), at('03', '7,02'), at('02', '7,01')],
    },
  } as const;
  for (const [kind, { header, rows, others }] of Object.entries(kinds)) {
    const table = kind as keyof typeof kinds;
    expect((await call(`/${kind}`, `${header}\n${rows.join('')}`)).status).toBe(201);
    const before = [await count(table), await count('entries')];
    const file = `${header}\n${others.join('')}`;
    for (const query of ['', '?dry_run=true', '?allow_equal=false']) {
      const refused = await call(`/${kind}${query}`, file);
      expect([kind, query, refused.status, Object.keys(refused.json.errors)]).toEqual([
        kind,
        query,
        422,
        ['row 3', 'row 4'],
      ]);
    }
    expect([await count(table), await count('entries')]).toEqual(before);
    const allowed = await call(`/${kind}?allow_equal=true`, file);
    expect(allowed).toMatchObject({
      status: 201,
      json: { rows: 3, changed: 3, already_booked: [{ row: 3 }, { row: 4 }] },
    });
    expect(await count(table)).toBe((before[0] ?? 0) + 3);
  }
  expect((await call('/adjustments?allow_equal=yes', 'x')).status).toBe(422);
});

test('of two files at once with an equal row, the later one is refused', async () => {
  const file = (note: string) => `${header}\n${env.paid.platform};${env.today};tarifa;-4,44;${note}\n`;
  const before = await count('adjustments');
  const all = await Promise.all(['a', 'b', 'c'].map((note) => call('/adjustments', file(note))));
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422, 422]);
  expect(await count('adjustments')).toBe(before + 1);
});

test('two imports of one file at once import it once', async () => {
  const bytes = Buffer.from(`plataforma;instante;saldo\n${env.paid.platform};${env.today} 00:00:01;5,00\n`);
  const before = await count('statements');
  const made = await Promise.all(
    ['a', 'b', 'c'].map((actor) =>
      importFile(env.context, { kind: 'statements', bytes }, { actor, allowEqual: false }),
    ),
  );
  expect(made.map((one) => one?.changed).toSorted((a = 0, b = 0) => a - b)).toEqual([0, 0, 1]);
  expect(await count('statements')).toBe(before + 1);
});

test('the API takes an XLSX of names, checks the role of each kind, and lists imports', async () => {
  const workbook = packWorkbook(
    `<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>platform</t></is></c><c r="B1" t="inlineStr"><is><t>name</t></is></c></row>` +
      `<row r="2"><c r="A2" t="inlineStr"><is><t>${env.paid.platform}</t></is></c><c r="B2" t="inlineStr"><is><t>Loja Ação</t></is></c></row></sheetData>`,
  );
  expect((await call('/platforms', workbook, 'viewer')).status).toBe(403);
  expect((await call('/accounts', workbook, 'operator')).status).toBe(403);
  expect((await call('/nothing', workbook)).status).toBe(404);
  expect(await call('/platforms?dry_run=true', workbook)).toMatchObject({
    status: 200,
    json: { changed: 1, dry_run: true },
  });
  expect(await listPlatformNames(env.context.db)).toEqual([]);
  expect(await call('/platforms', workbook, 'operator')).toMatchObject({ status: 201, json: { changed: 1 } });
  expect(await call('/platforms', workbook, 'operator')).toMatchObject({ status: 200, json: { changed: 0 } });
  expect(await listPlatformNames(env.context.db)).toMatchObject([{ platform: env.paid.platform, name: 'Loja Ação' }]);
  const { json } = await call('', undefined, 'viewer');
  expect(json.imports[0]).toMatchObject({ kind: 'platforms', rows: 1, changed: 1, sha256: sha256(workbook) });
  expect((await call('/platforms', Buffer.alloc(1024 * 1024 + 1))).status).toBe(413);
  expect((await call('/platforms', '')).status).toBe(422);
});

test('each kind of tables takes a platform by its name; a name of none is refused as before', async () => {
  const platform = env.paid.platform ?? '';
  const named = { platform, name: 'Loja Única', actor: 'test' };
  await setPlatformName(env.context, named);
  const tables = {
    adjustments: `plataforma;dia;tipo;valor;observação\n@;${env.today};tarifa;-0,01;por nome`,
    statements: `plataforma;instante;saldo\n@;${env.today} 00:00:00;1,23`,
    accounts: 'conta;plataforma;código\nAssets:Provider:Held;@;1.1.7',
    platforms: 'plataforma;nome\n@;Loja Nova',
  };
  for (const [kind, table] of Object.entries(tables)) {
    const wrong = await call(`/${kind}`, table.replace('@', 'Loja Nenhuma'));
    expect([kind, wrong.status, Object.keys(wrong.json.errors)]).toEqual([kind, 422, ['row 2, plataforma']]);
    expect([kind, (await call(`/${kind}`, table.replace('@', 'LOJA única'))).json]).toMatchObject([
      kind,
      { changed: 1 },
    ]);
  }
  const { accounts } = await readAccountMap(env.context.db);
  expect(accounts).toMatchObject([{ account: 'Assets:Provider:Held', platform }]);
  expect((await listPlatformNames(env.context.db)).find((one) => one.platform === platform)?.name).toBe('Loja Nova');
  await setPlatformName(env.context, { ...named, name: null });
});

test('the template of the chart of accounts says the limits of each column', async () => {
  const { bytes } = await call('/accounts/template.xlsx?locale=pt-BR', undefined, 'viewer');
  const help = (await readWorkbook(save('accounts-help.xlsx', bytes))).find(({ title }) => title === 'Como preencher');
  const how = Object.fromEntries(help?.rows.map(([column, text]) => [column?.value, text?.value]) ?? []);
  expect(how).toMatchObject({
    conta: expect.stringContaining('como está no modelo (obrigatória)'),
    código: expect.stringMatching(/até 40 caracteres, o primeiro letra ou algarismo; sem ele, a categoria/),
    categoria: expect.stringMatching(/até 100 caracteres/),
    'centro de custo': expect.stringMatching(/até 60 caracteres, o primeiro letra ou algarismo \(pode/),
    histórico: 'número de até 10 algarismos (pode ficar vazia)',
  });
});

test('each kind of tables has templates that it reads, in both languages and formats', async () => {
  for (const kind of IMPORT_KIND_NAMES.filter((name) => name !== 'nfe')) {
    for (const name of ['template.xlsx', 'template.csv', 'template.xlsx?locale=en']) {
      const { status, bytes } = await call(`/${kind}/${name}`, undefined, 'viewer');
      expect([kind, name, status]).toEqual([kind, name, 200]);
      const refused = await call(`/${kind}`, bytes, kind === 'decisions' ? 'operator' : undefined);
      expect(refused.json.errors).toEqual({ file: ['the file has no rows'] });
    }
  }
  for (const none of ['/accounts/template.pdf', '/nfe/template.csv'])
    expect((await call(none, undefined, 'viewer')).status).toBe(404);
  const file = path.join(home.path, 'accounts.csv');
  expect(await run(['accounts', '--template', file])).toMatchObject({ code: 0 });
  const filled = readFileSync(file, 'utf8').replace('Conta no banco;;', 'conta no BANCO;;1.1.9');
  expect(await run(['accounts', save('filled.csv', filled), '--json'])).toMatchObject({
    code: 0,
    json: { changed: 1 },
  });
  expect((await readAccountMap(env.context.db)).accounts).toMatchObject([{ account: 'Assets:Bank', code: '1.1.9' }]);
  // a preview shows what each account gets, and which loses its row
  const other = Buffer.from('conta;código\nLiabilities:Receipts;3.1\n').toString('base64');
  const preview = await (await openConsoleSession(env, 'accountant')).post('/balances/imports', {
    ...{ kind: 'accounts', file: other },
  });
  const changed = preview.text.slice(preview.text.indexOf('Contas que mudam'));
  expect(changed).toMatch(/Recebimentos todas {1,2}3\.1 .*Conta no banco todas 1\.1\.9/);
  const wrong = await run(['accounts', save('wrong.csv', 'conta;código\nAssets:Caixa;1\nAssets:Bank;-1\n')]);
  expect(wrong.err).toContain('row 2, conta: no account of the ledger');
  expect(wrong.err).toContain('row 3, código: must be one line that begins with a letter or a digit');
  expect(readdirSync(path.join(env.dataDir, 'reports'))).toEqual([]);
});

const BANK_HEADER = 'conta;dia;valor;texto;número do documento;identificador;saldo no fim do dia;conta nova';
const ACCOUNT = '341/1234/56789-0';
type Lines = [day: string, amount: string, text: string, more?: string][];
const bankTable = (lines: Lines, account = ACCOUNT): string =>
  [BANK_HEADER, ...lines.map(([day, amount, text, more = '']) => [account, day, amount, text, more].join(';'))].join(
    '\n',
  );
const listLines = async () =>
  (await listBankLines(env.context.db, 50, undefined)).map((one) => [one.account, one.day, one.amount, one.memo]);

test('lines of the bank are imported without OFX and without identifiers, each once over files that overlap, and matched', async () => {
  const [day, next] = [addDays(env.today, -20), addDays(env.today, -19)];
  const by = { platform: env.paid.platform ?? '', kind: 'bank' as const, note: 'TED 45107', actor: 't' };
  const withdrawn = await adjustBooks(env.context, { ...by, day, amountCents: -123_400n });
  const first: Lines = [
    [day, '1.234,00', 'TED', '000045107;;1000,00'],
    [day, '-9,90', 'TARIFA'],
    [day, '-9,90', 'TARIFA'],
  ];
  const file = bankTable(first);
  expect(await call('/bank', file, 'operator')).toMatchObject({ status: 403 });
  expect(await call('/bank?dry_run=true', file)).toMatchObject({ json: { rows: 3, changed: 3, repeats: null } });
  expect(await listLines()).toEqual([]);
  expect(await call('/bank', file)).toMatchObject({ status: 201, json: { rows: 3, changed: 3, sha256: sha256(file) } });
  expect(JSON.parse((await readAudited())?.detail ?? '')).toEqual({
    ...{ sha256: sha256(file), rows: 3, changed: 3, statements: 1, matched: { reference: 1, amount: 0, not_pix: 0 } },
  });
  expect(await call('/bank', file)).toMatchObject({
    status: 200,
    json: { changed: 0, repeats: { by: expect.any(String) } },
  });
  expect(await listBankMatches(env.context.db, 10, undefined)).toMatchObject([
    { adjustment_id: withdrawn, rule: 'reference', amount: '1234.00' },
  ]);
  expect((await summarizeBank(env.context.db)).accounts).toMatchObject([
    { account: ACCOUNT, lines: { count: 3, cents: 121_420n }, balance: { day, cents: 100_000n } },
  ]);
  // the next file has the same day again, in another order
  const more = bankTable([[next, '5', 'PIX'], ...first.toReversed()]);
  expect(await call('/bank', more)).toMatchObject({ status: 201, json: { rows: 4, changed: 1 } });
  expect(await listLines()).toHaveLength(4);
});

test('a file of lines of the bank is refused where they could be there twice, by table or by OFX', async () => {
  const [day, next] = [addDays(env.today, -20), addDays(env.today, -19)];
  const before = await listLines();
  const errorsOf = async (text: string) => (await call('/bank', text)).json.errors;
  // one of the tariffs is missing
  const partial = bankTable([
    [day, '1.234,00', 'TED', '000045107'],
    [day, '7', 'OUTRA'],
    [day, '8', 'OUTRA'],
  ]);
  const lacks = expect.stringContaining('the file lacks some of its stored lines: import the whole day');
  expect(await errorsOf(partial)).toEqual({ 'row 3, dia': [lacks] });
  const ofx = (made: MadeLine[], to: string) => importBank(env.context, { branch: '1234', lines: made, from: day, to });
  await expect(ofx([{ day, amount: '-9.90', fitid: 'f1' }], day)).rejects.toThrow('the day has lines without FITID');
  await ofx([{ day: env.today, amount: '3.00', fitid: 'f2' }], env.today);
  expect(await errorsOf(bankTable([[env.today, '3', 'PIX']]))).toEqual({ 'row 2, dia': [lacks] });
  expect(await errorsOf(bankTable([[env.today, '4', 'PIX', ';f2']]))).toEqual({
    'row 2, identificador': [expect.stringContaining('the FITID was imported before, with another day or amount')],
  });
  // known by its identifier
  expect(await call('/bank', bankTable([[env.today, '3', 'PIX', ';f2']]))).toMatchObject({ json: { changed: 0 } });
  expect(await errorsOf(bankTable([[next, '1', 'PIX']], '341/1234/56789-1'))).toEqual({
    'row 2, conta': [expect.stringContaining('no statement shows this account')],
  });
  // a row that cannot be read may be a stored one
  const unread = bankTable([
    [day, '1.234,00', 'TED', '000045107'],
    [day, '-9,9 0', 'TARIFA'],
    [day, '-9,90', 'TARIFA'],
    [day, '1', 'PIX'],
  ]);
  expect(Object.keys(await errorsOf(unread))).toEqual(['row 3, valor']);
  const wrong = bankTable([
    [addDays(env.today, 1), '1', 'PIX', ';a'],
    [next, '2', 'PIX', ';a;5'],
    [next, '2', 'PIX', ';b;6'],
  ]);
  expect(await errorsOf(wrong)).toEqual({
    'row 2, dia': ['is a day to come'],
    'row 3, identificador': ['an earlier row of the account has it too'],
    'row 4, saldo no fim do dia': ['an earlier row of the day has another balance'],
  });
  expect(await listLines()).toHaveLength(before.length + 1);
  const another = bankTable([[next, '1', 'PIX', ';;;sim']], '033/77/1');
  expect(await call('/bank', another)).toMatchObject({ status: 201, json: { changed: 1 } });
});

test('rows of a kind with a key count as unchanged where they equal what is stored', async () => {
  const rows = (code: string) =>
    `conta;plataforma;código;categoria;centro de custo;histórico\nAssets:Provider:Available;;1.1;;;\nAssets:Bank;;${code};;;\n`;
  expect((await call('/accounts', rows('1.2'))).json).toMatchObject({ rows: 2, changed: 2, already_booked: [] });
  expect((await call('/accounts', rows('1.3'))).json).toMatchObject({ rows: 2, changed: 1, already_booked: [] });
  const names = (text: string) => `plataforma;nome\n${env.paid.platform};Loja Um\n${text}`;
  expect((await call('/platforms', names(''))).json).toMatchObject({ rows: 1, changed: 1 });
  expect((await call('/platforms', names('\n'))).json).toMatchObject({ rows: 1, changed: 0 });
});

test('wrong use of the command says what is right', async () => {
  expect(await run(['nothing', 'x'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('statements, adjustments'),
  });
  expect(await run(['accounts', path.join(home.path, 'absent')])).toMatchObject({
    code: 2,
    err: expect.stringContaining('ENOENT'),
  });
  expect(await run(['accounts'])).toMatchObject({ code: 2 });
});

test('the console previews a file without script, imports it once it is confirmed, and shows all faults', async () => {
  const [viewer, accountant] = [await openConsoleSession(env, 'viewer'), await openConsoleSession(env, 'accountant')];
  expect((await viewer.get(ADDRESS)).status).toBe(403);
  const page = await accountant.get(ADDRESS);
  expect(page.html).toMatch(/<form method="post" action="\/balances\/imports" enctype="multipart\/form-data">/);
  expect((await accountant.download(`${ADDRESS}/adjustments/template.xlsx`)).name).toBe('confere-adjustments.xlsx');

  const form = new FormData();
  form.set('form_token', formTokenOf(page.html));
  form.set('kind', 'adjustments');
  form.set('file', new File([`${header}\n${env.paid.platform};${env.today};tarifa;-7,77;visto\n`], 'a.csv'));
  const send = (body: FormData) =>
    fetch(`${env.url}${ADDRESS}`, { method: 'POST', body, headers: { cookie: accountant.cookie, origin: env.url } });
  const before = await count('adjustments');
  const answer = await send(form);
  const preview = { status: answer.status, html: await answer.text(), text: '', to: null };
  expect(preview.status).toBe(200);
  expect(preview.html).toContain('Nada foi gravado ainda.');
  expect(preview.html).toContain('Efeito no saldo');
  expect(await count('adjustments')).toBe(before);

  const confirmed = await accountant.confirm(ADDRESS, preview);
  expect(confirmed).toMatchObject({ status: 303, to: `${ADDRESS}?done=imported` });
  expect(await accountant.confirm(ADDRESS, preview)).toMatchObject({ status: 303 });
  expect(await count('adjustments')).toBe(before + 1);
  expect((await accountant.get(`${ADDRESS}?done=imported`)).text).toContain('Arquivo importado: todas as linhas.');
  expect((await (await send(form)).text()).includes('Este arquivo já foi importado')).toBe(true);

  // the same movement in another file, then one that somebody enters by the form after the preview
  const { platform } = env.paid;
  form.set(
    'file',
    new File(
      [`${header}\n${platform};${env.today};tarifa;-7,77;x\n${platform};${env.today};tarifa;-6,66;y\n`],
      'd.csv',
    ),
  );
  const booked = await (await send(form)).text();
  expect(booked).toMatch(/linha 2: um ajuste deste dia e valor já está lançado: visto \(/);
  expect(booked).not.toContain('linha 3: um ajuste');
  const entered = {
    platform: platform ?? '',
    day: env.today,
    kind: 'fee',
    amountCents: -666n,
    note: 'digitado',
  } as const;
  await adjustBooks(env.context, { ...entered, actor: 'accountant' });
  const stale = await accountant.confirm(ADDRESS, { status: 200, html: booked, text: '', to: null });
  expect([stale.status, await count('adjustments')]).toEqual([409, before + 2]);
  expect(stale.text).toContain('Mudou depois da prévia que você viu');
  expect(stale.text).toContain('linha 3: um ajuste deste dia e valor já está lançado: digitado');
  expect(stale.text).toContain('Importar também as linhas 2, 3: não são as que já estão lançadas.');
  const unticked = await accountant.confirm(ADDRESS, stale);
  expect([unticked.status, await count('adjustments')]).toEqual([422, before + 2]);
  expect(unticked.text).toMatch(/linha 2: é igual a adj_\w+, que já está lançado/);
  const ticked = { ...hiddenFields(stale.html), step: 'confirm', allow_equal: 'true' };
  expect(await accountant.post(ADDRESS, ticked)).toMatchObject({ status: 303 });
  expect(await count('adjustments')).toBe(before + 4);

  form.set('file', new File([`${header}\nnobody;${env.today};tarifa;1,234;x\n`], 'b.csv'));
  const wrong = await send(form);
  expect([wrong.status, await wrong.text()]).toEqual([
    422,
    expect.stringContaining('linha 2, valor: escreva um valor como'),
  ]);
  form.set('file', new File([`${header}\nnobody;${env.today};tarifa;1;x\n`], 'c.csv'));
  expect(await (await send(form)).text()).toContain('linha 2, plataforma: Nenhuma transação mostra esta plataforma.');
  form.set('file', new File([Buffer.from(`\uFEFF${header}\n`, 'utf16le')], 'e.csv'));
  expect(await (await send(form)).text()).toContain('está em UTF-16: salve-o como CSV em UTF-8, ou como XLSX');
  form.set('file', new File(['x'.repeat(1_500_000)], 'large.csv'));
  const large = await send(form);
  expect([large.status, await large.text()]).toEqual([
    422,
    expect.stringContaining('é maior que o limite de 1048576 bytes'),
  ]);
  form.delete('file');
  expect(await (await send(form)).text()).toContain('Escolha um arquivo.');
  form.set('form_token', 'of another session');
  expect((await send(form)).status).toBe(403);
  const strangers = await fetch(`${env.url}${ADDRESS}`, { method: 'POST', body: form, redirect: 'manual' });
  expect(strangers.headers.get('location')).toMatch(/^\/login/);
});
