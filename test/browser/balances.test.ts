import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays } from '../../src/domain/calendar.ts';
import { formatMoneyInput } from '../../src/http/console/parts/fields.ts';
import { readPlatformBalances } from '../../src/http/console/parts/read-platform-balances.ts';
import { sealNow } from '../../src/seal/seal-ledger.ts';
import { readValues, rowsOf } from '../service/reports/read-workbook.ts';
import { closeAfterAll } from '../support/close-after-all.ts';
import { openConsoleEnvironment } from '../support/open-console-environment.ts';
import { DEEP } from '../support/property.ts';
import { closeBrowser, logIn, openBrowser } from './browser.ts';

const env = closeAfterAll(await openConsoleEnvironment());
beforeAll(async () => {
  await sealNow(env.context);
});
afterAll(async () => {
  await closeBrowser();
});

// two days: an adjustment of one story is not in the other's report
test.each([
  [true, '6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 4],
  // http/console-plain presses every button without script
  ...(DEEP ? ([[false, 'a3bb189e-8bf9-4888-9912-ace4e6543002', 5]] as const) : []),
] as const)(
  'accounting states a balance, finds a difference, adjusts, makes the revised report and downloads it (script: %s)',
  async (script, platform, daysAgo) => {
    await using opened = await openBrowser(env.url, { script });
    const { page } = opened;
    const title = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
    const day = addDays(env.today, -daysAgo);
    const inBrazil = day.split('-').reverse().join('/');
    const ledger = (await readPlatformBalances(env.context, `${day} 18:00:00`)).find(
      (one) => one.platform === platform,
    );
    const cents = (ledger?.availableCents ?? 0n) + (ledger?.heldCents ?? 0n);
    await logIn(page, env.url, env.tokens.accountant);
    await page.goto(`${env.url}/reports/${day}`);
    await page.getByRole('button', { name: 'Fazer o relatório' }).click();
    await page.getByRole('status').filter({ hasText: 'nova revisão' }).waitFor();

    await page.getByRole('navigation', { name: 'Principal' }).getByRole('link', { name: 'Saldos' }).click();
    await page.getByRole('link', { name: 'Informar um saldo', exact: true }).click();
    await title('Informar um saldo');
    await page.getByLabel(/^Plataforma/).selectOption(platform);
    await page.getByLabel('Instante').fill(`${day}T18:00:00`);
    await page.getByLabel('Saldo no painel').fill('12.345');
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
    expect(await page.getByLabel('Valor').inputValue()).toBe('43,21');
    expect(await page.getByLabel('Dia').inputValue()).toBe(day);
    await page.getByLabel('Tipo').selectOption('Tarifa');
    await page.getByLabel('Por quê').fill('tarifa do mês, que a lista não mostra');
    await page.getByRole('button', { name: 'Ver o que muda' }).click();
    await title('Lançar um ajuste: confira');
    expect(await page.getByRole('main').textContent()).toContain('Outras tarifas');
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
    expect(await page.getByRole('main').textContent()).toContain('o que a abriu não vale mais');

    await page.goto(`${env.url}/reports?month=${day.slice(0, 7)}`);
    await page.getByRole('table', { name: 'Os dias do mês' }).getByRole('link', { name: inBrazil }).click();
    await title(inBrazil);
    await page.getByText('Mudou depois da revisão 1').waitFor();
    await page.getByRole('button', { name: 'Fazer a revisão 2' }).click();
    await page.getByRole('status').filter({ hasText: 'nova revisão' }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: `Planilha de ${inBrazil}, revisão 2` }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`confere-${day}-r2.xlsx`);
    // openpyxl reads only files with the ending
    const file = path.join(env.dataDir, download.suggestedFilename());
    await download.saveAs(file);
    const adjusted = rowsOf(await readValues(file, 'Extrato')).filter((one) =>
      String(one.Movimento?.value).startsWith('Tarifa'),
    );
    expect(adjusted.map((one) => [one.Plataforma?.value, one.Valor?.value])).toEqual([[platform, -43.21]]);
    expect(opened.complaints.filter((text) => !text.includes('422'))).toEqual([]);
  },
);

test('accounting fills the template of lines of the bank, reads what is wrong by row and column, and imports it', async () => {
  await using opened = await openBrowser(env.url);
  const { page } = opened;
  await logIn(page, env.url, env.tokens.accountant);
  await page.goto(`${env.url}/balances/bank`);
  await page.getByRole('link', { name: 'Importar um extrato' }).click();
  expect(await page.getByLabel('Tipo').inputValue()).toBe('bank');
  const downloading = page.waitForEvent('download');
  await page.getByRole('row').filter({ hasText: 'Extrato bancário' }).getByRole('link', { name: 'CSV' }).click();
  const template = readFileSync(await (await downloading).path(), 'utf8').trimEnd();
  expect(template).toBe(
    '\uFEFFconta;dia;valor;D/C;texto;número do documento;identificador;saldo no fim do dia;conta nova',
  );
  const check = async (rows: string[]) => {
    // the signs stand in the amounts
    const buffer = Buffer.from([template.replace('D/C;', ''), ...rows].join('\r\n'));
    await page.getByLabel('Arquivo').setInputFiles({ name: 'extrato.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Conferir o arquivo' }).click();
  };
  const day = addDays(env.today, -3);
  await check([`341/1/2;${day};-9,90;TARIFA`, `341;${day};1,234;TED`]);
  const faults = page.getByRole('alert').getByRole('listitem');
  await faults.first().waitFor();
  expect(await faults.allTextContents()).toEqual([
    'linha 3, conta: escreva banco, agência e conta com / entre eles, como 341/1234/56789-0',
    'linha 3, valor: escreva um valor como 1.234,56, com até duas casas',
  ]);
  await check([`341/1/2;${day};-9,90;TARIFA`, `341/1/2;${day};1.234,00;TED`]);
  await page.getByText('Nada foi gravado ainda.').waitFor();
  await page.getByRole('button', { name: 'Confirmar' }).click();
  await page.getByRole('status').filter({ hasText: 'Arquivo importado' }).waitFor();
  await page.goto(`${env.url}/balances/bank`);
  expect(await page.getByRole('row').filter({ hasText: 'TARIFA' }).textContent()).toContain('-R$ 9,90');
  expect(opened.complaints.filter((text) => !text.includes('422'))).toEqual([]);
});
