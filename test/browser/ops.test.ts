import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../src/access/tokens.ts';
import { createMerchant } from '../../src/merchants/change-merchants.ts';
import { eventually } from '../support/eventually.ts';
import { makeRow } from '../support/make-provider-rows.ts';
import { type HttpSink, openHttpSink } from '../support/open-http-sink.ts';
import { type MerchantServer, openMerchantServer } from '../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../support/open-served-environment.ts';
import { ADMIN_TOKEN, API_KEY } from '../support/start-serve.ts';
import { TestProvider } from '../support/test-provider.ts';
import { closeBrowser, logIn, openBrowser } from './browser.ts';

/** Far below the time-out of an attempt or a request. */
const STEP_MS = 500;
const stack = new AsyncDisposableStack();
let provider: TestProvider;
let slack: HttpSink;
let shop: MerchantServer;
let env: ServedEnvironment;
beforeAll(async () => {
  provider = stack.use(await new TestProvider(API_KEY).listen());
  slack = stack.use(await openHttpSink());
  shop = stack.use(await openMerchantServer());
  env = stack.use(
    await openServedEnvironment({
      providerUrl: provider.url,
      env: { SLACK_WEBHOOK_URL: slack.url, WEBHOOK_GRACE: '1s', JOBS: 'off' },
    }),
  );
  env.context.config.LIMITS.callbackAlertMs = 60_000;
  env.timers.freeze();
});
afterAll(async () => {
  await closeBrowser();
  await stack.disposeAsync();
});

const advanceUntil = (what: string, ask: () => boolean | Promise<boolean>) =>
  eventually(what, async () => {
    await env.timers.advance(STEP_MS);
    return ask();
  });

const heard = (name: string) => slack.posted.some(({ json }) => (json as { text: string }).text.includes(name));

/** Waits for Slack's message about an alert, or about its end. */
const hear = (name: string, mark: 'red_circle' | 'large_orange_circle' | 'white_check_mark') =>
  advanceUntil(`${mark} ${name} in Slack`, () =>
    slack.posted.some(({ json }) =>
      (json as { text: string }).text.split('\n').some((line) => line.startsWith(`:${mark}:`) && line.includes(name)),
    ),
  );

/** The reasons of the overview's verdict with this text, which may be none. */
async function openOverview(page: Page, text: string): Promise<Locator> {
  await page.goto(env.url);
  return page.getByRole('listitem').filter({ hasText: text });
}

const titled = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

/** A payment whose callback the shop refuses, and a webhook that claims a payment that the provider does not show. */
async function causeTroubles(): Promise<void> {
  shop.behaviours['/old'] = () => 500;
  await createMerchant(env.context, { name: 'Livraria', url: `${shop.url}/old` });
  const paid = provider.put(makeRow({ history: ['paid'] }));
  await env.webhook({ transaction_id: paid.id, status: 'paid' });
  await advanceUntil('the shop refuses the callback', () => shop.callsTo('/old').length > 0);
  const unpaid = provider.put(makeRow());
  await env.webhook({ transaction_id: unpaid.id, status: 'paid' });
  await hear('webhook_contradiction', 'red_circle');
  await hear('merchant_failing', 'large_orange_circle');
  provider.switches.fault = () => ({ status: 503 });
}

test('ops hears of a dead provider, a failing merchant and a forged webhook, and ends each in the console', async () => {
  await using opened = await openBrowser(env.url);
  const { page, browser } = opened;
  page.setDefaultTimeout(30_000);
  const { token } = await createToken(env.context, { name: 'ops', role: 'operator' });
  await causeTroubles();
  await logIn(page, env.url, token, '/');

  await page.getByRole('button', { name: 'Conferir hoje' }).click();
  await page.getByRole('status').waitFor();
  // one cause, one alert: the run that failed is not another
  await hear('provider_failing', 'red_circle');
  expect(heard('run_failed')).toBe(false);
  const failing = await openOverview(page, 'O provedor falha:');
  await titled(page, 'Não confere');
  await failing.getByRole('link', { name: 'Abrir' }).click();
  await titled(page, 'Webhooks');
  provider.switches.fault = () => undefined;
  await hear('provider_failing', 'white_check_mark');
  expect(await (await openOverview(page, 'O provedor falha:')).count()).toBe(0);

  await (await openOverview(page, 'Webhook contradiz o provedor:')).getByRole('link', { name: 'Abrir' }).click();
  await page.getByLabel('Observação').fill('Forjado: o painel não tem o pagamento; segredo trocado');
  await page.getByRole('button', { name: 'Resolver' }).click();
  await titled(page, 'Resolver: confira');
  await page.getByRole('button', { name: 'Resolver' }).click();
  await page.getByRole('status').waitFor();
  await hear('webhook_contradiction', 'white_check_mark');
  expect(await (await openOverview(page, 'Webhook contradiz o provedor:')).count()).toBe(0);

  // a merchant's address is changed by an admin
  await titled(page, 'Não confere');
  await browser.clearCookies();
  await logIn(page, env.url, ADMIN_TOKEN);
  await (await openOverview(page, 'Lojista não recebe:')).getByRole('link', { name: 'Abrir' }).click();
  await titled(page, 'Livraria');
  await page.getByRole('link', { name: 'Editar' }).click();
  await page.getByLabel('Endereço (URL)').fill(`${shop.url}/new`);
  await page.getByRole('button', { name: 'Ver o que muda' }).click();
  await page.getByRole('button', { name: 'Confirmar' }).click();
  await titled(page, 'Livraria');
  await page.getByRole('button', { name: 'Enviar um teste' }).click();
  await titled(page, 'confere.test');
  await hear('merchant_failing', 'white_check_mark');
  expect(shop.acceptedCalls('/new').length).toBeGreaterThan(0);

  await page.goto(env.url);
  await titled(page, 'Ainda não sabemos');
  expect(await page.getByRole('heading', { name: 'O que está errado' }).count()).toBe(0);
  await page.getByText('1 resolvida por decisão').waitFor();
  expect(opened.complaints).toEqual([]);
});
