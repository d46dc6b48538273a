import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM } from '../../browser/browser.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { CASHIN, startTestSandbox } from '../../support/start-test-sandbox.ts';

const sandbox = closeAfterAll(await startTestSandbox());
let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
});
afterAll(async () => {
  await browser.close();
});

/** @param isOwnTime false: `page.clock` controls the page's time too. */
async function open(fields: object = {}, isOwnTime = true): Promise<{ page: Page; id: string; code: string }> {
  const { json } = await sandbox.request('POST', '/api/v1/transaction/pix/cashin', { ...CASHIN, ...fields });
  const { id, payment_link, qr_code } = json.transaction[0];
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') throw new Error(message.text());
  });
  if (!isOwnTime) await page.clock.install();
  await page.goto(payment_link);
  return { page, id, code: qr_code };
}

async function statusOf(id: string): Promise<string> {
  return (await sandbox.request('GET', `/api/v1/transaction/${id}`)).json.transaction[0].status;
}

describe('the checkout page in a browser', () => {
  it.each([
    ['Pagar', 'paid', 'Pago'],
    ['Deixar expirar', 'expired', 'Expirado'],
    ['Cancelar', 'canceled', 'Cancelado'],
  ])('has a button "%s" that does it', async (label, status, words) => {
    const { page, id } = await open();
    await page.getByRole('button', { name: label, exact: true }).click();
    await page.getByRole('status').getByText(words).waitFor();
    expect(await statusOf(id)).toBe(status);
    await page.context().close();
  });

  it('copies the code', async () => {
    const { page, code } = await open();
    await page.getByRole('button', { name: 'Copiar código' }).click();
    await page.getByRole('button', { name: 'Código copiado' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code);
    await page.context().close();
  });

  it('updates itself when it was paid elsewhere', async () => {
    const { page, id } = await open({}, false);
    await sandbox.request('GET', `/checkout/transaction/${id}/change/paid`);
    await page.clock.fastForward(2_000);
    await page.getByRole('status').getByText('Pago').waitFor();
    expect(await page.getByRole('button', { name: 'Pagar' }).count()).toBe(0);
    await page.context().close();
  });

  it('fits a phone', async () => {
    const { page } = await open({ description: 'Palavra'.repeat(40) });
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.context().close();
  });
});
