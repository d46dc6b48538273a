/** The search box of the console: what each text finds, who may find it, and what its address shows. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { VIEWER_DOCUMENTS_AN_HOUR_MAX } from '../../../src/operations/authorize-search.ts';
import { indexParties } from '../../../src/privacy/index-parties.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession, unescapeHtml } from '../../support/open-console-session.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { readWorkbook } from '../reports/read-workbook.ts';

type Session = Awaited<ReturnType<typeof openConsoleSession>>;

const env = closeAfterAll(await openConsoleEnvironment());
const operator = await openConsoleSession(env, 'operator');
const viewer = await openConsoleSession(env, 'viewer');

const localDay = () => env.today.split('-').reverse().join('/');

/** Types a text into the box, and follows the redirects. */
async function type(session: Session, q: string, more: Record<string, string> = {}) {
  const posted = await session.post('/transactions', { q, ...more });
  let address = posted.to ?? '';
  let page = posted;
  for (let hop = 0; page.to !== null && hop < 3; hop++) {
    address = page.to;
    page = await session.get(address);
  }
  const ids = [...page.html.matchAll(/<td[^>]*><div><a href="\/transactions\/([^"]+)">/g)].map(([, id]) => id);
  return { ...page, text: page.text.replaceAll(/ ([,.])/g, '$1'), address, ids };
}

const readAudit = (action: string) =>
  env.context.db.selectFrom('audit').selectAll().where('action', '=', action).orderBy('seq').execute();

describe('a text in the box finds the transaction', () => {
  it.each([
    ['id', () => env.paid.id, 'id ou começo dele, referência ou extra'],
    ['id in capital letters', () => env.paid.id.toUpperCase(), 'id ou começo dele'],
    ['beginning of the id', () => env.paid.id.slice(0, 8), 'id ou começo dele'],
    ['longer beginning of the id', () => env.paid.id.slice(0, 14), 'id ou começo dele'],
    ['reference', () => 'pedido-maria', 'referência, extra'],
    ['extra', () => '<script>alert(1)</script>', 'referência, extra ou começo de palavras'],
    ['end-to-end id', () => env.paid.e2e_id ?? '', 'id E2E, referência ou extra'],
    ['CPF', () => '123.456.789-09', 'CPF ou CNPJ'],
    ['CPF without punctuation', () => '12345678909', 'CPF ou CNPJ'],
    ['name', () => 'silva MARIA', 'começo de palavras'],
    ['amount', () => 'R$ 1.234,56', 'Procurado como valor.'],
    ['amount without its currency', () => '1234,56', 'Procurado como valor.'],
    ['amount with a dot', () => '1234.56', 'referência, extra, começo de palavras ou valor'],
  ])('by its %s, and says what it searched for', async (_, text, said) => {
    const found = await type(operator, text());
    expect(found.status).toBe(200);
    expect(found.ids).toEqual([env.paid.id]);
    expect(found.text).toContain(said);
    expect(found.text).toMatch(/1 transação *: Entradas pagas R\$ 1\.234,56/);
  });

  it('by its day, which becomes the period', async () => {
    for (const text of [localDay(), env.today]) {
      const found = await type(operator, text, { status: 'paid' });
      expect(found.address).toBe(`/transactions?status=paid&from=${env.today}&to=${env.today}`);
      expect(found.ids).toContain(env.paid.id);
      expect(found.text).toContain(`Período: ${localDay()}`);
    }
  });

  it('by words beside an amount, a range or a day, each a filter of its own', async () => {
    for (const text of ['Maria R$ 1.234,56', `1.234,56 Maria ${localDay()}`, 'maria de 1.234,00 a 1.235,00']) {
      const found = await type(operator, text);
      expect(found.ids).toEqual([env.paid.id]);
      expect(found.text).toContain('começo de palavras');
      expect(found.text).toContain('Valor de: 1.234');
      expect(found.text.includes(`Período: ${localDay()}`)).toBe(text.includes('/'));
      expect(found.address).toMatch(/sealed=/);
      expect(found.address).not.toMatch(/maria/i);
    }
    expect((await type(operator, 'Maria R$ 1.234,55')).ids).toEqual([]);
    expect((await type(operator, 'Maria 01/01/2026')).ids).toEqual([]);
    // a name beside an amount is searched for by nobody who may see none
    expect((await type(viewer, 'Maria R$ 1.234,56')).ids).toEqual([]);
  });

  it('by a reference, an extra or an order number that has a day in it, and else by its words and the day', async () => {
    const text = `Mesa ${localDay()}`;
    const of = (id: string) => `0f0e0d0c-0000-4000-8000-0000000000${id}`;
    const before = await type(operator, text);
    expect([before.ids, before.text.includes(`Período: ${localDay()}`)]).toEqual([[], true]);
    const { e2e_id: _, ...paid } = {
      ...env.paid,
      id: of('a1'),
      name: 'Rui',
      amount: '77.00',
      description: '',
      email: '',
    };
    const known = { ...paid, reference: text, extra: `Balcão ${localDay()} 10,00` };
    await applyObservations(env.context, [observe(known, env.context.clock.now())]);
    const found = await type(operator, text);
    expect(found.ids).toEqual([known.id]);
    expect(found.text).toContain('Procurado como referência.');
    const wider = unescapeHtml(/href="([^"]+)">Procurar também como outra coisa</.exec(found.html)?.[1] ?? '');
    expect((await operator.get(wider)).text).toContain(`Período: ${localDay()}`);
    const byExtra = await type(viewer, known.extra);
    expect(byExtra.ids).toEqual([known.id]);
    expect(byExtra.text).toContain('Procurado como extra.');
    const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '7.00', due_day: env.today });
    const order = { source: 'loja', number: `Nota ${localDay()}`, facts };
    await putExpected(env.context, { arrivals: [order], actor: 'test' });
    expect((await type(operator, order.number)).text).toContain(`Pedido com este número: ${order.number}`);
  });

  it('a whole reference comes first, before newer ones that only begin with its words', async () => {
    const { e2e_id: _, ...base } = { ...env.paid, name: 'Rui', description: '', email: '', extra: '' };
    const at = (n: number) => `${env.today}T0${n}:00:00-03:00`;
    const rows = [6, 61, 62, 63, 64, 65].map((n, index) => ({
      ...{ ...base, id: `0f0e0d0c-0000-4000-8000-0000000000c${index}`, reference: `cobranca-${n}`, amount: '3.00' },
      created_at: at(index),
    }));
    await applyObservations(
      env.context,
      rows.map((row) => observe(row, env.context.clock.now())),
    );
    await indexParties(env.context);
    const [exact] = rows;
    const whole = await type(operator, 'cobranca-6');
    expect([whole.ids[0], whole.ids.length]).toEqual([exact?.id, 6]);
    expect(whole.text).toContain('Primeiro, o que tem exatamente este texto.');
    expect(whole.text).toMatch(/6 transações/);
    const cut = await operator.get(`${whole.address}&limit=2`);
    const ids = [...cut.html.matchAll(/<td[^>]*><div><a href="\/transactions\/([^"]+)">/g)].map(([, id]) => id);
    expect([ids[0], ids.length]).toEqual([exact?.id, 3]);
    expect((await type(operator, 'cobranca')).text).not.toContain('Primeiro, o que tem exatamente');
  });

  it('and says of an amount or a day that was read as text that it was', async () => {
    const several = 'Há mais de um valor, ou mais de um dia: foram procurados como texto.';
    expect((await type(operator, 'Maria 31/02/2026')).text).toContain(
      '“31/02/2026” não é um dia: foi procurado como texto. Procurado como referência',
    );
    expect((await type(operator, 'Maria 10,00 20,00')).text).toContain(several);
    expect((await type(operator, 'Maria 01/01/2026 02/01/2026')).text).toContain(several);
    expect((await type(operator, 'Maria')).text).not.toMatch(/foi procurado|foram procurados/);
  });

  it('by a negative amount only where the money left', async () => {
    const out = await env.context.db
      .selectFrom('transactions')
      .select(['id', 'amount_cents'])
      .where('operation', '=', 'cashout')
      .limit(1)
      .executeTakeFirstOrThrow();
    const amount = (Number(out.amount_cents) / 100).toFixed(2).replace('.', ',');
    expect((await type(operator, `-${amount}`)).ids).toContain(out.id);
    expect((await type(operator, '-1.234,56')).ids).toEqual([]);
    expect((await type(operator, `-${amount}`, { operation: 'cashin' })).ids).toEqual([]);
  });

  it('by a range of amounts, beside the other filters', async () => {
    const one = await operator.get('/transactions?amount_from=1.234,00&amount_to=1.235,00');
    expect(one.html).toContain(`/transactions/${env.paid.id}`);
    expect(one.text).toContain('Valor de: 1.234,00');
    expect(one.text).toMatch(/1 transação : Entradas pagas R\$ 1\.234,56/);
    const none = await operator.get('/transactions?amount_from=1.234,57&amount_to=1.235,00&operation=cashin');
    expect(none.html).not.toContain(`/transactions/${env.paid.id}`);
    const typed = await operator.get('/transactions?amount_from=R%24%201.234,00&amount_to=1235.00');
    expect(typed.html).toContain(`/transactions/${env.paid.id}`);
    expect((await operator.get('/transactions?amount_from=abc')).status).toBe(422);
    const answer = await fetch(`${env.url}/api/v1/transactions?amount_from=1234.56&amount_to=1234.56`, {
      headers: { authorization: `Bearer ${env.tokens.operator}` },
    });
    const { transactions } = (await answer.json()) as { transactions: { id: string }[] };
    expect(transactions.map(({ id }) => id)).toEqual([env.paid.id]);
  });

  it('by what stands inside of its words, in a period, and not for a viewer', async () => {
    const inside = { inside: 'PARECID', from: env.today, to: env.today };
    const found = await type(operator, '', inside);
    expect(found.ids).toEqual([env.paid.id]);
    expect(found.address).toMatch(/sealed=/);
    expect(found.address).not.toMatch(/parecid/i);
    expect(found.text).toContain('Dentro das palavras: PARECID');
    expect((await type(viewer, '', inside)).status).toBe(403);
    expect((await viewer.get('/transactions')).text).not.toContain('Dentro das palavras');
  });

  it('by one of several readings alone, once it is narrowed to it', async () => {
    const other = {
      ...env.paid,
      id: '0f0e0d0c-0000-4000-8000-0000000000aa',
      reference: 'outro',
      extra: 'pedido-maria',
    };
    await applyObservations(env.context, [observe(other, env.context.clock.now())]);
    const both = await type(operator, 'pedido-maria');
    expect(new Set(both.ids)).toEqual(new Set([env.paid.id, other.id]));
    const address = unescapeHtml(/href="([^"]+)">extra</.exec(both.html)?.[1] ?? '');
    const one = await operator.get(address);
    expect(one.html).toContain(`/transactions/${other.id}`);
    expect(one.html).not.toContain(`/transactions/${env.paid.id}`);
    expect(one.text).toContain('Procurar também como outra coisa');
    await applyObservations(env.context, [observe({ ...other, extra: 'x' }, env.context.clock.now())]);
  });
});

describe('the address of a search', () => {
  it.each(['123.456.789-09', '12345678909', 'Maria Aparecida', 'pedido-maria', '55123456789', '1234567'])(
    'does not show %s, which may be of a person',
    async (q) => {
      const { address } = await type(operator, q, { status: 'paid' });
      expect(address).toMatch(/^\/transactions\?status=paid&sealed=[\w-]+$/);
      const { text } = await operator.get(`/transactions?${new URLSearchParams({ q }).toString()}`);
      expect(text).not.toContain('Transações ·');
      const typed = await operator.get(`/transactions?${new URLSearchParams({ q }).toString()}`);
      expect(typed.to).toMatch(/^\/transactions\?sealed=[\w-]+$/);
    },
  );

  it.each(['R$ 1.234,56', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'])('shows %s, which is of nobody', async (q) => {
    expect((await type(operator, q)).address).toBe(`/transactions?${new URLSearchParams({ q }).toString()}`);
  });

  it('leaves the text of the box out of what follows the login', async () => {
    const away = await fetch(`${env.url}/transactions?q=Maria&status=paid`, { redirect: 'manual' });
    expect(away.headers.get('location')).toBe(`/login?next=${encodeURIComponent('/transactions?status=paid')}`);
  });
});

describe('a viewer', () => {
  it('finds a whole document, masked, and no name, and is said so', async () => {
    const found = await type(viewer, '123.456.789-09');
    expect(found.ids).toEqual(expect.arrayContaining([env.paid.id]));
    expect(found.text).toContain('M*** A*** d*** S***');
    expect(found.html).not.toContain('Maria Aparecida');
    const named = await type(viewer, 'Maria Aparecida');
    expect([named.status, named.ids]).toEqual([200, []]);
    expect(named.text).toContain('O papel de leitura não busca por nome.');
    expect((await viewer.get('/transactions?name=Maria')).status).toBe(303);
  });

  it('may not name the reading that is withheld', async () => {
    expect((await type(viewer, 'Maria Aparecida', { as: 'words' })).status).toBe(403);
  });

  it('searches for 30 documents an hour, each counted once, however many readings it has', async () => {
    const { token } = await createToken(env.context, { name: 'counted', role: 'viewer' });
    const counted = await openConsoleSession({ ...env, tokens: { ...env.tokens, viewer: token } }, 'viewer');
    for (let n = 0; n < VIEWER_DOCUMENTS_AN_HOUR_MAX; n++)
      expect((await type(counted, `${100 + n}.456.789-09`)).status).toBe(200);
    expect((await type(counted, '123.456.789-09')).status).toBe(429);
    expect((await type(counted, 'R$ 1.234,56')).status).toBe(200);
  });
});

describe('a wrong search keeps the form and says which field', () => {
  it.each([
    ['q', { q: '31/02/2026' }, 'Este dia não existe'],
    ['q', { q: 'R$ dez' }, 'Escreva o valor como R$ 1.234,56'],
    ['q', { q: 'x'.repeat(600) }, 'No máximo 512 caracteres'],
    ['q', { q: 'pedido-maria', reference: 'x' }, 'Tire antes o outro texto da busca'],
    ['q', { q: 'R$ 1,00', as: 'words' }, 'Este texto não se lê assim'],
    ['operation', { operation: 'sideways' }, 'Escolha um da lista'],
    ['from', { from: '2026-02-30' }, 'Este dia não existe'],
    ['to', { from: '2026-02-20', to: '2026-02-19' }, 'Vem antes do primeiro dia'],
    ['amount_to', { amount_from: '100', amount_to: '50' }, 'É menor que o primeiro valor.'],
    ['inside', { inside: 'aria' }, 'Escolha o período, de no máximo 95 dias.'],
    ['inside', { inside: 'aria', from: '2026-01-01', to: '2026-04-06' }, 'Escolha o período'],
    ['inside', { inside: 'ia' }, 'Escreva 3 letras ou mais.'],
    ['amount', { amount: '1,234' }, 'Escreva o valor como R$ 1.234,56'],
  ])('%s of %o: %s', async (field, given, fault) => {
    const { status, html, text } = await operator.post('/transactions', { ...given, status: 'paid' } as Record<
      string,
      string
    >);
    expect(status).toBe(422);
    expect(html).toMatch(new RegExp(`name="${field}" aria-invalid="true" aria-describedby="[^"]*${field}-fault"`));
    expect(html).toMatch(new RegExp(`id="${field}-fault" role="alert">${fault.replace(/[.$]/g, '\\$&')}`));
    for (const [name, value] of Object.entries(given)) if (name !== 'as') expect(html).toContain(`value="${value}"`);
    expect(html).toContain('<option value="paid" selected>');
    expect(text).not.toContain('Requisição inválida');
  });

  it('a search of another session', async () => {
    const { address } = await type(operator, 'Maria');
    const other = await viewer.get(`${address}&status=paid`);
    expect(other.status).toBe(422);
    expect(other.html).toMatch(/id="q-fault" role="alert">Esta busca valia só para a sessão/);
    expect(other.html).toContain('<option value="paid" selected>');
  });
});

test('each filter is a chip, whose link removes it alone', async () => {
  const { merchant } = await callbackOfPaid();
  const filters = { status: 'paid', operation: 'cashin', platform: env.paid.platform ?? '', merchant, by: 'created' };
  const found = await type(operator, 'Maria', { ...filters, from: env.today, to: env.today });
  expect(found.ids).toEqual([env.paid.id]);
  const chips = [...found.html.matchAll(/<a class="chip" href="([^"]+)"><span>([^:]+):/g)];
  expect(chips.map(([, , label]) => label)).toEqual(['Situação', 'Operação', 'Plataforma', 'Lojista', 'Período']);
  for (const [, href = '', label = ''] of chips) {
    const page = await operator.get(unescapeHtml(href));
    const left = [...page.html.matchAll(/<a class="chip" href="[^"]+"><span>([^:]+):/g)].map(([, one]) => one);
    expect(left).toEqual(chips.map(([, , one]) => one).filter((one) => one !== label));
    expect(page.html).toContain('name="q"');
    expect(page.html).toContain('value="Maria"');
  }
  expect((await type(operator, '', { ...filters, merchant: 'mer_none' })).ids).toEqual([]);
});

async function callbackOfPaid() {
  const row = await env.context.db
    .selectFrom('callbacks')
    .innerJoin('merchants', 'merchants.seq', 'callbacks.merchant_seq')
    .innerJoin('transactions', 'transactions.seq', 'callbacks.transaction_seq')
    .select('merchants.id as merchant')
    .where('transactions.id', '=', env.paid.id)
    .executeTakeFirstOrThrow();
  return row;
}

describe('an export', () => {
  const download = async (session: Session, format: string, found: { html: string }) => {
    const href = unescapeHtml(
      new RegExp(`href="(/transactions/export\\?[^"]*format=${format}[^"]*)"`).exec(found.html)?.[1] ?? '',
    );
    expect(href).not.toBe('');
    return await session.download(href);
  };

  it('has what is shown as CSV, with the same filter, and is audited by id', async () => {
    const found = await type(operator, '123.456.789-09', { status: 'paid' });
    const { name, bytes } = await download(operator, 'csv', found);
    expect(name).toMatch(/^confere-transacoes-\d{8}-\d{6}\.csv$/);
    const [head, ...rows] = bytes.toString('utf8').trimEnd().split('\r\n');
    expect(head).toMatch(/^\uFEFFId da transação;Criado em;.*;Nome;Documento;Nome da plataforma$/);
    expect(rows.length).toBe(found.ids.length);
    expect(rows[0]).toContain(';1234,56;');
    expect(rows.join()).toContain('Maria Aparecida da Silva');
    const audited = (await readAudit('transactions.export')).at(-1);
    expect(audited?.target).toBe('["reference","extra","document","words","status"]');
    expect(audited?.detail).toContain(env.paid.id);
    expect(JSON.stringify(audited)).not.toMatch(/12345678909|123\.456/);
  });

  it('is masked for a viewer, also in its name, and not audited', async () => {
    const before = (await readAudit('transactions.export')).length;
    const { name, bytes } = await download(viewer, 'csv', await type(viewer, 'R$ 1.234,56'));
    expect(name).toContain('-masked.csv');
    expect(bytes.toString()).toContain('M*** A*** d*** S***');
    expect(bytes.toString()).not.toMatch(/Maria|123\.?456\.?789-?09/);
    expect(await readAudit('transactions.export')).toHaveLength(before);
  });

  it('is a workbook with names of platforms, a total, and no formula of anybody else', async () => {
    const platform = env.paid.platform ?? '';
    await setPlatformName(env.context, { platform, name: 'Loja do Centro', actor: 'admin' });
    const evil = { ...env.paid, id: '0f0e0d0c-0000-4000-8000-0000000000bb', reference: '=1+1', name: '@cmd' };
    await applyObservations(env.context, [observe({ ...evil, amount: '7.77' }, env.context.clock.now())]);
    const found = await type(operator, 'R$ 7,77');
    expect(found.text).toContain('Loja do Centro');
    const { name, bytes } = await download(operator, 'xlsx', found);
    using directory = temporaryDirectory();
    const file = path.join(directory.path, name);
    writeFileSync(file, bytes);
    const [sheet] = await readWorkbook(file);
    const cells = (sheet?.rows ?? []).flat().filter((cell) => cell !== null);
    expect(sheet?.title).toBe('Transações');
    expect(cells).toContainEqual(expect.objectContaining({ value: '=1+1', kind: 'text', formula: null }));
    expect(cells).toContainEqual(expect.objectContaining({ value: `Loja do Centro (${platform})` }));
    expect(cells.filter(({ value }) => value === 7.77).length).toBeGreaterThan(0);
    const csv = (await download(operator, 'csv', found)).bytes.toString();
    expect(csv).toContain("'=1+1");
    expect(csv).toContain("'@cmd");
    expect(csv).toContain(platform);
  });

  it('takes the search’s own limits: a viewer’s name search, a wrong filter, another format', async () => {
    expect((await viewer.get('/transactions/export?format=csv&name=Maria')).to).toMatch(
      /^\/transactions\/export\?format=csv&sealed=/,
    );
    const sealed = (await viewer.get('/transactions/export?format=csv&name=Maria')).to ?? '';
    expect((await viewer.get(sealed)).status).toBe(403);
    expect((await operator.get('/transactions/export?format=csv&from=2026-02-30')).status).toBe(422);
    expect((await operator.get('/transactions/export?format=pdf')).status).toBe(404);
  });
});

test('platforms have their names in the search, its select, the balances and the forms', async () => {
  const [platform = ''] = [env.paid.platform];
  await setPlatformName(env.context, { platform, name: 'Loja do Centro', actor: 'admin' });
  const accountant = await openConsoleSession(env, 'accountant');
  const option = `<option value="${platform}">Loja do Centro · ${platform.slice(0, 8)}…</option>`;
  for (const [session, address] of [
    [operator, '/transactions'],
    [viewer, '/transactions'],
    [operator, '/reconciliations'],
    [accountant, '/balances/adjustments/new'],
    [accountant, '/balances/platforms'],
  ] as const) {
    expect((await session.get(address)).html, address).toContain(option);
  }
  for (const address of [`/transactions/${env.paid.id}`, '/transactions?status=paid', '/balances'])
    expect((await viewer.get(address)).html, address).toContain('<b>Loja do Centro</b>');
});

test('a platform that is a document is no choice of a viewer', async () => {
  const row = { ...env.paid, id: '0f0e0d0c-0000-4000-8000-0000000000cc', platform: '11144477735' };
  await applyObservations(env.context, [observe(row, env.context.clock.now())]);
  expect((await operator.get('/transactions')).html).toContain('<option value="11144477735">');
  expect((await viewer.get('/transactions')).html).not.toContain('11144477735');
});

test('the list of statements has those of one platform, which is chosen by its name', async () => {
  const { db, clock } = env.context;
  const one = env.paid.platform ?? '';
  const other = 'a3bb189e-8bf9-4888-9912-ace4e6543002';
  await setPlatformName(env.context, { platform: one, name: 'Loja do Centro', actor: 'admin' });
  const at = { at: clock.now(), at_wall: `${env.today} 00:00:00`, created_at: clock.now(), actor: 'admin' };
  const rows = [one, other].map((platform, n) => ({
    ...at,
    platform,
    id: `st_${n}`,
    balance_cents: BigInt(7_700 + n),
  }));
  await db.insertInto('statements').values(rows).execute();
  const all = await viewer.get('/balances/statements');
  expect([all.text.includes('R$ 77,00'), all.text.includes('R$ 77,01')]).toEqual([true, true]);
  expect(all.html).toContain(`<option value="${one}">Loja do Centro · ${one.slice(0, 8)}…</option>`);
  const { text, html } = await viewer.get(`/balances/statements?platform=${one}`);
  expect([text.includes('R$ 77,00'), text.includes('R$ 77,01')]).toEqual([true, false]);
  expect(html).toContain(`<option value="${one}" selected>`);
});

describe.each<[Role, string, Record<string, string>, string, string]>([
  ['operator', '/mismatches', { kind: 'nonsense', transaction_id: 'abc' }, 'kind', 'Escolha um da lista.'],
  ['operator', '/inbox', { state: 'nonsense', reference: 'abc' }, 'state', 'Escolha um da lista.'],
  ['operator', '/callbacks', { state: 'nonsense', transaction_id: 'abc' }, 'state', 'Escolha um da lista.'],
  ['operator', '/alerts', { severity: 'nonsense' }, 'severity', 'Escolha um da lista.'],
  ['operator', '/balances/statements', { platform: 'x'.repeat(70) }, 'platform', 'No máximo 64 caracteres.'],
  ['admin', '/audit', { from: '2026-02-30', actor: 'abc' }, 'from', 'Este dia não existe.'],
])('the list of a %s at %s', (role, address, given, field, fault) => {
  it('keeps a wrong filter in its form, with the message at the field', async () => {
    const session = await openConsoleSession(env, role);
    const { status, html } = await session.get(`${address}?${new URLSearchParams(given).toString()}`);
    expect(status).toBe(422);
    expect(html).toContain(`name="${field}" aria-invalid="true" aria-describedby="${field}-fault"`);
    expect(html).toContain(`id="${field}-fault" role="alert">${fault}`);
    for (const value of Object.values(given)) expect(html).toContain(`value="${value}"`);
  });
});
