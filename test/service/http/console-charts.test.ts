import { beforeAll, expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { countWebhookDays } from '../../../src/reconciliation/numbers/count-webhook-days.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';

/** A platform id that is a person's CPF. */
const CPF = '11144477735';

const env = closeAfterAll(await openConsoleEnvironment());
beforeAll(async () => {
  await setPlatformName(env.context, { platform: env.paid.platform ?? '', name: 'Loja Centro', actor: 'test' });
  const entered = { platform: CPF, day: env.today, kind: 'other', amount: '1.00', note: 'tarifa', new_platform: true };
  expect((await env.api('admin', 'POST', '/adjustments', entered)).status).toBe(201);
});

const formatted = (day: string): string => day.split('-').toReversed().join('/');

test('the charts of money show each day with its values and a link to its report, and the API says the same', async () => {
  const { get } = await openConsoleSession(env, 'viewer');
  const { status, html } = await get(`/charts?from=${addDays(env.today, -6)}&to=${env.today}`);
  expect(status).toBe(200);
  const address = `/series/money?from=${addDays(env.today, -6)}&to=${env.today}`;
  type Points = { points: { at: string; receipts: string; balance: string }[] };
  const { points } = (await env.api<Points>('viewer', 'GET', address)).json;
  expect(points).toHaveLength(7);
  const brazilian = (amount: string): string =>
    `R$ ${amount.replace('.', ',').replace(/\B(?=(\d{3})+,)/g, '.')}`.replace('R$ -', '-R$ ');
  for (const { at, receipts, balance } of points) {
    expect(html).toContain(
      `<a href="/reports/${at}" aria-label="${formatted(at)}: Recebimentos ${brazilian(receipts)}`,
    );
    expect(html).toContain(`${formatted(at)}: Saldo ${brazilian(balance)}`);
  }
});

test('a platform is chosen by its name, and one that is a document is withheld from viewers', async () => {
  const [viewer, operator] = [await openConsoleSession(env, 'viewer'), await openConsoleSession(env, 'operator')];
  const { html } = await viewer.get('/charts/hours');
  expect(html).toContain(`<option value="${env.paid.platform}">Loja Centro · `);
  expect(html).not.toContain(CPF);
  expect((await viewer.get(`/charts?platform=${CPF}`)).status).toBe(422);
  const chosen = await operator.get(`/charts?platform=${CPF}`);
  expect([chosen.status, chosen.html.includes(`<option value="${CPF}" selected>`)]).toEqual([200, true]);
  expect(chosen.html).toContain(`${formatted(env.today)}: Saldo R$ 1,00`);
});

test.each([
  ['/charts?from=2026-02-30', 'Escolha um dia.'],
  ['/charts?from=2026-01-02&to=2026-01-01', 'Vem depois do último dia.'],
  ['/charts?from=2026-01-01&to=2026-04-03', 'São mais de 92 dias.'],
  ['/charts?to=2999-01-01', 'Este dia ainda não começou.'],
  ['/charts?platform=unknown', 'Não há lançamento desta plataforma.'],
  ['/charts/hours?day=2999-01-01', 'Este dia ainda não começou.'],
  ['/charts/webhooks?from=x', 'Escolha um dia.'],
  ['/charts/callbacks?from=2026-01-01&to=2026-04-03', 'São mais de 92 dias.'],
])('a wrong field of %s keeps the form and says in Portuguese: %s', async (address, fault) => {
  const { get } = await openConsoleSession(env, 'viewer');
  const { status, text, html } = await get(address);
  expect(status).toBe(422);
  expect(text).toContain(fault);
  expect(html).toContain('aria-invalid="true"');
  const [, value = ''] = /=([^&]*)$/.exec(address) ?? [];
  if (!address.includes('platform')) expect(html).toContain(`value="${value}"`);
  expect(html).not.toContain('<svg viewBox="0 0 8');
});

test('webhooks that nobody has counted yet are said to be unknown, and shown once the watch has counted them', async () => {
  const { get } = await openConsoleSession(env, 'viewer');
  expect((await get('/charts/webhooks')).text).toContain('Webhooks perdidos por dia: ainda não contado.');
  const day = addDays(env.today, -2);
  const lost = { transaction_seq: 1, due_at: new Date(), settled_at: new Date() };
  const event_at = env.context.calendar.toInstant(`${day} 12:00:00`);
  await env.context.db
    .insertInto('owed_webhooks')
    .values([
      { event_seq: 900_001, event_at, ...lost, announced_at: null },
      ...[2, 3, 4].map((seconds) => ({
        ...{ event_seq: 900_000 + seconds, event_at, ...lost },
        announced_at: new Date(event_at.getTime() + seconds * 1000),
      })),
    ])
    .execute();
  await countWebhookDays(env.context);
  for (const address of ['/charts/webhooks', '/']) {
    const { text, html } = await get(address);
    expect(html).toContain(`${formatted(day)}: Perdidos 25 %`);
    expect(html).toContain(`${formatted(day)}: Metade até 3 s, 95 % até 4 s`);
    expect(text).toContain('O vigia contou o último dia em');
  }
});

test('one day of callbacks is shown by hour, several by day', async () => {
  const { get } = await openConsoleSession(env, 'viewer');
  const callback = await env.context.db.selectFrom('callbacks').select('seq').executeTakeFirstOrThrow();
  await env.context.db
    .insertInto('callback_attempts')
    .values({
      ...{ callback_seq: callback.seq, number: 1, started_at: env.context.clock.now(), duration_ms: 87 },
      ...{ response_status: 200, request_headers: '{}' },
    })
    .execute();
  const wall = env.context.calendar.toWallTime(env.context.clock.now());
  const [day, hour] = [wall.slice(0, 10), wall.slice(11, 13)];
  const byHour = await get(`/charts/callbacks?from=${day}&to=${day}`);
  expect(byHour.html).toContain(`${formatted(day)}, ${hour}h: Metade até 87 ms, 95 % até 87 ms`);
  expect((await get('/charts/callbacks')).html).toContain(`${formatted(day)}: Aceitas ≈ 100 %`);
});

test('the charts are in English too, with English numbers and days', async () => {
  const { get } = await openConsoleSession(env, 'viewer');
  const { text, html } = await get(`/charts?from=${addDays(env.today, -3)}&to=${env.today}&lang=en`);
  expect(text).toContain('Receipts and payments');
  expect(html).toMatch(/aria-label="\d+ [A-Z][a-z]{2} \d{4}: Receipts R\$ [\d,]+\.\d\d, Payments R\$ [\d,]+\.\d\d"/);
  expect(html).toMatch(/>R\$ \d k</);
  expect(text).not.toMatch(/Recebimentos|Saldo|desconhecido|gráfico/);
});
