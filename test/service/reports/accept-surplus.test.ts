/** A total too high by the same number in all passes: accepted in the console, shown by API and spreadsheet. */
import { expect, test } from 'vitest';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { logIn } from '../../support/open-console-session.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { openSurfaces } from '../../support/open-surfaces.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { lineOf, readWorkbook, sheetOf } from './read-workbook.ts';

const DAY = dayAgo(3);

test('a person accepts a surplus in the console; API and Resumo show the person and the number', async () => {
  using home = temporaryDirectory();
  await using environment = await openReconciliationEnvironment({ DATA_DIR: home.path });
  const { context } = environment;
  const { url, api, tokens } = await openSurfaces(environment);
  environment.provider.add(...makeDay(DAY, 30));
  environment.provider.switches.total = (count) => count + 3;
  await environment.reconcile(DAY, DAY);

  type Listed = { mismatches: { id: string }[] };
  const { mismatches } = (await api<Listed>('operator', 'GET', '/mismatches?kind=list_unstable')).json;
  const page = `${url}/mismatches/${mismatches[0]?.id}`;
  const cookie = await logIn(url, tokens.operator);
  const shown = await (await fetch(page, { headers: { cookie } })).text();
  expect(shown).toContain('Aceitar 3 a mais');
  const field = (name: string): string =>
    (new RegExp(`name="${name}" value="([^"]*)"`).exec(shown)?.[1] ?? '').replaceAll('&quot;', '"');
  const accept = async (actual: string, step = '') =>
    await fetch(`${page}/accept`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: url },
      body: new URLSearchParams({ form_token: field('form_token'), actual, step, note: 'o painel mostra 30' }),
    });
  expect((await accept('{"surplus":4}')).status, 'not what the page showed').toBe(409);
  const second = await accept(field('actual'));
  expect([second.status, await second.text()]).toEqual([200, expect.stringContaining('O dia fica provado')]);
  expect((await accept(field('actual'), 'confirm')).status).toBe(303);

  expect((await api('operator', 'GET', `/mismatches/${mismatches[0]?.id}`)).json).toMatchObject({
    state: 'resolved',
    resolution: 'accepted',
    note: 'o painel mostra 30',
    actual: { surplus: 3 },
  });
  expect(await environment.reconcile(DAY, DAY)).toMatchObject({ state: 'complete', total: 33, seen: 30 });
  await makeReport(context, DAY);
  const summary = sheetOf(await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file), 'Resumo');
  const line = lineOf(summary, 'Sobra aceita no total do provedor')?.find(Boolean);
  expect(line?.value).toMatch(/^O provedor anuncia 3 a mais do que lista; aceito por operator em /);
});
