import { beforeAll, expect, test } from 'vitest';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { BUILD_LIMITS } from '../../../src/reports/serve/build-once.ts';
import { COMPARE_LIMITS } from '../../../src/reports/serve/compare-revisions.ts';
import { listReports } from '../../../src/reports/serve/list-reports.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { readRows } from '../../support/read-rows.ts';

const A = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const env = closeAfterAll(await openConsoleEnvironment());
let operator: Awaited<ReturnType<typeof openConsoleSession>>;
let viewer: typeof operator;
beforeAll(async () => {
  await sealNow(env.context);
  [operator, viewer] = [await openConsoleSession(env, 'operator'), await openConsoleSession(env, 'viewer')];
});

const dayBefore = (days: number): Day => addDays(env.today, -days);
const inBrazil = (day: Day): string => day.split('-').reverse().join('/');
const revisionsOf = async (day: Day): Promise<number> =>
  (await env.context.db.selectFrom('reports').select('seq').where('day', '=', day).execute()).length;

/** The text of the row of a day in the list, with its sentence. */
function rowOf(text: string, day: Day): string {
  const list = text.slice(text.indexOf('Os dias do mês'));
  const from = list.indexOf(inBrazil(day));
  return list.slice(from, from + 300);
}

async function adjust(day: Day, amountCents: bigint): Promise<void> {
  const by = { platform: A, day, kind: 'fee' as const, note: 'tarifa', actor: 'test' };
  await adjustBooks(env.context, { ...by, amountCents });
  await sealNow(env.context);
}

test('a day is made from its page, and says what it still lacks, with the button that ends it', async () => {
  const day = dayBefore(4);
  const missing = await operator.get(`/reports/${day}`);
  expect(missing.text).toContain('Não feito: o dia terminou e não tem relatório.');
  expect(missing.html).toContain(`<input type="hidden" name="day" value="${day}">`);
  const { to } = await operator.post('/reports', { day });
  expect(to).toBe(`/reports/${day}?done=made`);
  const made = await operator.get(to ?? '');
  expect(made.text).toContain('Relatório feito: uma nova revisão.');
  expect(made.text).toMatch(/Provisório: falta ler \d+ dos 95 dias antes dele \(de .* a .*\), cujas transações/);
  expect(made.html).toMatch(/action="\/reconciliations">[\s\S]*name="from" value="\d{4}-\d\d-\d\d"/);
  const [report] = (await listReports(env.context, { limit: 200, after: undefined })).reports;
  for (const cents of [report?.figures?.opening, report?.figures?.closing])
    expect(made.text).toContain(`R$ ${cents?.replace('.', ',').replace(/\B(?=(\d{3})+,)/g, '.')}`);
  expect((await operator.post('/reports', { day })).to).toBe(`/reports/${day}?done=unchanged`);
  const audited = await readRows(env.context.db, 'audit', ['detail'], { action: 'reports.make', target: day });
  expect(audited).toEqual([{ detail: 'console' }, { detail: 'console' }]);
});

test('a day with transactions that nobody read after its end lacks a complete reading', async () => {
  const day = dayBefore(2);
  await operator.post('/reports', { day });
  const { text, html } = await operator.get(`/reports/${day}`);
  expect(text).toMatch(/Provisório: falta uma leitura completa depois do fim do dia, e de \d+ dias antes dele\./);
  expect(html).toMatch(new RegExp(`name="to" value="${day}"`));
  // a viewer reads the same, without the button
  const shown = await viewer.get(`/reports/${day}`);
  expect(shown.text).toContain('Provisório: falta uma leitura completa');
  expect((await viewer.get('/reports')).text).toContain('CPF e CNPJ saem mascarados, porque os arquivos circulam');
  expect(shown.html).not.toContain('method="post" action="/reconciliations"');
  // who may start no run reads whom to ask, and where it is started
  expect(shown.html).toMatch(
    /Envie este endereço a um operador: <code class="id">https?:\/\/[^<]*\/reconciliations\?from=\d{4}-\d\d-\d\d&amp;to=\d{4}-\d\d-\d\d</,
  );
  // by name who sees persons; a viewer by the role alone
  expect((await (await openConsoleSession(env, 'accountant')).get(`/reports/${day}`)).text).toMatch(
    /Quem pode: [^.]*\boperator\b/,
  );
  expect(shown.text).not.toContain('Quem pode');
});

test('a day says which revision has a file that a later version rebuilt with another hash', async () => {
  const day = dayBefore(5);
  await operator.post('/reports', { day });
  expect((await viewer.get(`/reports/${day}`)).text).not.toContain('o SHA-256 é outro');
  const { db } = env.context;
  const row = await db.selectFrom('reports').select(['seq', 'files']).where('day', '=', day).executeTakeFirstOrThrow();
  const rebuilt = { bytes: 1, sha256: 'b'.repeat(64), at: '2026-11-23T12:00:00.000Z', version: '9.8.7' };
  const files = (JSON.parse(row.files) as object[]).map((file) => ({ ...file, rebuilt }));
  await db
    .updateTable('reports')
    .set({ files: JSON.stringify(files) })
    .where('seq', '=', row.seq)
    .execute();
  expect((await viewer.get(`/reports/${day}`)).text).toMatch(
    /refeito em 23\/11\/2026 09:00:00 pela versão 9\.8\.7: as linhas são as mesmas, o SHA-256 é outro/,
  );
});

test('an accountant makes reports, and starts no run', async () => {
  const accountant = await openConsoleSession(env, 'accountant');
  const day = dayBefore(2);
  await adjust(day, -77n);
  const changed = await accountant.get(`/reports/${day}`);
  expect(changed.html).toContain(`<input type="hidden" name="day" value="${day}">`);
  expect((await accountant.post('/reports', { day })).to).toBe(`/reports/${day}?done=made`);
  for (const address of [`/reports/${day}`, `/reports?month=${day.slice(0, 7)}`]) {
    const starts = async (session: typeof operator) =>
      (await session.get(address)).html.includes('method="post" action="/reconciliations"');
    expect([address, await starts(operator), await starts(accountant)]).toEqual([address, true, false]);
  }
});

test('chosen days are made at once, and the month shows each with its figures', async () => {
  const days = [dayBefore(3), dayBefore(5), dayBefore(6)];
  const [last = ''] = days;
  const withdrawal = {
    platform: A,
    day: last,
    kind: 'bank',
    amountCents: -7_700n,
    note: 'saque',
    actor: 'test',
  } as const;
  await adjustBooks(env.context, withdrawal);
  await sealNow(env.context);
  const { to } = await operator.post(
    '/reports',
    days.map((day): [string, string] => ['day', day]),
  );
  expect(to).toBe(`/reports?month=${dayBefore(6).slice(0, 7)}&done=made_many`);
  for (const day of days) expect(await revisionsOf(day)).toBe(1);
  const { text, html } = await operator.get(`/reports?month=${last.slice(0, 7)}`);
  const { reports } = await listReports(env.context, { limit: 200, after: undefined });
  for (const day of days.filter((one) => one.startsWith(last.slice(0, 7)))) {
    const figures = reports.find((one) => one.day === day)?.figures;
    const shown = [figures?.opening, figures?.receipts, figures?.commissions, figures?.payments, figures?.closing];
    for (const amount of shown)
      expect(rowOf(text, day)).toContain(amount?.replace('.', ',').replace(/\B(?=(\d{3})+,)/g, '.'));
    expect(rowOf(text, day)).toContain('Provisório');
    expect(html).toContain(`<a href="/reports/${day}">`);
  }
  expect(rowOf(text, last)).toContain('-77,00 saques e depósitos -77,00');
  expect(html).not.toContain('</span>0<');
});

test.each([
  [[], 'Escolha ao menos um dia.'],
  [['2026-02-30'], 'Deve ser um dia'],
  [['2099-01-01'], 'Este dia ainda não chegou'],
])('a choice of %s is refused with its reason', async (days, reason) => {
  const answer = await operator.post('/reports', [
    ['month', '2026-01'],
    ...days.map((day): [string, string] => ['day', day]),
  ]);
  // the month stays
  expect(answer.html).toContain('name="month" value="2026-01"');
  expect([answer.status, answer.text.includes(reason)]).toEqual([422, true]);
});

test('reports that take longer go on after the answer', async () => {
  const days = [dayBefore(8), dayBefore(9)];
  const { atOnceMax } = BUILD_LIMITS;
  BUILD_LIMITS.atOnceMax = 0;
  env.timers.freeze();
  try {
    const answer = operator.post(
      '/reports',
      days.map((day): [string, string] => ['day', day]),
    );
    let isDone = false;
    void answer.finally(() => (isDone = true));
    while (!isDone) {
      await env.timers.advance(5_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await answer).to).toContain('done=making');
  } finally {
    BUILD_LIMITS.atOnceMax = atOnceMax;
  }
  expect((await operator.get('/reports?done=making')).text).toContain('Os relatórios estão sendo feitos');
});

test('two revisions are compared: each figure and row that changed, before and after, with its reason', async () => {
  const day = dayBefore(7);
  await makeReport(env.context, day);
  await adjust(day, -1_234n);
  const changed = await operator.get(`/reports/${day}`);
  expect(changed.text).toContain('Mudou depois da revisão 1: a próxima dirá o que mudou e por quê.');
  expect(changed.text).toContain('Saldo final no razão agora');
  expect(changed.text).not.toContain('O que mudou entre duas revisões');
  const monthOf = async () => (await operator.get(`/reports?month=${day.slice(0, 7)}`)).text;
  const shownDay = day.split('-').reverse().join('/');
  expect(await monthOf()).toMatch(
    new RegExp(`Arquivos que mudaram .* ${shownDay} 1 [^R]* Saldo final: -R\\$ 12,34 ; ainda sem nova revisão`),
  );
  await makeReport(env.context, day);
  expect(await monthOf()).toMatch(
    new RegExp(
      `Arquivos que mudaram .* ${shownDay} 1 [^R]* ± Ajustes: -R\\$ 12,34 , Saldo final: -R\\$ 12,34 Comparar`,
    ),
  );
  const at = new Date(env.context.clock.now().getTime() - 1_000);
  const late = { ...env.paid, id: '99999999-0000-4000-8000-000000000001', reference: 'pedido-tardio' };
  const history = [
    { status: 'paid', date_created: `${day} 11:00:00` },
    { status: 'pending', date_created: `${day} 10:00:00` },
  ];
  await applyObservations(env.context, [observe({ ...late, date_created: `${day} 10:00:00`, events: history }, at)]);
  await makeReport(env.context, day);
  const page = await operator.get(`/reports/${day}?from=1&to=3`);
  expect(page.status).toBe(200);
  const result = page.text.slice(page.text.indexOf('Números de Resumo'));
  expect(result).toContain('± Ajustes R$ 0,00 -R$ 12,34 -R$ 12,34');
  expect(result).toMatch(/\+ Recebimentos R\$ [\d.,]+ R\$ [\d.,]+ \+ ?R\$ 1\.234,56/);
  expect(result).toMatch(/Transação 99999999… pedido-tardio .* não constava Pago .*\+ ?R\$ 1\.222,21/);
  expect(result).toContain('lançado por uma pessoa');
  expect(page.html).toContain('<a href="/transactions/99999999-0000-4000-8000-000000000001">');
  // the newest two alone: the adjustment is in both
  const newest = await operator.get(`/reports/${day}?from=2&to=3`);
  expect(newest.text.slice(newest.text.indexOf('Números de Resumo'))).not.toContain('Ajustes');
  for (const [query, reason] of [
    ['from=3&to=1', 'A primeira tem de ser anterior à segunda.'],
    ['from=1&to=9', 'Escolha duas revisões do dia.'],
    ['from=x&to=', 'Escolha duas revisões do dia.'],
  ] as const) {
    const wrong = await operator.get(`/reports/${day}?${query}`);
    expect([query, wrong.status, wrong.text.includes(reason)]).toEqual([query, 422, true]);
  }
});

test('a comparison of revisions is audited with its transactions, and masked for a viewer', async () => {
  const day = dayBefore(10);
  await makeReport(env.context, day);
  const history = [{ status: 'paid', date_created: `${day} 11:00:00` }];
  const id = '99999999-0000-4000-8000-000000000002';
  const shown = { ...env.paid, id, document: '11144477735', reference: '11144477735', date_created: `${day} 11:00:00` };
  await applyObservations(env.context, [observe({ ...shown, events: history }, env.context.clock.now())]);
  await makeReport(env.context, day);
  const address = `/reports/${day}?from=1&to=2`;
  expect((await operator.get(address)).text).toContain('11144477735');
  const { msMax } = COMPARE_LIMITS;
  COMPARE_LIMITS.msMax = 0;
  try {
    const { text } = await operator.get(address);
    expect(text).toContain('As linhas não foram comparadas: leva mais de 0 s. A aba Alterações da revisão 2 tem');
    expect(text).toContain('+ Recebimentos');
    expect(text).not.toContain('11144477735');
  } finally {
    COMPARE_LIMITS.msMax = msMax;
  }
  const masked = await viewer.get(address);
  expect(masked.html).toContain(id);
  expect(masked.html).not.toContain('11144477735');
  const rows = await readRows(env.context.db, 'audit', ['target', 'detail'], {
    action: 'reports.changes',
    target: `${day} r1 r2`,
  });
  // the second one showed no rows
  expect(rows).toEqual([
    { target: `${day} r1 r2`, detail: `console {"transactions":["${id}"]}` },
    { target: `${day} r1 r2`, detail: 'console' },
  ]);
});

test('a platform has its own figures, files and links', async () => {
  const day = dayBefore(11);
  await makeReport(env.context, day);
  const { reports } = await listReports(env.context, { limit: 200, after: undefined }, A);
  const figures = reports.find((one) => one.day === day)?.figures;
  const page = await operator.get(`/reports/${day}?platform=${A}`);
  expect(page.text).toContain(
    `Recebimentos R$ ${figures?.receipts.replace('.', ',').replace(/\B(?=(\d{3})+,)/g, '.')}`,
  );
  expect(page.html).toContain(`href="/reports/${day}-r1.xlsx?platform=${A}"`);
  const file = await operator.get(`/reports/${day}-r1.csv?platform=${A}`);
  expect([file.status, file.html.includes('a3bb189e')]).toEqual([200, false]);
  const month = await operator.get(`/reports?month=${day.slice(0, 7)}&platform=${A}`);
  expect(month.html).toContain(`/reports/${day}?platform=${A}`);
  expect((await operator.get('/reports?platform=no-such')).status).toBe(422);
  expect((await operator.get(`/reports/${day}?platform=no-such`)).status).toBe(422);
});

test('months follow each other, and what is no month or day is refused', async () => {
  const page = await viewer.get('/reports?month=2025-12');
  expect(page.text).toContain('dezembro de 2025');
  expect(page.html).toContain('href="/reports?month=2025-11"');
  expect(page.html).toContain('href="/reports?month=2026-01"');
  expect(page.text).toContain('Nada foi lançado até o fim deste mês.');
  const now = await viewer.get('/reports');
  expect(now.html).not.toContain('rel="next"');
  expect((await viewer.get('/reports?month=2026-13')).status).toBe(422);
  expect((await viewer.get('/reports?month=novembro')).status).toBe(422);
  // each of these once stopped the whole process
  for (const month of ['0000-01', '9999-12']) expect((await viewer.get(`/reports?month=${month}`)).status).toBe(422);
  for (const day of ['0000-01-01', '9999-12-31']) expect((await viewer.get(`/reports/${day}`)).status).toBe(404);
  expect((await operator.post('/reports', { day: '2019-12-31' })).text).toContain('Antes de 01/01/2020 não havia PIX.');
  expect((await viewer.get('/reports?platform=a&platform=b')).status).toBe(422);
  expect((await viewer.get('/reports/2026-02-30')).status).toBe(404);
  expect((await viewer.get(`/reports/${addDays(env.today, 3)}`)).text).toContain('Por vir: o dia ainda não começou');
  expect((await viewer.post('/reports', { day: dayBefore(1) })).status).toBe(403);
});

test('days whose revisions are of different moments are not added up', async () => {
  const made = Array.from({ length: 10 }, (_, index) => dayBefore(2 + index));
  const month = dayBefore(6).slice(0, 7);
  const make = (days: Day[]) =>
    operator.post(
      '/reports',
      days.map((day): [string, string] => ['day', day]),
    );
  const read = async () => (await viewer.get(`/reports?month=${month}`)).text;
  await make(made);
  expect(await read()).not.toContain('Sem soma');
  await adjust(dayBefore(5), -333n);
  await make([dayBefore(5)]);
  expect(await read()).toContain('Sem soma: as revisões dos dias não são do mesmo momento.');
  await make(made);
  expect(await read()).not.toContain('Sem soma');
  // the sum says that its days changed since somebody may have had them, and where they are
  const said = /mud(?:ou|aram) depois de um relatório (?:dele|deles)\. A soma tem a revisão mais nova de cada um\./;
  expect(await read()).toMatch(said);
  await adjust(dayBefore(6), -111n);
  const { html, text } = await viewer.get(`/reports?month=${month}`);
  expect(text).toMatch(/depois de um relatório deles\. De (?:um|\d+), a soma ainda não tem a mudança\./);
  expect(html).toMatch(/<tfoot[\s\S]*<a href="#outdated">[\s\S]*<\/tfoot>/);
  expect(html).toContain('<section id="outdated">');
});
