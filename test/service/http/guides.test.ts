import { expect, test } from 'vitest';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';

const env = closeAfterAll(await openConsoleEnvironment());

test('the accountant’s guide is in the guides and in the foot of each page, and links to the pages that it names', async () => {
  const session = await env.console('accountant');
  const page = async (address: string) => (await session.get(address)).html;
  const list = await page('/runbooks?lang=pt-BR');
  expect(list).toContain('<a href="/runbooks/accounting?lang=pt-BR">Guia do contador</a>');
  expect(await page('/reports')).toContain('<a href="/runbooks/accounting?lang=pt-BR">Guia do contador</a>');
  const guide = await page('/runbooks/accounting?lang=pt-BR');
  expect(guide).toContain('<h1>Guia do contador</h1>');
  for (const [address, name] of [
    ['/balances', 'Saldos'],
    ['/balances/bank', 'Banco'],
    ['/balances/fees', 'Tarifas'],
    ['/reports/accounts', 'Plano de contas'],
    ['/runbooks/spreadsheet?lang=pt-BR', 'As planilhas, coluna por coluna'],
  ])
    expect(guide).toContain(`<a href="${address}">${name}</a>`);
  expect(guide).not.toContain('<img');
  expect(await page('/runbooks/accounting?lang=en')).toContain('What keeps a month open');
});
