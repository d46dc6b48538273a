import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { addDays, addMonths, boundsOfMonth, monthOf } from '../../../src/domain/calendar.ts';
import { formatAmount, formatMoney, parseSum } from '../../../src/domain/money.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { previewChange } from '../../../src/ledger/read/preview-change.ts';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { checkCommissions } from '../../../src/ledger/stated/compare-charges.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { readFees } from '../../../src/ledger/stated/read-fees.ts';
import { storeStatement } from '../../../src/ledger/stated/state-balance.ts';
import { findMismatch } from '../../../src/mismatches/read-mismatches.ts';
import { readUnproven } from '../../../src/reconciliation/numbers/read-coverage.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { FEE_COLUMNS, writeFeesWorkbook } from '../../../src/reports/serve/export-fees.ts';
import { findFirstDay } from '../../../src/seal/find-first-day.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { textsOf } from '../../../src/texts/reports/texts.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { importBank } from '../../support/import-bank.ts';
import { observe } from '../../support/make-observations.ts';
import { applyTransactions, transactionOf } from '../../support/make-report-transactions.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { type ConsoleAnswer, hiddenFields } from '../../support/open-console-session.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { readRow, readRows } from '../../support/read-rows.ts';
import { centsOf, type ReadSheet, readWorkbook, rowsOf, sheetOf, sumCents } from '../reports/read-workbook.ts';

const PT_BR = textsOf('pt-BR');

const [A, B] = ['6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'a3bb189e-8bf9-4888-9912-ace4e6543002'];
const WRITTEN = [
  'entries',
  'postings',
  'openings',
  'adjustments',
  'statements',
  'corrections',
  'audit',
  'mismatches',
  'mismatch_changes',
  'alerts',
  'callbacks',
] as const;

const env = closeAfterAll(await openConsoleEnvironment());
const sessions = {
  ...{ viewer: await env.console('viewer'), accountant: await env.console('accountant') },
  ...{ operator: await env.console('operator'), admin: await env.console('admin') },
};

const get = (role: Role, address: string) => sessions[role].get(address);
const post = (role: Role, address: string, fields: Record<string, string>) => sessions[role].post(address, fields);
const confirm = (role: Role, address: string, preview: ConsoleAnswer) => sessions[role].confirm(address, preview);

async function download(role: Role, address: string): Promise<ReadSheet[]> {
  const file = path.join(env.dataDir, 'download.xlsx');
  await writeFile(file, (await sessions[role].download(address)).bytes);
  return await readWorkbook(file);
}

async function countRows(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of WRITTEN) {
    const row = await env.context.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirst();
    counts[table] = Number(row?.count);
  }
  return counts;
}

/** The rows that a step added, by table. */
async function added<T>(work: () => Promise<T>): Promise<{ answer: T; rows: Record<string, number> }> {
  const before = await countRows();
  const answer = await work();
  const after = await countRows();
  const rows = Object.entries(after).map(([table, count]) => [table, count - (before[table] ?? 0)] as const);
  return { answer, rows: Object.fromEntries(rows.filter(([, count]) => count !== 0)) };
}

test('an adjustment is previewed without a write, and confirmed twice at once it is entered once', async () => {
  const day = addDays(env.today, -1);
  await makeReport(env.context, day);
  const address = '/balances/adjustments/new';
  const typed = { platform: A, day, kind: 'fee_out', amount: '1.234,56', note: 'tarifa de <b>novembro</b>' };
  const { answer: preview, rows } = await added(() => post('accountant', address, typed));
  expect(rows).toEqual({});
  expect(preview.status).toBe(200);
  expect(preview.text).toContain('Outras tarifas');
  expect(preview.text).toMatch(/Saldo disponível no provedor/);
  expect(preview.text).not.toMatch(/Assets:|Expenses:/);
  expect(preview.text).toContain('-R$ 1.234,56');
  expect(preview.text).toMatch(/Um dia já relatado ganha uma nova revisão: \d\d\/\d\d\/\d{4}/);
  expect(preview.html).toContain('tarifa de &lt;b&gt;novembro&lt;/b&gt;');
  expect(preview.text).toContain('Ao confirmar, você causa o alerta “Dia já relatado mudou”. Faça a nova revisão');
  const otherTab = await post('accountant', address, typed);
  const both = await added(() =>
    Promise.all([confirm('accountant', address, preview), confirm('accountant', address, preview)]),
  );
  expect(both.answer.map(({ status, to }) => [status, to])).toEqual([
    [303, '/balances/adjustments?done=adjusted'],
    [303, '/balances/adjustments?done=adjusted'],
  ]);
  expect(both.rows).toMatchObject({ adjustments: 1, entries: 1, postings: 2, audit: 1 });
  expect((await added(() => confirm('accountant', address, preview))).rows).toEqual({});
  // the same form in another tab, or sent again after a step back
  const stale = await added(() => confirm('accountant', address, otherTab));
  expect([stale.answer.status, stale.rows]).toEqual([409, {}]);
  const booked = 'Um ajuste deste dia e valor já está lançado: tarifa de <b>novembro</b>';
  for (const page of [stale.answer, await post('accountant', address, typed)]) expect(page.text).toContain(booked);
  for (const other of [{ amount: '1.234,55' }, { platform: B }, { day: env.today }])
    expect((await post('accountant', address, { ...typed, ...other })).text).not.toContain('já está lançado');
  expect((await post('accountant', address, typed)).text).toContain('Alertas Nenhum alerta novo.');
  // a key confirms what its preview showed, and nothing else
  const fields = { ...hiddenFields(preview.html), step: 'confirm' };
  for (const other of [{ amount: '777,00' }, { key: 'a'.repeat(32) }]) {
    const again = await added(() => post('accountant', address, { ...fields, ...other }));
    expect(again.rows).toEqual({});
    expect(again.answer.html).toContain('Nada foi gravado ainda.');
  }
  const list = (await get('accountant', '/balances/adjustments')).text;
  expect(list).toContain('-R$ 1.234,56');
  const actor = await env.context.db.selectFrom('adjustments').select('actor').executeTakeFirstOrThrow();
  expect(actor.actor).toMatch(/^tok_/);
  const named = await env.context.db
    .selectFrom('tokens')
    .select('name')
    .where('id', '=', actor.actor)
    .executeTakeFirstOrThrow();
  expect(list).toContain(` ${named.name} `);
  expect(list).not.toMatch(/novembro.*tok_/);
  const viewed = (await get('viewer', '/balances/adjustments')).text;
  expect(viewed).not.toContain('novembro');
  expect(viewed).toContain(' Contabilidade ');
  expect(viewed).not.toContain('Estornar');
});

test('a day before the books says in the preview what it adds to the days that are not reported or proven', async () => {
  await sealNow(env.context);
  const first = (await findFirstDay(env.context.db)) ?? '';
  const day = addDays(first, -3);
  const typed = { platform: B, day, kind: 'other_in', amount: '1,00', note: 'x' };
  const preview = (await post('accountant', '/balances/adjustments/new', typed)).text;
  expect(preview).toContain('3 dias a mais passam a ter um relatório por fazer. Se o dinheiro já estava na conta');
  const inside = await post('accountant', '/balances/adjustments/new', { ...typed, day: first });
  expect([inside.status, inside.text.includes('antes dos livros')]).toEqual([200, false]);
  const unproven = (await readUnproven(env.context, day)).count;
  expect(unproven).toBeGreaterThan(2);
  const opening = (await post('admin', '/balances/openings/new', { platform: B, day, balance: '1,00' })).text;
  expect(opening).toContain(`${unproven} dias terminados estão sem prova`);
});

test('a wrong form comes back as typed, with what is wrong by its field', async () => {
  const address = '/balances/adjustments/new';
  const typed = { platform: A, day: addDays(env.today, 1), kind: 'gift', amount: '1.234', note: '' };
  const { answer, rows } = await added(() => post('accountant', address, { ...typed, step: 'confirm' }));
  expect(rows).toEqual({});
  expect(answer.status).toBe(422);
  for (const [name, fault] of [
    ['day', 'Este dia ainda não chegou'],
    ['kind', 'Escolha o tipo.'],
    ['amount', 'Escreva um valor como 1.234,56'],
    ['note', 'Escreva por quê.'],
  ]) {
    expect(answer.html).toMatch(new RegExp(`id="${name}-fault" role="alert">${fault}`));
  }
  expect(answer.html).toContain('value="1.234"');
  expect(answer.html).toContain(`<option value="${A}" selected>`);
  for (const amount of ['1,234', '1e3', '+5', '0,001', '--1', '1 000', '99999999999999', '10,', ',5']) {
    const refused = await post('accountant', address, { ...typed, day: env.today, kind: 'fee_in', note: 'x', amount });
    expect(refused.status, amount).toBe(422);
    expect(refused.html, amount).toContain('amount-fault');
  }
  for (const [amount, shown] of [
    ['1.234.567,8', 'R$ 1.234.567,80'],
    ['1234', 'R$ 1.234,00'],
    ['1.23', 'R$ 1,23'],
    ['R$ 49,90', 'R$ 49,90'],
  ]) {
    const taken = await post('accountant', address, {
      ...typed,
      day: env.today,
      kind: 'fee_in',
      note: 'x',
      amount: amount ?? '',
    });
    expect(taken.status, amount).toBe(200);
    expect(taken.text, amount).toContain(shown);
  }
  const zero = await post('accountant', address, {
    ...typed,
    day: env.today,
    kind: 'fee_in',
    note: 'x',
    amount: '0,00',
  });
  const signed = await post('accountant', address, {
    ...typed,
    day: env.today,
    kind: 'bank_out',
    note: 'x',
    amount: '-1,00',
  });
  expect(signed.html).toContain('Escreva o valor sem sinal');
  const out = await post('accountant', address, {
    ...typed,
    day: env.today,
    kind: 'bank_out',
    note: 'x',
    amount: '1,00',
  });
  expect(out.text).toContain('Saque Valor -R$ 1,00');
  expect(out.text).toContain('O dinheiro sai do provedor e entra no banco.');
  expect(zero.html).toContain('Um ajuste de zero');
});

test('a platform that no transaction shows is refused from the list, and taken where it is typed as another one', async () => {
  const address = '/balances/statements/new';
  const typed = { platform: 'no-such', at: `${env.today}T00:00:05`, balance: '5,00' };
  const refused = await post('accountant', address, typed);
  expect(refused.status).toBe(422);
  expect(refused.html).toContain('id="platform-fault" role="alert">Nenhuma transação mostra');
  const both = await post('accountant', address, { ...typed, other_platform: 'new-one' });
  expect(both.html).toContain('other_platform-fault');
  const preview = await post('accountant', address, { ...typed, platform: '', other_platform: 'new-one' });
  expect(preview.status).toBe(200);
  expect((await confirm('accountant', address, preview)).status).toBe(303);
  expect((await get('accountant', '/balances/statements')).text).toContain('new-one');
});

test('an opening is previewed with what it reverses, entered once, and reversed the same way', async () => {
  const address = '/balances/openings/new';
  const day = addDays(env.today, -5);
  const [early] = [makeShownTransaction(['paid@1'], { platform: 'shop', amount: '77.00' })];
  if (!early) throw new Error('no transaction');
  await applyObservations(env.context, [observeNow(env.context, early)]);
  const first = await readRow(env.context.db, 'entries', ['at_wall'], { platform: 'shop' });
  const isEarlier = first.at_wall < day;
  const typed = { platform: 'shop', day: isEarlier ? day : env.today, balance: '-100,00' };
  const { answer: preview, rows } = await added(() => post('admin', address, typed));
  expect(rows).toEqual({});
  expect(preview.text).toContain('Saldo inicial');
  expect(preview.text).toContain('Estorno');
  expect(preview.text).toMatch(/Saldo agora Efeito Saldo depois shop R\$ 77,00 -R\$ 177,00 -R\$ 100,00/);
  const made = await added(() => confirm('admin', address, preview));
  expect(made.answer.to).toBe('/balances/openings?done=opened');
  expect(made.rows).toMatchObject({ openings: 1, entries: 2, audit: 1 });
  expect((await added(() => confirm('admin', address, preview))).rows).toEqual({});
  const again = await post('admin', address, typed);
  expect(again.status).toBe(422);
  expect(again.html).toContain('já tem um saldo inicial');
  const late = { platform: 'shop', day: addDays(typed.day, -1), kind: 'fee_in', amount: '1,00', note: 'x' };
  expect((await post('accountant', '/balances/adjustments/new', late)).html).toContain(
    'id="day-fault" role="alert">Os livros desta plataforma abrem depois',
  );
  const { id } = await env.context.db.selectFrom('openings').select('id').executeTakeFirstOrThrow();
  const back = await added(() => post('admin', `/balances/openings/${id}/reverse`, {}));
  expect(back.rows).toEqual({});
  expect(back.answer.text).toMatch(/shop -R\$ 100,00 R\$ 177,00 R\$ 77,00/);
  expect((await confirm('admin', `/balances/openings/${id}/reverse`, back.answer)).to).toBe(
    '/balances/openings?done=opening_reversed',
  );
  const gone = await post('admin', `/balances/openings/${id}/reverse`, {});
  expect([gone.status, gone.text]).toEqual([422, expect.stringContaining('já foi estornado')]);
});

test('an opening of a platform with many transactions previews its own entry and the balance that it ends in', async () => {
  const { context } = env;
  const many = Array.from({ length: 501 }, () => makeShownTransaction(['paid@1'], { platform: 'big', amount: '1.00' }));
  await applyObservations(
    context,
    many.map((row) => observeNow(context, row)),
  );
  const { answer: preview, rows } = await added(() =>
    post('admin', '/balances/openings/new', { platform: 'big', day: env.today, balance: '20,00' }),
  );
  expect(rows).toEqual({});
  expect(preview.text).toMatch(/big R\$ 501,00 -R\$ 481,00 R\$ 20,00/);
  expect(preview.html.match(/class="entry"/g)).toHaveLength(1);
  expect((await confirm('admin', '/balances/openings/new', preview)).status).toBe(303);
  expect((await get('viewer', '/balances')).text).toMatch(/big R\$ 20,00 R\$ 0,00 R\$ 20,00/);
  const { id } = await readRow(context.db, 'openings', ['id'], { platform: 'big' });
  const back = (await post('admin', `/balances/openings/${id}/reverse`, {})).text;
  expect(back).toContain('só então se conhece o saldo');
  expect(back).not.toContain('Saldo depois');
});

test('an adjustment is reversed once, with a note', async () => {
  const { context } = env;
  const by = { actor: 'command', note: 'wrong', platform: B, day: env.today };
  const id = await adjustBooks(context, { ...by, kind: 'bank', amountCents: 500n });
  const address = `/balances/adjustments/${id}/reverse`;
  expect((await post('accountant', address, { note: ' ' })).html).toContain('note-fault');
  const { answer: preview, rows } = await added(() => post('accountant', address, { note: 'digitado errado' }));
  expect(rows).toEqual({ audit: 1 });
  expect(preview.text).toContain('Estorno');
  expect((await confirm('accountant', address, preview)).to).toBe('/balances/adjustments?done=adjustment_reversed');
  expect((await confirm('accountant', address, preview)).status).toBe(303);
  const reversals = await context.db
    .selectFrom('adjustments')
    .select('note')
    .where('reverses_seq', 'is not', null)
    .execute();
  expect(reversals).toEqual([{ note: 'digitado errado' }]);
  for (const kind of ['bank_in', 'bank_out']) {
    const typed = { platform: B, day: env.today, kind, amount: '5,00', note: 'de novo' };
    expect((await post('accountant', '/balances/adjustments/new', typed)).text).not.toContain('já está lançado');
  }
  const again = await post('accountant', address, { note: 'de novo' });
  expect([again.status, again.text]).toEqual([422, expect.stringContaining('já foi estornado')]);
  expect((await get('accountant', '/balances/adjustments/adj_none/reverse')).status).toBe(404);
});

test('forms that move money open for accountants and admins alone', async () => {
  for (const address of ['/balances/statements/new', '/balances/adjustments/new', '/balances/openings/new']) {
    for (const role of ['viewer', 'operator'] as const) {
      expect((await get(role, address)).status, `${role} ${address}`).toBe(403);
      expect((await post(role, address, {})).status, `${role} ${address}`).toBe(403);
    }
  }
  expect((await get('accountant', '/balances/openings/new')).status).toBe(403);
  expect((await get('admin', '/balances/openings/new')).status).toBe(200);
  expect((await get('viewer', '/balances')).text).not.toContain('Lançar um ajuste');
});

test('balances are shown by platform at an instant, and as they were known', async () => {
  const { context } = env;
  const known = context.calendar.toWallTime(new Date(context.clock.now().getTime() - 86_400_000)).replace(' ', 'T');
  const now = (await get('viewer', '/balances')).text;
  expect(now).toMatch(/Plataforma Disponível Retido Saldo Último informado Diferença/);
  expect(now).toContain(A.slice(0, 8));
  expect((await get('viewer', `/balances?at=${addDays(env.today, -40)}T00:00`)).text).toContain('Nada foi lançado até');
  // the ledger learnt everything a moment ago
  expect((await get('viewer', `/balances?known=${known}`)).text).toContain('Nada foi lançado até');
  const wrong = await get('viewer', '/balances?at=yesterday');
  expect(wrong.status).toBe(422);
  expect(wrong.html).toContain('value="yesterday"');
  expect(wrong.html).toContain('id="at-fault" role="alert">Escolha o dia e a hora.');
});

test('balances of an instant show what was stated at that very instant', async () => {
  const at = env.context.calendar.startOfDay(addDays(env.today, -9));
  const address = `/balances?at=${addDays(env.today, -9)}T00:00`;
  const before = (await get('accountant', address)).text;
  expect(before).not.toContain('R$ 4.321,09');
  await storeStatement(env.context, { platform: A, at, balanceCents: 432_109n, actor: 'test' });
  expect((await get('accountant', address)).text).toContain('R$ 4.321,09');
});

// in order of time: the newest statement is compared. Both days are read past these instants
test.each([
  ['within a day', -4, 'T18:00:00', -4],
  ['of midnight', -3, 'T00:00:00', -4],
])(
  'a balance %s that differs leads to the adjustment that explains it, which resolves it',
  async (_, stated, time, offered) => {
    const { context } = env;
    const address = '/balances/statements/new';
    const at = `${addDays(env.today, stated)}${time}`;
    const day = addDays(env.today, offered);
    const balances = (await get('accountant', `/balances?at=${at}`)).html;
    const cells = balances.slice(balances.indexOf(A)).matchAll(/<span class="money[^"]*">([^<]+)<\/span>/g);
    const ledger = [...cells][2]?.[1]?.replace('R$ ', '') ?? '';
    const off = ledger.replace(
      /,\d\d$/,
      (cents) => `,${cents === ',99' ? '98' : String(Number(cents.slice(1)) + 1).padStart(2, '0')}`,
    );
    const preview = await post('accountant', address, { platform: A, at, balance: off });
    expect(preview.text).toContain('O saldo informado não é o do razão.');
    expect((await confirm('accountant', address, preview)).to).toBe('/balances/statements?done=stated');
    const { id } = await readRow(context.db, 'mismatches', ['id'], { kind: 'balance_differs' });
    expect((await get('viewer', '/balances')).html).toContain(`href="/mismatches/${id}"`);
    const { actual } = (await findMismatch(context, id)) as { actual: { difference: string } };
    const cents = parseSum(actual.difference) ?? 0n;
    const open = { fitid: at, day, amount: formatAmount(-cents), memo: at };
    await importBank(context, { number: `77${-stated}`, lines: [open], balance: { amount: '0.00', day } });
    const line = await readRow(context.db, 'bank_line_texts', ['line_seq'], { memo: at });
    const page = await get('accountant', `/mismatches/${id}`);
    expect(page.html).toContain(`href="/balances/bank/lines/bl_${line.line_seq}/match"`);
    expect(page.text).toContain(`Na plataforma ${A} , o painel do provedor tinha`);
    const link = /href="(\/balances\/adjustments\/new\?[^"]+)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const form = await get('accountant', link);
    expect(form.html).toContain(`<option value="${A}" selected>`);
    expect(form.html).toMatch(new RegExp(`value="${day}"`));
    const amount = new URLSearchParams(link.split('?')[1]).get('amount') ?? '';
    const adjusted = await post('accountant', '/balances/adjustments/new', {
      platform: A,
      day,
      kind: `fee_${new URLSearchParams(link.split('?')[1]).get('direction')}`,
      amount,
      note: 'o painel a mostra',
    });
    expect((await confirm('accountant', '/balances/adjustments/new', adjusted)).status).toBe(303);
    const row = await context.db
      .selectFrom('mismatches')
      .select(['state', 'resolution'])
      .where('id', '=', id)
      .executeTakeFirst();
    expect(row).toEqual({ state: 'resolved', resolution: 'fresh_evidence' });
  },
);

test('accepting takes a second step that shows the entries and the day, and a note', async () => {
  const { context, changed } = env;
  const { id } = await readRow(context.db, 'mismatches', ['id'], {
    kind: 'amount_differs',
    transaction_id: changed.id,
  });
  await makeReport(context, changed.date_created.slice(0, 10));
  const page = await get('operator', `/mismatches/${id}`);
  const actual = /name="actual" value="([^"]+)"/.exec(page.html)?.[1]?.replaceAll('&quot;', '"') ?? '';
  const { answer: second, rows } = await added(() =>
    post('operator', `/mismatches/${id}/accept`, { actual, note: '' }),
  );
  expect(rows).toEqual({});
  expect(second.status).toBe(200);
  expect(second.text).toContain('Recebimentos');
  expect(second.text).toContain('R$ 819,00');
  expect(second.text).toContain(`nova revisão: ${changed.date_created.slice(0, 10).split('-').reverse().join('/')}`);
  const bare = await post('operator', `/mismatches/${id}/accept`, { actual, step: 'confirm' });
  expect(bare.status).toBe(422);
  expect(bare.html).toContain('id="note-fault" role="alert">Escreva o que');
  for (const step of ['', 'confirm']) {
    const unseen = await added(() => post('operator', `/mismatches/${id}/accept`, { note: 'x', step }));
    expect([unseen.answer.status, unseen.rows], 'accepting says what the person saw').toEqual([422, {}]);
  }
  const resolve = await added(() => post('operator', `/mismatches/${id}/resolve`, { note: 'a nossa' }));
  expect(resolve.rows).toEqual({});
  expect(resolve.answer.text).toContain('A diferença fica como está');
  expect(resolve.answer.html).toContain('>a nossa</textarea>');
  expect((await post('operator', `/mismatches/${id}/resolve`, { step: 'confirm' })).status).toBe(422);
  const shown = second.html.match(/class="entry"/g)?.length;
  const done = await added(() =>
    post('operator', `/mismatches/${id}/accept`, { actual, note: 'confirmado', step: 'confirm' }),
  );
  expect(done.answer.to).toBe(`/mismatches/${id}?done=accepted`);
  expect(done.rows.entries).toBe(shown);
  expect((await post('operator', `/mismatches/${id}/accept`, { actual, note: 'x', step: 'confirm' })).status).toBe(409);
});

test('a decision about evidence that has changed since its page is not taken: the page shows the new one', async () => {
  const { context, paid } = env;
  await applyObservations(context, [observe({ ...paid, amount: '1300.00' }, context.clock.now())]);
  const { id } = await readRow(context.db, 'mismatches', ['id'], { transaction_id: paid.id, kind: 'amount_differs' });
  const seen = hiddenFields((await get('operator', `/mismatches/${id}`)).html);
  await applyObservations(context, [observe({ ...paid, amount: '9300.00' }, context.clock.now())]);
  for (const action of ['resolve', 'accept']) {
    const typed = { actual: seen.actual ?? '', note: 'são só R$ 65,44', step: 'confirm' };
    const { answer, rows } = await added(() => post('operator', `/mismatches/${id}/${action}`, typed));
    expect([action, answer.status, rows]).toEqual([action, 409, { audit: 1 }]);
    expect(answer.text).toContain('Mudou depois da página que você viu: agora é isto.');
    expect(answer.text).toContain('R$ 9.300,00');
    expect(answer.html).toContain('são só R$ 65,44</textarea>');
    expect(hiddenFields(answer.html).actual).toContain('9300.00');
  }
  expect((await post('operator', `/mismatches/${id}/acknowledge`, { actual: seen.actual ?? '' })).status).toBe(303);
});

test('the API refuses to resolve a critical mismatch without a note, and takes another one', async () => {
  const { context, paid } = env;
  await applyObservations(context, [observe({ ...paid, amount: '1243.56' }, context.clock.now())]);
  const { id } = await readRow(context.db, 'mismatches', ['id'], { transaction_id: paid.id, kind: 'amount_differs' });
  const call = (body: object) => env.api('operator', 'POST', `/mismatches/${id}/resolve`, body);
  for (const body of [{}, { note: '' }, { note: '  ' }]) {
    expect(await call(body)).toMatchObject({ status: 422, json: { errors: { note: [expect.any(String)] } } });
  }
  expect(await call({ note: 'kept' })).toMatchObject({ status: 200, json: { state: 'resolved', note: 'kept' } });
});

test('a preview leaves out entries that others commit meanwhile', async () => {
  const { context } = env;
  const other = makeShownTransaction(['paid@7'], { platform: B, amount: '3.00' });
  const adjustment = { platform: B, day: env.today, kind: 'bank', amountCents: -7n, note: 'x', actor: 'a' } as const;
  const { entries } = await previewChange(context, async (inner) => {
    await applyObservations(context, [observeNow(context, other)]);
    await adjustBooks(inner, adjustment);
  });
  expect(entries.map(({ kind, postings }) => [kind, postings.map(({ cents }) => cents)])).toEqual([
    ['adjustment', [-7n, 7n]],
  ]);
  await expect(
    previewChange(context, (inner) => adjustBooks(inner, { ...adjustment, day: '2999-01-01' })),
  ).rejects.toThrow('day to come');
});

test('a platform gets a name in the console, and its pages show the id once beside it', async () => {
  const address = '/balances/platforms';
  expect((await post('viewer', address, { platform: A, name: 'Loja Centro' })).status).toBe(403);
  const refused = await post('accountant', address, { platform: A, name: 'fale com maria@exemplo.com' });
  expect([refused.status, refused.html]).toEqual([
    422,
    expect.stringContaining('não pode ter documento, telefone ou e-mail'),
  ]);
  expect(await post('accountant', address, { platform: A, name: 'Loja Centro' })).toMatchObject({
    status: 303,
    to: `${address}?done=named`,
  });
  const same = await post('accountant', address, { platform: B, name: 'loja centro' });
  expect([same.status, same.html]).toEqual([422, expect.stringContaining('Outra plataforma já tem este nome')]);
  for (const role of ['viewer', 'operator'] as const) {
    expect((await get(role, '/balances')).html).toContain('<b>Loja Centro</b> <');
    expect((await get(role, address)).html).toContain(A);
    expect((await get(role, '/')).html).toContain('<b>Loja Centro</b> <span class="id short"');
  }
  const { id, platform } = env.paid;
  const shown = (await get('operator', `/transactions/${id}`)).html;
  expect(shown.includes('<b>Loja Centro</b>')).toBe(platform === A);
});

test('an accountant states a contract, and Tarifas says what the month was charged beside it', async () => {
  await setPlatformName(env.context, { platform: A, name: 'Loja Centro', actor: 'test' });
  const month = env.today.slice(0, 7);
  const address = '/balances/fees/new';
  const typed = { platform: '', operation: 'cashin', fixed: '0,10', percent: '0,50', from: `${month}-01`, to: '' };
  for (const wrong of [{ from: '2026-02-31' }, { to: '2026-02-31' }, { from: `${month}-01T10:00` }]) {
    const refused = await post('accountant', address, { ...typed, ...wrong });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Escolha um dia.')]);
  }
  const later = (await post('accountant', address, { ...typed, from: addDays(env.today, 9) })).text;
  expect(later).toContain('Ele ainda não vale: nenhum dia se compara agora.');
  expect(later).toMatch(/Nenhuma transação destes dias é coberta por este contrato \(\S+ de \d+\)/);
  expect(later).not.toContain('divergência de tarifas');
  const preview = await post('accountant', address, typed);
  expect(preview.text).toContain('Parte do valor, em % 0,50');
  expect(preview.text).toContain('Por este contrato Só os dias do contrato, até hoje.');
  expect((await confirm('accountant', address, preview)).to).toBe(`/balances/fees?month=${month}&done=contract_stated`);
  await adjustBooks(env.context, {
    ...{ platform: A, day: `${month}-01`, kind: 'fee', amountCents: -1_990n, note: 'mensalidade', actor: 'test' },
  });
  const answer = await fetch(`${env.url}/api/v1/fees?month=${month}`, {
    headers: { authorization: `Bearer ${env.tokens.accountant}` },
  });
  type Sums = Record<string, string>;
  const { total, rows, by_hand } = (await answer.json()) as { total: Sums; rows: Sums[]; by_hand: Sums[] };
  const paid = await env.context.db
    .selectFrom('events')
    .innerJoin('transactions', 'transactions.seq', 'events.transaction_seq')
    .select(['transactions.operation', 'amount_cents', 'commission_cents'])
    .where('events.status', '=', 'paid')
    .where('events.at_wall', '>=', `${month}-01 00:00:00`)
    .execute();
  const sum = (of: (row: (typeof paid)[number]) => bigint, rows = paid) => rows.reduce((all, row) => all + of(row), 0n);
  const charged = sum((row) => row.commission_cents ?? 0n);
  const priced = paid.filter((row) => row.operation === 'cashin' && row.commission_cents !== null);
  const agreed = sum((row) => 10n + (row.amount_cents * 50n + 5_000n) / 10_000n, priced);
  const difference = sum((row) => row.commission_cents ?? 0n, priced) - agreed;
  expect(total).toMatchObject({
    ...{ payments: paid.length, charged: formatAmount(charged), agreed: formatAmount(agreed) },
    ...{ difference: formatAmount(difference), uncovered: paid.length - priced.length },
  });
  expect(rows.length).toBeGreaterThan(1);
  const page = (await get('viewer', `/balances/fees?month=${month}`)).text;
  expect(page).toContain('Transações fora do contrato');
  expect(page).not.toContain('Informar um contrato');
  const [stated] = await env.context.db.selectFrom('commission_contracts').select(['id', 'actor']).execute();
  const { name } = await readRow(env.context.db, 'tokens', ['name'], { id: stated?.actor ?? '' });
  const listed = (await get('accountant', `/balances/fees?month=${month}`)).text;
  expect(listed).toMatch(/Contratos informados.* Todas .*R\$ 0,10 0,50 % .*Em vigor/);
  expect(listed).toContain(` Contabilidade ${name} Sair `);
  const byHand = by_hand.map(({ amount = '' }) => BigInt(amount.replace('.', '')));
  expect(byHand.length).toBeGreaterThan(0);
  for (const cents of byHand) expect(listed).toContain(`Lançadas por pessoas 0 ${formatMoney(cents)} – –`);
  const whole = byHand.reduce((all, cents) => all + cents, charged);
  // the line subtracts: the difference is of what a contract covers
  const covered = `${formatMoney(agreed + difference)} ${formatMoney(agreed)} ${formatMoney(difference)}`;
  expect(listed).toContain(`Total das tarifas ${paid.length} ${formatMoney(whole)} ${covered}`);
  const last = addDays(`${month}-01`, -1);
  const rounded = { ...env.paid, id: '0f0e0d0c-0000-4000-8000-0000000000e1', platform: A, e2e_id: '', amount: '10.01' };
  const events = [{ status: 'paid', date_created: `${last} 10:00:00` }];
  await applyObservations(env.context, [
    observeNow(env.context, { ...rounded, commission: '0.06', date_created: `${last} 10:00:00`, events }),
  ]);
  const half = { platform: A, operation: 'cashin', fixed: '0,00', percent: '0,50', from: last, to: last };
  await confirm('accountant', address, await post('accountant', address, half));
  const cents = (await get('accountant', `/balances/fees?month=${last.slice(0, 7)}`)).text;
  expect(cents).toContain(`R$ 0,06 R$ 0,05 R$ 0,01 arredondamento 0 0`);
  const file = `/balances/fees?month=${month}&format=`;
  const charges = by_hand.reduce((all, { amount = '' }) => all + BigInt(amount.replace('.', '')), charged);
  const csv = (await get('accountant', `${file}csv`)).html.trim().split('\r\n');
  const titles = FEE_COLUMNS.map((column) => PT_BR.columns[column]);
  expect(titles.slice(3, 6)).toEqual(['Cobrado', 'Cobrado com contrato', 'Pelo contrato']);
  expect(csv[0]).toBe([...titles, 'Nome da plataforma'].join(';'));
  const downloads = await readRows(env.context.db, 'audit', ['target'], { action: 'reports.download' }, ['seq']);
  expect(downloads.map(({ target }) => target)).toContain(`confere-tarifas-${month}.csv`);
  // the page, the files and the API have the same columns
  const shownTitles = (await get('accountant', `/balances/fees?month=${month}`)).html.match(/<thead.*?<\/thead>/s)?.[0];
  expect(shownTitles?.match(/(?<=>)[^<>\n]+(?=<\/th>)/g)).toEqual(titles);
  expect(Object.keys(rows[0] ?? {})).toEqual([...FEE_COLUMNS]);
  expect(Object.keys(total)).toEqual(FEE_COLUMNS.slice(2));
  expect(csv.slice(1).filter((line) => line.includes(';Lançadas por pessoas;'))).toEqual(
    by_hand.map(
      ({ platform, amount }) =>
        `${platform};Lançadas por pessoas;;${amount?.replace('.', ',')};;;;;;${platform === A ? 'Loja Centro' : ''}`,
    ),
  );
  expect(by_hand.map(({ platform }) => platform)).toContain(A);
  const cells = csv.slice(1).map((line) => BigInt((line.split(';')[3] ?? '').replace(',', '')));
  expect(cells.reduce((all, cents) => all + cents, 0n)).toBe(charges);
  const sheets = await download('accountant', `${file}xlsx`);
  const [sums, behind] = [sheetOf(sheets, 'Tarifas'), sheetOf(sheets, 'Transações fora do contrato')];
  expect(sumCents(rowsOf(sums).map((row) => row.Cobrado))).toBe(charges);
  expect(sumCents(rowsOf(sums).map((row) => row['Cobrado com contrato']))).toBe(agreed + difference);
  expect(sumCents(rowsOf(sums).map((row) => row.Diferença))).toBe(difference);
  const apart = rowsOf(behind).map((row) => centsOf(row.Cobrado) - centsOf(row['Pelo contrato']));
  expect(rowsOf(behind).map((row) => centsOf(row.Diferença))).toEqual(apart);
  expect(rowsOf(behind)).toHaveLength(Number(total.differing));
  const platforms = rows
    .filter((row) => Number(row.differing) > 0)
    .map((row) => (row.platform === A ? 'Loja Centro' : row.platform));
  expect(new Set(rowsOf(behind).map((row) => row.Plataforma?.value))).toEqual(new Set(platforms));
  expect((await get('accountant', `${file}pdf`)).status).toBe(404);
  const fees = await readFees(env.context.db, month, { max: 1 });
  const wanted = { month, fees, platformNames: new Map(), signal: env.context.signal };
  await writeFeesWorkbook(env.context, wanted, async (made) => {
    const cut = sheetOf(await readWorkbook(made), 'Transações fora do contrato').rows[0]?.[1]?.value;
    expect(cut).toContain(`Aqui estão 1 de ${total.differing}.`);
  });
  expect((await get('viewer', `/balances/fees?month=${month}`)).text).toContain(
    'arredonda cada uma para cima ou para baixo',
  );
  const [own] = rows.filter((row) => Number(row.differing) > 0 && row.platform !== 'none');
  const { html } = await get('accountant', `/balances/fees?month=${month}`);
  // only what was charged above the contract is red
  expect(html).not.toMatch(/negative">[^<]*<\/span><br><span class="hint">cobrado a menos/);
  expect(html).not.toMatch(/"money">[^<]*<\/span><br><span class="hint">cobrado a mais/);
  const ofPlatform = `/balances/fees?month=${month}&platform=${own?.platform}`;
  expect(html).toContain(`<a href="${ofPlatform.replace('&', '&amp;')}#differing">`);
  const named = (await get('accountant', ofPlatform)).html.split('id="differing"')[1] ?? '';
  expect(named).toContain('Só a plataforma');
  expect(named).toContain('<b>Soma</b>');
  const times = (await readFees(env.context.db, month)).payments.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(new Set(rowsOf(behind).map((row) => row.Operação?.value))).toEqual(new Set(['Entrada']));
  const ofOwn = rows.filter(({ platform }) => platform === own?.platform);
  expect(named.match(/href="\/transactions\/[^"?]+"/g)?.length).toBe(
    ofOwn.reduce((all, { differing }) => all + Number(differing), 0),
  );
  const paidBefore = transactionOf('cashin', 1_000n, [['paid', `${addDays(`${month}-01`, -1)} 10:00:00`]]);
  await applyTransactions(env.context, [paidBefore]);
  const lastMonth = monthOf(last);
  const made = [A, B].flatMap((platform) =>
    [lastMonth, addMonths(lastMonth, -1)].map((of) => ({
      ...transactionOf('cashin', 1_000n, [['paid', `${of}-15 10:00:00`]]),
      ...{ id: randomUUID(), platform },
    })),
  );
  await applyTransactions(env.context, made);
  const first = addMonths(lastMonth, -1);
  const again = (await post('accountant', address, { ...typed, from: `${first}-10` })).text;
  // its own days alone, of a month in which it begins or ends too
  const spell = (day: string) => day.split('-').reverse().join('/');
  const { to: end } = boundsOfMonth(first);
  expect(again).toContain(`${spell(`${first}-10`)} – ${spell(end)} Loja Centro`);
  for (const [from, to, said] of [
    [`${first}-15`, `${first}-15`, `${spell(`${first}-15`)} Loja Centro `],
    [`${first}-16`, end, 'Nenhuma transação destes dias'],
    [`${first}-01`, `${first}-14`, 'Nenhuma transação destes dias'],
  ] as const)
    expect((await post('accountant', address, { ...typed, from, to })).text).toContain(said);
  // a month of A in which a contract of its own holds is left out
  const [, months = ''] = /Teria custado (.*) Soma – \d+ R\$/.exec(again) ?? [];
  expect(months.match(/Loja Centro \S+ 1 R\$ 0,15 R\$ 0,50 R\$ 0,35/g)).toHaveLength(1);
  expect(months.match(/a3bb189e… 1 R\$ 0,15 R\$ 0,50 R\$ 0,35/g)).toHaveLength(2);
  expect((await post('accountant', address, { ...typed, percent: '101,00', fixed: '-1,00' })).status).toBe(422);
  expect((await post('accountant', address, { ...typed, percent: '' })).text).toContain('Parte do valor, em % 0,00');
  expect((await post('accountant', address, { ...typed, fixed: '' })).text).toContain('Valor fixo, em R$ R$ 0,00');
  const blank = await post('accountant', address, { ...typed, percent: '', fixed: '' });
  expect(blank.html).toMatch(/id="percent-fault" role="alert">De 0 a 100 %/);
  const undo = `/balances/fees/${stated?.id}/undo`;
  expect((await get('accountant', `/balances/fees?month=${month}`)).html).toContain(`href="${undo}"`);
  expect((await get('viewer', undo)).status).toBe(403);
  const previewed = await post('accountant', undo, {});
  expect(previewed.text).toContain('Parte do valor, em % 0,50');
  expect(previewed.text).toMatch(/De \S+ a \S+, (?:nenhuma divergência|abrem? )/);
  expect((await confirm('accountant', undo, previewed)).to).toBe(
    `/balances/fees?month=${month}&done=contract_withdrawn`,
  );
  expect((await get('accountant', `/balances/fees?month=${month}`)).text).toContain('Retirado');
  expect((await post('accountant', undo, {})).status).toBe(422);
  const day = await get('accountant', `/reports/${month}-01`);
  expect(day.text).toMatch(/Ajustes deste dia .*Loja Centro .*-R\$ 19,90 mensalidade/);
  const dearer = await post('accountant', address, { ...typed, fixed: '9,00' });
  const [, opened = ''] = /abrem? (uma|\d+) divergências? de tarifas/.exec(dearer.text) ?? [];
  expect(dearer.text).toMatch(/: \d+ fora do contrato, que custaram R\$.[\d.,]+ em vez de R\$.[\d.,]+/);
  await confirm('accountant', address, dearer);
  const { raised } = await checkCommissions(env.context, { from: `${month}-01`, to: env.today });
  expect(opened === 'uma' ? 1 : Number(opened)).toBe(raised);
  // days that have a mismatch are in the sums too
  const [summed = ''] = /: \d+ fora do contrato, que custaram R\$.[\d.,]+/.exec(dearer.text) ?? [];
  const dearest = (await post('accountant', address, { ...typed, fixed: '9,50' })).text;
  expect(dearest).toMatch(/Passa a valer sobre .*R\$ 9,00 \+ /);
  expect(dearer.text).not.toMatch(/Passa a valer sobre .*R\$ 9,00/);
  expect(dearest).toMatch(/nenhuma divergência nova de tarifas abre\. (?:1 já existe|\d+ já existem)/);
  expect(dearest).toContain(summed);
  // what it ends, changes, leaves and opens adds up to what is open now and then
  const effect = (text: string) => {
    const cell = String.raw`(–|-?\d+) (–|-?R\$.[\d.,]+) (–|\d+) (–|R\$.[\d.,]+)`;
    const read = (head: string) => (new RegExp(`${head} ${cell}`).exec(text) ?? []).slice(1).map((one) => toCents(one));
    const rows = ['Terminam', 'Mudam de valor', 'Ficam como estão', 'Abrem'].map(read);
    return { rows, sum: read('Em jogo depois Terminam.*? Abrem .*? Soma') };
  };
  const toCents = (cell: string): bigint => (cell === '–' ? 0n : BigInt(cell.replace(/[^\d]/g, '')));
  const open = await env.context.db
    .selectFrom('mismatches')
    .select('amount_cents')
    .where('kind', '=', 'commission_not_agreed')
    .where('open_scope', 'is not', null)
    .execute();
  const [, newest = ''] =
    /href="(\/balances\/fees\/[^"/]+\/undo)"/.exec((await get('accountant', '/balances/fees')).html) ?? [];
  const agreeing = (await post('accountant', newest, {})).text;
  for (const text of [dearest, agreeing]) {
    const { rows, sum } = effect(text);
    expect(rows.map((row) => row.length)).toEqual([4, 4, 4, 4]);
    expect([0, 1, 2, 3].map((at) => rows.reduce((all, row) => all + (row[at] ?? 0n), 0n))).toEqual(sum);
    expect(sum[0]).toBe(BigInt(open.length));
  }
  expect(effect(agreeing).rows[0]?.[0]).toBeGreaterThan(0n);
});
