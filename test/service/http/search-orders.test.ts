/** Texts of the search box that name no transaction, and that the console answers: an order’s number, a range, a mistyped id. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOne, expectOrders } from '../../support/expect-orders.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { unescapeHtml } from '../../support/open-console-session.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const order = await expectOrders(env);
const session = await env.console('accountant');
await expectPaidWrongly();

/** Raises the alert of an order that is paid with another amount. */
async function expectPaidWrongly(): Promise<void> {
  const { context, today } = env;
  await expectOne(context, { due_day: today, issued_day: today, references: ['caro'] }, 'pedido-caro');
  const shown = { ...env.paid, id: randomUUID(), reference: 'caro', amount: '12.00', extra: 'caro' };
  await applyObservations(context, [observe(shown, context.clock.now())]);
  await decideAll(context);
}

async function type(q: string, by = session) {
  let page = await by.post('/transactions', { q });
  for (let hop = 0; page.to !== null && hop < 3; hop++) page = await by.get(page.to);
  return page;
}

test.each(['pedido-maria', 'Pedido pedido-maria', '#pedido-maria'])(
  '%s leads to the order of that number',
  async (q) => {
    const { html } = await type(q);
    expect(html).toContain(`<a href="/expected/${order}">pedido-maria</a>`);
  },
);

test('an order that is found stands beside no word that nothing is', async () => {
  await expectOne(env.context, {}, 'qqq-www');
  const { text } = await type('qqq-www');
  expect(text).toContain('Pedido com este número:');
  expect(text).toContain('Nenhuma transação com isto; 1 pedido, acima.');
  expect(text).not.toContain('Nenhuma transação com estes filtros');
});

test.each(['1.234,00 a 1.235,00', 'de R$ 1234 até R$ 1.235,00', 'entre 1234,00 e 1235,00', '1.234,00 - 1.235,00'])(
  '%s is a range of amounts',
  async (q) => {
    const { html, text } = await type(q);
    expect(html).toContain(`/transactions/${env.paid.id}`);
    expect(text).toMatch(/Valor de: \S* ?1\.?234/);
  },
);

test('a word from inside of a name leads to the search inside of words, with its period', async () => {
  const { html, text } = await type('parecida');
  expect(text).toContain('Dentro delas, só num período: buscar “parecida” dentro das palavras');
  const [, link = ''] = /<a href="([^"]+)">buscar “/.exec(html) ?? [];
  expect(link).not.toMatch(/parecida/);
  const found = await session.get(unescapeHtml(link));
  expect(found.html).toContain(`/transactions/${env.paid.id}`);
  expect((await type('parecida', await env.console('viewer'))).text).not.toContain('Dentro delas');
});

test.each([
  [(id: string) => id.slice(0, -1), 'Um id E2E tem 32 caracteres, e este tem 31.'],
  [(id: string) => `${id}0`, 'Um id E2E tem 32 caracteres, e este tem 33.'],
  [(id: string) => `${id.slice(0, -1)}Z`, 'Confira cada caractere do id E2E.'],
])('a mistyped end-to-end id is named as one, and why it finds nothing (%#)', async (mistype, said) => {
  const { text } = await type(mistype(env.paid.e2e_id ?? ''));
  expect(text).toContain(`Nenhuma transação conhecida tem este id E2E. ${said}`);
});

test('the first page and the alerts name an order by its number', async () => {
  for (const address of ['/', '/alerts']) {
    const { html } = await session.get(address);
    expect(html).toContain('pedido pedido-caro');
    expect(html).not.toContain('pedido ep_');
  }
});

test('the login asks nobody for a command', async () => {
  const text = await (await fetch(`${env.url}/login`, { headers: { 'accept-language': 'pt-BR' } })).text();
  expect(text).toContain('Quem administra o Confere lhe dá um.');
  expect(text).not.toContain('confere tokens');
});

test('a part of a number leads to no order, and the list of orders says that it takes the whole number', async () => {
  expect((await type('pedido-mari')).html).not.toContain('/expected/ep_');
  expect((await session.get('/expected')).text).toContain('O número inteiro');
});

test('a day without its year is the last such day', async () => {
  const [year, month, day] = env.today.split('-');
  expect((await type(`${day}/${month}`)).html).toContain(`<b>${day}/${month}/${year}</b>`);
});

test('the total says what was refunded since, and that the report counts both', async () => {
  const { text } = await session.get('/transactions?status=paid');
  expect(text).toContain('O que foi devolvido depois não está nas pagas; o relatório conta os dois.');
});
