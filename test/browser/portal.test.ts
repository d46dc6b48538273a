/** The portal in a browser, as each of two merchants: one with scripts in Portuguese, one without in English. */
import { createSecretKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMerchantSession } from '../../src/access/sessions.ts';
import { startDelivery } from '../../src/callbacks/deliver/deliver.ts';
import { sign } from '../../src/callbacks/render/sign.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { createMerchant } from '../../src/merchants/change-merchants.ts';
import { eventually } from '../support/eventually.ts';
import { observe, type ShownTransaction } from '../support/make-observations.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../support/open-console-environment.ts';
import { type MerchantServer, openMerchantServer } from '../support/open-merchant-server.ts';
import { createMerchantToken } from '../support/open-scopes.ts';
import { temporaryDirectory } from '../support/start-serve.ts';
import { closeBrowser, findViolations, openBrowser, SWAGGER_RULES } from './browser.ts';
import { findPortuguese } from './find-portuguese.ts';

/** One pixel. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/5ncyAAAAAABJRU5ErkJggg==';

const home = temporaryDirectory();
let env: ConsoleEnvironment;
let shop: MerchantServer;
let delivery: Promise<void>;
const stopping = new AbortController();
const tokens: Record<string, string> = {};

beforeAll(async () => {
  writeFileSync(path.join(home.path, 'portal-logo.png'), Buffer.from(LOGO, 'base64'));
  env = await openConsoleEnvironment({ DATA_DIR: home.path, ALERT_EMAIL_FROM: 'Pagamentos Azul <pix@azul.example>' });
  shop = await openMerchantServer();
  for (const name of ['Aurora', 'Boreal']) {
    const filter = { reference_prefixes: [`${name}-`] };
    const { merchant } = await createMerchant(env.context, { name, url: `${shop.url}/${name}`, filter });
    tokens[name] = await createMerchantToken(env.context, merchant.id, `engineer of ${name}`);
    await pay(name);
  }
  const signal = AbortSignal.any([env.context.signal, stopping.signal]);
  delivery = startDelivery({ ...env.context, signal });
});
afterAll(async () => {
  await closeBrowser();
  stopping.abort();
  await delivery;
  await shop[Symbol.asyncDispose]();
  await env[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

async function pay(name: string): Promise<void> {
  const { calendar, clock } = env.context;
  const at = calendar.toWallTime(clock.now());
  const shown: ShownTransaction = {
    ...{ id: crypto.randomUUID(), operation: 'cashin', status: 'paid', amount: '55.10', date_created: at },
    ...{ name: `Payer ${name}`, reference: `${name}-1`, extra: `extra of ${name}` },
    events: [{ status: 'paid', date_created: at }],
  };
  await applyObservations(env.context, [observe(shown, clock.now())]);
}

async function logIn(page: Page, name: string, words: { token: string; button: string }): Promise<void> {
  await page.getByLabel(words.token).fill(tokens[name] ?? '');
  await page.getByRole('button', { name: words.button }).click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

/** A visit of some forty pages, on a machine that runs other tests. */
const VISIT = { timeout: 240_000 };

test('an engineer tests, finds, repeats, filters and rotates, on pages that are accessible', VISIT, async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  page.setDefaultTimeout(30_000);
  const violations: string[] = [];
  const title = async (name: string) => {
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    // at most ten requests a second
    await env.timers.advance(1_000);
  };
  /** Each kind of page once. */
  const examine = async () => void violations.push(...(await findViolations(page, page.url())));
  const link = (name: string) => page.getByRole('link', { name }).first().click();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const calls = () => shop.callsTo('/Aurora');
  await eventually('the payment is delivered', () => calls().length === 1);

  await page.goto(`${env.url}/portal/callbacks?state=delivered`);
  await title('Entrar');
  await examine();
  expect(await page.title()).toBe('Entrar · Pagamentos Azul');
  expect(await page.evaluate("document.querySelector('.brand img').naturalWidth")).toBe(1);
  await page.getByLabel('Token').fill(env.tokens.admin);
  await press('Entrar');
  await page.getByRole('alert').filter({ hasText: 'não existe' }).waitFor();
  await page.getByLabel('Token').fill(tokens.Aurora ?? '');
  await press('Entrar');
  await title('Callbacks');
  await examine();
  expect(await page.getByRole('cell', { name: 'Aurora-1' }).count()).toBe(1);

  await page.getByLabel('Extra').fill('extra of Aurora');
  await press('Buscar');
  await page.getByRole('link', { name: 'Limpar' }).waitFor();
  expect(decodeURIComponent(page.url())).not.toContain('extra of');
  expect(await page.getByRole('cell', { name: 'Aurora-1' }).count()).toBe(1);
  await page.getByRole('link', { name: /^msg_/ }).click();
  await title('pix.cashin.paid');
  await examine();
  const shown = await page.getByRole('main').textContent();
  for (const text of ['HTTP 200', 'Payer Aurora', '"extra of Aurora"', 'webhook-timestamp'])
    expect(shown).toContain(text);
  await press('Entregar de novo');
  await page.getByRole('status').filter({ hasText: 'mesmo webhook-id' }).waitFor();
  await eventually('it is delivered again', () => calls().length === 2);

  await link('Visão geral');
  await title('Aurora');
  await examine();
  await press('Enviar um teste');
  await page.getByRole('heading', { level: 1, name: 'confere.test' }).waitFor();
  await eventually(
    'the outcome of the test is on its page',
    async () => (await page.getByText('HTTP 200').count()) > 0,
  );

  await link('Visão geral');
  await link('Filtrar o que chega');
  await title('Filtrar o que chega');
  await examine();
  await page.getByLabel('Devolvido').check();
  await press('Ver o que muda');
  await title('Filtrar o que chega: confira');
  await examine();
  expect(await page.getByRole('main').textContent()).toMatch(
    /De 1 evento dos.*o filtro aceita 0\. O filtro de hoje aceita 1;/,
  );
  await press('Confirmar');
  await page.getByRole('status').filter({ hasText: 'Filtro salvo' }).waitFor();

  await link('Trocar o segredo');
  await title('Trocar o segredo');
  await press('Ver o que muda');
  await press('Confirmar');
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? '';
  await title('Trocar o segredo');
  await examine();
  await link('Já guardei');
  await title('Aurora');
  expect(await page.content()).not.toContain('whsec_');

  await link('Reenviar um período');
  await title('Reenviar um período');
  await examine();
  await page.getByLabel('De', { exact: true }).fill(`${env.today}T00:00:00`);
  await page.getByLabel('Até antes de').fill(`${addDays(env.today, 2)}T00:00:00`);
  await press('Ver o que muda');
  await title('Reenviar um período: confira');
  await press('Confirmar');
  await page.getByRole('status').filter({ hasText: 'voltaram para a fila' }).waitFor();
  await eventually('it is delivered once more', () => calls().length === 4);
  const { headers, body } = calls().at(-1) ?? {};
  const [id = '', timestamp = ''] = [headers?.['webhook-id'], headers?.['webhook-timestamp']];
  const key = createSecretKey(Buffer.from(secret.slice('whsec_'.length), 'base64'));
  const signature = sign([key], { id, timestamp: Number(timestamp), body: body ?? '' });
  expect(headers?.['webhook-signature']?.split(' ')).toContain(signature);

  await page.getByRole('link', { name: 'API', exact: true }).click();
  await page.getByText('/api/v1/portal/callbacks/replay').click();
  await page.getByRole('button', { name: 'Try it out' }).waitFor();
  await page.getByRole('navigation', { name: 'Principal' }).waitFor();
  const broken = (await findViolations(page, 'API')).filter((line) => !SWAGGER_RULES.has(line.split(' | ')[1]));
  expect(broken).toEqual([]);
  await page.getByRole('link', { name: 'Pagamentos Azul' }).click();
  await title('Aurora');
  await press('Pausar');
  await press('Confirmar');
  await page.getByRole('status').filter({ hasText: 'em pausa' }).waitFor();
  await press('Retomar os envios');
  await page.getByRole('status').filter({ hasText: 'Os envios seguem' }).waitFor();
  await press('Sair');
  await page.getByRole('status').filter({ hasText: 'Você saiu.' }).waitFor();
  await page.goto(`${env.url}/portal`);
  await page.getByLabel('Token').waitFor();
  expect(violations).toEqual([]);
  expect(opened.complaints.filter((text) => !/status of 401/.test(text))).toEqual([]);
});

test('another merchant sees its own pages alone, in English and without scripts', async () => {
  await using opened = await openBrowser(env.url, { script: false, locale: 'en-US' });
  const { page } = opened;
  page.setDefaultTimeout(30_000);
  const portuguese: Record<string, string[]> = {};
  const open = async (address: string, status = 200) => {
    await env.timers.advance(1_000);
    const answer = await page.goto(`${env.url}${address}`);
    expect([address, answer?.status()]).toEqual([address, status]);
    expect([address, (await page.content()).includes('Aurora')]).toEqual([address, false]);
    portuguese[address] = await findPortuguese(page, ['Pagamentos Azul']);
  };
  await open('/portal/login');
  await logIn(page, 'Boreal', { token: 'Token', button: 'Log in' });
  const rows = env.context.db.selectFrom('callbacks').innerJoin('merchants', 'merchants.seq', 'merchant_seq');
  const idOf = async (name: string) =>
    (await rows.select('webhook_id').where('name', '=', name).executeTakeFirstOrThrow()).webhook_id;
  await open('/portal');
  await open('/portal/callbacks');
  expect(await page.getByRole('cell', { name: 'Boreal-1' }).count()).toBe(1);
  await open('/portal/callbacks?reference=Boreal-1');
  await open(`/portal/callbacks/${await idOf('Boreal')}`);
  expect(await page.getByRole('main').textContent()).toContain('Payer Boreal');
  for (const form of ['filter', 'replay', 'addresses', 'rotate-secret']) await open(`/portal/${form}`);
  await page.getByRole('button', { name: 'See what changes' }).click();
  portuguese.preview = await findPortuguese(page, ['Pagamentos Azul']);
  await open(`/portal/callbacks/${await idOf('Aurora')}`, 404);
  await page.goto(`${env.url}/portal/callbacks?reference=Aurora-1`);
  expect(await page.getByRole('main').textContent()).toContain('No callbacks with these filters: remove one of them.');
  await page.goto(`${env.url}/transactions`);
  await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/login');
  expect(Object.entries(portuguese).filter(([, texts]) => texts.length > 0)).toEqual([]);
});

test('a hint within an explanation has the contrast of its text in the dark, and a search button stands beside its field', async () => {
  await using opened = await openBrowser(env.url, { dark: true });
  const { page } = opened;
  const session = await openMerchantSession(env.context, tokens.Boreal ?? '');
  await opened.browser.addCookies([{ name: 'confere_portal', value: session, url: env.url }]);
  await env.timers.advance(1_000);
  await page.goto(`${env.url}/portal/messages/pix.cashin.paid`);
  expect(await findViolations(page, 'message', 'colours')).toEqual([]);
  await env.timers.advance(1_000);
  await page.goto(`${env.url}/portal/history`);
  const [field, button] = await Promise.all(
    ['.filters select', '.filters button'].map((one) => page.locator(one).first().boundingBox()),
  );
  expect(Math.abs((button?.y ?? 0) - (field?.y ?? 0))).toBeLessThanOrEqual(1);
});
