import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { matchExpected } from '../../../src/expected/match-by-hand.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { previewImport } from '../../../src/imports/import-file.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { hiddenFields, openConsoleSession, unescapeHtml } from '../../support/open-console-session.ts';
import { makeShownTransaction, observeNow, readMismatchRows } from '../../support/read-ledger-state.ts';
import { readWorkbook } from '../../support/read-workbook.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const operator = await openConsoleSession(env, 'operator');

async function put(number: string, given: Record<string, unknown>, source = 'shop'): Promise<void> {
  const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '10.00', ...given });
  await putExpected(env.context, { arrivals: [{ source, number, facts }], actor: 'test' });
  await decideAll(env.context);
}

test('totals say apart what is to receive and what is to pay, each with its own list', async () => {
  await put('sum-1', { due_day: '2031-05-01' });
  await put('sum-2', { due_day: '2031-05-01', operation: 'cashout', amount: '4.00' });
  const list = '/expected?due_from=2031-05-01&due_to=2031-05-01';
  const { text } = await operator.get(list);
  expect(text).toContain('Em aberto a receber 1 R$ 10,00 R$ 0,00 R$ 10,00 Em aberto a pagar 1 R$ 4,00 R$ 0,00 R$ 4,00');
  // of two states of one operation, a total; received and paid make none
  expect(text).not.toContain('Todos os estados a receber');
  await put('sum-3', { due_day: '2031-05-01', amount: '3.50' });
  await env.context.db
    .updateTable('expected_payments')
    .set({ state: 'unpaid' })
    .where('number', '=', 'sum-3')
    .execute();
  expect((await operator.get(list)).text).toMatch(/Todos os estados a receber 2 R\$ 13,50 R\$ 0,00 R\$ 13,50/);
  const one = await operator.get(`${list}&operation=cashout`);
  expect(one.text).toContain('sum-2');
  expect(one.text).not.toContain('sum-1');
});

test('the first page accounts for every order of yesterday, each figure with its own list', async () => {
  const due_day = addDays(env.today, -1);
  for (const number of ['y-1', 'y-2', 'y-3']) await put(number, { due_day, references: [number] });
  for (const [reference, amount] of [['y-1', '10.00'] as const, ['y-2', '9.00'] as const])
    await applyObservations(env.context, [
      observeNow(env.context, makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), reference, amount })),
    ]);
  await put('y-4', { due_day, valid_until: '2031-01-01' });
  const { text, html } = await operator.get('/');
  expect(text).toContain(
    'Pedidos de ontem: Em aberto 1 ( R$ 10,00 ), Pago 1 ( R$ 10,00 ), Pago a menos 1 ( R$ 10,00 ), Ainda não provado 1 ( R$ 10,00 ); com pagamento a casar: 0 . Divergências de pedidos por resolver: 1 ( Valor diferente do esperado 1 ).',
  );
  expect(html).toContain('<a href="/mismatches?kind=amount_not_expected">');
  for (const page of ['/expected', '/expected/undecided'])
    expect((await operator.get(page)).text).toContain(
      'Divergências de pedidos por resolver: 1 ( Valor diferente do esperado 1 ).',
    );
  const links = [...html.matchAll(/<a href="([^"]+)">Pago a menos \d+<\/a>/g)].map(([, to]) => unescapeHtml(to ?? ''));
  expect(links).toHaveLength(1);
  const list = await operator.get(links[0] ?? '');
  expect(['y-1', 'y-2', 'y-3', 'y-4'].filter((number) => list.text.includes(number))).toEqual(['y-2']);
});

test('totals keep the filters of the page, and so do their links and the file', async () => {
  await put('keep-1', { due_day: '2031-07-01', name: 'Ana Prado' });
  await put('keep-2', { due_day: '2031-07-01', operation: 'cashout', amount: '4.00', name: 'Ana Prado' });
  await put('keep-3', { due_day: '2031-07-02', amount: '7.00', name: 'Ana Prado' });
  const { to } = await operator.get('/expected?name=ana&due_to=2031-07-01&operation=cashin&state=open');
  const { text, html } = await operator.get(to ?? '');
  expect(text).toContain(
    'Quantos Valor Pago Falta A mais Não mais devido Em aberto a receber 1 R$ 10,00 R$ 0,00 R$ 10,00',
  );
  expect(text).not.toContain('R$ 4,00');
  const [link = ''] = [...html.matchAll(/href="(\/expected\?[^"]*operation=cashin[^"]*)"/g)].map(([, one]) => one);
  expect((await operator.get(unescapeHtml(link))).text).not.toContain('keep-3');
  const [file = ''] = [...html.matchAll(/href="(\/expected\/export[^"]*)"/g)].map(([, one]) => one);
  const { name, bytes } = await operator.download(unescapeHtml(file));
  expect(name).toBe('pedidos.csv');
  const lines = bytes.toString().split('\r\n');
  expect(lines[0]).toMatch(/;casamento em dia;/);
  const back = await previewImport(env.context, { kind: 'expected', bytes, answers: {} }, { allowEqual: false });
  expect(back).toMatchObject({ rows: 1, changed: 0 });
  expect(lines[1]).toContain('shop;keep-1;a receber;10,00;');
  expect(lines[1]).toMatch(/;Em aberto;.*;(?:sim|não);\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d;;10,00;0,00;0,00;;não;;0$/);
  expect(lines).toHaveLength(3);
  const [sheet = ''] = [...html.matchAll(/href="(\/expected\/export[^"]*format=xlsx[^"]*)"/g)].map(([, one]) => one);
  const book = await operator.download(unescapeHtml(sheet));
  expect(book.name).toBe('pedidos.xlsx');
  const [title, , header, row, ...rest] = await readWorkbook(book.bytes);
  expect(title?.[0]?.text).toBe('Pedidos');
  expect(header?.map((cell) => cell?.text).join(';')).toBe(lines[0]?.slice(1));
  expect(row?.slice(0, 5).map((cell) => [cell?.kind, cell?.text])).toEqual([
    ...[
      ['text', 'shop'],
      ['text', 'keep-1'],
      ['text', 'a receber'],
      ['number', '10.00'],
      ['number', '48030'],
    ],
  ]);
  expect(rest).toHaveLength(1);
  expect(rest[0]?.[3]).toMatchObject({ kind: 'number', text: '10.00' });
  const viewer = await openConsoleSession(env, 'viewer');
  const masked = await viewer.download('/expected/export?number=keep-1');
  expect(masked.bytes.toString()).not.toContain('Ana Prado');
  const maskedBook = await readWorkbook((await viewer.download('/expected/export?number=keep-1&format=xlsx')).bytes);
  expect(JSON.stringify(maskedBook)).toContain('keep-1');
  expect(JSON.stringify(maskedBook)).not.toContain('Ana Prado');
});

test('an order is cancelled in two steps: the preview says the state that follows', async () => {
  await put('cancel-1', { due_day: addDays(env.today, 1), references: ['cancel-1'] });
  await put('cancel-2', { due_day: addDays(env.today, 1) });
  await applyObservations(env.context, [
    observeNow(env.context, makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), reference: 'cancel-1' })),
  ]);
  await decideAll(env.context);
  for (const [number, after] of [
    ['cancel-1', 'Estado depois Pago depois de cancelado Abre a divergência “Pedido cancelado foi pago”'],
    ['cancel-2', 'Estado depois Cancelado Um pagamento que ainda chegar abre uma divergência.'],
  ]) {
    const { html } = await operator.get(`/expected?number=${number}`);
    const [page = ''] = /\/expected\/ep_[^"]+/.exec(html) ?? [];
    const address = `${page}/cancel`;
    expect((await operator.get(page)).html).toContain(`href="${address}"`);
    const preview = await operator.post(address, {});
    expect([preview.status, preview.text]).toEqual([200, expect.stringContaining(after ?? '')]);
    expect((await operator.get(page)).text).toContain('Cancelar o pedido');
    expect((await operator.confirm(address, preview)).to).toBe(`${page}?done=expected_put`);
    await decideAll(env.context);
    expect((await operator.get(page)).text).toContain('Reabrir');
  }
});

test('a payment of no order is matched on its own page, or opens a new order', async () => {
  await put('own-1', { due_day: addDays(env.today, 5) });
  const make = async (): Promise<string> => {
    const id = randomUUID();
    const facts = { id, amount: '10.00', name: 'Bia Lima', reference: randomUUID() };
    await applyObservations(env.context, [
      observeNow(env.context, makeShownTransaction(['pending@1', 'paid@2'], facts)),
    ]);
    await decideAll(env.context);
    return `/transactions/${id}`;
  };
  const [page, other] = [await make(), await make()];
  expect((await operator.get(page)).text).toContain('Este pagamento não é de pedido nenhum');
  // a number that is nobody's, or of two sources, keeps the form, and offers the orders that may be it
  await put('own-far', { due_day: addDays(env.today, 80) });
  await put('own-other', { due_day: addDays(env.today, 5), amount: '10.01' });
  const wrong = await operator.post(`${page}/match`, { number: 'none-such' });
  expect(wrong.status).toBe(422);
  expect(wrong.html).toMatch(/name="number" aria-invalid="true"[^>]* value="none-such"/);
  expect(wrong.text).toContain('Não há este pedido.');
  const own = new RegExp(`href="(/expected/[^"/]+/match\\?transaction_id=${page.slice('/transactions/'.length)})"`);
  const offered = wrong.html.slice(wrong.html.indexOf('id="match"'));
  expect(offered).toMatch(own);
  expect([offered.includes('own-1'), offered.includes('own-far'), offered.includes('own-other')]).toEqual([
    ...[true, false, false],
  ]);
  const shared = { due_day: addDays(env.today, 80), amount: '7.00' };
  await put('own-shared', shared);
  await put('own-shared', shared, 'another');
  const two = await operator.post(`${page}/match`, { number: 'own-shared' });
  expect([two.status, two.text]).toEqual([
    422,
    expect.stringContaining('Várias origens têm um pedido com este número'),
  ]);
  expect(two.html.match(/>own-shared</g)).toHaveLength(2);
  expect((await operator.post('/transactions/none-such/match', { number: 'own-1' })).status).toBe(404);
  const { status, to } = await operator.post(`${page}/match`, { number: 'own-1' });
  expect(status).toBe(303);
  const form = to ?? '';
  const order = form.slice(0, form.indexOf('/match'));
  const fields = {
    transaction_id: /name="transaction_id"[^>]* value="([^"]*)"/.exec((await operator.get(form)).html)?.[1] ?? '',
  };
  expect(fields).toMatchObject({ transaction_id: page.slice('/transactions/'.length) });
  const preview = await operator.post(`${order}/match`, fields);
  expect(preview.text).toMatch(
    /Conta para o pedido R\$ 10,00 .*Nome Bia Lima .*Pago R\$ 0,00 → R\$ 10,00 O pedido fica: Pago/,
  );
  expect(preview.text).toContain('Nenhuma divergência muda.');
  // nothing is written by then
  await decideAll(env.context);
  expect((await operator.get(order)).text).toContain('Nenhum pagamento até agora.');
  expect((await operator.confirm(`${order}/match`, preview)).to).toBe(`${order}?done=expected_put`);
  await decideAll(env.context);
  // who paid, and when
  expect((await operator.get(order)).text).toMatch(/R\$ 10,00 Bia Lima Pago \d+\/\d+\/\d+ \d\d:\d\d/);
  expect((await operator.get(page)).text).not.toContain('Este pagamento não é de pedido nenhum');
  const [newOrder = ''] =
    /<form method="post" action="\/expected\/new">[\s\S]*?<\/form>/.exec((await operator.get(other)).html) ?? [];
  const filled = await operator.post('/expected/new', hiddenFields(newOrder));
  expect(filled.html).toContain('value="Bia Lima"');
  expect(filled.html).toContain('value="10,00"');
});

test('the page of an order takes any payment by its id or E2E id, and says which mismatches end and begin', async () => {
  await put('pick-1', { due_day: addDays(env.today, 5), amount: '12.00' });
  const [page = ''] = /\/expected\/ep_[^"]+/.exec((await operator.get('/expected?number=pick-1')).html) ?? [];
  expect((await operator.get(page)).html).toContain(`href="${page}/match?transaction_id="`);
  const wrong = await operator.post(`${page}/match`, { transaction_id: randomUUID() });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('O razão não tem esta transação')]);
  const pay = async (amount: string, e2eId: string): Promise<string> => {
    const paid = makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), amount, e2e_id: e2eId });
    await applyObservations(env.context, [observeNow(env.context, paid)]);
    await decideAll(env.context);
    return paid.id;
  };
  const match = async (given: Record<string, string>): Promise<string> => {
    const preview = await operator.post(`${page}/match`, given);
    expect((await operator.confirm(`${page}/match`, preview)).status).toBe(303);
    await decideAll(env.context);
    return preview.text;
  };
  const first = 'E0000000020261128120000000000001';
  await pay('9.00', first);
  expect(await match({ transaction_id: first, note: 'pagou metade' })).toMatch(
    /Observação pagou metade .*Pago R\$ 0,00 → R\$ 9,00 Falta R\$ 3,00 O pedido fica: Pago a menos . Abre a divergência “Valor diferente do esperado”/,
  );
  expect(await match({ transaction_id: await pay('3.00', 'E0000000020261128120000000000002') })).toMatch(
    /Pago R\$ 9,00 → R\$ 12,00 O pedido fica: Pago . Resolve a divergência “Valor diferente do esperado”/,
  );
  expect((await operator.get(page)).text).toContain('Casado à mão, sem observação');
});

test('a pair is undone in two steps: the preview says what the order becomes, and needs a reason', async () => {
  const platform = randomUUID();
  // receipts of the platform must be of an order from this day on
  const days = { due_day: addDays(env.today, 5), issued_day: '2026-11-01' };
  await put('undo-1', { ...days, platform, references: ['undo-1'] });
  const paid = makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), platform, reference: 'undo-1' });
  await applyObservations(env.context, [observeNow(env.context, paid)]);
  await decideAll(env.context);
  const [page = ''] = /\/expected\/ep_[^"]+/.exec((await operator.get('/expected?number=undo-1')).html) ?? [];
  const address = `${page}/unmatch`;
  expect((await operator.get(page)).html).toContain(`href="${address}?transaction_id=${paid.id}"`);
  const [given, note] = [{ transaction_id: paid.id }, 'é de outro cliente'];
  expect(await operator.post(address, given)).toMatchObject({
    status: 422,
    text: expect.stringContaining('Escreva por quê'),
  });
  const preview = await operator.post(address, { ...given, note });
  expect(preview.text).toMatch(
    /Deixa de contar para o pedido R\$ 10,00 .*Observação é de outro cliente .*Pago R\$ 10,00 → R\$ 0,00 .*O pedido fica: Em aberto . Abre a divergência “Recebimento sem pedido”/,
  );
  await decideAll(env.context);
  expect((await operator.get(page)).text).toContain(paid.id.slice(0, 8));
  expect((await operator.confirm(address, preview)).to).toBe(`${page}?done=expected_put`);
  await decideAll(env.context);
  const after = await operator.get(page);
  expect(after.html).not.toContain(`${address}?`);
  expect((await operator.get(address)).text).toContain('Nenhum pagamento até agora');
  expect((await operator.post(address, { ...given, note })).text).not.toContain('confira');
});

test('a match is previewed again where the order, or what is left of the payment, changed since; sent twice at once, it is made once', async () => {
  const pageOf = async (number: string): Promise<string> => {
    await put(number, { due_day: addDays(env.today, 5), amount: '50.00' });
    return /\/expected\/ep_[^"]+/.exec((await operator.get(`/expected?number=${number}`)).html)?.[0] ?? '';
  };
  const [page, other] = [await pageOf('stale-1'), await pageOf('stale-2')];
  const paid = makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), amount: '50.00' });
  await applyObservations(env.context, [observeNow(env.context, paid)]);
  const given = { transaction_id: paid.id };
  const stale = await operator.post(`${page}/match`, given);
  await put('stale-1', { due_day: addDays(env.today, 5), amount: '500.00' });
  const anew = await operator.confirm(`${page}/match`, stale);
  expect([anew.status, anew.text]).toEqual([409, expect.stringMatching(/R\$ 500,00 .*Pago a menos/)]);
  const part = await operator.post(`${other}/match`, given);
  const id = other.slice('/expected/'.length);
  await matchExpected(env.context, { id, transactionId: paid.id, amountCents: 2000n, actor: 'test', note: 'parte' });
  // until the follower has decided, the page says what it still has from before
  const waiting = await operator.get(other);
  expect(waiting.text).toContain('estado, valores e divergências ainda estão sendo calculados');
  expect(waiting.html).toContain('data-refresh-s="1"');
  const left = await operator.confirm(`${other}/match`, part);
  expect([left.status, left.text]).toEqual([409, expect.stringContaining('Conta para o pedido R$ 30,00')]);
  const twice = await Promise.all([1, 2, 3].map(() => operator.confirm(`${other}/match`, left)));
  expect(twice.map(({ status, to }) => [status, to])).toEqual(
    Array.from({ length: 3 }, () => [303, `${other}?done=expected_put`]),
  );
  const rows = await env.context.db.selectFrom('expected_matches').select('amount_cents').execute();
  expect(rows.filter(({ amount_cents }) => amount_cents === 3000n)).toHaveLength(1);
});

test('mismatches of orders name the number, and say the evidence in Portuguese', async () => {
  await put('named-1', { due_day: addDays(env.today, 1), references: ['named-1'] });
  for (const _ of [1, 2, 3])
    await applyObservations(env.context, [
      observeNow(
        env.context,
        makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), reference: 'named-1' }),
      ),
    ]);
  await decideAll(env.context);
  const list = await operator.get('/mismatches?kind=paid_twice');
  expect(list.text).toContain('Pedido named-1');
  expect(list.text).not.toContain('ep_');
  const [page = ''] = /\/mismatches\/mm_[^"]+/.exec(list.html) ?? [];
  const { text } = await operator.get(page);
  expect(text).toContain('Pedido pago mais de uma vez');
  expect(text).toContain('Pedido named-1');
  expect(text).toContain('Estado do pedido Pago');
});

test('an order that is short leads to its mismatch, which shows its state, what was paid, and by which payments', async () => {
  await put('short-1', { due_day: addDays(env.today, 1), references: ['short-1'] });
  const id = randomUUID();
  await applyObservations(env.context, [
    observeNow(
      env.context,
      makeShownTransaction(['pending@1', 'paid@2'], { id, reference: 'short-1', amount: '9.00' }),
    ),
  ]);
  await decideAll(env.context);
  const [page = ''] = /\/expected\/ep_[^"]+/.exec((await operator.get('/expected?number=short-1')).html) ?? [];
  const order = await operator.get(page);
  expect(order.text).toContain('Divergência em aberto: Valor diferente do esperado . Um operador pode aceitá-la ali');
  const [address = ''] = /\/mismatches\/mm_[^"]+/.exec(order.html) ?? [];
  const { text, html } = await operator.get(address);
  expect(text).toContain('Estado do pedido Pago Pago a menos outra Valor R$ 10,00 R$ 9,00 -R$ 1,00');
  expect(html).toContain(`href="/transactions/${id}"`);
});

test('the preview of a new order says that its number is taken, and what it would change', async () => {
  await put('n-1', { due_day: '2031-06-01', references: ['r-1', 'r-2'], extra: 'caixa 7' }, 'console');
  const fields = { number: 'n-1', operation: 'cashin', amount: '12,00', due_day: '2031-06-01', references: 'r-1' };
  const preview = await operator.post('/expected/new', fields);
  expect(preview.text).toContain('Este número já é de um pedido');
  expect(preview.text).toContain('Valor R$ 10,00 R$ 12,00 Referência r-1, r-2 r-1 Extra caixa 7 –');
  expect(preview.text).not.toMatch(/Emissão \d\S+ \d/);
  expect((await operator.post('/expected/new', { ...fields, number: 'n-2' })).text).not.toContain('já é de um pedido');
  // what came since the preview is shown before it is replaced
  await put('n-1', { due_day: '2031-06-01', amount: '11.00' }, 'console');
  const again = await operator.confirm('/expected/new', preview);
  expect(again.text).toContain('Valor R$ 11,00 R$ 12,00');
  expect((await operator.confirm('/expected/new', again)).status).toBe(303);
});

test('the preview of orders shows the first of them, their sum, and what keeps payments from being found; so does the form', async () => {
  const platform = env.paid.platform ?? '';
  await setPlatformName(env.context, { platform, name: 'Loja Norte', actor: 'test' });
  const header = 'origem;número;operação;valor;vencimento;plataforma;referências';
  const rows = Array.from(
    { length: 22 },
    (_, at) => `shop;seen-${at + 1};a receber;1,10;30/11/2031;Loja Norte;see-${at}`,
  );
  const lines = [header, ...rows, 'shop;seen-23;a receber;5,00;30/11/2031;Loja Sul;'];
  const file = Buffer.from(lines.join('\n')).toString('base64');
  const { text } = await operator.post('/balances/imports', { kind: 'expected', file });
  expect(text).toContain('Nada foi gravado ainda.');
  expect(text).toContain('Um pedido sem chave: nenhum pagamento é achado para ele.');
  expect(text).toContain('Nenhuma transação tem a plataforma “Loja Sul”, que está em uma linha');
  expect(text).toContain('a receber: 23, R$ 29,20 ao todo.');
  expect(text).toContain('As primeiras 20 de 23.');
  expect(text).toMatch(/seen-1 Loja Norte \S+ a receber R\$ 1,10 30\/11\/2031/);
  expect(text).toContain('seen-20');
  expect(text).not.toContain('seen-21');
  const page = await operator.get('/expected/new');
  expect(page.html).toContain(`<option value="${platform}">Loja Norte`);
  const fields = { number: 'seen-form', operation: 'cashin', amount: '1,00', due_day: '2031-11-30' };
  const named = await operator.post('/expected/new', { ...fields, platform: 'loja norte' });
  expect(named.text).toContain(`Plataforma Loja Norte ${platform}`);
  expect(named.text).not.toContain('Nenhuma transação tem esta plataforma');
  const unseen = await operator.post('/expected/new', { ...fields, platform: 'Loja Sul' });
  expect(unseen.text).toContain('Nenhuma transação tem esta plataforma: enquanto for assim');
  expect((await operator.confirm('/expected/new', unseen)).status).toBe(303);
  const list = await operator.get('/expected?number=seen-form');
  expect(list.html).toContain('nenhum pagamento é achado');
  const [id = ''] = /\/expected\/ep_[^"]+/.exec(list.html) ?? [];
  expect((await operator.get(id)).text).toContain('nenhuma transação tem a plataforma deste pedido');
});

test('the mismatch of a receipt that is nobody’s leads to the form that matches it', async () => {
  const { context } = env;
  const platform = randomUUID();
  const paid = makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), amount: '77.00', platform });
  await applyObservations(context, [observeNow(context, paid)]);
  const { seq } = await context.db
    .selectFrom('transactions')
    .select('seq')
    .where('id', '=', paid.id)
    .executeTakeFirstOrThrow();
  const mismatch = {
    kind: 'receipt_unidentified',
    scope: paid.id,
    transactionId: paid.id,
    transactionSeq: seq,
  } as const;
  await transact(context.db, (trx) => raiseMismatches(trx, [mismatch], context.clock.now()));
  const rows = await readMismatchRows(context, 'receipt_unidentified');
  const id = rows.find((row) => row.transaction_id === paid.id)?.id;
  expect((await operator.get('/mismatches?kind=receipt_unidentified')).text).toMatch(
    /Desde a emissão do primeiro pedido da plataforma, (?:em|entre) \d\d\/\d\d\/\d{4}/,
  );
  expect((await operator.get(`/mismatches/${id}`)).html).toContain(`href="/transactions/${paid.id}#match"`);
  expect((await operator.get(`/transactions/${paid.id}`)).html).toContain('<section class="act" id="match">');
});

test('a range that ends before it begins is refused, in lists and by the API', async () => {
  const { status, text } = await operator.get('/expected?due_from=2031-05-02&due_to=2031-05-01');
  expect([status, text.includes('Vem antes do primeiro dia.')]).toEqual([422, true]);
  for (const list of [
    '/expected-payments?due_from=2031-05-02&due_to=2031-05-01',
    '/mismatches?from=2026-02-02&to=2026-02-01',
  ])
    expect(await env.api('operator', 'GET', list)).toMatchObject({ status: 422, json: { reason: 'to_before_from' } });
});

test('days without an order lead to the nearest months that have one, with the other filters', async () => {
  for (const [number, due_day] of [['near-1', '2035-01-15'] as const, ['near-2', '2035-06-10'] as const])
    await put(number, { due_day }, 'near');
  const { html, text } = await operator.get('/expected?source=near&due_from=2035-03-01&due_to=2035-03-31');
  expect(text).toMatch(/com os outros filtros: 01\/2035 ?, 06\/2035 ?\./);
  const [january = ''] = /\/expected\?[^"]*due_from=2035-01-01[^"]*/.exec(html) ?? [];
  expect((await operator.get(unescapeHtml(january))).text).toContain('near-1');
  expect(unescapeHtml(january)).toContain('source=near');
});

test('the list names platforms, and says how late an order is', async () => {
  const platform = randomUUID();
  const paid = makeShownTransaction(['pending@1'], { id: randomUUID(), platform });
  await applyObservations(env.context, [observeNow(env.context, paid)]);
  await setPlatformName(env.context, { platform, name: 'Loja Oeste', actor: 'test' });
  await put('late-1', { due_day: addDays(env.today, -3), platform });
  const { text } = await operator.get('/expected?number=late-1');
  expect(text).toContain('Loja Oeste');
  expect(text).toContain('3 dias de atraso');
  // nothing ties it to a payment: that all days were proven would prove nothing of it
  const { id } = await env.context.db
    .selectFrom('expected_payments')
    .select('id')
    .where('number', '=', 'late-1')
    .executeTakeFirstOrThrow();
  const unpaid = { state: 'unpaid', reason_code: 'unpaid', first_lack: null, last_lack: null, lacks: 0 };
  await env.context.db.updateTable('expected_payments').set(unpaid).where('id', '=', id).execute();
  const page = await operator.get(`/expected/${id}`);
  expect(page.text).toContain('nenhum pagamento pode ser achado para ele, e talvez já esteja pago');
  expect(page.text).not.toContain('cada dia foi conferido por inteiro');
  expect(page.html).toContain('/transactions?operation=cashin&amp;status=paid&amp;amount_from=10%2C00');
  const { bytes } = await operator.download('/expected/export?number=late-1');
  expect(bytes.toString().split('\r\n')[1]).toMatch(/;10,00;0,00;0,00;Loja Oeste;não;;0$/);
});

test('the preview of orders says which receipts must be of an order from then on', async () => {
  const platform = randomUUID();
  for (const amount of ['31.00', '32.00'])
    await applyObservations(env.context, [
      observeNow(env.context, makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), platform, amount })),
    ]);
  const preview = async (issued: string, amount = '9,00') => {
    const lines = ['origem;número;operação;valor;vencimento;emissão;plataforma;referências'];
    lines.push(`shop;ask-${issued}${amount};a receber;${amount};30/11/2031;${issued};${platform};ask-1`);
    const file = Buffer.from(lines.join('\n')).toString('base64');
    return await operator.post('/balances/imports', { kind: 'expected', file });
  };
  // the payments are of 20 November 2026
  expect((await preview('2026-11-21')).text).not.toContain('passam a precisar de um pedido');
  const asked = await preview('2026-11-20');
  expect(asked.text).toMatch(/desde 20\/11\/2026 passam a precisar de um pedido: 2 não são de nenhum até agora/);
  await operator.confirm('/balances/imports', asked);
  await decideAll(env.context);
  expect((await preview('2026-11-20', '8,00')).text).not.toContain('passam a precisar de um pedido');
});
