/** Texts of the search box that name no transaction, and that the console answers: an order’s number, a day without its year. */
import { expect, test } from 'vitest';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { expectOrders } from '../../support/expect-orders.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const order = await expectOrders(env);
const session = await env.console('accountant');

async function type(q: string) {
  let page = await session.post('/transactions', { q });
  for (let hop = 0; page.to !== null && hop < 3; hop++) page = await session.get(page.to);
  return page;
}

test.each(['pedido-maria', 'Pedido pedido-maria', '#pedido-maria'])(
  '%s leads to the order of that number',
  async (q) => {
    const { html } = await type(q);
    expect(html).toContain(`<a href="/expected/${order}">pedido-maria</a>`);
  },
);

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
