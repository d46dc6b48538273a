/** The list of adjustments answers who entered which in some days, when and why: on the page, in its files, by the API and the command. */
import { expect, test } from 'vitest';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
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

test('a list without its filters, and one of reversed days or an unknown format, says so', async () => {
  const none = await accountant.get('/balances/adjustments?actor=nobody');
  expect(none.text).toContain('Nada com estes filtros');
  const reversed = await accountant.get('/balances/adjustments?from=2026-10-02&to=2026-10-01');
  expect([reversed.status, reversed.html.includes('to-fault')]).toEqual([422, true]);
  expect((await accountant.get('/balances/adjustments?format=pdf')).status).toBe(404);
});
