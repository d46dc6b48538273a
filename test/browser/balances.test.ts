import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays } from '../../src/domain/calendar.ts';
import { formatMoneyInput } from '../../src/http/console/balances/form-fields.ts';
import { readPlatformBalances } from '../../src/http/console/balances/read-platform-balances.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../support/open-console-environment.ts';
import { closeBrowser, logIn, openBrowser } from './browser.ts';

let env: ConsoleEnvironment;
beforeAll(async () => {
  env = await openConsoleEnvironment();
});
afterAll(async () => {
  await closeBrowser();
  await env[Symbol.asyncDispose]();
});

test.each([
  [true, '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'],
  [false, 'a3bb189e-8bf9-4888-9912-ace4e6543002'],
])(
  'accounting states a balance, sees that it differs, adjusts, and sees it resolved (script: %s)',
  async (script, platform) => {
    await using opened = await openBrowser(env.url, { script });
    const { page } = opened;
    const title = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
    const day = addDays(env.today, -4);
    const ledger = (await readPlatformBalances(env.context, `${day} 18:00:00`)).find(
      (one) => one.platform === platform,
    );
    const cents = (ledger?.availableCents ?? 0n) + (ledger?.heldCents ?? 0n);
    await logIn(page, env.url, env.tokens.accountant);

    await page.getByRole('navigation', { name: 'Principal' }).getByRole('link', { name: 'Saldos' }).click();
    await page.getByRole('link', { name: 'Informar um saldo', exact: true }).click();
    await title('Informar um saldo');
    await page.getByLabel(/^Plataforma/).selectOption(platform);
    await page.getByLabel('Instante').fill(`${day}T18:00:00`);
    await page.getByLabel('Saldo no painel').fill('12.34');
    await page.getByRole('button', { name: 'Ver o que muda' }).click();
    await page.getByRole('alert').filter({ hasText: 'Escreva um valor como 1.234,56' }).waitFor();
    expect(await page.getByLabel(/^Plataforma/).inputValue()).toBe(platform);
    await page.getByLabel('Saldo no painel').fill(formatMoneyInput(cents - 4321n));
    await page.getByRole('button', { name: 'Ver o que muda' }).click();
    await title('Informar um saldo: confira');
    expect(await page.getByRole('main').textContent()).toContain('-R$ 43,21');
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByRole('status').filter({ hasText: 'Saldo informado' }).waitFor();

    await page.getByRole('navigation', { name: 'Saldos' }).getByRole('link', { name: 'Saldos', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: platform.slice(0, 8) });
    expect(await row.textContent()).toContain('-R$ 43,21');
    await row.getByRole('link', { name: 'ver a divergência' }).click();
    await title('Saldo não bate');
    const mismatch = page.url();
    await page.getByRole('link', { name: 'Lançar um ajuste de -R$ 43,21' }).click();
    await title('Lançar um ajuste');
    expect(await page.getByLabel('Valor').inputValue()).toBe('-43,21');
    expect(await page.getByLabel('Dia').inputValue()).toBe(day);
    await page.getByLabel('Tipo').selectOption('Tarifa');
    await page.getByLabel('Por quê').fill('tarifa do mês, que a lista não mostra');
    await page.getByRole('button', { name: 'Ver o que muda' }).click();
    await title('Lançar um ajuste: confira');
    expect(await page.getByRole('main').textContent()).toContain('Expenses:Fees');
    await page.getByRole('button', { name: 'Voltar e corrigir' }).click();
    await title('Lançar um ajuste');
    expect(await page.getByLabel('Por quê').inputValue()).toContain('tarifa do mês');
    await page.getByRole('button', { name: 'Ver o que muda' }).click();
    const confirm = page.getByRole('button', { name: 'Confirmar' });
    await (script ? confirm.dblclick() : confirm.click());
    await page.getByRole('status').filter({ hasText: 'Ajuste lançado.' }).waitFor();
    expect(
      await page
        .getByRole('row')
        .filter({ hasText: platform.slice(0, 8) })
        .count(),
    ).toBe(1);

    await page.goto(`${env.url}/balances`);
    expect(await row.textContent()).toContain('Confere');
    await page.goto(mismatch);
    expect(await page.getByRole('main').textContent()).toContain('uma leitura mais nova mostrou que acabou');
    expect(opened.complaints.filter((text) => !text.includes('422'))).toEqual([]);
  },
);
