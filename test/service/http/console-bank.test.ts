/** The bank's statements by console, API and command: the same operations, for accountants; viewers see no texts. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { OFX_BYTES_MAX } from '../../../src/imports/ofx/read-ofx-elements.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { storeStatement } from '../../../src/ledger/stated/state-balance.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { type MadeLine, makeOfx } from '../../support/make-ofx.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { formTokenOf, hiddenFields, openConsoleSession, unescapeHtml } from '../../support/open-console-session.ts';
import { readRows } from '../../support/read-rows.ts';
import { SECRET_KEY, temporaryDirectory } from '../../support/start-serve.ts';
import { recalculate } from '../reports/read-workbook.ts';

const PAGE = '/balances/bank';
const FORM = '/balances/imports';
const home = closeAfterAll(temporaryDirectory());
const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));
const day = addDays(env.today, -20);

type Role = 'viewer' | 'operator' | 'accountant';

/** Sends a file by the form, and, unless it is refused, confirms its preview. */
async function upload(
  role: Role,
  file: string | undefined,
  { token, confirms = true }: { token?: string; confirms?: boolean } = {},
) {
  const session = await openConsoleSession(env, role);
  const form = new FormData();
  form.set('form_token', token ?? formTokenOf((await session.get('/')).html));
  form.set('kind', 'bank');
  form.set('file', new Blob(file === undefined ? [] : [file]), file === undefined ? '' : 'extrato.ofx');
  const headers = { cookie: session.cookie, origin: env.url };
  const send = async (body: FormData) => {
    const response = await fetch(`${env.url}${FORM}`, { method: 'POST', redirect: 'manual', headers, body });
    const html = await response.text();
    const text = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    return { status: response.status, html, text, to: response.headers.get('location') };
  };
  const answer = await send(form);
  if (!confirms || !answer.html.includes('value="confirm"')) return answer;
  const fields = new FormData();
  for (const [name, value] of Object.entries(hiddenFields(answer.html))) fields.set(name, value);
  fields.set('step', 'confirm');
  return await send(fields);
}

const ofx = (number: string, lines: MadeLine[]) => makeOfx({ number, lines, balance: { amount: '1000.00', day } });
const line = (fitid: string, amount: string, memo = 'TED'): MadeLine => ({ day, fitid, amount, memo });
const withdraw = (cents: bigint, note = 'retirada') =>
  adjustBooks(env.context, {
    platform: env.paid.platform ?? '',
    day,
    kind: 'bank',
    amountCents: -cents,
    note,
    actor: 't',
  });
const listAudited = async (action: string) =>
  await readRows(env.context.db, 'audit', ['actor', 'target', 'detail'], { action }, ['seq']);

test('an accountant uploads a file without script: it is checked, then imported, once, and its matches are shown', async () => {
  const { text: empty, html: unsettled } = await (await openConsoleSession(env, 'accountant')).get(PAGE);
  expect(unsettled).toContain('<p class="explain open">Sem um extrato');
  expect(empty).toContain('Sem um extrato não se sabe se a conta no banco confere: importe um.');
  expect(empty).not.toContain('A conta no banco confere');
  const adjustment = await withdraw(123_400n);
  const file = ofx('1-1', [line('f1', '1234.00', 'TED DE MARIA'), line('f2', '-9.90', 'TARIFA')]);
  const checked = await upload('accountant', file, { confirms: false });
  expect([checked.status, checked.text]).toEqual([200, expect.stringContaining('Um par seria casado.')]);
  expect(checked.text).toContain('341/1-1: 2 linhas novas, 0 já conhecidas');
  // each line stands there with its pair, and without links to what is not stored yet
  expect(checked.text).toMatch(
    /Linhas novas .*R\$ 1\.234,00 TED DE MARIA Ajuste .* pelo valor, em datas próximas .*-R\$ 9,90 TARIFA sem candidato/,
  );
  expect(checked.html).not.toContain(`${PAGE}/lines/`);
  const session = await openConsoleSession(env, 'accountant');
  const unread = (await session.get(PAGE)).text;
  expect(unread).not.toContain('não traz o saldo');
  expect(unread).toContain('Sem um extrato não se sabe');
  expect(await upload('accountant', file)).toMatchObject({ status: 303, to: `${PAGE}?done=imported` });
  expect((await upload('accountant', file)).text).toContain('Este arquivo já foi importado, por accountant:');
  expect((await session.get(FORM)).text).toMatch(/Extrato bancário 341\/1-1 · Período: \d\d\/\d\d\/\d{4} a /);
  const { html, text } = await session.get(PAGE);
  expect(text).toContain('Relatórios Lojistas Webhooks Callbacks Sistema');
  expect(html).toContain(`${FORM}?kind=bank`);
  expect(html).toContain('<p class="explain open">Ainda não se pode dizer');
  expect(text).toMatch(/Linhas de \d\d\/\d\d\/\d{4} a \d\d\/\d\d\/\d{4}\. Veio do provedor/);
  // the parts add up to the balance of the statement, and those of the ledger to its own
  expect(text).toMatch(
    /341\/1-1 .*Saldo antes da primeira linha -R\$ 224,10 \+ Casado com ajustes R\$ 1\.234,00 1 \+ Saques por PIX casados R\$ 0,00 0 \+ Linhas em aberto -R\$ 9,90 1 \+ Linhas que não são do PIX R\$ 0,00 0 = Saldo final do extrato em \d\d\/\d\d\/\d{4} R\$ 1\.000,00/,
  );
  expect(text).toMatch(
    /Casado com ajustes R\$ 1\.234,00 1 \+ Ajustes sem linha no extrato R\$ 0,00 0 = Conta no banco, no razão R\$ 1\.234,00 De que é feita a diferença De que é feita a diferença Parcela Valor Linhas Saldo antes da primeira linha -R\$ 224,10 \+ Linhas em aberto -R\$ 9,90 = Saldo final dos extratos, menos o do razão -R\$ 234,00/,
  );
  expect(text).toContain('1 em aberto, que somam -R$ 9,90.');
  expect(text).toContain('TARIFA');
  expect(text).not.toContain('A conta no banco confere');
  expect(text).toMatch(
    /Ainda não se pode dizer que a conta no banco confere\. Comparado até [\d/]{10}\. Linhas do extrato: 1 em aberto, que somam -R\$ 9,90\./,
  );
  const answer = await fetch(`${env.url}${PAGE}?format=xlsx`, { headers: { cookie: session.cookie } });
  expect(answer.headers.get('content-disposition')).toMatch(/confere-banco-[-\d]{10}\.xlsx/);
  const sums = path.join(home.path, 'banco.xlsx');
  writeFileSync(sums, Buffer.from(await answer.arrayBuffer()));
  const [sheet] = await recalculate(sums);
  const cells = (sheet?.rows ?? []).map((row) => row.map((cell) => cell?.value ?? null));
  expect(cells).toContainEqual(['341/1-1', '+ Linhas em aberto', -9.9, 1]);
  expect(cells).toContainEqual(['Conta no banco, no razão', '= Conta no banco, no razão', 1234, null]);
  expect(cells.at(-2)).toEqual([
    ...['De que é feita a diferença', '= Saldo final dos extratos, menos o do razão', -234, null],
  ]);
  expect((await session.get(`${PAGE}/lines?state=matched`)).text).toMatch(
    /TED DE MARIA .*Ajuste .*pelo valor, em datas próximas/,
  );
  expect((await session.get(`${PAGE}/matches`)).html).toContain(adjustment);
  expect((await session.get(`${PAGE}/matches`)).text).toMatch(/341\/1-1 \d\d\/\d\d\/\d{4} TED DE MARIA/);
  const audited = await listAudited('imports.create');
  expect(audited).toMatchObject([{ target: 'bank', actor: expect.stringMatching(/^tok_/) }]);
  expect(JSON.parse(audited[0]?.detail ?? '')).toEqual({
    ...{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), rows: 2, changed: 2 },
    ...{ statements: 1, matched: { reference: 0, amount: 1, not_pix: 0 } },
  });
});

test('a wrong upload stores nothing, and the page says what is wrong by line', async () => {
  const faults = await upload(
    'accountant',
    ofx('1-2', [line('g1', '1.000'), { ...line('g2', '1.00'), day: '2026-02-31' }]),
  );
  expect(faults.status).toBe(422);
  expect(faults.text).toMatch(/linha \d+: TRNAMT deve ser um valor com no máximo dois decimais, sem separar milhares/);
  expect(faults.text).toMatch(/linha \d+: DTPOSTED deve ser uma data/);
  expect(await upload('accountant', undefined)).toMatchObject({
    status: 422,
    text: expect.stringContaining('Escolha um arquivo.'),
  });
  const large = await upload('accountant', 'x'.repeat(2 * OFX_BYTES_MAX));
  expect([large.status, large.text]).toEqual([422, expect.stringContaining('é maior que o limite de 8388608 bytes')]);
  const good = ofx('1-2', [line('g1', '1.00')]);
  expect(await upload('accountant', good, { token: 'another session' })).toMatchObject({ status: 403 });
  expect((await upload('viewer', good)).status).toBe(403);
  expect((await upload('operator', good)).text).toContain('O seu papel não permite importar isto.');
  const session = await openConsoleSession(env, 'accountant');
  const headers = { cookie: session.cookie, origin: env.url, 'content-type': 'multipart/form-data; boundary=x' };
  expect((await fetch(`${env.url}${FORM}`, { method: 'POST', headers, body: 'no form' })).status).toBe(422);
  expect((await env.api('viewer', 'GET', '/bank')).json.accounts).toHaveLength(1);
});

test('a form of many parts is refused before it is parsed, however its boundary is written', async () => {
  const session = await openConsoleSession(env, 'accountant');
  const token = formTokenOf((await session.get('/')).html);
  // Node's parser finds the boundary within a line too; a token may hold any letter, but no dot.
  const part = (name: string, value: string) =>
    `--x.y\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const others = Array.from({ length: 100 }, (_, index) => part(`p${index}`, '1')).join('');
  for (const parameter of ['boundary=x.y', 'xboundary=y; boundary=x.y', 'a=";boundary=y"; boundary="x.y"']) {
    const headers = { cookie: session.cookie, origin: env.url, 'content-type': `multipart/form-data; ${parameter}` };
    const send = (body: string) => fetch(`${env.url}${FORM}`, { method: 'POST', headers, body: `${body}--x.y--\r\n` });
    const refused = await send(part('form_token', token) + others);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('tem mais de 100 partes')]);
    const few = await send(part('form_token', token) + part('kind', 'bank'));
    expect([few.status, await few.text()]).toEqual([422, expect.stringContaining('Escolha um arquivo.')]);
  }
});

test('the API imports a file as its body, says what a dry run would do, and refuses a wrong one with its lines', async () => {
  const file = ofx('2-1', [line('a1', '50.00'), line('a2', '60.00')]);
  expect((await env.api('operator', 'POST', '/bank/imports', file)).status).toBe(403);
  const dry = await env.api('accountant', 'POST', '/bank/imports?dry_run=true', file);
  expect([dry.status, dry.json]).toMatchObject([
    200,
    { dry_run: true, repeated: false, statements: [{ new: 2, balance: '1000.00' }] },
  ]);
  expect((await env.api('accountant', 'POST', '/bank/imports?dry_run=1', file)).status).toBe(422);
  expect((await env.api('accountant', 'POST', '/bank/imports', file)).status).toBe(201);
  expect((await env.api('accountant', 'POST', '/bank/imports', file)).json).toMatchObject({ repeated: true });
  const wrong = await env.api('accountant', 'POST', '/bank/imports', ofx('2-1', [line('a1', '50.01')]));
  expect([wrong.status, wrong.json.errors]).toEqual([
    422,
    {
      file: [
        expect.stringMatching(/^line \d+: the FITID was imported before, with another day or amount: other_lines=true/),
      ],
    },
  ]);
  expect((await env.api('accountant', 'POST', '/bank/imports', '')).text).toContain('it is empty');
  expect((await env.api('accountant', 'POST', '/bank/imports', 'x'.repeat(OFX_BYTES_MAX + 1))).status).toBe(413);
});

test('a person picks one of two candidates and undoes it, by the API and by forms in two steps', async () => {
  const [one, other] = [await withdraw(7700n, 'primeira'), await withdraw(7700n, 'segunda')];
  await env.api('accountant', 'POST', '/bank/imports', ofx('3-1', [line('p1', '77.00')]));
  const open = (await env.api('accountant', 'GET', '/bank/lines?state=open&account=341/3-1')).json.lines as {
    id: string;
    candidates: { adjustment_id: string }[];
  }[];
  expect(open[0]?.candidates.map((candidate) => candidate.adjustment_id)).toEqual([one, other]);
  const line_id = open[0]?.id ?? '';
  for (const body of [{ line_id }, { line_id, adjustment_id: one, transaction_id: 'x' }, { line_id, adjustment: one }])
    expect((await env.api('accountant', 'POST', '/bank/matches', body)).status).toBe(422);
  const made = await env.api('accountant', 'POST', '/bank/matches', { line_id, adjustment_id: one, note: 'recibo' });
  expect([made.status, made.json]).toMatchObject([
    201,
    { line_id, adjustment_id: one, rule: 'person', note: 'recibo' },
  ]);
  expect((await env.api('accountant', 'POST', '/bank/matches', { line_id, adjustment_id: other })).status).toBe(409);
  expect(
    (await env.api('accountant', 'POST', `/bank/matches/${String(made.json.id)}/undo`, { note: ' ' })).status,
  ).toBe(422);
  expect(
    (await env.api('accountant', 'POST', `/bank/matches/${String(made.json.id)}/undo`, { note: 'outra' })).json,
  ).toMatchObject({ rule: 'undo', undoes: made.json.id });

  const session = await openConsoleSession(env, 'accountant');
  const address = `${PAGE}/lines/${line_id}/match`;
  expect((await session.get(PAGE)).text).toContain('mais de um candidato');
  const empty = await session.post(address, { entry: '', adjustment: '', transaction: '', note: '' });
  expect([empty.status, empty.text]).toEqual([422, expect.stringContaining('Escolha um lançamento, e só um.')]);
  const wrong = await session.post(address, { entry: '', adjustment: '', transaction: env.paid.id, note: '' });
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining('Não serve: a saída por PIX está paga e sem par'),
  ]);
  const preview = await session.post(address, {
    entry: `adjustment ${other}`,
    adjustment: '',
    transaction: '',
    note: '',
  });
  expect(preview.text).toContain('O razão não muda.');
  expect(await session.confirm(address, preview)).toMatchObject({ status: 303, to: `${PAGE}?done=bank_matched` });
  const [match] = (await env.api('accountant', 'GET', '/bank/matches')).json.matches as {
    id: string;
    adjustment_id: string;
  }[];
  expect(match?.adjustment_id).toBe(other);
  const undo = `${PAGE}/matches/${match?.id}/undo`;
  expect((await session.post(undo, { note: '' })).text).toContain('Escreva por quê.');
  const asked = await session.post(undo, { note: 'engano' });
  expect(await session.confirm(undo, asked)).toMatchObject({ status: 303, to: `${PAGE}?done=bank_undone` });
  expect((await session.post(undo, { note: 'de novo' })).text).toContain('Este par já foi desfeito.');
  const actions = [...(await listAudited('bank.match')), ...(await listAudited('bank.undo'))];
  expect(actions.map(({ target, detail }) => `${target} ${detail}`)).toEqual([
    `${String(made.json.id)} null`,
    `${match?.id} console`,
    expect.stringMatching(/^bm_\d+ null$/),
    expect.stringMatching(/^bm_\d+ console$/),
  ]);
});

test('a line without a candidate leads to the form of the adjustment that it shows, filled in', async () => {
  await env.api('accountant', 'POST', '/bank/imports', ofx('4-1', [line('n1', '12.34'), line('n2', '-5.67')]));
  const open = (await env.api('accountant', 'GET', '/bank/lines?state=open&account=341/4-1')).json.lines as {
    id: string;
    amount: string;
  }[];
  expect(open).toHaveLength(2);
  const countMatched = async (): Promise<number> => {
    const audited = env.context.db.selectFrom('audit').select('target').where('action', '=', 'bank.match');
    return (await audited.where('target', 'like', 'bm\\_%').execute()).length;
  };
  const matched = await countMatched();
  const session = await openConsoleSession(env, 'accountant');
  for (const { id, amount } of open) {
    const { html, text } = await session.get(`${PAGE}/lines/${id}/match`);
    expect(text).toContain('Nada no razão tem este valor.');
    const [, address = ''] = /href="(\/balances\/adjustments\/new\?[^"]+)"/.exec(html) ?? [];
    const form = (await session.get(unescapeHtml(address))).html;
    const [kind, size] = amount === '12.34' ? ['bank_out', '12,34'] : ['bank_in', '5,67'];
    for (const part of [`"${kind}" selected`, '"341/4-1" selected', `value="${size}"`, `value="${day}"`])
      expect([amount, part, form.includes(part)]).toEqual([amount, part, true]);
    const given = {
      platform: String(env.paid.platform),
      day,
      kind,
      bank_account: '341/4-1',
      bank_line: id,
      note: 'saque',
    };
    const other = await session.post('/balances/adjustments/new', { ...given, amount: '99,00' });
    expect(other.status).toBe(422);
    const sent = await session.post('/balances/adjustments/new', { ...given, amount: size });
    expect(sent.text).toContain('A linha do extrato casa com este ajuste');
    // back to the bank's page, where the line is not open any more
    expect((await session.confirm('/balances/adjustments/new', sent)).to).toBe(`${PAGE}?done=adjusted`);
  }
  expect((await env.api('accountant', 'GET', '/bank/lines?state=open&account=341/4-1')).json.lines).toEqual([]);
  expect(await countMatched()).toBe(matched + 2);
});

test('a line is marked as nothing of PIX and an account gets its name and texts, by each door, audited', async () => {
  const account = '341/6-1';
  const memos = ['SALARIO DE RITA', 'TARIFA', 'TARIFA AVULSA'];
  const file = ofx(
    '6-1',
    memos.map((memo, index) => line(`s${index}`, '-5.00', memo)),
  );
  await env.api('accountant', 'POST', '/bank/imports', file);
  const list = async (state: string) =>
    (await env.api('accountant', 'GET', `/bank/lines?account=${account}&state=${state}`)).json.lines as {
      id: string;
      memo: string;
      not_pix: object;
    }[];
  const [line1, line2, line3] = (await list('open')).map(({ id }) => id).sort();
  const marked = await env.api('accountant', 'POST', `/bank/lines/${line1}/mark`, { note: 'folha' });
  expect([marked.status, marked.json]).toMatchObject([201, { id: line1, not_pix: { by_rule: false, note: 'folha' } }]);
  const wrong = { line_id: line1, adjustment_id: await withdraw(500n) };
  expect((await env.api('accountant', 'POST', '/bank/matches', wrong)).json.reason).toBe('bank_line_not_pix');
  expect((await env.confere('bank', 'unmark', line1 ?? '', '--note', 'é nossa', '--json')).json).toMatchObject({
    ...{ id: line1, not_pix: null },
  });
  expect((await env.confere('bank', 'mark', line1 ?? '', '--note', 'folha')).out).toContain('nothing of PIX');

  const session = await openConsoleSession(env, 'accountant');
  const mark = `${PAGE}/lines/${line2}/mark`;
  expect((await session.get(mark)).html).toContain(
    `<a href="${PAGE}/accounts/${encodeURIComponent(account)}">Dê uma regra à conta</a>`,
  );
  expect((await session.post(mark, { note: '' })).text).toContain('Escreva por quê.');
  const asked = await session.post(mark, { note: 'tarifa do banco' });
  expect(await session.confirm(mark, asked)).toMatchObject({ status: 303, to: `${PAGE}?done=bank_saved` });
  expect((await session.get(`${PAGE}/lines?state=not_pix`)).text).toMatch(/Não é do PIX tarifa do banco Desfazer/);
  const unmark = `${PAGE}/lines/${line2}/unmark`;
  await session.confirm(unmark, await session.post(unmark, { note: 'engano' }));

  const form = `${PAGE}/accounts/${encodeURIComponent(account)}`;
  expect((await session.post(form, { name: 'Itaú', begins: 'ab', inside: '' })).text).toContain('Até 50 textos');
  const preview = await session.post(form, { name: 'Itaú', begins: 'tarifa', inside: '' });
  expect(preview.text).toMatch(/Antes .*Não é do PIX -R\$ 5,00 \(1\) .*Depois .*Não é do PIX -R\$ 10,00 \(2\)/);
  expect(await session.confirm(form, preview)).toMatchObject({ status: 303 });
  expect((await session.get(mark)).text).toContain('Conta Itaú 341/6-1');
  const adjusting = (await session.get('/balances/adjustments/new')).text;
  expect(adjusting).toContain('Só para Saque ou Depósito.');
  const chart = await session.get('/reports/accounts');
  expect(chart.text).not.toContain('Assets:');
  for (const nature of ['ativo', 'passivo', 'patrimônio líquido', 'despesa'])
    expect(chart.html).toContain(`<span class="hint">${nature}</span>`);
  expect(chart.text).toContain('Saldo inicial só é usada num arquivo');
  expect((await session.get('/reports')).text).toContain('cada conta tem o mesmo saldo');
  expect((await list('not_pix')).map(({ id }) => id).sort()).toEqual([line1, line3]);
  expect((await session.get(form)).html).toContain('>tarifa</textarea>');
  const page = (await session.get(PAGE)).text;
  expect(page).toContain(`Itaú ${account}`);
  const named = await env.confere('bank', 'account', account, '--name', 'Itaú Empresa', '--json');
  expect(named.json.accounts).toMatchObject([
    { account, name: 'Itaú Empresa', not_pix: { begins: ['tarifa'], contains: [] }, csv: null },
  ]);
  const other = { account: '001/1-9', name: 'Banco do Brasil' };
  expect((await env.api('accountant', 'PUT', '/bank/accounts', other)).status).toBe(422);
  expect((await env.api('accountant', 'PUT', '/bank/accounts', { ...other, new_account: true })).status).toBe(200);
  expect((await env.api('viewer', 'GET', '/bank/accounts')).json.accounts).toMatchObject([
    { account: other.account },
    { account, not_pix: { begins: ['***'] } },
  ]);
  const fresh = `${PAGE}/accounts/new`;
  const made = await session.post(fresh, { account: '237/1-1', name: 'Bradesco', begins: '', inside: '' });
  expect(await session.confirm(fresh, made)).toMatchObject({ status: 303 });

  const withdrawal = { platform: String(env.paid.platform), day, kind: 'bank_out', amount: '5,00', note: 'saque' };
  const sent = await session.post('/balances/adjustments/new', { ...withdrawal, bank_account: '237/1-1' });
  expect(sent.text).toContain('Conta no banco Bradesco');
  await session.confirm('/balances/adjustments/new', sent);
  expect((await env.api('viewer', 'GET', '/bank')).json.accounts).toContainEqual(
    expect.objectContaining({ account: '237/1-1', received: { count: 1, amount: '5.00' } }),
  );
  const targets = async (action: string) => (await listAudited(action)).map(({ target }) => target);
  expect(await targets('bank.mark')).toEqual([line1, line1, line2]);
  expect(await targets('bank.unmark')).toEqual([line1, line2]);
  expect(await targets('bank.account')).toEqual([account, account, other.account, '237/1-1']);
});

test('the name of an account matches no lines, and the preview of its texts shows those that are matched', async () => {
  const account = '341/8-1';
  await env.api(
    'accountant',
    'POST',
    '/bank/imports',
    ofx('8-1', [line('n1', '66.13'), line('n2', '-1.00', 'TARIFA')]),
  );
  await withdraw(6_613n);
  const openCount = async () =>
    ((await env.api('viewer', 'GET', `/bank/lines?account=${account}&state=open`)).json.lines as unknown[]).length;
  const session = await openConsoleSession(env, 'accountant');
  const form = `${PAGE}/accounts/${encodeURIComponent(account)}`;
  const named = await session.post(form, { name: 'Itaú Matriz', begins: '', inside: '' });
  expect(named.text).toMatch(/Depois .*Em aberto R\$ 65,13 \(2\) .*Casadas R\$ 0,00 \(0\)/);
  await session.confirm(form, named);
  expect(await openCount()).toBe(2);
  const texts = await session.post(form, { name: 'Itaú Matriz', begins: 'tarifa', inside: '' });
  expect(texts.text).toMatch(/Depois .*Em aberto R\$ 0,00 \(0\) .*Casadas R\$ 66,13 \(1\)/);
  await session.confirm(form, texts);
  expect(await openCount()).toBe(0);
});

test('a viewer sees days and amounts and no texts or notes; others see them, audited', async () => {
  const secret = 'RITA QUADROS 11144477735';
  await withdraw(101n, `de ${secret}`);
  await env.api(
    'accountant',
    'POST',
    '/bank/imports',
    ofx('4-1', [{ ...line('CPF11144477735', '1.99', secret), checkNumber: '98765' }]),
  );
  for (const address of ['/bank', '/bank/lines', '/bank/entries', '/bank/matches', '/bank/statements']) {
    const { status, text } = await env.api('viewer', 'GET', address);
    expect([status, text.includes('QUADROS'), text.includes('11144477735'), text.includes('98765')], address).toEqual([
      200,
      false,
      false,
      false,
    ]);
  }
  const viewer = await openConsoleSession(env, 'viewer');
  for (const address of [PAGE, `${PAGE}/lines`, `${PAGE}/matches`]) {
    const { status, html } = await viewer.get(address);
    expect([status, html.includes('QUADROS'), html.includes('11144477735'), html.includes('98765')], address).toEqual([
      200,
      false,
      false,
      false,
    ]);
  }
  expect((await viewer.get(PAGE)).html).not.toContain('type="file"');
  const before = (await listAudited('bank.lines')).length;
  expect((await env.api('operator', 'GET', '/bank/lines')).text).toContain(secret);
  const operator = await openConsoleSession(env, 'operator');
  expect((await operator.get(PAGE)).text).toContain(secret);
  expect((await listAudited('bank.lines')).slice(before).map(({ detail }) => detail)).toEqual([null, 'console']);
});

test('the command imports, lists, matches and undoes, with exit codes', async () => {
  const file = path.join(home.path, 'extrato.ofx');
  const run = (...args: string[]) => env.confere('bank', ...args);
  writeFileSync(file, Buffer.from(ofx('5-1', [line('c1', '88,00', 'Depósito')]), 'latin1'));
  expect(await run('import', file, '--dry-run')).toMatchObject({
    code: 0,
    out: expect.stringContaining('341/5-1  1 new lines, 0 known'),
  });
  expect(await run('import', file, '--json')).toMatchObject({
    code: 0,
    json: { repeated: false, dry_run: false, statements: [{ new: 1 }] },
  });
  expect((await run('import', file)).out).toMatch(
    /^this file was imported before on .* by command: nothing changed\n$/,
  );
  const adjustment = await withdraw(8800n);
  expect((await run('match', '--json')).json).toEqual({ matched: { reference: 0, amount: 1, not_pix: 0 } });
  const { json } = await run('list', '--state', 'matched', '--json');
  const [found] = json.lines as { id: string; memo: string; match: { id: string; adjustment_id: string } }[];
  expect(found).toMatchObject({ memo: 'Depósito', match: { adjustment_id: adjustment } });
  expect(await run('match', '--undo', found?.match.id ?? '')).toMatchObject({
    code: 2,
    err: expect.stringContaining('note must say why'),
  });
  expect((await run('match', '--undo', found?.match.id ?? '', '--note', 'engano', '--json')).json).toMatchObject({
    rule: 'undo',
  });
  expect((await run('match', found?.id ?? '', '--adjustment', adjustment)).out).toContain('person');
  const { out } = await run('list');
  expect(out).toContain('entries of Assets:Bank without a line:');
  expect(out).toMatch(/bank R\$ \d+\.\d\d {2}Assets:Bank R\$ \d+\.\d\d {2}difference/);
  writeFileSync(file, '<OFX');
  expect(await run('import', file)).toMatchObject({
    code: 2,
    err: expect.stringContaining('line 1: the file does not begin'),
  });
  for (const wrong of [
    ['import', `${file}.none`],
    ['match', 'bl_1'],
    ['match', '--adjustment', 'x'],
    ['list', '--state', 'x'],
  ])
    expect((await run(...wrong)).code, wrong.join(' ')).toBe(2);
});

test('what a statement leaves open is asked and answered by the command, the API and the page', async () => {
  const unsigned = (number: string) => ofx(number, [{ ...line('u1', '12.50', 'TARIFA'), type: 'FEE' }]);
  const address = '/bank/imports';
  const asked = await env.api('accountant', 'POST', address, unsigned('81117-1'));
  expect([asked.status, asked.text]).toEqual([422, expect.stringContaining('signs=by_type|as_written (--signs)')]);
  for (const query of ['signs=x', 'sign=by_type', 'other_lines=1', 'account='])
    expect((await env.api('accountant', 'POST', `${address}?${query}`, unsigned('81117-1'))).status, query).toBe(422);
  expect((await env.api('accountant', 'POST', '/imports/platforms?signs=by_type', 'x')).status).toBe(422);
  const bad = await env.api('accountant', 'POST', `${address}?account=1&dry_run=true`, unsigned('81117-1'));
  expect([bad.status, bad.text]).toEqual([422, expect.stringContaining('must be bank, branch and number')]);
  const dry = await env.api('accountant', 'POST', `/imports/bank?signs=by_type&dry_run=true`, unsigned('81117-1'));
  expect([dry.status, dry.json]).toMatchObject([200, { statements: [{ negated: 1, new: 1 }] }]);
  expect((await env.api('accountant', 'POST', `${address}?signs=by_type`, unsigned('81117-1'))).status).toBe(201);
  expect((await listAudited('imports.create')).at(-1)?.detail).toContain('"answers":{"signs":"by_type"}');

  const file = path.join(home.path, 'asked.ofx');
  writeFileSync(file, unsigned('0081117'));
  const refused = await env.confere('bank', 'import', file);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('which may be 341/81117-1')]);
  const options = ['--account', '341/81117-1', '--signs', 'by_type', '--json'];
  expect((await env.confere('import', 'bank', file, ...options)).json).toMatchObject({
    statements: [{ account: '341/81117-1', new: 0, known: 1 }],
  });

  const form = await upload('accountant', unsigned('9-81119'), { confirms: false });
  expect([form.status, form.text]).toEqual([422, expect.stringContaining('FEE diz saída, e o valor não tem sinal')]);
  const session = await openConsoleSession(env, 'accountant');
  const headers = { cookie: session.cookie, origin: env.url };
  const send = async (html: string, more: Record<string, string>) => {
    const fields = new FormData();
    for (const [name, value] of Object.entries({ ...hiddenFields(html), ...more })) fields.set(name, value);
    const response = await fetch(`${env.url}${FORM}`, { method: 'POST', redirect: 'manual', headers, body: fields });
    return { status: response.status, html: await response.text(), to: response.headers.get('location') };
  };
  const [, questions = ''] = form.html.split('O arquivo não diz tudo');
  expect(questions).toContain('<select name="signs">');
  const own = hiddenFields((await session.get(FORM)).html);
  const preview = await send(questions, { ...own, signs: 'by_type' });
  expect([preview.status, preview.html]).toEqual([
    200,
    expect.stringContaining('um débito sem sinal, tomado como saída'),
  ]);
  expect(await send(preview.html, { step: 'confirm' })).toMatchObject({ status: 303, to: `${PAGE}?done=imported` });
  const lines = (await env.api('accountant', 'GET', '/bank/lines?account=341/9-81119')).json.lines;
  expect(lines).toMatchObject([{ amount: '-12.50' }]);
});

test("the columns of a bank's CSV are mapped once, with a preview, kept for the account, and asked again for another header", async () => {
  const account = '341/7-1';
  await env.api('accountant', 'PUT', '/bank/accounts', { account, name: 'Conta do CSV', new_account: true });
  const csv = (titles: string, ...rows: string[]) => ['Extrato;7-1', titles, ...rows, ''].join('\n');
  const [titles, other] = ['Data mov.;Lançamento;Crédito;Débito', 'Data mov.;Lançamento;Documento;Crédito;Débito'];
  const rows = ['02/10/2026;SALDO ANTERIOR;1.000,00;', '02/10/2026;TED;1.234,56;', '03/10/2026;TARIFA;;9,90'];
  const refused = await upload('accountant', csv(titles, ...rows), { confirms: false });
  expect([refused.status, refused.text]).toEqual([200, expect.stringContaining('Dizer o que é cada coluna')]);
  expect(refused.html.indexOf('Dizer o que é cada coluna')).toBeLessThan(refused.html.indexOf('class="fault"'));
  const session = await openConsoleSession(env, 'accountant');
  const own = hiddenFields((await session.get(FORM)).html);
  const send = async (fields: Record<string, string>, address = `${FORM}/columns`) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...fields, form_token: own.form_token ?? '' })) form.set(name, value);
    const answer = await session.send(address, { method: 'POST', body: form });
    return {
      ...answer,
      selected: [...answer.html.matchAll(/<option value="([^"]+)" selected>/g)].map(([, one]) => one),
    };
  };
  const file = Buffer.from(csv(titles, ...rows)).toString('base64');
  const blank = await send({ file });
  const suggested = ['dd/mm/yyyy', 'comma', 'as_written', 'day', 'text', 'in', 'out'];
  expect([blank.status, blank.selected]).toEqual([200, [';', '2', ...suggested]]);
  expect(blank.html).toContain('<option value="dd/mm/yyyy" selected>dd/mm/aaaa</option>');
  expect(blank.text).toMatch(/Data mov\. .* 02\/10\/2026 · 02\/10\/2026 · 03\/10\/2026/);
  const unreadSide = csv('Data;Lançamento;Valor;Natureza', '02/10/2026;SUPRIMENTOS;120,00;D', '03/10/2026;TED;5,00;C');
  const sided = { file: Buffer.from(unreadSide).toString('base64'), account };
  expect((await send(sided)).selected.at(-1)).toBe('side');
  const guessed = {
    ...sided,
    ...{ separator: ';', header: '2', days: 'dd/mm/yyyy', decimals: 'comma', signs: 'as_written' },
  };
  const unguessed = await send({ ...guessed, part_0: 'day', part_1: 'text', part_2: 'amount', step: 'check' });
  expect([unguessed.status, unguessed.text]).toEqual([
    422,
    expect.stringContaining('a coluna Natureza tem C e D, e não é lida como tal'),
  ]);
  const headed = `Cooperativa: 0101;\nConta Corrente: 12345-6;\n${csv(titles, ...rows)}`;
  const filled = await send({ file: Buffer.from(headed).toString('base64') });
  expect(filled.html).toMatch(/name="other_account"[^>]*value="\/0101\/12345-6"/);
  const chosen = {
    file,
    account,
    separator: ';',
    header: '2',
    days: 'dd/mm/yyyy',
    decimals: 'comma',
    signs: 'as_written',
  };
  const parts = { part_0: 'day', part_1: 'text', part_2: 'in', part_3: 'out' };
  const wrong = await send({ ...chosen, ...parts, part_3: 'in', step: 'check' });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('É preciso um dia')]);
  const misread = await send({ ...chosen, ...parts, decimals: 'point', step: 'check' });
  expect([misread.status, misread.text]).toEqual([
    422,
    expect.stringContaining('linha 4, valor: não está escrito como as colunas dizem'),
  ]);
  expect((await send({ ...chosen, ...parts, account: '', step: 'check' })).text).toContain('Escolha a conta.');
  const wide = Buffer.from(`${Array.from({ length: 31 }, (_, at) => `T${at}`).join(';')}\n1;2`).toString('base64');
  const refusedWide = await send({ ...chosen, ...parts, file: wide, header: '1', step: 'check' });
  expect([refusedWide.status, refusedWide.text]).toEqual([422, expect.stringContaining('No máximo 30 colunas.')]);
  const short = await send({ ...chosen, ...parts, account: '', other_account: '12345-6', step: 'check' });
  expect([short.status, short.text]).toEqual([422, expect.stringContaining('Banco, agência e número, como')]);
  const shown = await send({ ...chosen, ...parts, step: 'check' });
  expect(shown.text).toMatch(/Entrou R\$ 1\.234,56 \(1\) .*Saiu -R\$ 9,90 \(1\) .*Linhas de saldo, deixadas de fora 1/);
  const kept = await send({ ...hiddenFields(shown.html), step: 'confirm' });
  expect([kept.status, kept.text]).toEqual([200, expect.stringContaining('Importar um arquivo: confira')]);
  expect(await send({ ...hiddenFields(kept.html), step: 'confirm' }, FORM)).toMatchObject({ status: 303 });
  const imported = (await env.api('accountant', 'GET', `/bank/lines?account=${account}`)).json.lines;
  expect(imported).toMatchObject([{ amount: '-9.90' }, { amount: '1234.56', memo: 'TED' }]);

  // the next file is read by them once its account is said
  const more = csv(titles, ...rows, '04/10/2026;TED;5,00;');
  const asked = await upload('accountant', more, { confirms: false });
  expect([asked.status, asked.html]).toEqual([
    422,
    expect.stringContaining(`<option value="${account}" selected>Conta do CSV<`),
  ]);
  const bytes = Buffer.from(more).toString('base64');
  expect((await send({ file: bytes, kind: 'bank', account: 'conta do csv' }, FORM)).text).toContain('uma linha nova');
  const misnamed = await send({ file: bytes, kind: 'bank', account: 'Outra' }, FORM);
  expect([misnamed.status, misnamed.text]).toEqual([422, expect.stringContaining('escreva banco, agência e conta')]);
  expect(misnamed.html).toContain('name="account" value="Outra"');
  const known = await upload('accountant', csv(titles, ...rows), { confirms: false });
  expect(known.text).toContain('nada seria importado outra vez');
  // asked or shown, it leads to their change, and so does the page of the account
  const answered = await send({ file: Buffer.from(more).toString('base64'), kind: 'bank', account }, FORM);
  expect(answered.text).toContain('Importar um arquivo: confira');
  for (const { html } of [asked, answered]) {
    const [, change = ''] = html.split(`action="${FORM}/columns"`);
    expect(change.split('</form>', 1)[0]).toContain('Mudar as colunas');
  }
  expect((await send(hiddenFields(answered.html.split(`action="${FORM}/columns"`)[1] ?? ''))).selected[0]).toBe(
    account,
  );
  const page = `${PAGE}/accounts/${encodeURIComponent(account)}`;
  expect((await session.get(page)).html).toContain(`<a href="${FORM}?kind=bank">Mudar as colunas</a>`);
  const dry = await env.api('accountant', 'POST', `/imports/bank?dry_run=true&account=${account}`, more);
  expect(dry.json).toMatchObject({ statements: [{ account, new: 1, known: 2 }] });
  const changed = await env.api('accountant', 'POST', `/imports/bank?account=${account}`, csv(other, '1;2;3;4;5'));
  expect([changed.status, changed.text]).toEqual([422, expect.stringContaining('map its columns again')]);
  // an account that nobody has named yet is named there, and the file goes on
  const unread = Buffer.from(csv(titles, ...rows, '')).toString('base64');
  const elsewhere = { file: unread, account: '', other_account: '748/0101/12345-6', step: 'check' };
  const named = await send({ ...chosen, ...parts, ...elsewhere });
  const first = await send({ ...hiddenFields(named.html), step: 'confirm' });
  expect([first.status, first.text]).toEqual([200, expect.stringContaining('748/0101/12345-6: 2 linhas novas')]);
  // a person maps it again from what is known
  const next = headed.replace('Extrato', 'Extrato do mês');
  expect((await send({ file: Buffer.from(next).toString('base64') })).selected[0]).toBe('748/0101/12345-6');
  const again = await send({ file: Buffer.from(csv(other, '02/10/2026;TED;1;1,00;')).toString('base64'), account });
  expect(again.selected).toEqual([account, ';', '2', 'dd/mm/yyyy', 'comma', 'as_written', 'day', 'text', 'in', 'out']);
  const open = await send({ file: Buffer.from('a;"b\n').toString('base64') });
  expect([open.status, open.text]).toEqual([422, expect.stringContaining('as aspas que abrem na linha 1')]);
});

test('a person states the balance that no statement has, at the end of a day that has begun, and takes it back', async () => {
  const account = '341/70-1';
  const lines = [{ day, amount: '5.00', fitid: 'own-1', memo: 'TED' }];
  await env.api('accountant', 'POST', '/bank/imports', makeOfx({ number: '70-1', lines }));
  const session = await openConsoleSession(env, 'accountant');
  const form = `${PAGE}/accounts/${encodeURIComponent(account)}`;
  const balanceOf = async () => {
    const { json } = await env.api('viewer', 'GET', '/bank');
    const own = (json.accounts as { account: string; balance: string | null; balance_day: string | null }[]).find(
      (one) => one.account === account,
    );
    return own;
  };
  expect((await session.get(PAGE)).text).toContain('O extrato não traz o saldo final: informe-o na página da conta.');
  const kept = { name: 'Itaú', begins: '', inside: '' };
  const late = await session.post(form, { ...kept, balance: '85,00', balance_day: addDays(env.today, 1) });
  expect([late.status, late.html.includes('id="balance_day-fault"')]).toEqual([422, true]);
  expect((await session.post(form, { ...kept, balance: '', balance_day: env.today })).status).toBe(422);
  const typed = await session.post(form, { ...kept, balance: '85,00', balance_day: env.today });
  expect(typed.text).toMatch(/Depois Saldo final R\$ 85,00 \(.*\) Saldo antes da primeira linha R\$ 80,00/);
  await session.confirm(form, typed);
  expect(await balanceOf()).toMatchObject({ balance: '85.00', balance_day: env.today });
  expect((await session.get(PAGE)).text).toContain('= Saldo informado, em');
  await env.api('accountant', 'PUT', '/bank/accounts', { account, name: 'Itaú 7' });
  expect(await balanceOf()).toMatchObject({ balance: '85.00' });
  await env.confere('bank', 'account', account, '--name', 'Itaú', '--json');
  expect(await balanceOf()).toMatchObject({ balance: '85.00' });
  await env.api('accountant', 'PUT', '/bank/accounts', { account, balance: null });
  expect(await balanceOf()).toMatchObject({ balance: null });
});

test('Ajustes names the bank account of a withdrawal, and a replaced balance says so', async () => {
  const session = await env.console('accountant');
  const platform = String(env.paid.platform);
  const given = { platform, day: env.today, kind: 'bank_out', amount: '1,00', bank_account: '341/7-1', note: 'saque' };
  await env.api('accountant', 'PUT', '/bank/accounts', {
    account: '341/7-1',
    name: 'Conta da loja',
    new_account: true,
  });
  const sent = await session.post('/balances/adjustments/new', given);
  await session.confirm('/balances/adjustments/new', sent);
  expect((await session.get('/balances/adjustments')).text).toMatch(/Saque.* Conta da loja 341\/7-1/);
  const at = new Date(env.context.clock.now().getTime() - 3_600_000);
  for (const balanceCents of [100n, 200n])
    await storeStatement(env.context, { platform, at, balanceCents, actor: 'test' });
  const { text } = await session.get('/balances/statements');
  expect(text).toContain('R$ 1,00 substituído');
  expect(text).not.toContain('R$ 2,00 substituído');
});

test('lines are listed by their days, and the closing of a month leads to the open ones that it counts', async () => {
  const days = ['2025-02-28', '2025-03-31', '2025-04-01'];
  const lines = days.map((on, index) => ({ day: on, fitid: `d${index}`, amount: `7.0${index}`, memo: 'TED' }));
  const file = makeOfx({ number: '12-1', from: '2025-02-01', lines });
  expect((await env.api('accountant', 'POST', '/bank/imports', file)).status).toBe(201);
  const listed = async (query: string) =>
    ((await env.api('viewer', 'GET', `/bank/lines?${query}`)).json.lines as { day: string }[]).map((one) => one.day);
  expect(await listed('from=2025-03-01&to=2025-03-31')).toEqual(['2025-03-31']);
  expect((await env.api('viewer', 'GET', '/bank/lines?from=2025-03-02&to=2025-03-01')).status).toBe(422);
  const session = await env.console('accountant');
  const { html, text } = await session.get('/reports/months/2025-03');
  expect(text).toContain('Linhas do extrato em aberto : 2 em aberto, que somam R$ 14,01.');
  const [, link = ''] = /<a href="(\/balances\/bank\/lines[^"]+)">Linhas do extrato em aberto/.exec(html) ?? [];
  expect(await listed(unescapeHtml(link).split('?')[1] ?? '')).toEqual(['2025-03-31', '2025-02-28']);
  const shown = (await session.get(unescapeHtml(link))).text;
  expect([shown.includes('31/03/2025'), shown.includes('01/04/2025')]).toEqual([true, false]);
});
