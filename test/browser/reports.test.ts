import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, type Day } from '../../src/domain/calendar.ts';
import { adjustBooks } from '../../src/ledger/stated/adjust-books.ts';
import { sealNow } from '../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../support/close-after-all.ts';
import { openConsoleEnvironment } from '../support/open-console-environment.ts';
import { closeBrowser, logIn, openBrowser } from './browser.ts';

const A = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const env = closeAfterAll(await openConsoleEnvironment());
beforeAll(async () => {
  await sealNow(env.context);
});
afterAll(async () => {
  await closeBrowser();
});

const dayBefore = (days: number): Day => addDays(env.today, -days);
const inBrazil = (day: Day): string => day.split('-').reverse().join('/');

test('accounting makes chosen days, follows one to its page, and sees what changed, without script', async () => {
  await using opened = await openBrowser(env.url, { script: false });
  const { page } = opened;
  await logIn(page, env.url, env.tokens.operator);
  // days of one month, also where today is its first
  const [day, other] = [dayBefore(5), dayBefore(6)];
  await page.goto(`${env.url}/reports?month=${day.slice(0, 7)}`);
  const chosen = [day, other].filter((one) => one.slice(0, 7) === day.slice(0, 7));
  for (const one of chosen) await page.getByRole('checkbox', { name: `Escolher ${inBrazil(one)}` }).check();
  await page.getByRole('button', { name: 'Fazer os relatórios dos dias escolhidos' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: chosen.length > 1 ? 'Relatórios feitos' : 'nova revisão' })
    .waitFor();
  await page.goto(`${env.url}/reports?month=${day.slice(0, 7)}`);
  await page
    .getByRole('list')
    .filter({ hasText: 'Provisório' })
    .getByRole('link', { name: `${Number(day.slice(8))} de` })
    .click();
  await page.getByRole('heading', { level: 1, name: inBrazil(day) }).waitFor();
  expect(await page.getByText('Provisório: falta ler').count()).toBe(1);
  await adjustBooks(env.context, {
    platform: A,
    day,
    kind: 'fee',
    amountCents: -1_234n,
    note: 'tarifa',
    actor: 'test',
  });
  await page.reload();
  await page.getByText('Mudou depois da revisão 1').waitFor();
  await page.getByRole('button', { name: 'Fazer a revisão 2' }).click();
  await page.getByRole('status').filter({ hasText: 'nova revisão' }).waitFor();
  await page.getByRole('button', { name: 'Comparar' }).click();
  const figures = page.getByRole('table', { name: 'Números de Resumo que mudaram' });
  await figures.getByRole('row', { name: /± Ajustes.*-R\$ 12,34/ }).waitFor();
  await page
    .getByRole('table', { name: 'Linhas que mudaram' })
    .getByRole('row', { name: /lançado por uma pessoa/ })
    .waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: `Planilha de ${inBrazil(day)}, revisão 2` }).click();
  expect((await download).suggestedFilename()).toBe(`confere-${day}-r2.xlsx`);
  expect(opened.complaints).toEqual([]);
});

test('a range of days is downloaded, and a wrong one keeps the form', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer);
  await page.goto(`${env.url}/reports`);
  await page.getByLabel('De', { exact: true }).fill(env.today);
  await page.getByLabel('Até').fill(dayBefore(1));
  await page.getByRole('button', { name: 'Baixar' }).click();
  await page.getByRole('alert').filter({ hasText: 'vem depois do último' }).waitFor();
  expect(await page.getByLabel('De', { exact: true }).inputValue()).toBe(env.today);
  await page.getByLabel('De', { exact: true }).fill(dayBefore(2));
  const range = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Baixar' }).click();
  expect((await range).suggestedFilename()).toBe(`confere-${dayBefore(2)}-${dayBefore(1)}-masked.xlsx`);
  expect(opened.complaints).toEqual([expect.stringContaining('422')]);
});

test('the calendar has seven columns on a desktop, and one line a day on a phone', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer);
  const columns = async (width: number): Promise<number> => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${env.url}/reports?month=${dayBefore(3).slice(0, 7)}`);
    const lefts = await page.evaluate(
      `[...document.querySelectorAll('.calendar ol > li')].filter((one) => one.offsetParent).map((one) => one.offsetLeft)`,
    );
    return new Set(lefts as number[]).size;
  };
  // a month of books that began in it has fewer days than a week on its first lines
  expect([await columns(1280), await columns(820), await columns(360)]).toEqual([7, 7, 1]);
});

test('a keyboard goes from month to month and into a day', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.viewer);
  await page.goto(`${env.url}/reports?month=2026-03`);
  const press = async (name: RegExp): Promise<void> => {
    await page.getByRole('link', { name }).first().focus();
    await page.keyboard.press('Enter');
  };
  await press(/fevereiro de 2026/);
  await page.getByRole('heading', { level: 2, name: 'fevereiro de 2026' }).waitFor();
  await press(/março de 2026/);
  await page.getByRole('heading', { level: 2, name: 'março de 2026' }).waitFor();
  await page.goto(`${env.url}/reports`);
  await press(new RegExp(`^${Number(env.today.slice(8))} de`));
  await page.getByRole('heading', { level: 1, name: inBrazil(env.today) }).waitFor();
});
