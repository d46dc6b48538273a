import { beforeAll, expect, test } from 'vitest';
import { transact } from '../../../src/database/transact.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { resolveMismatches } from '../../../src/mismatches/resolve-mismatches.ts';
import { closeMonth } from '../../../src/reports/months/close-month.ts';
import { reopenMonth } from '../../../src/reports/months/reopen-month.ts';
import { FILE_FORMATS } from '../../../src/reports/plan/report-plan.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, recordReadDays, transactionOf } from '../../support/make-report-transactions.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { readMismatchRows } from '../../support/read-ledger-state.ts';

const MONTH = '2025-10';
const PAGE = `/reports/months/${MONTH}`;
const READ_AT = new Date('2025-12-05T12:00:00Z');
/** A platform that is somebody's document. */
const DOCUMENT = '11144477735';

const env = closeAfterAll(await openConsoleEnvironment());
type Session = Awaited<ReturnType<typeof openConsoleSession>>;
let [viewer, accountant, operator, admin]: Session[] = [];
const paid = transactionOf('cashin', 10_000n, [['paid', '2025-10-10 10:00:00']], {
  ...{ platform: DOCUMENT, document: DOCUMENT },
});

beforeAll(async () => {
  await applyTransactions(env.context, [paid, transactionOf('cashin', 500n, [['paid', '2025-11-02 10:00:00']])]);
  await recordReadDays(env.context, '2025-10-02', '2025-11-30', READ_AT);
  await sealNow(env.context);
  [viewer, accountant, operator, admin] = await Promise.all(
    (['viewer', 'accountant', 'operator', 'admin'] as const).map((role) => openConsoleSession(env, role)),
  );
});

const [as, differs] = [
  (session: Session | undefined): Session => {
    if (!session) throw new Error('no session');
    return session;
  },
  { kind: 'balance_differs' as const, scope: DOCUMENT },
];
const audited = () =>
  env.context.db
    .selectFrom('audit')
    .select(['action', 'target', 'detail'])
    .where('action', 'like', 'months.%')
    .orderBy('seq')
    .execute();

test('the page of a month lists what keeps it open, each with a link to where it is ended, and has no button then', async () => {
  const { context } = env;
  const evidence = {
    expected: { balance: '1.00', at: '2025-12-20T10:00:00-03:00' },
    actual: { ledger: '2.00', difference: '-1.00' },
  };
  await transact(context.db, (trx) => raiseMismatches(trx, [{ ...differs, ...evidence }], context.clock.now()));
  const { seq } = await context.db
    .selectFrom('transactions')
    .select('seq')
    .where('id', '=', paid.id)
    .executeTakeFirstOrThrow();
  const contradictions = ['a', 'b'].map((scope) => ({
    ...{ kind: 'webhook_contradiction' as const, scope, transactionId: paid.id, transactionSeq: seq },
  }));
  await transact(context.db, (trx) => raiseMismatches(trx, contradictions, context.clock.now()));
  const fees = { expected: { commission: '0.50' }, actual: { commission: '0.80' } };
  const differing = { ...fees, kind: 'commission_differs' as const, transactionId: paid.id, transactionSeq: seq };
  const ofDays = ['2025-10-31', '2025-11-01'].map((day) => ({
    ...{ ...fees, kind: 'commission_not_agreed' as const, scope: `${day} ${DOCUMENT}` },
  }));
  await transact(context.db, (trx) =>
    raiseMismatches(trx, [{ ...differing, scope: paid.id }, ...ofDays], context.clock.now()),
  );
  const page = await as(accountant).get(PAGE);
  for (const [kind, title] of [
    ['commission_not_agreed', 'Tarifas fora do contrato'],
    ['commission_differs', 'Tarifa mudou'],
  ]) {
    const list = `/mismatches?kind=${kind}&amp;from=2025-10-01&amp;to=2025-10-31`;
    expect(page.html).toContain(`<a href="${list}">${title}`);
    expect(page.text).toContain(`${title}: uma divergência em aberto, em jogo R$ 0,30.`);
    const found = (await as(accountant).get(list.replaceAll('&amp;', '&'))).html;
    expect(found.match(/<tbody[\s\S]*<\/tbody>/)?.[0].match(/<tr/g)).toHaveLength(1);
  }
  // the page of a mismatch has the payment, and to whom it was given
  const [, mismatch = ''] = /href="(\/mismatches\/[^"]+)"/.exec(page.html) ?? [];
  const [, own = ''] = /<option value="([^"]+)">Eu</.exec((await as(accountant).get(mismatch)).html) ?? [];
  await as(accountant).post(`${mismatch}/assign`, { owner: own });
  const assigned = (await as(accountant).get(mismatch)).text;
  expect(assigned).toMatch(new RegExp(`Plataforma ${DOCUMENT} Criada em 10/10/2025 10:00:00 Paga em 10/10/2025`));
  expect(assigned).toMatch(/O que aconteceu Quem decide: \S+ .* por /);
  expect((await as(viewer).get(mismatch)).text).not.toContain(DOCUMENT);
  await transact(context.db, (trx) => resolveMismatches(trx, contradictions, 'fresh_evidence', context.clock.now()));
  expect(page.status).toBe(200);
  expect(page.text).toContain(
    '2 divergências críticas estão em aberto: Um anúncio em nome do provedor (webhook) disse o que ele não mostra. Um operador as resolve:',
  );
  for (const { id, kind } of await readMismatchRows(context))
    expect([kind, page.html.includes(`<a href="/mismatches/${id}">`)]).toEqual([
      kind,
      ['webhook_contradiction', 'balance_differs'].includes(kind),
    ]);
  expect(page.text).toMatch(new RegExp(`10/10/2025 · R\\$ 100,00 · ${DOCUMENT}`));
  expect(page.html).toMatch(/<a href="\/mismatches\/mm_[^"]+">10\/10\/2025 · <span class="money">R\$ 100,00/);
  expect(page.html).not.toContain('>mm_');
  expect(page.text).toContain('O mês não pode ser fechado:');
  expect(page.html).toContain(
    '<a href="/reports/2025-10-01">01/10/2025 não foi lido nem contado no provedor depois do seu fim.</a>',
  );
  expect(page.text).toContain(
    `O saldo informado de ${DOCUMENT} em 20/12/2025 10:00:00 é R$ 1,00 , e o do razão R$ 2,00 : uma diferença de -R$ 1,00 .`,
  );
  expect(page.html).toMatch(/<a href="\/mismatches\/[^"?]+">O saldo informado de/);
  expect(page.html).toContain(`<a href="${PAGE}/close">Ver o passo do fechamento</a>`);
  for (const text of [
    'Um contador fecha o mês nesta página.',
    'Não impede o fechamento, mas importa:',
    'De uma plataforma não foi informado o saldo do provedor neste mês',
    '22 dias não têm relatório diário.',
  ])
    expect(page.text).toContain(text);
  expect(page.text).toContain('Saldo no fim do mês');
  const running = (await as(accountant).get(`/reports/months/${env.today.slice(0, 7)}`)).text;
  expect(running).toContain('Saldo até agora');
  expect(running).not.toContain('fim do mês');
  // the page that it leads from
  expect((await as(viewer).get(`/reports?month=${MONTH}`)).html).toContain(`<a href="${PAGE}">Fechamento do mês</a>`);
  const masked = await as(viewer).get(PAGE);
  expect([masked.status, masked.html.includes(DOCUMENT)]).toEqual([200, false]);
  // the form says what hinders too
  const step = await as(accountant).get(`${PAGE}/close`);
  expect(step.html).toContain('<a href="/reports/2025-10-01">');
  // whom to ask stands under what they may do alone
  expect([page.text.match(/Quem pode/g), step.html.includes('name="note"')]).toEqual([['Quem pode'], false]);
  expect([step.text.includes('Saldo no fim do mês'), step.text.includes('Ver o que muda')]).toEqual([true, false]);
  const refused = await as(accountant).post(`${PAGE}/close`, { note: '' });
  expect(refused.html).toContain('<a href="/reports/2025-10-01">');
  expect([refused.status, refused.text.includes('O mês não foi fechado: algo o impede.')]).toEqual([422, true]);
  await transact(context.db, (trx) => resolveMismatches(trx, [differs], 'fresh_evidence', context.clock.now()));
  await recordReadDays(context, '2025-10-01', '2025-10-01', READ_AT);
  const english = await as(accountant).get(`${PAGE}?lang=en`);
  expect(english.text).toContain('Nothing keeps it open');
  expect(english.text).toContain('Closing of October 2025');
});

test('an accountant closes a month in two steps, once however often the form is sent', async () => {
  expect((await as(accountant).get(PAGE)).html).toContain(`href="${PAGE}/close"`);
  for (const other of [viewer, operator]) {
    expect((await as(other).get(PAGE)).html).not.toContain(`href="${PAGE}/close"`);
    expect((await as(other).post(`${PAGE}/close`, {})).status).toBe(403);
  }
  const preview = await as(accountant).post(`${PAGE}/close`, { note: 'entregue' });
  expect(preview.text).toContain('Fechar o mês: confira');
  expect(preview.text).toMatch(new RegExp(`${DOCUMENT} R\\$ 0,00 R\\$ 99,50 R\\$ 0,00`));
  expect(await env.context.db.selectFrom('month_closes').select('seq').execute()).toEqual([]);
  // a payment that is learnt meanwhile changes the figures: they are shown before they are confirmed
  const other = transactionOf('cashin', 3_000n, [['paid', '2025-10-11 10:00:00']], { platform: DOCUMENT });
  await applyTransactions(env.context, [other]);
  const second = await as(accountant).confirm(`${PAGE}/close`, preview);
  expect([second.status, second.text.includes('Fechar o mês: confira')]).toEqual([409, true]);
  expect(second.text).toMatch(new RegExp(`${DOCUMENT} R\\$ 0,00 R\\$ 129,00 R\\$ 0,00`));
  for (let sent = 0; sent < 2; sent++) {
    const done = await as(accountant).confirm(`${PAGE}/close`, second);
    expect([done.status, done.to]).toEqual([303, `${PAGE}?done=month_closed`]);
  }
  const [close, ...more] = await env.context.db.selectFrom('month_closes').selectAll().execute();
  expect([more, close?.note]).toEqual([[], 'entregue']);
  expect(await audited()).toEqual([
    {
      ...{ action: 'months.close', target: MONTH },
      detail: `console ${JSON.stringify({
        ...{ close: 1, position: close?.cut_seal_position, hash: close?.cut_seal_hash?.toString('hex') },
        digest: close?.digest?.toString('hex'),
      })}`,
    },
  ]);
  const shown = await as(accountant).get(`${PAGE}?done=month_closed`);
  for (const text of ['Mês fechado: as suas cifras não mudam mais.', 'entregue', close?.digest?.toString('hex') ?? ''])
    expect(shown.text).toContain(text);
  expect(shown.html).toContain('href="/reports/period?from=2025-10-01&amp;to=2025-10-31&amp;format=xlsx"');
  const unknown = await as(accountant).get('/reports/period?from=2025-10-01&to=2025-10-31&format=beancount');
  expect([unknown.status, unknown.text]).toEqual([422, expect.stringContaining('Este formato não existe.')]);
  expect((await as(viewer).get(PAGE)).text).not.toContain('entregue');
  expect((await as(viewer).get(`/reports?month=${MONTH}`)).html).toContain(`<a href="${PAGE}">Mês fechado</a>`);
  expect((await as(accountant).post(`${PAGE}/close`, { note: '' })).status).toBe(422);
  expect(await audited()).toHaveLength(1);
});

test('a closed month shows what changed since, and an admin reopens it with a note', async () => {
  const late = transactionOf('cashin', 2_000n, [['paid', '2025-10-20 10:00:00']], { platform: DOCUMENT });
  await applyTransactions(env.context, [late]);
  await sealNow(env.context);
  const page = await as(admin).get(PAGE);
  expect(page.text).toMatch(new RegExp(`${DOCUMENT} R\\$ 0,00 R\\$ 129,00 R\\$ 0,00 R\\$ 19,50`));
  expect(page.html).toContain(`href="${PAGE}/reopen"`);
  for (const format of FILE_FORMATS)
    expect(page.html).toContain(`<a href="/reports/period?from=2025-10-01&amp;to=2025-10-31&amp;format=${format}">`);
  const byDay = [...page.html.matchAll(/format=([a-z-]+)&amp;group=day">/g)].map(([, format]) => format);
  expect(byDay).toEqual(['lancamentos', 'conta-azul', 'calima']);
  const adjusted = { platform: DOCUMENT, kind: 'fee_out', amount: '1,00', note: 'x' };
  for (const [day, isClosed] of [
    ['2025-10-20', true],
    ['2025-11-20', false],
  ] as const) {
    const adjustment = await as(accountant).post('/balances/adjustments/new', { ...adjusted, day });
    expect(adjustment.text.includes('Mês fechado, cujas cifras não mudam: 10/2025.')).toBe(isClosed);
  }
  expect((await as(accountant).get(PAGE)).html).not.toContain(`href="${PAGE}/reopen"`);
  expect((await as(accountant).post(`${PAGE}/reopen`, { note: 'erro' })).status).toBe(403);
  expect((await as(admin).post(`${PAGE}/reopen`, { note: '' })).text).toContain('Escreva por quê.');
  const preview = await as(admin).post(`${PAGE}/reopen`, { note: 'faltou um pagamento' });
  // November on top of it
  await closeMonth(env.context, { month: '2025-11', actor: 'test' });
  const blocked = await as(admin).get(PAGE);
  expect(blocked.html).toContain(
    '<a href="/reports/months/2025-11">Um mês posterior já está fechado: novembro de 2025.',
  );
  const refused = await as(admin).confirm(`${PAGE}/reopen`, preview);
  expect([refused.status, refused.text.includes('O mês não foi reaberto')]).toEqual([422, true]);
  expect((await as(admin).post(`${PAGE}/reopen`, { note: 'erro' })).status).toBe(422);
  await reopenMonth(env.context, { month: '2025-11', note: 'para reabrir outubro', actor: 'test' });
  expect((await as(admin).confirm(`${PAGE}/reopen`, preview)).to).toBe(`${PAGE}?done=month_reopened`);
  const reopened = await as(admin).get(PAGE);
  expect(reopened.text).toMatch(/Reaberto Administração faltou um pagamento – .* Fechado accountant entregue \d+/);
  expect((await audited()).at(-1)).toEqual({
    ...{ action: 'months.reopen', target: MONTH, detail: 'console {"reopen":4,"close":1}' },
  });
});

test('of two accountants who confirm at once one closes the month, and the other one is refused', async () => {
  const previews = [await as(accountant).post(`${PAGE}/close`, {}), await as(admin).post(`${PAGE}/close`, {})];
  const answers = await Promise.all(
    [accountant, admin].map((session, index) => as(session).confirm(`${PAGE}/close`, previews[index] ?? ({} as never))),
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([303, 422]);
});

test('a balance that is negative at the end of a month is said beside what matters to who closes it', async () => {
  const said = 'O saldo de uma plataforma é negativo no fim do mês';
  const page = '/reports/months/2025-11';
  expect((await as(accountant).get(page)).text).not.toContain(said);
  await adjustBooks(env.context, {
    ...{ platform: 'overdrawn', newPlatform: true, day: '2025-11-20', kind: 'bank', amountCents: -500n },
    ...{ note: 'saque', actor: 'test' },
  });
  expect((await as(accountant).get(page)).text).toContain(said);
});

test('what is no month has no page', async () => {
  expect((await as(viewer).get('/reports/months/2025-13')).status).toBe(404);
  expect((await as(viewer).get('/reports/months/2099-01')).status).toBe(404);
  expect((await as(viewer).get('/reports/months/2020-01')).text).toContain('não há o que fechar');
});
