import { createSecretKey, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDelivery } from '../../src/callbacks/deliver/deliver.ts';
import { sign } from '../../src/callbacks/render/sign.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { closeAfterAll } from '../support/close-after-all.ts';
import { eventually } from '../support/eventually.ts';
import { observe, type ShownTransaction } from '../support/make-observations.ts';
import { openConsoleEnvironment } from '../support/open-console-environment.ts';
import { openMerchantServer } from '../support/open-merchant-server.ts';
import { DEEP } from '../support/property.ts';
import { closeBrowser, logIn, openBrowser } from './browser.ts';

const env = closeAfterAll(await openConsoleEnvironment());
const shop = closeAfterAll(await openMerchantServer());
let delivery: Promise<void>;
const stopping = new AbortController();
beforeAll(async () => {
  const signal = AbortSignal.any([env.context.signal, stopping.signal]);
  delivery = startDelivery({ ...env.context, signal });
});
afterAll(async () => {
  await closeBrowser();
  stopping.abort();
  await delivery;
});

async function pay(amount: string): Promise<void> {
  const { calendar, clock } = env.context;
  const at = calendar.toWallTime(clock.now());
  const shown: ShownTransaction = {
    ...{ id: randomUUID(), operation: 'cashin', status: 'paid', amount, commission: '0.99', date_created: at },
    ...{ name: 'Maria', reference: 'pedido-novo', events: [{ status: 'paid', date_created: at }] },
  };
  await applyObservations(env.context, [observe(shown, clock.now())]);
}

test.each(DEEP ? [true, false] : [false])(
  'an engineer adds a merchant, sees its secret once, tests it and repeats a day (script: %s)',
  async (script) => {
    await using opened = await openBrowser(env.url, { script });
    const { page } = opened;
    page.setDefaultTimeout(30_000);
    const path = script ? '/with' : '/without';
    const title = (name: string | RegExp) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    const see = () => page.getByRole('button', { name: 'Ver o que muda' }).click();
    await logIn(page, env.url, env.tokens.admin, '/');

    await page.getByRole('navigation', { name: 'Principal' }).getByRole('link', { name: 'Lojistas' }).click();
    await page.getByRole('link', { name: 'Novo lojista' }).click();
    await title('Novo lojista');
    await page.getByLabel('Nome').fill('Floricultura');
    await page.getByLabel('Endereço (URL)').fill('https://169.254.169.254/pix');
    await page.getByLabel('Entrada').check();
    await page.getByLabel('Referência começa com').fill('pedido-');
    await see();
    await page.getByRole('alert').filter({ hasText: 'leva a uma rede' }).waitFor();
    expect(await page.getByLabel('Entrada').isChecked()).toBe(true);
    await page.getByLabel('Endereço (URL)').fill(`${shop.url}${path}`);
    await see();
    await title('Novo lojista: confira');
    expect(await page.getByRole('main').textContent()).toMatch(/o filtro aceita [1-9]\d*/);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    const secret = (await page.getByText(/^whsec_/).textContent()) ?? '';
    await page.getByRole('link', { name: 'Já guardei: abrir o lojista' }).click();
    await title('Floricultura');
    expect(await page.content()).not.toContain('whsec_');
    const merchant = page.url();

    await page.getByRole('button', { name: 'Enviar um teste' }).click();
    await title('confere.test');
    await eventually('the outcome of the test is on its page', async () => {
      if (!script) await page.reload();
      return (await page.getByText('HTTP 200').count()) > 0;
    });
    const [call] = shop.callsTo(path);
    const key = createSecretKey(Buffer.from(secret.slice('whsec_'.length), 'base64'));
    const {
      'webhook-id': id = '',
      'webhook-timestamp': timestamp = '',
      'webhook-signature': signature,
    } = call?.headers ?? {};
    expect(signature).toBe(sign([key], { id, timestamp: Number(timestamp), body: call?.body ?? '' }));

    await pay('55.10');
    await eventually('the payment is delivered', () => shop.callsTo(path).length === 2);
    // the shop has the request before its attempt is recorded
    await eventually('its attempt is on the page', async () => {
      await page.goto(merchant);
      return (await page.getByRole('heading', { name: 'Taxa de sucesso' }).count()) > 0;
    });
    await page.getByText('Ver os números').first().click();
    expect(await page.getByRole('cell', { name: '100 %' }).first().isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Reenviar um período' }).click();
    await title('Reenviar um período');
    await page.getByLabel('De', { exact: true }).fill(`${env.today}T00:00:00`);
    await page.getByLabel('Até antes de').fill(`${addDays(env.today, 1)}T00:00:00`);
    await see();
    await title('Reenviar um período: confira');
    expect(await page.getByRole('main').textContent()).toMatch(/voltariam para a fila\s*1/);
    expect(shop.callsTo(path)).toHaveLength(2);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByRole('status').filter({ hasText: 'voltaram para a fila' }).waitFor();
    await eventually('it is delivered again', () => shop.callsTo(path).length === 3);
    const [, first, second] = shop.callsTo(path);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(opened.complaints.filter((text) => !text.includes('422'))).toEqual([]);
  },
  60_000,
);
