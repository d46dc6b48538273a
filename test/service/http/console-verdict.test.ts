import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { openSession } from '../../../src/access/sessions.ts';
import { createToken } from '../../../src/access/tokens.ts';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { raiseMerchantAlert } from '../../../src/alerts/raise-merchant-alert.ts';
import { sendTest } from '../../../src/callbacks/manage/send-test.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { ConfereError } from '../../../src/domain/errors.ts';
import { serveHttp } from '../../../src/http/connections/serve-http.ts';
import { createApp } from '../../../src/http/create-app.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import type { ProviderClient } from '../../../src/provider/client.ts';
import { readUnproven } from '../../../src/reconciliation/numbers/read-coverage.ts';
import { raiseRunAlert } from '../../../src/reconciliation/runs/alert-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { openBooks, stateBalance } from '../../support/open-books.ts';
import { openEnvironment, TEST_HTTP_LIMITS, type TestEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';

const PLATFORM = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
let env: TestEnvironment;
let url: string;
let today: Day;

beforeEach(async () => {
  env = await openEnvironment();
  const { context } = env;
  // the tests advance by minutes, within one day; for CLOCK_LEEWAY after midnight no reading proves the day before
  const time = context.calendar.toWallTime(context.clock.now()).slice(11, 16);
  if (time >= '23:00' || time < '00:10') await env.timers.advance(2 * 3_600_000);
  const server = env.use(await serveHttp(context, createApp(context), TEST_HTTP_LIMITS));
  url = `http://127.0.0.1:${server.port}`;
  today = context.calendar.dayOf(context.clock.now());
});
afterEach(() => env[Symbol.asyncDispose]());

/** A round of the watch that has just ended. */
async function goRound(): Promise<void> {
  const now = env.context.clock.now();
  const tick = {
    job: 'watch',
    due_at: now,
    started_at: now,
    finished_at: now,
    holder: 'x',
    lease_until: now,
    tries: 1,
  };
  await env.context.db.insertInto('job_ticks').values(tick).onDuplicateKeyUpdate({ finished_at: now }).execute();
}

/** What the overview says: its heading, the reasons, and the addresses that they lead to. */
async function readVerdict(role: Role = 'operator', { watched = true } = {}) {
  if (watched) await goRound();
  const { token } = await createToken(env.context, { name: role, role });
  const cookie = `confere_session=${await openSession(env.context, token)}`;
  const page = await (await fetch(`${url}/`, { headers: { cookie } })).text();
  const [, verdict = ''] = /<div class="verdict[^>]*>(.*?)<\/div>/s.exec(page) ?? [];
  const text = (markup: string): string =>
    markup
      .replace(/<[^>]+>/g, '')
      .replace(/\s+/g, ' ')
      .trim();
  return {
    title: text(/<h1>(.*?)<\/h1>/.exec(verdict)?.[1] ?? ''),
    reasons: [...verdict.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = '']) => text(item)),
    links: [...verdict.matchAll(/href="([^"]+)"/g)].map(([, href]) => href),
    runs: [...verdict.matchAll(/name="(from|to)" value="([^"]+)"/g)].map(([, name, day]) => `${name} ${day}`),
    decided: text(/<p class="decided">(.*?)<\/p>/s.exec(verdict)?.[1] ?? ''),
    strip: text(/<p class="strip">(.*?)<\/p>/s.exec(page)?.[1] ?? ''),
    coverage: text(/<p class="hint">(<b>\d[^<]* de .*?)<\/p>/s.exec(page)?.[1] ?? ''),
  };
}

/** A complete run over these days, which has just begun. */
async function proveDays(from: Day, to: Day): Promise<void> {
  const { db, clock } = env.context;
  const { seq } = await startRun(env.context, { from, to, trigger: 'test', createdBy: 'test' });
  await db.updateTable('runs').set({ state: 'complete', finished_at: clock.now() }).where('seq', '=', seq).execute();
  const window = { run_seq: seq, from_day: from, to_day: to, platform: null, asked_at: clock.now() };
  await db
    .insertInto('run_windows')
    .values({ ...window, state: 'complete' })
    .execute();
}

/** One payment of yesterday. */
async function receivePayment(): Promise<void> {
  const at = `${addDays(today, -1)} 12:00:00`;
  const paid = { platform: PLATFORM, date_created: at, events: [{ status: 'paid', date_created: at }] };
  await applyObservations(env.context, [observeNow(env.context, makeShownTransaction(['paid'], paid))]);
}

/** Books that were opened three days ago, one payment, and every day read since 96 days before them. */
async function makeGoodBooks(): Promise<void> {
  const opening = { platform: PLATFORM, day: addDays(today, -3), balanceCents: 0n, actor: 'test', newPlatform: true };
  await openBooks(env.context, opening);
  await receivePayment();
  for (let back = 99; back > 3; back -= 3) await proveDays(addDays(today, -back), addDays(today, 2 - back));
  await proveDays(addDays(today, -3), today);
}

test('books that are read, proven and undisputed check out, for ten minutes', async () => {
  await makeGoodBooks();
  expect(await readVerdict()).toMatchObject({ title: 'Confere', reasons: [], decided: '', strip: '' });
  await env.timers.advance(10 * 60_000 + 1);
  expect(await readVerdict()).toMatchObject({
    title: 'Ainda não sabemos',
    reasons: ['A última conferência completa de hoje começou há 10 min. Conferir hoje'],
    runs: [`from ${today}`, `to ${today}`],
  });
  const viewer = await readVerdict('viewer');
  expect([viewer.runs, viewer.links], 'a viewer has no button').toEqual([[], ['/reconciliations']]);
});

test('without a round of the watch in the last ten minutes, no alert says nothing', async () => {
  await makeGoodBooks();
  expect(await readVerdict('operator', { watched: false })).toMatchObject({
    title: 'Ainda não sabemos',
    reasons: ['O vigia, que encontra o que parou, ainda não rodou. Ver o sistema'],
    links: ['/system'],
  });
  await goRound();
  await env.timers.advance(10 * 60_000 + 1);
  await proveDays(today, today);
  expect(await readVerdict('operator', { watched: false })).toMatchObject({
    title: 'Ainda não sabemos',
    reasons: ['O vigia, que encontra o que parou, rodou pela última vez há 10 min. Ver o sistema'],
  });
});

test('the balance of now is that of the page of balances: without what is dated later', async () => {
  await makeGoodBooks();
  const later = { status: 'paid', date_created: `${addDays(today, 1)} 12:00:00` };
  const shown = makeShownTransaction(['paid'], { platform: PLATFORM, amount: '7777.00', events: [later] });
  await applyObservations(env.context, [observeNow(env.context, shown)]);
  const cookie = `confere_session=${await openSession(env.context, (await createToken(env.context, { name: 'x', role: 'admin' })).token)}`;
  const totalOf = async (address: string): Promise<string | undefined> => {
    const page = await (await fetch(`${url}${address}`, { headers: { cookie } })).text();
    const row = page.slice(page.indexOf('Saldo por plataforma'));
    return /data-label="Saldo"[^>]*><div><span class="money[^"]*">([^<]+)</.exec(row)?.[1];
  };
  const [overview, balances] = [await totalOf('/'), await totalOf('/balances')];
  expect(overview).toMatch(/^R\$ \d/);
  expect(overview).toBe(balances);
});

test('a dead provider and a disabled merchant: the run that failed comes first', async () => {
  await makeGoodBooks();
  const run = await startRun(env.context, { from: today, to: today, trigger: 'reconcile_recent', createdBy: 'test' });
  await raiseRunAlert(
    env.context,
    { ...run, trigger: 'reconcile_recent' } as unknown as Parameters<typeof raiseRunAlert>[1],
    new ConfereError('unavailable', 'the database did not answer'),
    {} as ProviderClient,
  );
  const merchant = await createMerchant(env.context, { name: 'Livraria', url: 'https://example.com/hook' });
  const since = env.context.clock.now();
  const disabled = { state: 'disabled', disabled_reason: 'gone', failing_since: since };
  await env.context.db.updateTable('merchants').set(disabled).where('id', '=', merchant.merchant.id).execute();
  await raiseMerchantAlert(env.context, { kind: 'merchant_disabled', merchantId: merchant.merchant.id, since });
  const { title, reasons, links, strip } = await readVerdict();
  expect(title).toBe('Não confere');
  expect(reasons[0]).toMatch(/^Conferência falhou: a conferência run_\S+ \(Agenda: hoje e ontem\)/);
  expect(reasons[1]).toMatch(/^Lojista desativado: o lojista Livraria \(mer_/);
  expect(reasons[2]).toMatch(/^O lojista Livraria está desativado/);
  expect(links.slice(0, 2)).toEqual([`/reconciliations/${run.id}`, `/merchants/${merchant.merchant.id}`]);
  expect(strip).toBe('2 alertas ativos: 1 de gravidade crítica, 1 de gravidade alta.');
});

test('the alerts by severity add up to their number, also beyond those that the page names', async () => {
  await makeGoodBooks();
  const alert = { name: 'job_failed', severity: 'high', summary: 'a job failed' } as const;
  const alerts = Array.from({ length: 60 }, (_, index) => ({ ...alert, scope: `job ${index}` }));
  await transact(env.context.db, async (trx) => await raiseAlerts(trx, alerts, env.context.clock.now()));
  expect((await readVerdict()).strip).toBe('60 alertas ativos: 60 de gravidade alta.');
});

test('the line below the days counts the days of the verdict', async () => {
  await makeGoodBooks();
  const { from } = await readUnproven(env.context, addDays(today, -3));
  const since = from.split('-').reverse().join('/');
  expect((await readVerdict()).coverage).toBe(
    `96 de 96 dias terminados desde ${since} lidos ou contados por inteiro depois do seu fim.`,
  );
  // the first of them is before the last 95 days
  await env.context.db.deleteFrom('run_windows').where('from_day', '=', from).execute();
  const { reasons, coverage } = await readVerdict();
  expect(reasons[0]).toContain(`3 dias terminados sem prova desde ${since}, o mais antigo ${since}`);
  expect(coverage).toContain(`93 de 96 dias terminados desde ${since} lidos ou contados`);
});

test('a test that a merchant refused is no failed callback: the books still check out', async () => {
  await makeGoodBooks();
  const { merchant } = await createMerchant(env.context, { name: 'Livraria', url: 'https://example.com/hook' });
  await sendTest(env.context, merchant.id);
  await env.context.db.updateTable('callbacks').set({ state: 'failed' }).execute();
  expect(await readVerdict()).toMatchObject({ title: 'Confere', reasons: [], strip: '' });
  await env.context.db.updateTable('callbacks').set({ source: 'webhook' }).execute();
  expect((await readVerdict()).reasons).toEqual([expect.stringMatching(/^1 callback falhou de vez/)]);
});

test('a fresh installation does not know yet, though it has transactions of today alone', async () => {
  expect(await readVerdict()).toMatchObject({
    title: 'Ainda não sabemos',
    reasons: [
      'Nenhuma conferência leu hoje por inteiro. Conferir hoje',
      expect.stringMatching(/^1 dia terminado sem prova/),
      'Nada foi lançado ainda, e não há saldo inicial. Informar o saldo inicial',
    ],
  });
  // what the first tick reads: today and yesterday. Thousands of older ones are unread, and no balance says so
  await receivePayment();
  await proveDays(addDays(today, -1), today);
  expect(await readVerdict()).toMatchObject({
    title: 'Ainda não sabemos',
    reasons: [`Sem saldo inicial: ${PLATFORM}. Informar o saldo inicial`],
    links: ['/balances/openings'],
  });
});

test('a difference that a person resolved stays: the stated balance still differs, and the decision is counted', async () => {
  await makeGoodBooks();
  const statement = { platform: PLATFORM, at: env.context.clock.now(), balanceCents: 5_000_000n, actor: 'test' };
  await stateBalance(env.context, statement);
  await env.timers.advance(1);
  await proveDays(today, today);
  await stateBalance(env.context, { ...statement, at: new Date(env.context.clock.now().getTime() - 1) });
  const mismatch = await env.context.db.selectFrom('mismatches').selectAll().executeTakeFirstOrThrow();
  expect(await readVerdict()).toMatchObject({ title: 'Não confere' });
  await resolveMismatchByHand(env.context, mismatch.id, { actor: 'test', note: 'depois' });
  const { title, reasons, decided, strip } = await readVerdict();
  expect([title, strip]).toEqual(['Não confere', '']);
  expect(reasons).toEqual([
    expect.stringMatching(
      /^O saldo informado da plataforma \S+ difere do razão em R\$ 4\d\.\d{3},\d\d\. Ver os saldos$/,
    ),
  ]);
  expect(decided).toMatch(/^1 resolvida por decisão, R\$ 4\d\.\d{3},\d\d em jogo: a evidência continua a mesma\./);
});

test('the verdict names platforms by the names that people gave them', async () => {
  await receivePayment();
  await proveDays(addDays(today, -1), today);
  await setPlatformName(env.context, { platform: PLATFORM, name: 'Loja Centro', actor: 'test' });
  const statement = { platform: PLATFORM, at: env.context.clock.now(), balanceCents: 5_000_000n, actor: 'test' };
  await stateBalance(env.context, statement);
  const { reasons } = await readVerdict();
  const differs = expect.stringMatching(
    /^O saldo informado da plataforma Loja Centro · 6f9619ff… difere do razão em R\$/,
  );
  const unopened = 'Sem saldo inicial: Loja Centro · 6f9619ff…. Informar o saldo inicial';
  expect(reasons).toEqual(expect.arrayContaining([differs, unopened]));
});

test('a merchant fails in the verdict as on its badge: after five minutes, and not while it is paused', async () => {
  await makeGoodBooks();
  const { merchant } = await createMerchant(env.context, { name: 'Livraria', url: 'https://example.com/hook' });
  const failing = { failing_since: env.context.clock.now() };
  await env.context.db.updateTable('merchants').set(failing).where('id', '=', merchant.id).execute();
  expect(await readVerdict()).toMatchObject({ title: 'Confere', reasons: [] });
  await env.timers.advance(5 * 60_000);
  expect(await readVerdict()).toMatchObject({
    title: 'Não confere',
    reasons: ['O lojista Livraria não aceita callbacks há 5 min. Ver o lojista'],
  });
  await env.context.db.updateTable('merchants').set({ state: 'paused' }).where('id', '=', merchant.id).execute();
  expect(await readVerdict()).toMatchObject({ title: 'Confere', reasons: [] });
});

test('days before the opening must be proven too, while what began in them may still move', async () => {
  await proveDays(addDays(today, -3), today);
  expect(await readUnproven(env.context, addDays(today, -3))).toMatchObject({ from: addDays(today, -96), count: 93 });
  // after 95 days nothing of before the opening moves
  expect(await readUnproven(env.context, addDays(today, -97))).toMatchObject({ from: addDays(today, -97) });
});

test('every ended day since the opening must be proven, however long ago', async () => {
  const from = addDays(today, -400);
  for (let day = from; day < today; day = addDays(day, 7)) await proveDays(day, addDays(day, 6));
  expect(await readUnproven(env.context, from)).toEqual({ from, count: 0, oldest: undefined });
  await env.context.db.deleteFrom('run_windows').where('from_day', '=', addDays(from, 7)).execute();
  expect(await readUnproven(env.context, from)).toMatchObject({ count: 7, oldest: addDays(from, 7) });
});
