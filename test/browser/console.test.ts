import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { transact } from '../../src/database/transact.ts';
import { addDays } from '../../src/domain/calendar.ts';
import { splitWebhooks } from '../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../src/ledger/apply/apply-observations.ts';
import { raiseMismatches } from '../../src/mismatches/raise-mismatches.ts';
import { startRun } from '../../src/reconciliation/runs/start-run.ts';
import { recordHeartbeat } from '../../src/runtime/heartbeat.ts';
import { closeAfterAll } from '../support/close-after-all.ts';
import { eventually } from '../support/eventually.ts';
import { observe } from '../support/make-observations.ts';
import { openConsoleEnvironment } from '../support/open-console-environment.ts';
import { readRow } from '../support/read-rows.ts';
import { type Browser, closeBrowser, logIn, openBrowser } from './browser.ts';

const env = closeAfterAll(await openConsoleEnvironment());
let opened: Browser;
let page: Page;

afterAll(async () => {
  await closeBrowser();
});
beforeEach(async () => {
  opened = await openBrowser(env.url);
  page = opened.page;
});
afterEach(async () => {
  await opened[Symbol.asyncDispose]();
});

const title = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });

test('an operator finds a transaction by its reference and reads its timeline', async () => {
  await logIn(page, env.url, env.tokens.operator, '/');
  await page.getByRole('link', { name: 'Transações' }).click();
  await title('Transações').waitFor();
  await page.waitForLoadState();
  await page.keyboard.press('/');
  expect(await page.evaluate('document.activeElement.name')).toBe('q');
  await page.keyboard.type('pedido-maria');
  await page.keyboard.press('Enter');
  await page.getByText('1 transação: Entradas pagas R$ 1.234,56').waitFor();
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await title('Entrada de R$ 1.234,56').waitFor();
  const main = page.getByRole('main');
  for (const text of ['Maria Aparecida da Silva', '123.456.789-09', '<script>alert(1)</script>', 'R$ 1.222,21']) {
    expect(await main.textContent()).toContain(text);
  }
  const paid = page.locator('.story > li').filter({ hasText: 'Pago' });
  expect(await paid.textContent()).toContain('lido na lista');
  expect(await paid.getByRole('row', { name: /^Recebimentos/ }).textContent()).toContain('R$ 1.234,56');
  await paid.getByRole('link', { name: /conferência/ }).click();
  await title(/ a /).waitFor();
  const seen = env.context.db.selectFrom('audit').select(['action', 'target']).where('target', '=', env.paid.id);
  expect(await seen.execute()).toContainEqual({ action: 'transactions.show', target: env.paid.id });
  expect(opened.complaints).toEqual([]);
});

test('an accountant finds a payment from any page by a name, narrows it by chips, and downloads what is shown', async () => {
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(decodeURIComponent(request.url())));
  await logIn(page, env.url, env.tokens.accountant, '/');
  await page.getByRole('link', { name: 'Saldos' }).click();
  await title('Saldos').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('josé carlos');
  await page.keyboard.press('Enter');
  await title('Transações').waitFor();
  const total = page.locator('.total');
  expect(await total.textContent()).toMatch(
    /^\d+ transações.*Entradas pagas R\$ [\d.]+,\d\d.*Saídas não pagas R\$ [\d.]+,\d\d/s,
  );
  expect(await page.getByText('Procurado como').textContent()).toContain('começo de palavras');
  await page.getByLabel('Operação').selectOption('Saída');
  await page.getByRole('button', { name: 'Buscar' }).click();
  const chip = page.getByRole('link', { name: 'Operação: Saída' });
  await chip.waitFor();
  const rows = page.getByRole('table').getByRole('row');
  const outs = await rows.count();
  await page.getByRole('link', { name: '7 dias' }).click();
  await page.getByRole('link', { name: /^Período: de / }).waitFor();
  expect(await rows.count()).toBeLessThan(outs);
  await chip.click();
  await eventually('the chip is gone', async () => (await chip.count()) === 0);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV' }).click();
  expect((await download).suggestedFilename()).toMatch(/^confere-transacoes-.*\.csv$/);
  await page.getByLabel('Buscar').fill('31/02/2026');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'Este dia não existe' }).waitFor();
  expect(await page.getByLabel('Buscar').inputValue()).toBe('31/02/2026');
  expect(addresses.filter((address) => /josé|carlos/i.test(address))).toEqual([]);
  expect(opened.complaints.filter((text) => !text.includes('422'))).toEqual([]);
});

test('an operator acknowledges a mismatch, then resolves it, and both are recorded', async () => {
  await logIn(page, env.url, env.tokens.operator, '/');
  await page.getByRole('link', { name: 'Valor mudou' }).click();
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await title('Valor mudou').waitFor();
  expect(await page.getByRole('main').textContent()).toContain('decida entre manter ou aceitar com estorno');
  await page.getByLabel('Observação').fill('Perguntei ao <b>provedor</b>');
  await page.getByRole('button', { name: 'Estou tratando' }).click();
  await page.getByRole('status').filter({ hasText: 'em tratamento' }).waitFor();
  expect(await page.getByRole('button', { name: 'Estou tratando' }).count()).toBe(0);
  await page.getByLabel('Observação').fill('Mantido o nosso');
  await page.getByRole('button', { name: 'Manter a nossa versão' }).click();
  await title('Manter a nossa versão: confira').waitFor();
  expect(await page.getByLabel('Observação').inputValue()).toBe('Mantido o nosso');
  await page.getByRole('button', { name: 'Manter a nossa versão' }).click();
  await page.getByRole('status').filter({ hasText: 'resolvida' }).waitFor();
  expect(await page.getByRole('button', { name: 'Manter' }).count()).toBe(0);
  const text = await page.locator('.story').textContent();
  expect(text).toContain('Perguntei ao <b>provedor</b>');
  expect(text).toContain('Mantido o nosso');
  const row = await env.context.db
    .selectFrom('mismatches')
    .select(['state', 'resolution', 'note'])
    .where('kind', '=', 'amount_differs')
    .executeTakeFirst();
  expect(row).toEqual({ state: 'resolved', resolution: 'by_hand', note: 'Mantido o nosso' });
  expect(opened.complaints).toEqual([]);
});

test('an operator ends all mismatches of a cause at once, with a note where they are critical', async () => {
  const { db, clock } = env.context;
  const found = ['a', 'b', 'c'].map((scope) => ({
    kind: 'webhook_contradiction' as const,
    scope,
    amountCents: 1_000n,
  }));
  await transact(db, (trx) => raiseMismatches(trx, found, clock.now()));
  await logIn(page, env.url, env.tokens.operator, '/');
  await page.getByRole('link', { name: 'Divergências', exact: true }).click();
  const cause = page.getByRole('table', { name: 'Divergências por resolver, por causa' });
  const row = cause.getByRole('row', { name: /Webhook contradiz o provedor/ });
  expect(await row.textContent()).toMatch(/Crítica.*3.*0.*R\$ 30,00/);
  await row.getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Tratar das 3 em aberto' }).waitFor();
  await page.getByRole('button', { name: 'Estou tratando de todas' }).click();
  await page.getByRole('status').filter({ hasText: 'em tratamento' }).waitFor();
  expect(await row.textContent()).toMatch(/Crítica.*3.*3.*R\$ 30,00/);
  await row.getByRole('link').first().click();
  await page.getByRole('button', { name: 'Resolver todas' }).click();
  // the browser asks for the note
  expect(await page.getByLabel(/Observação/).evaluate((field) => field.matches(':invalid'))).toBe(true);
  await page.getByLabel(/Observação/).fill('Forjados: segredo trocado');
  // one that opens meanwhile was not on the page
  await transact(db, (trx) =>
    raiseMismatches(trx, [{ ...found[0], kind: 'webhook_contradiction', scope: 'd' }], clock.now()),
  );
  await page.getByRole('button', { name: 'Resolver todas' }).click();
  await page.getByRole('status').filter({ hasText: 'Divergências resolvidas' }).waitFor();
  const rows = db
    .selectFrom('mismatches')
    .select(['scope', 'state', 'note'])
    .where('kind', '=', 'webhook_contradiction');
  expect(await rows.where('scope', 'in', ['a', 'b', 'c', 'd']).orderBy('scope').execute()).toEqual([
    ...['a', 'b', 'c'].map((scope) => ({ scope, state: 'resolved', note: 'Forjados: segredo trocado' })),
    { scope: 'd', state: 'open', note: null },
  ]);
  const audited = await db.selectFrom('audit').select('action').where('action', 'like', 'mismatches.%_many').execute();
  expect(audited.map(({ action }) => action).sort()).toEqual([
    'mismatches.acknowledge_many',
    'mismatches.resolve_many',
  ]);
  expect(opened.complaints).toEqual([]);
});

test('the list of webhooks renews itself, and an operator purges the quarantine of one reason', async () => {
  const { db, clock } = env.context;
  await page.clock.install();
  await logIn(page, env.url, env.tokens.operator, '/');
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await title('Webhooks').waitFor();
  const rows = page.getByRole('table', { name: 'Webhooks, os mais novos primeiro' }).getByRole('row');
  const before = await rows.count();
  const headers = { authorization: `Bearer ${env.webhookSecret}`, 'content-type': 'application/json' };
  await fetch(`${env.url}/webhooks/pix`, { method: 'POST', headers, body: 'another that is no JSON' });
  while ((await splitWebhooks(env.context, 0)).more);
  await page.clock.runFor(6_000);
  await eventually('the new row', async () => (await rows.count()) === before + 1);
  await page.getByRole('link', { name: 'Quarentena por motivo' }).click();
  const reasons = page.getByRole('table', { name: 'Quarentena por motivo' });
  const noJson = reasons.getByRole('row', { name: /não é JSON/ });
  expect(await noJson.textContent()).toMatch(/não é JSON20/);
  // one of them is old enough
  const { seq } = await readRow(db, 'webhooks', ['seq'], { reason: 'not_json' });
  const received_at = new Date(clock.now().getTime() - 2 * 3_600_000);
  await db.updateTable('webhooks').set({ received_at }).where('seq', '=', seq).execute();
  await noJson.getByRole('button', { name: 'Esvaziar' }).click();
  await page.getByRole('status').filter({ hasText: 'Quarentena esvaziada' }).waitFor();
  expect(await noJson.textContent()).toMatch(/não é JSON21/);
  const audited = db.selectFrom('audit').select(['target', 'detail']).where('action', '=', 'webhooks.purge');
  expect(await audited.execute()).toEqual([{ target: 'not_json', detail: 'console, older than 3600 s: 1' }]);
  expect(opened.complaints).toEqual([]);
});

test('a page that renews itself keeps the language of its address, and its notice goes', async () => {
  await page.clock.install();
  await logIn(page, env.url, env.tokens.operator);
  await page.goto(`${env.url}/inbox?lang=en&done=purged#conteudo`);
  await title('Webhooks').waitFor();
  await page.getByRole('status').waitFor();
  // the focus of the fragment would keep the page as it is
  await page.evaluate('document.activeElement.blur()');
  const headers = { authorization: `Bearer ${env.webhookSecret}`, 'content-type': 'application/json' };
  const body = `no JSON of ${randomUUID()}`;
  const rows = page.getByRole('main').locator('tbody tr');
  const before = await rows.count();
  await fetch(`${env.url}/webhooks/pix`, { method: 'POST', headers, body });
  while ((await splitWebhooks(env.context, 0)).more);
  await page.clock.runFor(6_000);
  await eventually('the new row', async () => (await rows.count()) === before + 1);
  expect(await page.getByRole('status').count()).toBe(0);
  expect(await page.getByRole('main').textContent()).toContain('Live: with scripts');
  expect(await page.getByRole('main').textContent()).not.toContain('Ao vivo');
  expect(opened.complaints).toEqual([]);
});

test('the page of a run shows its progress, and what is not known as such', async () => {
  const { db, clock } = env.context;
  const run = await startRun(env.context, { from: env.today, to: env.today, trigger: 'api', createdBy: 'admin' });
  await logIn(page, env.url, env.tokens.operator);
  await page.goto(`${env.url}/reconciliations/${run.id}`);
  const fact = (name: string) => page.locator('.facts div').filter({ hasText: name }).locator('dd').textContent();
  expect(await fact('Lidas')).toBe('desconhecido');
  const days = [addDays(env.today, -1), env.today];
  const windows = days.map((day) => ({
    run_seq: run.seq,
    from_day: day,
    to_day: day,
    platform: null,
    state: 'planned',
  }));
  await db.insertInto('run_windows').values(windows).execute();
  const done = { state: 'complete', pages: 3, passes: 1, total: 0, seen: 0, asked_at: clock.now() };
  const [first = ''] = days;
  await db.updateTable('run_windows').set(done).where('run_seq', '=', run.seq).where('from_day', '=', first).execute();
  await db.updateTable('runs').set({ state: 'running', started_at: clock.now() }).where('seq', '=', run.seq).execute();
  await page.reload();
  expect(await page.getByRole('progressbar', { name: '1 de 2 janelas terminadas' }).getAttribute('value')).toBe('1');
  const rows = page.getByRole('table', { name: 'Janelas' }).getByRole('row');
  const cells = async (nth: number) => (await rows.nth(nth).getByRole('cell').allTextContents()).slice(2, 6);
  expect(await cells(1)).toEqual(['3', '1', '0', '0']);
  expect(await cells(2)).toEqual(['–', '–', '–', '–']);
  expect(await fact('Anunciadas')).toBe('desconhecido');
  await db.updateTable('runs').set({ state: 'failed', finished_at: clock.now() }).where('seq', '=', run.seq).execute();
});

test('the system page shows jobs, living and silent processes, and the checks of the doctor', async () => {
  const { context } = env;
  const now = context.clock.now();
  await recordHeartbeat(context, 'inbox');
  const old = { part: 'sealer', holder: 'gone:1', host: 'gone', seen_at: new Date(now.getTime() - 600_000) };
  await context.db.insertInto('heartbeats').values(old).execute();
  const ended = new Date(now.getTime() - 57_000);
  const tick = { job: 'watch', due_at: new Date(now.getTime() - 60_000), started_at: ended, finished_at: now };
  const lease = {
    holder: 'x',
    lease_until: now,
    tries: 1,
    error: JSON.stringify({ name: 'Error', message: 'no disk' }),
  };
  await context.db
    .insertInto('job_ticks')
    .values({ ...tick, ...lease })
    .execute();
  await logIn(page, env.url, env.tokens.operator, '/');
  await page.getByRole('link', { name: 'Sistema', exact: true }).click();
  await title('Sistema').waitFor();
  const watch = page.getByRole('table', { name: 'Tarefas' }).getByRole('row', { name: /Vigia do sistema/ });
  expect(await watch.textContent()).toMatch(/Falhou.*no disk/);
  const next = await watch.getByRole('time').last().getAttribute('datetime');
  expect(new Date(next ?? 0).getTime()).toBeGreaterThan(now.getTime());
  const processes = page.getByRole('table', { name: 'Processos' });
  expect(await processes.getByRole('row', { name: /gone:1/ }).textContent()).toContain('Calado');
  expect(await processes.getByRole('row', { name: context.holder }).textContent()).toContain('Vivo');
  await page.getByRole('button', { name: 'Verificar agora' }).click();
  const findings = page.getByRole('table', { name: 'Achados' });
  expect(await findings.getByRole('row', { name: /Banco de dados/ }).textContent()).toContain('flush');
  expect(await findings.getByRole('row', { name: /Relógio/ }).textContent()).toContain('Em ordem');
  // the test's directory was not created
  expect(await findings.getByRole('row', { name: /Diretório de dados/ }).textContent()).toContain('serve o cria');
  expect(opened.complaints).toEqual([]);
});

test('an operator accepts what the provider shows, and the entry is reversed and posted again', async () => {
  const { context, paid } = env;
  await applyObservations(context, [observe({ ...paid, amount: '1243.56' }, context.clock.now())]);
  const mismatch = await readRow(context.db, 'mismatches', ['id'], { transaction_id: paid.id });
  await logIn(page, env.url, env.tokens.operator);
  await page.goto(`${env.url}/mismatches/${mismatch.id}`);
  await page.getByRole('button', { name: 'Aceitar a do provedor' }).click();
  await title('Aceitar a do provedor: confira').waitFor();
  expect(await page.getByRole('main').textContent()).toContain('R$ 1.243,56');
  await page.getByLabel('Observação').fill('O comprovante diz o mesmo');
  await page.getByRole('button', { name: 'Aceitar a do provedor' }).click();
  await page.getByRole('status').filter({ hasText: 'aceita' }).waitFor();
  await page.goto(`${env.url}/transactions/${paid.id}`);
  const text = await page.getByRole('main').textContent();
  expect(text).toContain('1.243,56');
  expect(text).toContain('Estorno');
  expect(opened.complaints).toEqual([]);
});

test('a viewer sees personal data masked and no buttons, and a change is refused', async () => {
  await logIn(page, env.url, env.tokens.viewer);
  await page.goto(`${env.url}/transactions/${env.paid.id}`);
  const text = (await page.getByRole('main').textContent()) ?? '';
  expect(text).toContain('M*** A*** d*** S***');
  expect(text).toContain('***.456.789-**');
  for (const hidden of ['Maria Aparecida', '123.456.789-09', 'maria.aparecida@', '987654321']) {
    expect(text).not.toContain(hidden);
  }
  const mismatch = await env.context.db.selectFrom('mismatches').select('id').limit(1).executeTakeFirstOrThrow();
  const webhooks = await page.goto(`${env.url}/inbox?state=quarantined`);
  expect(webhooks?.status()).toBe(200);
  const webhook = await page
    .getByRole('table', { name: 'Webhooks' })
    .getByRole('row')
    .nth(1)
    .getByRole('link')
    .first()
    .getAttribute('href');
  for (const address of [`/mismatches/${mismatch.id}`, String(webhook), '/reconciliations', '/reports', '/merchants']) {
    await page.goto(`${env.url}${address}`);
    const pressable = await page
      .getByRole('main')
      .getByRole('button')
      .filter({ hasNotText: 'copiar' })
      .allTextContents();
    // a viewer may download
    expect(pressable, address).toEqual([...(address === '/reports' ? ['Ver', 'Baixar'] : [])]);
    expect(await page.getByRole('main').textContent(), address).not.toContain('Maria Aparecida');
  }
  expect(opened.complaints).toEqual([]);
  const token = await page.locator('input[name=form_token]').first().inputValue();
  const tried = await page.request.post(`${env.url}/mismatches/${mismatch.id}/resolve`, {
    form: { form_token: token },
    headers: { origin: env.url },
  });
  expect(tried.status()).toBe(403);
  expect(await tried.text()).toContain('Não permitido');
});

test('a run is started for valid days only', async () => {
  await logIn(page, env.url, env.tokens.operator);
  await page.goto(`${env.url}/reconciliations`);
  await page.getByLabel('De').fill(env.today);
  await page.getByLabel('Até').fill(addDays(env.today, -3));
  await page.getByRole('button', { name: 'Iniciar' }).click();
  await page.getByRole('alert').filter({ hasText: 'Vem antes do primeiro dia.' }).waitFor();
  expect(await page.getByLabel('De').inputValue()).toBe(env.today);
  // the browser reports it; a request without the browser's check is answered by us
  await page.getByLabel('De').evaluate((field) => field.removeAttribute('max'));
  await page.getByLabel('De').fill(addDays(env.today, 2));
  await page.getByLabel('Até').fill('');
  await page.getByRole('button', { name: 'Iniciar' }).click();
  await page.getByRole('alert').filter({ hasText: 'Este dia ainda não chegou' }).waitFor();
  await page.getByRole('alert').filter({ hasText: 'Deve ser um dia' }).waitFor();
  await page.getByLabel('De').fill(addDays(env.today, -2));
  await page.getByLabel('Até').fill(env.today);
  await page.getByRole('button', { name: 'Iniciar' }).click();
  await page.getByRole('status').filter({ hasText: 'na fila' }).waitFor();
  expect(await page.getByRole('main').textContent()).toContain('Na fila');
  const run = await env.context.db.selectFrom('runs').selectAll().orderBy('seq', 'desc').limit(1).executeTakeFirst();
  expect(run).toMatchObject({ state: 'queued', from_day: addDays(env.today, -2), to_day: env.today });
  expect(run?.created_by).toMatch(/^tok_/);
  // the two 422 responses are all that the browser may have reported
  expect(opened.complaints.filter((text) => !text.includes('422'))).toEqual([]);
});

test('the pages of a search continue with its filters, and repeat no row', async () => {
  await logIn(page, env.url, env.tokens.viewer);
  await page.goto(`${env.url}/transactions?operation=cashin&id=&from=${addDays(env.today, -13)}`);
  const met: (string | null)[] = [];
  for (;;) {
    const links = page.locator('td a[href^="/transactions/"]');
    met.push(...(await links.evaluateAll((found) => found.map((link) => link.getAttribute('href')))));
    const next = page.getByRole('link', { name: 'Próxima página' });
    if ((await next.count()) === 0) break;
    const here = page.url();
    await next.click();
    await page.waitForURL((url) => url.href !== here);
    await page.getByRole('link', { name: 'Voltar ao início' }).waitFor();
  }
  const held = env.context.db.selectFrom('transactions').select('id').where('operation', '=', 'cashin');
  const addresses = (await held.execute()).map(({ id }) => `/transactions/${id}`);
  expect(new Set(met)).toEqual(new Set(addresses));
  expect(met).toHaveLength(addresses.length);
  expect(met.length).toBeGreaterThan(50);
  expect(opened.complaints).toEqual([]);
});

test('a search for a person has pages without script, and no address names the person', async () => {
  await using plain = await openBrowser(env.url, { script: false });
  const addresses: string[] = [];
  plain.page.on('request', (request) => addresses.push(decodeURIComponent(request.url())));
  await logIn(plain.page, env.url, env.tokens.viewer);
  await plain.page.goto(`${env.url}/transactions`);
  await plain.page.getByLabel('Buscar').fill('987.654.321-00');
  await plain.page.getByLabel('Operação').selectOption('Entrada');
  await plain.page.getByRole('button', { name: 'Buscar' }).click();
  expect(new URL(plain.page.url()).searchParams.get('operation')).toBe('cashin');
  const met: (string | null)[] = [];
  for (;;) {
    expect(await plain.page.getByLabel('Buscar').inputValue()).toBe('987.654.321-00');
    const links = plain.page.locator('td a[href^="/transactions/"]');
    met.push(...(await links.evaluateAll((found) => found.map((link) => link.getAttribute('href')))));
    const next = plain.page.getByRole('link', { name: 'Próxima página' });
    if ((await next.count()) === 0) break;
    await next.click();
  }
  const { db } = env.context;
  const held = await db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select('id')
    .where('operation', '=', 'cashin')
    .where('document', '=', '98765432100')
    .execute();
  expect(met.length).toBeGreaterThan(50);
  expect(met).toHaveLength(held.length);
  expect(new Set(met)).toEqual(new Set(held.map(({ id }) => `/transactions/${id}`)));
  expect(addresses.filter((address) => /987.?654.?321/.test(address))).toEqual([]);
  expect(plain.complaints).toEqual([]);
});

test('a log-out ends the session, also for the old cookie, and the next log-in returns to the page', async () => {
  await logIn(page, env.url, env.tokens.viewer, '/');
  const cookies = await opened.browser.cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
  await page.getByRole('button', { name: 'Sair' }).click();
  await page.getByRole('status').filter({ hasText: 'Você saiu.' }).waitFor();
  expect(await opened.browser.cookies()).toEqual([]);
  await opened.browser.addCookies(cookies);
  await page.goto(`${env.url}/mismatches?state=open`);
  await title('Entrar').waitFor();
  await page.getByLabel('Token').fill('not a token');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'não existe ou foi revogado' }).waitFor();
  await page.getByLabel('Token').fill(env.tokens.viewer);
  await page.keyboard.press('Enter');
  await title('Divergências').waitFor();
  expect(new URL(page.url()).search).toBe('?state=open');
  expect(opened.complaints.filter((text) => !text.includes('401'))).toEqual([]);
});

test('a link in an alert leads a logged-in person to the page, not to the login', async () => {
  await logIn(page, env.url, env.tokens.viewer);
  const other = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<link rel=icon href=data:,><a href="${env.url}/mismatches">alert</a>`);
  });
  await new Promise<void>((resolve) => other.listen(0, 'localhost', resolve));
  try {
    // another host name is another site
    await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
    await page.getByRole('link', { name: 'alert' }).click();
    await title('Divergências').waitFor();
  } finally {
    other.closeAllConnections();
    other.close();
  }
});

test('all pages work without script', async () => {
  await using plain = await openBrowser(env.url, { script: false });
  page = plain.page;
  await logIn(page, env.url, env.tokens.operator, '/');
  await page.getByRole('link', { name: 'Referência repetida' }).click();
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByRole('button', { name: 'Estou tratando' }).click();
  await page.getByRole('status').filter({ hasText: 'em tratamento' }).waitFor();
  await page.goto(`${env.url}/inbox?state=quarantined`);
  await page.getByRole('table', { name: 'Webhooks' }).getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByRole('button', { name: 'Reprocessar' }).click();
  await page.getByRole('status').filter({ hasText: 'voltou para a fila' }).waitFor();
  expect(plain.complaints).toEqual([]);
});
