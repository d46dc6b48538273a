/** The list of adjustments answers who entered which in some days, when and why: on the page, in its files, by the API and the command. */
import { expect, test } from 'vitest';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { unescapeHtml } from '../../support/open-console-session.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));
const [accountant, viewer] = [await env.console('accountant'), await env.console('viewer')];

const enter = (day: string, amountCents: bigint, note: string, actor = 'command') =>
  adjustBooks(env.context, {
    ...{ platform: 'shop', newPlatform: true, day, kind: 'other', amountCents, note, actor },
  });

test('adjustments are found by their days and by who entered them, added up, and downloaded as shown', async () => {
  await enter('2026-09-30', -100n, 'setembro');
  await enter('2026-10-01', -2000n, 'primeiro');
  await enter('2026-10-31', 30_000n, 'ultimo');
  await enter('2026-10-15', -400_000n, 'de outra pessoa', 'usr_other');
  await enter('2026-11-01', 500n, 'novembro');
  const query = 'from=2026-10-01&to=2026-10-31&actor=command';
  const page = (await accountant.get(`/balances/adjustments?${query}`)).text;
  expect(page).toContain('2 ajustes , com os estornos: entradas R$ 300,00 , saídas -R$ 20,00');
  for (const note of ['primeiro', 'ultimo']) expect(page).toContain(note);
  for (const note of ['setembro', 'novembro', 'de outra pessoa']) expect(page).not.toContain(note);
  const csv = Buffer.from((await accountant.download(`/balances/adjustments?${query}&format=csv`)).bytes).toString();
  const [head = '', ...rows] = csv.trim().split('\r\n');
  expect(head).toMatch(/^Dia;Plataforma;Movimento;Valor;Por quê;Lançado por;Lançado em;Id do ajuste/);
  expect(rows.map((row) => row.split(';').slice(0, 5))).toEqual([
    ['31/10/2026', 'shop', expect.any(String), '300,00', 'ultimo'],
    ['01/10/2026', 'shop', expect.any(String), '-20,00', 'primeiro'],
  ]);
  const book = await accountant.download(`/balances/adjustments?${query}&format=xlsx`);
  expect(Buffer.from(book.bytes).subarray(0, 2).toString()).toBe('PK');
  const masked = await viewer.download(`/balances/adjustments?${query}&format=csv`);
  expect(Buffer.from(masked.bytes).toString()).not.toMatch(/primeiro|ultimo/);
  type Listed = { adjustments: { note: string }[] };
  const { json } = await env.api<Listed>('accountant', 'GET', `/adjustments?${query}`);
  expect(json.adjustments.map(({ note }) => note)).toEqual(['ultimo', 'primeiro']);
  const options = ['--from', '2026-10-01', '--to', '2026-10-31', '--actor', 'command'];
  const { out } = await runCommandInProcess(['adjustments', 'list', ...options], env.env);
  expect(out.match(/ultimo|primeiro|setembro|novembro|outra/g)).toEqual(['ultimo', 'primeiro']);
  const downloads = await env.context.db
    .selectFrom('audit')
    .select('target')
    .where('action', '=', 'reports.download')
    .execute();
  expect(downloads.map(({ target }) => target)).toEqual([
    expect.stringMatching(/^confere-ajustes-[\d-]+\.csv$/),
    expect.stringMatching(/^confere-ajustes-[\d-]+\.xlsx$/),
    expect.stringMatching(/^confere-ajustes-[\d-]+-masked\.csv$/),
  ]);
});

test('adjustments are found by kind, by amount of either sign, and by a part of the note, at every door', async () => {
  await enter('2026-08-01', -12_345n, 'Multa do João, 100% dele');
  await enter('2026-08-02', 12_345n, 'multa devolvida');
  await enter('2026-08-03', 20_000n, 'outra coisa');
  const fee = {
    platform: 'shop',
    day: '2026-08-04',
    kind: 'fee',
    amountCents: -500n,
    note: 'tarifa',
    actor: 'x',
    newPlatform: true,
  } as const;
  await adjustBooks(env.context, fee);
  type Listed = { adjustments: { day: string }[]; errors?: Record<string, string[]> };
  const table: [string, Record<string, string>, string[]][] = [
    ['kind', { kind: 'fee' }, ['04']],
    ['amount', { amount: '123.45' }, ['02', '01']],
    ['range', { amount_from: '123.45', amount_to: '200.00' }, ['03', '02', '01']],
    ['note', { inside: 'MULTA do joao' }, ['01']],
    ['no pattern', { inside: '100%' }, ['01']],
    ['no other pattern', { inside: '1_0' }, []],
  ];
  for (const [name, filter, days] of table) {
    const query = { from: '2026-08-01', to: '2026-08-31', ...filter };
    const { json } = await env.api<Listed>(
      'accountant',
      'GET',
      `/adjustments?${new URLSearchParams(query).toString()}`,
    );
    expect([name, json.adjustments.map(({ day }) => day.slice(8))]).toEqual([name, days]);
    const options = Object.entries(query).flatMap(([field, value]) => [`--${field.replace('_', '-')}`, value]);
    const { out } = await runCommandInProcess(['adjustments', 'list', ...options], env.env);
    expect([name, [...out.matchAll(/2026-08-(\d\d)/g)].map(([, day]) => day)]).toEqual([name, days]);
    const typed = Object.entries(query).map(([field, value]) => [field, value.replace(/^(\d+)\.(\d\d)$/, '$1,$2')]);
    const posted = await accountant.post('/balances/adjustments', Object.fromEntries(typed));
    // a note may name a person: no address has a part of it
    expect([name, posted.status, decodeURIComponent(posted.to ?? '').includes(filter.inside ?? '–')]).toEqual([
      name,
      303,
      false,
    ]);
    const { html, text } = await accountant.get(posted.to ?? '');
    expect([name, [...html.matchAll(/href="\/reports\/2026-08-(\d\d)"/g)].map(([, day]) => day)]).toEqual([name, days]);
    const [, file = ''] = /href="([^"]+format=csv[^"]*)"/.exec(html) ?? [];
    if (days.length === 0) expect(text).toContain('Nada com estes filtros');
    else {
      const csv = Buffer.from((await accountant.download(unescapeHtml(file))).bytes).toString();
      expect([name, [...csv.matchAll(/(\d\d)\/08\/2026;shop/g)].map(([, day]) => day)]).toEqual([name, days]);
    }
  }
  expect((await env.api('viewer', 'GET', '/adjustments?inside=multa')).status).toBe(403);
  const { html } = await viewer.get('/balances/adjustments');
  expect([html.includes('name="amount_to"'), html.includes('name="inside"')]).toEqual([true, false]);
  const reversed = await env.api<Listed>('accountant', 'GET', '/adjustments?amount_from=2&amount_to=1');
  expect([reversed.status, reversed.json.errors]).toEqual([422, { amount_to: ['is less than the first amount'] }]);
  const page = await accountant.get('/balances/adjustments?amount_from=2&amount_to=1');
  expect([page.status, page.text]).toEqual([422, expect.stringContaining('É menor que o primeiro valor.')]);
  const signed = await accountant.get('/balances/adjustments?amount=-2');
  expect([signed.status, signed.text]).toEqual([422, expect.stringContaining('Escreva o valor sem sinal.')]);
});

test('a list without its filters, and one of reversed days or an unknown format, says so', async () => {
  const none = await accountant.get('/balances/adjustments?actor=nobody');
  expect(none.text).toContain('Nada com estes filtros');
  const reversed = await accountant.get('/balances/adjustments?from=2026-10-02&to=2026-10-01');
  expect([reversed.status, reversed.html.includes('to-fault')]).toEqual([422, true]);
  expect((await accountant.get('/balances/adjustments?format=pdf')).status).toBe(404);
});
