import { afterAll, expect, test } from 'vitest';
import { closeAfterAll } from '../support/close-after-all.ts';
import { openOidcEnvironment } from '../support/open-oidc-environment.ts';
import { DEEP } from '../support/property.ts';
import { closeBrowser, findViolations, openBrowser } from './browser.ts';

const env = closeAfterAll(await openOidcEnvironment());
afterAll(async () => {
  await closeBrowser();
});

test.each(DEEP ? [true, false] : [false])(
  'an admin logs in by the company account, finds themselves in the audit, and logs out (script: %s)',
  async (script) => {
    await using opened = await openBrowser(env.url, { script });
    const { page, browser } = opened;
    page.setDefaultTimeout(30_000);

    // a page that needs a session, as a link in a mail
    await page.goto(`${env.url}/audit?action=console.login`);
    await page.getByRole('heading', { level: 1, name: 'Entrar' }).waitFor();
    await page.getByRole('link', { name: 'Entrar com a conta da empresa' }).click();
    await page.waitForURL(`${env.issuer.url}/**`);
    await page.getByPlaceholder('Enter any login').fill('carla');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();

    await page.getByRole('heading', { level: 1, name: 'Auditoria' }).waitFor();
    expect(page.url()).toBe(`${env.url}/audit?action=console.login`);
    expect(await page.locator('.who').textContent()).toMatch(/Administração\s+Carla Dias/);
    const row = page.getByRole('row').filter({ hasText: 'oidc admin' }).first();
    expect(await row.textContent()).toMatch(/Carla Dias\s*usr_[0-9a-f]{32}/);
    await row.getByRole('link', { name: 'Carla Dias' }).click();
    await page.waitForURL(/\/audit\?actor=usr_/);
    const [cookie] = (await browser.cookies(env.url)).filter((one) => one.name.startsWith('confere'));
    expect(cookie).toMatchObject({ name: 'confere_session', sameSite: 'Strict', httpOnly: true });

    await page.getByRole('button', { name: 'Sair' }).click();
    await page.waitForURL(`${env.issuer.url}/**`);
    await page.getByRole('button', { name: /Yes, sign me out/ }).click();
    await page.waitForURL(`${env.url}/login`);
    expect((await browser.cookies(env.url)).filter((one) => one.name.startsWith('confere'))).toEqual([]);
    await page.goto(env.url);
    await page.getByRole('heading', { level: 1, name: 'Entrar' }).waitFor();

    const elsewhere = (text: string) => text.startsWith(`went elsewhere: ${env.issuer.url}`);
    expect(opened.complaints.filter((text) => !elsewhere(text))).toEqual([]);
  },
  60_000,
);

test('a person without a role, and one who declines, read why', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  page.setDefaultTimeout(30_000);
  await page.goto(`${env.url}/login`);
  await page.getByRole('link', { name: 'Entrar com a conta da empresa' }).click();
  await page.getByRole('link', { name: /Cancel/ }).click();
  await page.getByRole('alert').filter({ hasText: 'não autorizou a entrada' }).waitFor();
  await page.getByRole('link', { name: 'Entrar com a conta da empresa' }).click();
  await page.getByPlaceholder('Enter any login').fill('davi');
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sem acesso' }).waitFor();
  expect(await page.getByRole('main').textContent()).toContain('Davi Reis');
  expect(await findViolations(page, 'no access')).toEqual([]);
});
