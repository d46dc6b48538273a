/** A total too high by the same number in all passes: accepted in the console, shown by API and spreadsheet. */
import { expect, test } from 'vitest';
import { createToken } from '../../../src/access/tokens.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { logIn } from '../../support/open-console-session.ts';
import { TEST_HTTP_LIMITS } from '../../support/open-environment.ts';
import { openReconciliationEnvironment } from '../../support/open-reconciliation-environment.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { lineOf, readWorkbook, sheetOf } from './read-workbook.ts';

const DAY = dayAgo(3);

test('a person accepts a surplus in the console; API and Resumo show the person and the number', async () => {
  using home = temporaryDirectory();
  await using environment = await openReconciliationEnvironment({ DATA_DIR: home.path });
  const { context } = environment;
  const server = environment.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  const url = `http://127.0.0.1:${server.port}`;
  const { token, id: tokenId } = await createToken(context, { role: 'operator', name: 'Ana' });
  environment.provider.add(...makeDay(DAY, 30));
  environment.provider.switches.total = (count) => count + 3;
  await environment.reconcile(DAY, DAY);

  const api = async (address: string) =>
    await (await fetch(`${url}/api/v1${address}`, { headers: { authorization: `Bearer ${token}` } })).json();
  const { mismatches } = (await api('/mismatches?kind=list_unstable')) as { mismatches: { id: string }[] };
  const page = `${url}/mismatches/${mismatches[0]?.id}`;
  const cookie = await logIn(url, token);
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

  expect(await api(`/mismatches/${mismatches[0]?.id}`)).toMatchObject({
    state: 'resolved',
    resolution: 'accepted',
    note: 'o painel mostra 30',
    actual: { surplus: 3 },
  });
  expect(await environment.reconcile(DAY, DAY)).toMatchObject({ state: 'complete', total: 33, seen: 30 });
  await makeReport(context, DAY);
  const summary = sheetOf(await readWorkbook((await openReport(context, { day: DAY, format: 'xlsx' })).file), 'Resumo');
  const line = lineOf(summary, 'Sobra aceita no total do provedor')?.find(Boolean);
  expect(line?.value).toMatch(new RegExp(`^O provedor anuncia 3 a mais do que lista; aceito por ${tokenId} em `));
});
