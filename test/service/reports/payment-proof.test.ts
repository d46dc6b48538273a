/** The proof of a payment: what it says of a list that was read whole, and that it concludes nothing from any other. */
import { beforeAll, expect, it } from 'vitest';
import { addDays, type Day } from '../../../src/domain/calendar.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { findNamed } from '../../../src/ledger/read/find-named.ts';
import type { PaymentProof } from '../../../src/operations/rows/payment-proof.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { recordReadDays } from '../../support/make-report-transactions.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { unescapeHtml } from '../../support/open-console-session.ts';

type Both = { 'pt-BR': string; en: string };
type Answer = PaymentProof & { text: Both; headline: Both; errors?: Record<string, string[]> };

const NAME = 'Zélia Prado';
const env = closeAfterAll(await openConsoleEnvironment());
let day: Day;
let payment: ShownTransaction;
beforeAll(async () => {
  day = addDays(env.today, -20);
  payment = of('0f0e0d0c-0000-4000-8000-0000000000aa', `${day} 14:30:07`);
  await apply(payment);
  await sealNow(env.context);
});

function of(id: string, at: string, more: Partial<ShownTransaction> = {}): ShownTransaction {
  const e2e_id = `E12345678${at.slice(0, 16).replace(/\D/g, '')}${id.slice(-11)}`;
  const events = [{ status: 'paid', date_created: at }];
  return { ...env.paid, id, e2e_id, name: NAME, amount: '321.45', reference: id, date_created: at, events, ...more };
}

const apply = (one: ShownTransaction) => applyObservations(env.context, [observe(one, env.context.clock.now())]);

async function ask(query: Record<string, string>, role: 'operator' | 'viewer' = 'operator') {
  const response = await fetch(`${env.url}/api/v1/transactions/proof?${new URLSearchParams(query).toString()}`, {
    headers: { authorization: `Bearer ${env.tokens[role]}` },
  });
  return { status: response.status, proof: (await response.json()) as Answer };
}
const prove = async (query: Record<string, string>) => (await ask({ day, ...query })).proof;
const ids = ({ payments }: PaymentProof) => payments.map(({ id }) => id);

it('a list that nobody read whole after its day proves no absence, and no presence of all', async () => {
  const known = await prove({ amount: '321.45' });
  expect(known).toMatchObject({
    conclusion: 'unknown',
    list: { conclusion: 'unknown', reason: 'not_read', reading: null, early: null },
  });
  expect(ids(known)).toEqual([payment.id]);
  const other = await prove({ amount: '9.99' });
  expect(other).toMatchObject({ conclusion: 'unknown', payments: [], older: { conclusion: 'unknown', days: 95 } });
  expect(other.text.en).toMatch(/has no transaction like this \(R\$.9\.99\), and that may not be all/);
  expect(other.text.en).toMatch(/To conclude, an operator starts a reconciliation from .* to .*\./);
  const unread = await (await env.console('accountant')).get(`/transactions/proof?day=${day}&amount=9,99`);
  expect(unread.text).toContain('Dias antes, não lidos inteiros desde então 95');
  expect(unread.text).toMatch(
    /Feita em \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d \. Falta o nome da empresa: um administrador do servidor o define/,
  );
  // the list itself is to be read too
  expect(unread.html).toContain(`?from=${addDays(day, -95)}&amp;to=${day}</code>`);
  const today = (await ask({ day: env.today, amount: '9.99' })).proof;
  expect(today.list.reason).toBe('not_over');
  expect(today.text.en).not.toContain('To conclude');
  expect((await ask({ day: '2021-01-01', amount: '9.99' })).proof.list.reason).toBe('before_books');
});

it('a reading that began before its day was over is named, with when one that counts begins, on both pages alike', async () => {
  const noon = env.context.calendar.toInstant(`${day} 12:00:00`);
  const run = await recordReadDays(env.context, day, day, noon);
  await recordReadDays(env.context, addDays(day, -2), addDays(day, -1), noon);
  const { list, older, text } = await prove({ amount: '9.99' });
  expect(list).toMatchObject({ reason: 'not_read', reading: null });
  expect(list.early).toMatchObject({ read_at: noon.toISOString(), run_id: run });
  expect(older).toMatchObject({ unread: 95, counted: 0, early_at: noon.toISOString() });
  expect(text['pt-BR'].match(/contad/i)).toBeNull();
  const brazil = (of: Day) => of.split('-').reverse().join('/');
  const [begun, since] = [`${brazil(day)} 12:00:00`, `${brazil(addDays(day, 1))} 00:0`];
  expect(text['pt-BR']).toContain(`A leitura inteira mais nova dela começou em ${begun}, cedo demais`);
  expect(text['pt-BR']).toContain(`95 não foram lidos inteiros desde ${since}`);
  expect(text['pt-BR']).toContain(`desses dias começou antes disso, em ${begun}`);
  // of a day before the books too
  const before = '2021-02-02';
  await recordReadDays(env.context, before, before, env.context.calendar.toInstant(`${before} 12:00:00`));
  expect((await ask({ day: before, amount: '9.99' })).proof.list.reason).toBe('not_read');
  const console = await env.console('accountant');
  const page = (await console.get(`/reconciliations/${run}`)).text;
  expect(page).toContain('Provou que leu a lista inteira destes dias.');
  expect(page).toMatch(new RegExp(`A leitura de ${brazil(day)} começou em\\s+${begun}\\s*, cedo demais para a prova`));
  await env.context.db.updateTable('runs').set({ days_counted: 1 }).where('id', '=', run).execute();
  const counted = (await console.get(`/reconciliations/${run}`)).text;
  expect(counted).toContain('Contou estes dias, sem os ler');
  expect(counted).not.toContain('Provou que leu');
});

it('a list that was read whole after its day has the payment, or has none, and the answer says how that is known', async () => {
  const readAt = new Date(env.context.clock.now().getTime() - 3_600_000);
  const run = await recordReadDays(env.context, day, day, readAt);
  const has = await prove({ amount: '321.45' });
  expect(has).toMatchObject({ conclusion: 'has', list: { reading: { read_at: readAt.toISOString(), run_id: run } } });
  expect(has.payments[0]).toMatchObject({
    id: payment.id,
    name: NAME,
    webhook: null,
    paid: { source: { kind: 'show' } },
  });
  expect(has.log?.position).toBeGreaterThan(0);
  expect(has.text['pt-BR']).toMatch(/foi lida inteira em .* e tem uma transação assim: R\$.321,45/);
  // a payment that is in the list needs no older list
  expect(has.text['pt-BR']).not.toContain('nada se conclui');
  const none = await prove({ amount: '9.99' });
  // the list of the day alone: a charge of a day before may have been paid on it
  expect(none).toMatchObject({ conclusion: 'unknown', list: { conclusion: 'none', reason: null } });
  // so a badge says no absence either
  expect(none.headline.en).toMatch(/: Not in this list; Created before: not known$/);
  expect(none.headline['pt-BR']).toMatch(/: Não nesta lista; Criado antes: não se sabe$/);
  const page = await (await env.console('operator')).get(`/transactions/proof?day=${day}&amount=9,99`);
  expect(page.html).toContain('<span class="badge is-unknown">Criado antes: não se sabe</span>');
  // the run that would conclude: its form, or the form's address for who may start none
  const start = `/reconciliations?from=${addDays(day, -95)}&amp;to=${addDays(day, -1)}`;
  expect(page.html).toContain(`<a href="${start}">Iniciar essa conferência</a>`);
  const accountant = await (await env.console('accountant')).get(`/transactions/proof?day=${day}&amount=9,99`);
  expect(accountant.html).not.toContain('Iniciar essa conferência');
  expect(accountant.html).toMatch(/Envie este endereço a um operador: <code[^>]*>https?:/);
  expect(accountant.html).toContain(`${start}</code>`);
  expect(page.html).not.toContain('Não tem</span>');
  expect(none.text.en).toMatch(
    /was read whole at .* and has no transaction like this: R\$.9\.99\..* 95 days before, 95 were not read whole since/,
  );
  await recordReadDays(env.context, addDays(day, -95), addDays(day, -1), readAt);
  const all = await prove({ amount: '9.99' });
  expect(all).toMatchObject({ conclusion: 'none', older: { conclusion: 'none', unread: 0 } });
  expect(all.headline).toMatchObject({ en: expect.stringMatching(/: Has none$/) });
});

it('a payment is found by its hour, its name and its end-to-end id', async () => {
  expect(ids(await prove({ amount: '321.45', hour: '14' }))).toEqual([payment.id]);
  expect(await prove({ amount: '321.45', hour: '15' })).toMatchObject({ conclusion: 'none', other_hours: [14] });
  expect((await prove({ name: 'prado', hour: '15' })).text.en).toMatch(
    /On this day there is one like this \(name with “prado”\), at another hour: between 14:00 and 15:00\.$/,
  );
  // words of the name, as people know each other
  for (const name of ['zelia', 'PRADO', 'Prado Zél']) expect(ids(await prove({ name }))).toEqual([payment.id]);
  const other = await prove({ name: 'cunha' });
  expect(other.list.conclusion).toBe('none');
  expect(other.text['pt-BR']).toMatch(/assim: nome com “cunha”/);
  const { proof } = await ask({ e2e_id: payment.e2e_id ?? '' });
  expect(proof).toMatchObject({ conclusion: 'has', asked: { day }, payments: [{ id: payment.id }] });
  const absent = (payment.e2e_id ?? '').slice(0, -3).concat('zzz');
  expect((await ask({ e2e_id: absent })).proof).toMatchObject({ conclusion: 'none', asked: { day } });
});

it('names in between are no other person, and an absence names what may be meant: another name, a day beside', async () => {
  const id = '0f0e0d0c-0000-4000-8000-0000000000ee';
  await apply(of(id, `${day} 16:00:00`, { name: 'Fernanda Machado Teixeira', amount: '748.92' }));
  expect(ids(await prove({ amount: '748.92', name: 'Fernanda Teixeira' }))).toEqual([id]);
  const named = await prove({ amount: '748.92', name: 'Fernanda Souza' });
  expect(named).toMatchObject({ payments: [], other_names: 1, other_days: [] });
  expect(named.text.en).toContain('Under another name there is one transaction of this amount on this day.');
  expect(named.headline.en).not.toContain('Has none');
  for (const asked of [{ amount: '748.92' }, { amount: '748.92', name: 'teixeira' }]) {
    const beside = (await ask({ day: addDays(day, -1), ...asked })).proof;
    expect(beside).toMatchObject({ payments: [], other_days: [day] });
    expect(beside.text.en).toMatch(/There is one on \d/);
  }
});

it('of each question by name, hour and id the sentences are true, and each link finds what it says', async () => {
  const at = addDays(day, -1);
  const [own, other] = [
    of('0f0e0d0c-0000-4000-8000-0000000001aa', `${at} 11:20:00`, { name: 'Nilce Braga', amount: '612.40' }),
    of('0f0e0d0c-0000-4000-8000-0000000001bb', `${at} 16:20:00`, { name: 'Otto Reis', amount: '730.10' }),
  ];
  await apply(own);
  await apply(other);
  await recordReadDays(env.context, at, at, env.context.clock.now());
  const absent = (own.e2e_id ?? '').slice(0, -3).concat('zzz');
  const console = await env.console('operator');
  const [HERE, HOUR, NAMES] = ['Está na lista, pago em', 'Não nesta hora', 'Não com este nome'];
  const [atEleven, others] = ['em outra hora: entre 11 e 12 h', 'Com outro nome há uma transação'];
  const table: [Record<string, string>, string, string[]][] = [
    [{ amount: '612,40', name: 'nilce' }, HERE, []],
    [{ amount: '612,40', name: 'nilce', hour: '11' }, HERE, []],
    [{ amount: '612,40', name: 'nilce', hour: '17' }, HOUR, [atEleven]],
    [{ name: 'nilce', hour: '17' }, HOUR, [atEleven]],
    [{ amount: '612,40', hour: '17' }, HOUR, [atEleven]],
    [{ amount: '612,40', name: 'ana' }, NAMES, [others]],
    [{ amount: '612,40', name: 'ana', hour: '11' }, NAMES, [others]],
    [{ amount: '612,40', name: 'ana', hour: '17' }, NAMES, [others]],
    [{ amount: '730,10', name: 'nilce', hour: '11' }, NAMES, [others]],
    [{ amount: '9,98', name: 'nilce', hour: '17' }, 'Não nesta lista', []],
    [{ e2e_id: own.e2e_id ?? '' }, HERE, []],
    [{ e2e_id: own.e2e_id ?? '', name: 'nilce' }, HERE, []],
    [{ e2e_id: own.e2e_id ?? '', name: 'ana', amount: '612,40' }, NAMES, [others]],
    [{ e2e_id: absent, name: 'nilce', amount: '612,40' }, 'Não nesta lista', []],
  ];
  const asked = async (query: Record<string, string>) => {
    const answer = await console.get(`/transactions/proof?${new URLSearchParams({ day: at, ...query }).toString()}`);
    return answer.to === null ? answer : await console.get(answer.to);
  };
  for (const [query, verdict, sentences] of table) {
    const { html, text } = await asked(query);
    const said = JSON.stringify(query);
    expect([said, /<h2 class="as-written">([\s\S]*?)<\/h2>/.exec(html)?.[1]]).toEqual([
      said,
      expect.stringContaining(verdict),
    ]);
    expect([said, [atEleven, others].filter((one) => text.includes(one))]).toEqual([said, sentences]);
    const links = [...html.matchAll(/<p class="act-hint"><a href="([^"]+)">Ver/g)].map(([, to]) => to ?? '');
    expect([said, links.length]).toEqual([said, sentences.length]);
    for (const to of links)
      expect([said, to, (await console.get(unescapeHtml(to))).html]).toEqual([
        ...[said, to, expect.stringContaining('<article class="payment">')],
      ]);
  }
});

it.each([
  ['paid', 'cashin', 'In the list, paid on ', 'Está na lista, pago em '],
  ['expired', 'cashin', 'In the list, not paid (expired on ', 'Está na lista, não pago (expirado em '],
  ['refund', 'cashin', 'In the list, refunded on ', 'Está na lista, devolvido em '],
  ['paid', 'cashout', 'In the list, money out (paid on ', 'Está na lista, saída de dinheiro (pago em '],
] as const)('the headline says of a %s %s what became of it', async (status, operation, en, pt) => {
  const amount = `88.0${operation.length}${status.length}`.slice(0, 5);
  const id = `0f0e0d0c-0000-4000-8000-00000000${operation.length}${status.length}ee`;
  const events = [{ status, date_created: `${day} 15:00:00` }];
  await apply(of(id, `${day} 15:00:00`, { amount, operation, status, events }));
  const proof = await prove({ amount, name: 'prado', hour: '15' });
  expect(ids(proof)).toContain(id);
  expect(proof.headline.en).toContain(en);
  expect(proof.headline['pt-BR']).toContain(pt);
  expect(proof.headline['pt-BR']).toContain('nome com “prado”');
});

it('of more names than are compared, only what was found is known', async () => {
  const happened = { from: `${day} 14:00:00`, end: `${day} 15:00:00` };
  const all = await findNamed(env.context.db, { name: 'prado', happened });
  expect(all).toMatchObject({ isWhole: true, isAnyHidden: false, seqs: [expect.any(Number)] });
  const none = await findNamed(env.context.db, { name: 'prado', happened }, 0);
  expect(none).toEqual({ isWhole: false, isAnyHidden: false, seqs: [] });
});

it('a payment of an older charge is of the day on which it was paid', async () => {
  const created = addDays(day, -2);
  const events = [
    { status: 'refund', date_created: `${addDays(day, 3)} 10:00:00` },
    { status: 'paid', date_created: `${day} 23:59:59` },
  ];
  const older = of('0f0e0d0c-0000-4000-8000-0000000000bb', `${created} 09:00:00`, {
    amount: '77.01',
    status: 'refund',
    events,
  });
  await apply(older);
  const proof = await prove({ amount: '77.01' });
  expect(proof).toMatchObject({ conclusion: 'has', list: { conclusion: 'none' }, older: { conclusion: 'has' } });
  expect(proof.payments).toMatchObject([{ id: older.id, is_older: true }]);
  expect(proof.headline.en).toMatch(/: Created before, refunded on [^;]+$/);
  expect(ids((await ask({ day: addDays(day, 1), amount: '77.01' })).proof)).toEqual([]);
  // its status came before its history, and was taken for that of another day
  const id = '0f0e0d0c-0000-4000-8000-0000000000ab';
  const [supposed, paid] = [addDays(day, -3), { status: 'paid', date_created: `${day} 10:00:00` }];
  const known = [{ status: 'in_analysis', date_created: `${supposed} 09:00:00` }];
  const moved = of(id, `${addDays(day, -5)} 09:00:00`, { amount: '77.02', status: 'in_analysis', events: known });
  await apply(moved);
  await apply({ ...moved, status: 'paid', events: [] });
  expect(ids((await ask({ day: supposed, amount: '77.02' })).proof)).toEqual([id]);
  await apply({ ...moved, status: 'paid', events: [paid, ...known] });
  for (const name of [{}, { name: 'prado' }])
    expect(ids((await ask({ day: supposed, amount: '77.02', ...name })).proof)).toEqual([]);
  expect((await prove({ amount: '77.02' })).payments).toMatchObject([{ id, is_older: true }]);
});

it('by an end-to-end id only incoming payments of its own day, without one, are in doubt, and they are named', async () => {
  const absent = (payment.e2e_id ?? '').slice(0, -3).concat('zzz');
  const put = async (last: string, at: string, more: Partial<ShownTransaction>) => {
    const id = `0f0e0d0c-0000-4000-8000-0000000003${last}`;
    const { e2e_id: _, ...bare } = of(id, at, more);
    await apply(bare);
    return id;
  };
  await put('aa', `${day} 10:00:00`, { operation: 'cashout', amount: '66.01' });
  await put('bb', `${addDays(day, 1)} 10:00:00`, { amount: '66.02' });
  // created on the day of the id and paid after it
  const late = [{ status: 'paid', date_created: `${addDays(day, 1)} 12:00:00` }];
  await put('cc', `${day} 10:00:00`, { amount: '66.03', events: late });
  const { proof } = await ask({ e2e_id: absent });
  expect(proof).toMatchObject({ conclusion: 'none', list: { reason: null }, without_e2e: [] });
  expect(proof.headline.en).toMatch(/: Not received$/);
  expect(proof.text['pt-BR']).toContain('Saídas de dinheiro não se procuram assim');
  const mistyped = (await ask({ day, e2e_id: absent.replace('E', '0') })).proof;
  expect(mistyped).toMatchObject({ conclusion: 'unknown', list: { reason: 'id_malformed' }, payments: [] });
  expect(mistyped.text['pt-BR']).toContain('o id E2E não tem a forma de um; confira cada caractere');
  const id = await put('dd', `${day} 10:00:00`, { amount: '66.04' });
  const doubted = (await ask({ e2e_id: absent })).proof;
  expect(doubted).toMatchObject({ conclusion: 'unknown', list: { reason: 'rows_hidden' } });
  expect(doubted.without_e2e).toEqual([{ id, amount: '66.04', day }]);
  expect(doubted.text.en).toContain('With the amount, it may be possible to conclude.');
  const page = await (await env.console('accountant')).get(`/transactions/proof?e2e_id=${absent}`);
  expect(page.text).toMatch(/Sem este id E2E, em dúvida .*66,04/);
  expect(page.html).toContain(`href="/transactions/${id}"`);
  // no name of a setting, which the reader cannot change
  expect(page.text).not.toMatch(/[A-Z]+_[A-Z]/);
  expect(page.text).toContain('um administrador do servidor o define na configuração dos e-mails');
  expect((await ask({ e2e_id: absent, amount: '66.04' })).proof.conclusion).toBe('unknown');
  expect((await ask({ e2e_id: absent, amount: '66.05' })).proof.conclusion).toBe('none');
  // a refund's id names the day of the refund: what was paid before may be it
  const back = `D${absent.slice(1)}`;
  const paidBefore = await put('ee', `${addDays(day, -1)} 10:00:00`, { amount: '66.06' });
  expect((await ask({ e2e_id: back, amount: '66.06' })).proof.without_e2e).toMatchObject([{ id: paidBefore }]);
});

it('an end-to-end id in other case, beside another day or of the hour before midnight is not called absent by a list that cannot know', async () => {
  const id = payment.e2e_id ?? '';
  for (const other of [id.toLowerCase(), id.toUpperCase()].filter((one) => one !== id)) {
    const { proof } = await ask({ day, e2e_id: other });
    expect(proof).toMatchObject({ conclusion: 'unknown', list: { reason: 'rows_hidden' } });
    expect(proof.without_e2e.map((one) => one.id)).toContain(payment.id);
  }
  expect(ids(await prove({ e2e_id: ` ${id} ` }))).toEqual([payment.id]);
  const idAt = (wall: string) => {
    const utc = env.context.calendar.toInstant(wall).toISOString().replace(/\D/g, '').slice(0, 12);
    return `E12345678${utc}zzzzzzzzzzz`;
  };
  const [inTime, late] = [idAt(`${day} 22:59:00`), idAt(`${day} 23:00:00`)];
  expect((await ask({ e2e_id: inTime, amount: '9.97' })).proof).toMatchObject({ conclusion: 'none', list: { day } });
  // its payment may be of the next list, which nobody read
  const next = { day: addDays(day, 1), reason: 'not_read' };
  expect((await ask({ e2e_id: late, amount: '9.97' })).proof).toMatchObject({ conclusion: 'unknown', list: next });
  const asked = await prove({ e2e_id: idAt(`${env.today} 00:00:00`), amount: '9.97' });
  expect(asked).toMatchObject({ asked: { day: env.today }, conclusion: 'unknown', list: { reason: 'not_over' } });
});

it('rows that could not be read, or found, allow no conclusion about what is absent', async () => {
  const {
    name: _,
    e2e_id: __,
    ...bare
  } = of('0f0e0d0c-0000-4000-8000-0000000000cc', `${day} 08:00:00`, { amount: '55.00' });
  await apply(bare);
  expect((await prove({ amount: '55.00', name: 'Otto' })).list).toMatchObject({
    conclusion: 'unknown',
    reason: 'rows_hidden',
  });
  expect((await prove({ amount: '54.00', name: 'Otto' })).list.conclusion).toBe('none');
  const row = {
    id: 'mm_row',
    kind: 'row_refused',
    scope: 'row:1',
    severity: 'high',
    state: 'open',
    baseline: 0,
    opened_at: new Date(),
  };
  const actual = JSON.stringify({ days: { from: day, to: day } });
  await env.context.db
    .insertInto('mismatches')
    .values({ ...row, actual })
    .execute();
  expect((await prove({ amount: '9.99' })).list).toMatchObject({ conclusion: 'unknown', reason: 'rows_refused' });
  expect((await prove({ amount: '321.45' })).list.conclusion).toBe('has');
  await env.context.db.updateTable('mismatches').set({ state: 'resolved' }).where('id', '=', 'mm_row').execute();
});

it('a later reading that proves nothing, and a later transaction of the day, take the conclusion back', async () => {
  const { db, clock } = env.context;
  const run = await recordReadDays(env.context, day, day, clock.now());
  await db.updateTable('runs').set({ finished_at: clock.now() }).where('id', '=', run).execute();
  const late = of('0f0e0d0c-0000-4000-8000-0000000000dd', `${day} 08:10:00`, { amount: '66.00' });
  env.timers.freeze();
  await env.timers.advance(60_000);
  await apply(late);
  const lateProof = await prove({ amount: '66.00' });
  expect(lateProof.list).toMatchObject({ conclusion: 'unknown', reason: 'late_entry' });
  expect(lateProof.headline['pt-BR']).toMatch(/: No Confere: pago em [^;]+; Não se sabe$/);
  // any absence too: the reading lacked a row
  expect((await prove({ amount: '9.99' })).list).toMatchObject({ conclusion: 'unknown', reason: 'late_entry' });
  const broken = await recordReadDays(env.context, day, day, clock.now());
  const { seq } = await db.selectFrom('runs').select('seq').where('id', '=', broken).executeTakeFirstOrThrow();
  await db.updateTable('run_windows').set({ state: 'incomplete' }).where('run_seq', '=', seq).execute();
  expect((await prove({ amount: '9.99' })).list).toMatchObject({ conclusion: 'unknown', reason: 'reopened' });
  await db.updateTable('run_windows').set({ state: 'counted' }).where('run_seq', '=', seq).execute();
  // no more by that reading
  expect((await prove({ amount: '9.99' })).list).toMatchObject({ conclusion: 'unknown', reason: 'late_entry' });
  // days before that were only counted: a count names no transaction
  await db
    .updateTable('run_windows')
    .set({ state: 'counted', total: 9_999 })
    .where('to_day', '=', addDays(day, -1))
    .execute();
  expect((await prove({ amount: '9.99' })).older).toMatchObject({ conclusion: 'unknown', unread: 95, counted: 95 });
  expect((await prove({ amount: '9.99' })).text['pt-BR']).toContain('Contados, sem serem lidos: 95; isso prova');
  // but where the pages of a count had each transaction of the day
  await db
    .updateTable('run_windows')
    .set((eb) => ({ total: eb.ref('seen') }))
    .where('state', '=', 'counted')
    .execute();
  expect((await prove({ amount: '9.99' })).older).toMatchObject({ conclusion: 'none', unread: 0, counted: 0 });
});

it('what contradicts a payment is said on the screen alone, not to the customer, and one that a whole reading did not have is not said to be listed', async () => {
  const { db, clock } = env.context;
  const pending = [{ status: 'pending', date_created: `${day} 11:00:00` }];
  const one = of('0f0e0d0c-0000-4000-8000-0000000000ff', `${day} 11:00:00`, {
    amount: '13.13',
    status: 'pending',
    events: pending,
  });
  await apply(one);
  await recordReadDays(env.context, addDays(day, -95), day, clock.now());
  const open = async (id: string, kind: string) => {
    const row = { id, kind, scope: one.id, severity: 'critical', state: 'open', baseline: 0, opened_at: clock.now() };
    await db
      .insertInto('mismatches')
      .values({ ...row, transaction_id: one.id })
      .execute();
  };
  await open('mm_claim', 'webhook_contradiction');
  const claimed = await prove({ amount: '13.13' });
  expect(claimed.payments).toMatchObject([{ mismatches: [{ id: 'mm_claim', kind: 'webhook_contradiction' }] }]);
  for (const said of Object.values(claimed.text)) expect(said).not.toMatch(/diverg|mismatch|webhook/i);
  const console = await env.console('accountant');
  const { html } = await console.get(`/transactions/proof?day=${day}&amount=13,13`);
  const unprinted = /<section class="act-hint"><h2>Divergências em aberto<[\s\S]*?<\/section>/;
  expect(unprinted.exec(html)?.[0]).toContain('<a href="/mismatches/mm_claim">');
  const printed = html.replace(unprinted, '').replaceAll(/<(nav|details)[\s\S]*?<\/\1>/g, '');
  expect(printed).not.toMatch(/mm_claim|Divergências em aberto|class="explain bad"/);
  await open('mm_gone', 'missing_at_provider');
  const gone = await prove({ amount: '13.13' });
  expect(gone).toMatchObject({ conclusion: 'unknown', list: { conclusion: 'unknown', reason: 'not_listed' } });
  expect(gone.headline['pt-BR']).toMatch(/: Não se sabe$/);
  // a list that leaves out one may leave out another
  expect((await prove({ amount: '9.99' })).conclusion).toBe('none');
  await open('mm_left_out', 'list_omission');
  expect((await prove({ amount: '9.99' })).list).toMatchObject({ conclusion: 'unknown', reason: 'not_listed' });
  await db.updateTable('mismatches').set({ state: 'resolved' }).where('transaction_id', '=', one.id).execute();
});

it('the page keeps the letters of an id, and has hashes and ids of ours in closed details', async () => {
  const console = await env.console('operator');
  const { html } = await console.get(`/transactions/proof?e2e_id=${payment.e2e_id}`);
  expect(html).toMatch(new RegExp(`<h2 class="as-written">[^<]*${payment.e2e_id}`));
  const shown = html.replaceAll(/<details[\s\S]*?<\/details>/g, '');
  expect(shown).toContain(payment.e2e_id);
  expect(shown).not.toMatch(/run_|[0-9a-f]{64}|\/transactions\/0f0e|<details/);
  expect(html).toMatch(/<details class="numbers">[\s\S]*?[0-9a-f]{64}/);
});

it('a mistyped end-to-end id is named, and no day that lacks', async () => {
  const console = await env.console('operator');
  const mistyped = await console.get(`/transactions/proof?e2e_id=${payment.e2e_id?.slice(0, -1)}`);
  expect(mistyped).toMatchObject({ status: 422 });
  expect(mistyped.text).toContain('Um id E2E tem 32 caracteres, e este tem 31. Confira-o, ou escolha também um dia.');
  expect(mistyped.text).not.toContain('Escolha um dia.');
  const odd = await console.get(`/transactions/proof?e2e_id=${payment.e2e_id?.replace('E', '0')}`);
  expect(odd.text).toContain('O caractere 1 é “0”, e um id E2E começa com E ou D maiúsculo.');
  const letter = `${payment.e2e_id?.slice(0, 13)}o${payment.e2e_id?.slice(14)}`;
  const dated = await console.get(`/transactions/proof?e2e_id=${letter}`);
  expect(dated.text).toContain('O caractere 14 é “o”, e ali há um algarismo.');
  const found = (await console.get(`/transactions?e2e_id=${letter}`)).text;
  expect(found).toContain('Nenhuma transação assim.');
  expect(found).not.toContain('tire um deles');
  const two = (await console.get(`/transactions?e2e_id=${letter}&status=paid`)).text;
  expect(two).toContain('tire um deles');
  const noDate = `${payment.e2e_id?.slice(0, 9)}202613012500${payment.e2e_id?.slice(21)}`;
  expect((await console.get(`/transactions/proof?e2e_id=${noDate}`)).text).toContain('e estas não existem');
});

it('a viewer sees no person and asks for none by name, and the question is audited as a search', async () => {
  expect((await ask({ day, name: 'zelia' }, 'viewer')).status).toBe(403);
  const masked = (await ask({ day, amount: '321.45' }, 'viewer')).proof;
  expect(masked.payments[0]?.name).not.toBe(NAME);
  const sent = await prove({ name: 'zelia', masked: 'true' });
  expect(sent.payments.at(-1)?.name).toBe(masked.payments[0]?.name);
  expect(JSON.stringify(sent)).not.toMatch(/zelia/i);
  expect((await prove({ amount: '321.45', masked: 'true' })).payments[0]?.name).toBe(masked.payments[0]?.name);
  const rows = await env.context.db
    .selectFrom('audit')
    .select(['target', 'detail'])
    .where('action', '=', 'transactions.list')
    .orderBy('seq', 'desc')
    .limit(1)
    .execute();
  expect(rows).toEqual([{ target: '["amount","from"]', detail: JSON.stringify({ transactions: [payment.id] }) }]);
});

it.each([
  [{}, 'amount'],
  [{ amount: '1.00' }, 'day'],
  [{ e2e_id: 'E123' }, 'day'],
  [{ day: '2026-11-31', amount: '1.00' }, 'day'],
  [{ day: '2026-11-01', amount: '-1' }, 'amount'],
  [{ day: '2026-11-01', amount: '1.00', hour: '24' }, 'hour'],
  [{ e2e_id: 'E123', day: '2026-11-01', hour: '1' }, 'hour'],
  [{ day: '2026-11-01', amount: '1.00', when: 'now' }, 'when'],
])('the question %j is refused by its field %s', async (query, field) => {
  const { status, proof } = await ask(query);
  expect(status).toBe(422);
  expect(Object.keys(proof.errors ?? {})).toContain(field);
});

it('a day read whole is answered before the weekly reading, as each charge of the days before is known', async () => {
  const { db, clock, calendar } = env.context;
  const asked = addDays(env.today, -3);
  const next = (of: Day) => calendar.toInstant(`${addDays(of, 1)} 04:00:00`);
  const [first, last] = [addDays(asked, -95), addDays(asked, -1)];
  await db.deleteFrom('run_windows').execute();
  await recordReadDays(env.context, asked, asked, next(asked));
  // each list of the days before was read whole after its own end, and none since; the newest ones were counted
  await recordReadDays(env.context, first, addDays(last, -1), next(addDays(last, -1)));
  const run = await recordReadDays(env.context, last, last, next(last));
  const proveAsked = async (query: Record<string, string>) => (await ask({ day: asked, ...query })).proof;
  const none = await proveAsked({ amount: '9.99' });
  expect(none).toMatchObject({
    conclusion: 'none',
    older: { conclusion: 'none', unread: 95, unlisted: 0, charges: [] },
  });
  expect(none.headline['pt-BR']).toMatch(/: Não tem$/);
  expect(none.text['pt-BR']).toMatch(/foi lida inteira em .* não tem nenhuma transação assim: R\$.9,99\./);
  expect(none.text['pt-BR']).toContain('A lista de cada um desses dias foi lida inteira depois do seu fim');
  // without an amount any charge may be the one
  const unnamed = await proveAsked({ name: 'cunha' });
  expect(unnamed).toMatchObject({ conclusion: 'unknown', older: { charges: null } });
  expect(unnamed.text.en).toContain('With the amount, it may be possible to conclude.');
  // a charge that was pending when it was last seen may have been paid since
  const created = addDays(asked, -9);
  const pending = [{ status: 'pending', date_created: `${created} 11:00:00` }];
  const charge = of('0f0e0d0c-0000-4000-8000-0000000009aa', `${created} 11:00:00`, {
    ...{ amount: '44.10', status: 'pending', events: pending },
  });
  await applyObservations(env.context, [observe(charge, next(created))]);
  const doubted = await proveAsked({ amount: '44.10' });
  expect(doubted).toMatchObject({
    conclusion: 'unknown',
    list: { conclusion: 'none' },
    older: { conclusion: 'unknown', charges: [{ id: charge.id, day: created }], next_at: expect.any(String) },
  });
  expect(doubted.text['pt-BR']).toContain('Só uma cobrança deste valor, criada antes, pode ter sido paga em');
  expect(doubted.text['pt-BR']).toMatch(/A próxima leitura inteira desses dias começa em \d/);
  const page = await (await env.console('operator')).get(`/transactions/proof?day=${asked}&amount=44,10`);
  expect(page.html).toContain(`/transactions/${charge.id}`);
  expect(page.html).toContain(`?from=${created}&amp;to=${created}"`);
  expect((await proveAsked({ amount: '9.99' })).conclusion).toBe('none');
  // seen since, still unpaid: it was not paid on the day
  const canceled = [{ status: 'canceled', date_created: `${asked} 13:00:00` }, ...pending];
  await apply({ ...charge, status: 'canceled', events: canceled });
  expect((await proveAsked({ amount: '44.10' })).conclusion).toBe('none');
  // a newer reading that failed, a list that was never read, and a row that could not be read take it back
  const failed = await recordReadDays(env.context, last, last, clock.now());
  const { seq } = await db.selectFrom('runs').select('seq').where('id', '=', failed).executeTakeFirstOrThrow();
  const setState = (state: string) => db.updateTable('run_windows').set({ state }).where('run_seq', '=', seq).execute();
  await setState('incomplete');
  const unproven = await proveAsked({ amount: '9.99' });
  expect(unproven).toMatchObject({ conclusion: 'unknown', older: { unlisted: 1, charges: null } });
  expect(unproven.text['pt-BR']).not.toContain('lida inteira depois do seu fim');
  await setState('counted');
  expect((await proveAsked({ amount: '9.99' })).conclusion).toBe('none');
  const row = { kind: 'row_refused', scope: 'row:9', severity: 'high', state: 'open', baseline: 0 };
  const actual = JSON.stringify({ days: { from: created, to: created } });
  await db
    .insertInto('mismatches')
    .values({ id: 'mm_older', ...row, actual, opened_at: clock.now() })
    .execute();
  expect(await proveAsked({ amount: '9.99' })).toMatchObject({ conclusion: 'unknown', list: { conclusion: 'none' } });
  await db.updateTable('mismatches').set({ state: 'resolved' }).where('id', '=', 'mm_older').execute();
  const { seq: before } = await db.selectFrom('runs').select('seq').where('id', '=', run).executeTakeFirstOrThrow();
  await db.updateTable('run_windows').set({ state: 'counted', total: 9_999 }).where('run_seq', '=', before).execute();
  expect(await proveAsked({ amount: '9.99' })).toMatchObject({ conclusion: 'unknown', older: { unlisted: 1 } });
  // the day itself, counted alone: when it is next read
  await db.updateTable('run_windows').set({ state: 'counted', total: 9_999 }).where('from_day', '=', asked).execute();
  const counted = await proveAsked({ amount: '9.99' });
  expect(counted.list).toMatchObject({ reason: 'only_counted', next_at: expect.any(String) });
  expect(counted.text['pt-BR']).toMatch(/A próxima leitura inteira dela começa em \d/);
});
