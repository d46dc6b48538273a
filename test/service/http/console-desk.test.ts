/** Mismatches as an accountant works on them: by the day of the payment, those that keep a month open, several given to one person. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/access/tokens.ts';
import { transact } from '../../../src/database/transact.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import type { FoundMismatch } from '../../../src/domain/mismatch.ts';
import type { ObservedTransaction } from '../../../src/domain/observation.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { applyTransactions, PLATFORM_A, transactionOf } from '../../support/make-report-transactions.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { readWorkbook } from '../reports/read-workbook.ts';

const MONTH = '2025-10';
const LAST = '2025-10-31';
const ASSIGNED_MAX = 200;

const env = closeAfterAll(await openConsoleEnvironment());
const home = closeAfterAll(temporaryDirectory());
const accountant = await openConsoleSession(env, 'accountant');
const operator = await openConsoleSession(env, 'operator');
const viewer = await openConsoleSession(env, 'viewer');

/** Paid on the last day of October, created on the day before. */
const paid = transactionOf('cashin', 10_000n, [
  ['pending', '2025-10-30 23:50:00'],
  ['paid', `${LAST} 00:10:00`],
]);
const unpaid = transactionOf('cashin', 500n, [['pending', '2025-10-30 09:00:00']]);
const later = transactionOf('cashin', 700n, [['paid', '2025-11-02 10:00:00']]);
const ids = new Map<string, string>();

async function aboutPayment({ id, amountCents }: ObservedTransaction): Promise<Omit<FoundMismatch, 'kind' | 'scope'>> {
  const select = env.context.db.selectFrom('transactions').select('seq').where('id', '=', id);
  return { transactionSeq: (await select.executeTakeFirstOrThrow()).seq, transactionId: id, amountCents };
}

beforeAll(async () => {
  const { context } = env;
  await applyTransactions(context, [paid, unpaid, later]);
  await setPlatformName(context, { platform: PLATFORM_A, name: 'Loja Centro', actor: 'test' });
  const found: FoundMismatch[] = [
    { kind: 'webhook_contradiction', scope: 'first', ...(await aboutPayment(paid)) },
    { kind: 'webhook_contradiction', scope: 'second', ...(await aboutPayment(paid)) },
    { kind: 'webhook_contradiction', scope: 'later', ...(await aboutPayment(later)) },
    { kind: 'illegal_transition', scope: 'unpaid', ...(await aboutPayment(unpaid)) },
    { kind: 'list_unstable', scope: `${LAST} ${PLATFORM_A}` },
    { kind: 'field_unreadable', scope: 'today' },
    {
      ...{ kind: 'balance_differs', scope: PLATFORM_A, actual: { ledger: '2.00', difference: '-1.00' } },
      expected: { balance: '1.00', at: '2025-11-01T00:00:00-03:00' },
    },
  ];
  await transact(context.db, (trx) => raiseMismatches(trx, found, context.clock.now()));
  const scopes = found.map(({ scope }) => scope);
  const rows = await context.db.selectFrom('mismatches').select(['id', 'scope']).where('scope', 'in', scopes).execute();
  for (const { id, scope } of rows) ids.set(scope, id);
});

const nameOf = (id: string): string => [...ids].find(([, one]) => one === id)?.[0] ?? id;
const OF_LAST = ['balance', 'first', 'second', 'unstable'];
/** The mismatches that something shows, by their scopes. */
const namesOf = (shown: Iterable<string>): string[] =>
  [...new Set(shown)]
    .map((id) => nameOf(id).replace(`${LAST} ${PLATFORM_A}`, 'unstable').replace(PLATFORM_A, 'balance'))
    .toSorted();
const linked = (html: string): string[] =>
  [...html.matchAll(/href="\/mismatches\/(mm_[^"]+)"/g)].map(([, id]) => id ?? '');

async function list(query: string): Promise<string[]> {
  const { status, json } = await env.api('viewer', 'GET', `/mismatches?limit=200&${query}`);
  expect(status).toBe(200);
  return namesOf((json.mismatches as { id: string }[]).map(({ id }) => id));
}

/** The rows of the workbook at an address, by their titles. */
async function workbook(address: string) {
  const file = path.join(home.path, 'decisions.xlsx');
  writeFileSync(file, (await accountant.download(address)).bytes);
  const [sheet] = await readWorkbook(file);
  const [header = [], ...rows] = sheet?.rows ?? [];
  const titles = header.map((cell) => String(cell?.value));
  return rows.map((row) => Object.fromEntries(titles.map((title, index) => [title, row[index]?.value ?? null])));
}

describe('the list is of the day of the payment, and of what is about none of its own day', () => {
  const today = () => env.today;
  test.each([
    ['the day on which it was paid', () => `from=${LAST}&to=${LAST}`, OF_LAST],
    ['the day on which an unpaid one was created', () => 'from=2025-10-30&to=2025-10-30', ['unpaid']],
    ['a month', () => 'from=2025-10-01&to=2025-10-31', [...OF_LAST, 'unpaid'].toSorted()],
    ['no end', () => 'from=2025-11-01&kind=webhook_contradiction', ['later']],
    ['no beginning', () => 'to=2025-10-30', ['unpaid']],
    ['the day on which it was opened', () => `from=${today()}&to=${today()}&kind=field_unreadable`, ['today']],
    ['a day before that', () => `to=${addDays(today(), -1)}&kind=field_unreadable`, []],
  ])('%s', async (_, query, names) => {
    expect(await list(query())).toEqual(names);
  });

  test('each row says its day and its platform, which a viewer sees as elsewhere', async () => {
    const { json } = await env.api('viewer', 'GET', `/mismatches/${ids.get('first')}`);
    expect(json).toMatchObject({ day: LAST, platform: PLATFORM_A });
  });

  test.each(['from=x', 'to=2025-02-30', `from=${LAST}&to=2025-10-01`, 'blocks=2025-13'])(
    '%s is refused',
    async (query) => {
      for (const door of ['mismatches', 'mismatches.xlsx'])
        expect((await env.api('viewer', 'GET', `/${door}?${query}`)).status).toBe(422);
      expect((await accountant.get(`/mismatches?${query}`)).status).toBe(422);
    },
  );

  test('in the command too', async () => {
    const { json } = await env.confere('mismatches', 'list', '--from', LAST, '--to', LAST, '--json');
    expect(namesOf((json.mismatches as { id: string }[]).map(({ id }) => id))).toEqual(OF_LAST);
  });

  test('the workbook has the same rows, each with its day and the name of its platform', async () => {
    const rows = await workbook(`/mismatches/decisions.xlsx?from=${LAST}&to=${LAST}`);
    expect(namesOf(rows.map((row) => String(row.divergência)))).toEqual(OF_LAST);
    expect(rows.map((row) => [String(row.dia).slice(0, 10), row.plataforma])).toEqual(
      rows.map(() => [LAST, 'Loja Centro']),
    );
  });
});

test('everybody who reads the list has its workbook, with the same filters, in the words of the page', async () => {
  const query = `kind=webhook_contradiction&from=${LAST}`;
  const address = `/mismatches/decisions.xlsx?${query}`;
  for (const [session, maySend] of [
    [accountant, false],
    [viewer, false],
    [operator, true],
  ] as const) {
    const { html, text } = await session.get(`/mismatches?${query}`);
    expect(html).toContain(`href="${address.replace('&', '&amp;')}"`);
    expect(text.includes('Só um operador a envia de volta')).toBe(!maySend);
    expect(html.includes('?kind=decisions')).toBe(maySend);
  }
  expect((await accountant.download(address)).name).toBe('confere-decisoes.xlsx');
  const inEnglish = { headers: { cookie: `${accountant.cookie}; confere_language=en` } };
  const answer = await fetch(`${env.url}${address}`, inEnglish);
  expect(answer.headers.get('content-disposition')).toContain('"confere-decisions.xlsx"');
});

test('the page of a mismatch leads to the guide of its kind', async () => {
  const { html } = await accountant.get(`/mismatches/${ids.get('first')}`);
  expect(html).toContain('<a href="/runbooks/webhook_contradiction">Guia</a>');
  expect((await accountant.get('/runbooks/webhook_contradiction')).status).toBe(200);
});

test('the page of a day has its open mismatches, and its link has just these', async () => {
  const { html, text } = await accountant.get(`/reports/${LAST}`);
  expect(namesOf(linked(html))).toEqual(OF_LAST);
  expect(text).toContain('4 em aberto neste dia');
  const address = `/mismatches?from=${LAST}&to=${LAST}`;
  expect(html).toContain(`href="${address.replace('&', '&amp;')}"`);
  expect(namesOf(linked((await accountant.get(address)).html))).toEqual(OF_LAST);
  // it was opened today, and is of another day
  expect(linked((await accountant.get(`/reports/${env.today}`)).html)).not.toContain(ids.get('first'));
});

test('what keeps a month open is the same on its page, in the list and in the workbook', async () => {
  const { html, text } = await accountant.get(`/reports/months/${MONTH}`);
  // the stated balance keeps it open by itself
  expect(namesOf(linked(html))).toEqual(['balance', 'first', 'second']);
  expect(text).toContain('As 2 divergências que impedem fechar');
  expect(html).toContain('<div class="explain bad">');
  expect(html).toContain(`<a href="/mismatches?blocks=${MONTH}">`);
  expect(namesOf(linked((await accountant.get(`/mismatches?blocks=${MONTH}`)).html))).toEqual(['first', 'second']);
  const address = `/mismatches/decisions.xlsx?blocks=${MONTH}`;
  expect(html).toContain(`<a href="${address}">`);
  expect(namesOf((await workbook(address)).map((row) => String(row.divergência)))).toEqual(['first', 'second']);
  expect(await list(`blocks=${MONTH}`)).toEqual(['first', 'second']);
  expect(await list('blocks=2025-11')).toEqual(['first', 'later', 'second']);
  expect((await accountant.get('/reports/months/2025-11')).text).toContain(
    'As 3 divergências que impedem fechar , 2 delas de meses anteriores ·',
  );
  expect(text).not.toContain('delas de');
  expect(await list('blocks=2025-09')).toEqual([]);
  // a month that only has to end is no fault
  const running = await accountant.get(`/reports/months/${env.today.slice(0, 7)}`);
  expect(running.status).toBe(200);
});

describe('several mismatches are given to one person', () => {
  const ADDRESS = '/mismatches/assign';
  const audited = async () => {
    const select = env.context.db
      .selectFrom('audit')
      .select(['target', 'detail'])
      .where('action', '=', 'mismatches.assign');
    return await select.orderBy('seq').execute();
  };
  const ownId = async () => /<option value="([^"]+)">Eu</.exec((await accountant.get('/mismatches')).html)?.[1] ?? '';
  const chosen = (...names: string[]) => names.map((name): [string, string] => ['mismatch', ids.get(name) ?? name]);

  test('by boxes in the list, with a preview, each by itself, once however often it is sent', async () => {
    const own = await ownId();
    const { html } = await accountant.get(`/mismatches?blocks=${MONTH}`);
    expect(html).toContain(`<input type="checkbox" name="mismatch" value="${ids.get('first')}"`);
    expect((await viewer.get('/mismatches')).html).not.toContain('type="checkbox"');
    expect((await viewer.post(ADDRESS, [...chosen('first'), ['owner', own]])).status).toBe(403);
    expect((await accountant.post(ADDRESS, [...chosen('first', 'mm_0'), ['owner', own]])).status).toBe(404);
    const preview = await accountant.post(ADDRESS, [...chosen('first', 'second'), ['owner', own]]);
    expect([preview.status, preview.text]).toEqual([200, expect.stringContaining('Atribuir divergências: confira')]);
    expect(preview.text).toMatch(/31\/10\/2025 R\$ 100,00 Eu/);
    expect(await audited()).toEqual([]);
    for (let sent = 0; sent < 2; sent++) {
      const done = await accountant.confirm(ADDRESS, preview);
      expect([done.status, done.text.match(/atribuída/g)]).toEqual([200, ['atribuída', 'atribuída']]);
    }
    const detail = `console ${JSON.stringify({ owner: own })}`;
    expect(await audited()).toEqual(['first', 'second'].map((name) => ({ target: ids.get(name), detail })));
    const again = await accountant.post(ADDRESS, [...chosen('first', 'later'), ['owner', own]]);
    expect(again.text).toContain('nada muda');
    await accountant.confirm(ADDRESS, again);
    expect((await audited()).length).toBe(3);
  });

  test('one that cannot be given says why, in its row', async () => {
    const { id } = await createToken(env.context, { name: 'Bia', role: 'operator' });
    const preview = await accountant.post(ADDRESS, [...chosen('unpaid', 'today'), ['owner', id]]);
    expect(preview.text).toMatch(/30\/10\/2025 R\$ 5,00 Bia/);
    await revokeToken(env.context, id);
    const { status, text } = await accountant.confirm(ADDRESS, preview);
    expect([status, text.match(/não foi mudada: \S+/g)?.length]).toEqual([200, 2]);
    expect((await audited()).length).toBe(3);
  });

  test('nothing chosen, nobody named, too many, and a person who cannot log in are said, and change nothing', async () => {
    const before = await audited();
    const tooMany = Array.from({ length: ASSIGNED_MAX + 1 }, (_, index): [string, string] => [
      'mismatch',
      `mm_${index}`,
    ]);
    for (const [fields, said] of [
      [[['owner', 'none']], 'Escolha ao menos uma divergência.'],
      [chosen('first'), 'Escolha quem decide.'],
      [[...tooMany, ['owner', 'none']], `No máximo ${ASSIGNED_MAX} de cada vez.`],
      [[...chosen('first'), ['owner', 'tok_0']], 'Quem decide'],
    ] as [[string, string][], string][]) {
      const { status, text } = await accountant.post(ADDRESS, fields);
      expect([status, text]).toEqual([422, expect.stringContaining(said)]);
    }
    expect((await accountant.get(ADDRESS)).text).toContain('Escolha na lista as que uma pessoa vai decidir, até 200.');
    expect(await audited()).toEqual(before);
  });

  test('who decides stands on the page of the month, and finds how many are theirs on the first page', async () => {
    expect((await operator.get(`/reports/months/${MONTH}`)).text).toMatch(
      /R\$ 100,00 · Loja Centro .* Quem decide: accountant/,
    );
    const { html, text } = await accountant.get('/');
    expect(text).toContain('3 divergências suas');
    const [, address = ''] = /<a href="(\/mismatches\?owner=[^"]+)"/.exec(html) ?? [];
    expect(namesOf(linked((await accountant.get(address)).html))).toEqual(['first', 'later', 'second']);
    expect((await operator.get('/')).text).not.toMatch(/divergências? suas?/);
    expect((await accountant.get('/?lang=en')).text).toContain('3 mismatches of yours');
  });

  test('with a note, which its page and the list show, but to no viewer', async () => {
    const page = `/mismatches/${ids.get('today')}`;
    const asked = [
      ['owner', await ownId()],
      ['note', 'Falta o estorno?'],
    ] as [string, string][];
    expect((await accountant.post(`${page}/assign`, asked)).status).toBe(303);
    expect((await accountant.get(page)).text).toMatch(/O que aconteceu.*por [^:]*Falta o estorno\?/);
    expect((await accountant.get(page)).text).not.toContain('outra evidência');
    expect((await accountant.get('/mismatches')).text).toContain('Falta o estorno?');
    for (const address of [page, '/mismatches']) expect((await viewer.get(address)).text).not.toContain('estorno');
    const preview = await accountant.post(ADDRESS, [...chosen('today'), ['owner', 'none'], ['note', 'Já veio']]);
    expect(preview.text).toContain('Já veio');
    await accountant.confirm(ADDRESS, preview);
    expect((await accountant.get('/mismatches')).text).toContain('Ninguém Já veio');
  });
});

test('a mismatch of fees of a day before the webhooks says that a contract stated later compares it', async () => {
  const { context } = env;
  const found = {
    ...{ kind: 'commission_not_agreed' as const, scope: `${LAST} ${PLATFORM_A}`, amountCents: 12n, baseline: true },
    ...{ expected: { day: LAST, commission: '1.00' }, actual: { commission: '1.12' } },
  };
  await transact(context.db, (trx) => raiseMismatches(trx, [found], context.clock.now()));
  const select = context.db.selectFrom('mismatches').select('id').where('kind', '=', found.kind);
  const { id } = await select.executeTakeFirstOrThrow();
  expect((await accountant.get(`/mismatches/${id}`)).text).toContain(
    'sim: compara um contrato informado com as tarifas',
  );
});
