/** The open mismatches leave as a workbook, people decide in it, and it comes back: all rows or none. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { KyselyPlugin } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Caller, createToken } from '../../../src/access/tokens.ts';
import { transact } from '../../../src/database/transact.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { readCases } from '../../../src/imports/decisions/read-cases.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { renderDecisionWorkbook } from '../../../src/operations/export-mismatches.ts';
import { callApi } from '../../support/call-api.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';
import { numRuns } from '../../support/property.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';
import { fillIn, type ReadSheet, readWorkbook } from '../reports/read-workbook.ts';

const env = closeAfterAll(await openApiEnvironment({ WEBHOOKS_SINCE: '2026-01-01T00:00:00Z' }));

let made = 0;
type Row = { id: string; seen?: string; decision?: string; which?: string; note?: string };
type Outcome = {
  changed: number;
  rows: number;
  decisions?: { which: string | null; changed: boolean }[];
  errors?: object;
};

/** Raises mismatches that nothing but a person ends. @returns their ids. */
async function raise(count: number, amountCents = 100n): Promise<string[]> {
  const found = Array.from({ length: count }, () => ({
    ...{ kind: 'webhook_contradiction' as const, scope: `scope ${++made}`, severity: 'high' as const, amountCents },
    ...{ expected: { amount: '1.00' }, actual: { amount: '3.00' } },
  }));
  await transact(env.context.db, (trx) => raiseMismatches(trx, found, env.context.clock.now()));
  return await idsOf(found.map(({ scope }) => scope));
}
async function idsOf(scopes: string[]): Promise<string[]> {
  const rows = await env.context.db
    .selectFrom('mismatches')
    .select(['id', 'scope'])
    .where('scope', 'in', scopes)
    .execute();
  return scopes.map((scope) => rows.find((row) => row.scope === scope)?.id ?? '');
}
/** An amount of a known payment that the provider changed. */
async function change(): Promise<string> {
  const row = makeShownTransaction(['paid@1'], { id: randomUUID() });
  await applyObservations(env.context, [observeNow(env.context, row)]);
  await applyObservations(env.context, [observeNow(env.context, { ...row, amount: '12.00' }, 1)]);
  return (await idsOf([row.id]))[0] ?? '';
}
/** A receipt that two orders may be. */
async function receive(prefix = 'p-') {
  const [platform, document] = [randomUUID(), '529.982.247-25'];
  const facts = expectedFactsSchema.parse({
    ...{ operation: 'cashin', amount: '10.00', due_day: '2026-11-25', issued_day: '2026-11-10', platform, document },
  });
  const numbers = [`${prefix}${++made}`, `${prefix}${++made}`];
  const arrivals = numbers.map((number) => ({ source: 'shop', number, facts }));
  const orders = (await putExpected(env.context, { arrivals, actor: 'test' })).map(({ id }) => id);
  const row = makeShownTransaction(['pending@1', 'paid@2'], { id: randomUUID(), platform, document });
  await applyObservations(env.context, [observeNow(env.context, row)]);
  await decideAll(env.context);
  return { id: (await idsOf([row.id]))[0] ?? '', payment: row.id, orders, numbers };
}

async function upload(rows: Row[], query = ''): Promise<{ status: number; json: Outcome }> {
  const cases = await readCases(
    env.context,
    rows.map(({ id }) => id),
  );
  const lines = rows.map(({ id, seen = cases.get(id)?.hash, decision = '', which = '', note = '' }) =>
    [id, seen, decision, which, note].join(';'),
  );
  return await send(['divergência;evidência;decisão;com qual;observação', ...lines].join('\n'), query);
}
async function send(file: string | Buffer, query = ''): Promise<{ status: number; json: Outcome }> {
  const { status, json } = await env.call('POST', `/imports/decisions${query}`, file);
  return { status, json: json as Outcome };
}
const stateOf = async (id: string) => (await env.call('GET', `/mismatches/${id}`)).json;
const audited = async () =>
  await env.context.db
    .selectFrom('audit')
    .select(['action', 'target'])
    .where('action', 'in', ['mismatches.resolve', 'mismatches.accept', 'expected.match'])
    .orderBy('seq')
    .execute();

test('each decision is made once, with one audit row, and a preview says its effect', async () => {
  const [[resolved, left], accepted, receipt] = [await raise(2), await change(), await receive()];
  const [first = '', second = ''] = receipt.orders;
  const rows: Row[] = [
    { id: resolved ?? '', decision: 'resolver', note: 'falei com o provedor' },
    { id: left ?? '' },
    { id: accepted, decision: 'aceitar' },
    { id: receipt.id, decision: 'casar', which: `shop/${receipt.numbers[1]}`, note: 'o cliente confirmou' },
  ];
  const seen = await readCases(
    env.context,
    rows.map(({ id }) => id),
  );
  const decided = rows.map((row) => ({ ...row, seen: seen.get(row.id)?.hash ?? '' }));
  const before = (await audited()).length;
  const effects = [
    { row: 2, mismatch_id: resolved, decision: 'resolve', which: null, changed: true },
    { row: 4, mismatch_id: accepted, decision: 'accept', which: null, changed: true },
    { row: 5, mismatch_id: receipt.id, decision: 'match', which: second, changed: true },
  ];
  expect(await upload(decided, '?dry_run=true')).toMatchObject({
    status: 200,
    json: { changed: 3, decisions: effects },
  });
  expect((await audited()).length).toBe(before);
  expect(await stateOf(resolved ?? '')).toMatchObject({ state: 'open' });
  expect(await upload(decided)).toMatchObject({ status: 201, json: { rows: 3, changed: 3, decisions: effects } });
  expect((await audited()).slice(before)).toEqual([
    { action: 'mismatches.resolve', target: resolved },
    { action: 'mismatches.accept', target: accepted },
    { action: 'expected.match', target: second },
  ]);
  expect(await stateOf(resolved ?? '')).toMatchObject({ resolution: 'by_hand', note: 'falei com o provedor' });
  expect(await stateOf(accepted)).toMatchObject({ resolution: 'accepted', note: null });
  expect(await stateOf(left ?? '')).toMatchObject({ state: 'open' });
  await decideAll(env.context);
  expect(await stateOf(receipt.id)).toMatchObject({ state: 'resolved', resolution: 'fresh_evidence' });
  expect((await env.call('GET', `/expected-payments/${first}`)).json).toMatchObject({
    state: expect.stringMatching('open|not_proven'),
  });

  // the same bytes, then the same decisions in other bytes
  expect(await upload(decided)).toMatchObject({
    status: 200,
    json: { changed: 0, repeats: { id: expect.any(String) } },
  });
  const again = await upload([...decided].reverse());
  expect(again).toMatchObject({ status: 201, json: { changed: 0, repeats: null } });
  expect(again.json.decisions?.map(({ changed }) => changed)).toEqual([false, false, false]);
  expect((await audited()).length).toBe(before + 3);
});

test('a candidate is chosen as a cell shows its number, with what nobody sees', async () => {
  const { id, numbers } = await receive('p\u200b');
  const which = `shop/${numbers[0]?.replace('\u200b', '⟨U+200B⟩')}`;
  const row = { id, decision: 'casar', which, note: 'o cliente confirmou' };
  expect(await upload([row])).toMatchObject({ status: 201, json: { changed: 1 } });
});

test('a mismatch of an order names it', async () => {
  const [reference, issued_day] = [`r-${++made}`, '2026-11-10'];
  const given = { operation: 'cashin', amount: '99.00', due_day: '2026-11-25', issued_day, references: [reference] };
  const arrivals = [{ source: 'shop', number: reference, facts: expectedFactsSchema.parse(given) }];
  const [order] = await putExpected(env.context, { arrivals, actor: 'test' });
  const row = makeShownTransaction(['paid@2'], { id: randomUUID(), reference, amount: '98.00' });
  await applyObservations(env.context, [observeNow(env.context, row)]);
  await decideAll(env.context);
  const { json } = await env.call('GET', '/mismatches?kind=amount_not_expected');
  const [found] = json.mismatches as { id: string }[];
  expect(found).toMatchObject({ expected_payment_id: order?.id, transaction_id: null, at_stake: '1.00' });
  const alert = env.context.db.selectFrom('alerts').select('summary').where('name', '=', 'amount_not_expected');
  expect((await alert.executeTakeFirstOrThrow()).summary).toContain(`${order?.id}`);
});

describe('nothing is imported', () => {
  const faultsOf = ({ json }: { json: Outcome }) => json.errors;
  const open = async (): Promise<string> => (await raise(1))[0] ?? '';
  const TABLE: [string, () => Promise<Row[]> | Row[], object][] = [
    [
      'of an evidence that changed since',
      async () => [{ id: await open(), seen: '0'.repeat(32), decision: 'resolve' }],
      { 'row 3, evidência': [/changed after this workbook/] },
    ],
    [
      'of a mismatch that nobody knows',
      () => [{ id: 'mm_0', seen: '0', decision: 'resolve' }],
      { 'row 3, divergência': [/no such mismatch/] },
    ],
    ['without a decision', async () => [{ id: await open(), note: 'why' }], { 'row 3, decisão': [/is required/] }],
    [
      'of a decision that is none',
      async () => [{ id: await open(), decision: 'apagar' }],
      { 'row 3, decisão': [/resolver/] },
    ],
    [
      'of a kind that cannot be accepted',
      async () => [{ id: await open(), decision: 'accept' }],
      { 'row 3, divergência': [/can be accepted/] },
    ],
    [
      'of a partner for another decision',
      async () => [{ id: await open(), decision: 'resolve', which: 'x' }],
      { 'row 3, com qual': [/match alone/] },
    ],
    [
      'of no candidate',
      async () => [{ id: (await receive()).id, decision: 'match', which: 'shop/none', note: 'x' }],
      { 'row 3, com qual': [/no candidate/] },
    ],
    [
      'of a match without a note',
      async () => {
        const { id, numbers } = await receive();
        return [{ id, decision: 'match', which: numbers[0] ?? '' }];
      },
      { 'row 3, observação': [/must say why/] },
    ],
    [
      'of one mismatch twice',
      async () => {
        const id = await open();
        return [
          { id, decision: 'resolve' },
          { id, decision: 'resolve' },
        ];
      },
      { 'row 3, divergência': [/several rows/], 'row 4, divergência': [/several rows/] },
    ],
    [
      'of one that was decided otherwise since',
      async () => {
        const id = await open();
        await env.call('POST', `/mismatches/${id}/resolve`, { note: 'otherwise' });
        return [{ id, decision: 'resolve', note: 'this way' }];
      },
      { 'row 3, divergência': [/resolved already/] },
    ],
  ];
  test.each(TABLE)('%s, nor are the other rows', async (_, make, faults) => {
    const [other] = await raise(1);
    const before = (await audited()).length;
    const rows = await make();
    const refused = await upload([{ id: other ?? '', decision: 'resolve', note: 'ok' }, ...rows]);
    const matching = Object.entries(faults).map(([place, texts]) => [
      place,
      (texts as RegExp[]).map((text) => expect.stringMatching(text)),
    ]);
    expect([refused.status, faultsOf(refused)]).toEqual([422, Object.fromEntries(matching)]);
    expect((await audited()).length).toBe(before + (_.includes('otherwise') ? 1 : 0));
    expect(await stateOf(other ?? '')).toMatchObject({ state: 'open' });
  });

  test('of more than 500 rows', async () => {
    const rows = Array.from({ length: 501 }, (_, index) => ({ id: `mm_${index}`, seen: '0' }));
    expect(faultsOf(await upload(rows))).toEqual({ 'row 502': [expect.stringMatching('500')] });
  });
});

test('the workbook comes back from LibreOffice with its lists, and each decision is one audit row', async () => {
  using home = temporaryDirectory();
  const [count, receipt] = [numRuns(5, 499), await receive()];
  await raise(count, 9_900_000n);
  const table = async (kind: string): Promise<{ file: string; sheets: ReadSheet[] }> => {
    const file = path.join(home.path, `${kind}.xlsx`);
    const response = await fetch(`${env.url}/mismatches.xlsx?kind=${kind}`, {
      headers: { authorization: `Bearer ${await token('operator')}` },
    });
    expect(response.status).toBe(200);
    writeFileSync(file, Buffer.from(await response.arrayBuffer()));
    return { file, sheets: await readWorkbook(file) };
  };
  const [matched, resolved] = [await table('receipt_unidentified'), await table('webhook_contradiction')];
  const [sheet, help, candidates] = matched.sheets;
  expect([sheet?.title, help?.title, candidates?.title]).toEqual([
    'Decisões sobre divergências',
    'Como preencher',
    'Candidatos',
  ]);
  const helped = help?.rows.at(-1)?.[0]?.value;
  expect(String(helped)).toMatch(/um operador.*Importar um arquivo.*Decisões sobre divergências/);
  const header = sheet?.rows[0]?.map((cell) => cell?.value) ?? [];
  const own = sheet?.rows.findIndex((row) => row[header.indexOf('divergência')]?.value === receipt.id) ?? -1;
  const at = (name: string, row: number): string => `${String.fromCharCode(65 + header.indexOf(name))}${row + 1}`;
  const match = {
    [at('decisão', own)]: 'casar',
    [at('com qual', own)]: `shop/${receipt.numbers[0]}`,
    [at('observação', own)]: 'confirmou',
  };
  const stake = resolved.sheets[0]?.rows.slice(1, count + 1).map((row) => row[header.indexOf('em jogo')]?.value) ?? [];
  expect(stake.every((value) => value === 2)).toBe(true);
  const cells = Array.from({ length: count }, (_, index) => [
    [at('decisão', index + 1), 'resolver'],
    [at('observação', index + 1), `=nota ${index}`.slice(1)],
  ]).flat();
  const [which, other] = await fillIn([
    { file: matched.file, values: match },
    { file: resolved.file, values: Object.fromEntries(cells) as Record<string, string> },
  ]);
  if (!which || !other) throw new Error('a file is missing');
  expect(which.validations).toContainEqual([
    'list',
    at('com qual', own),
    expect.stringMatching(/^'?Candidatos'?!\$B\$\d+:\$B\$\d+$/),
  ]);
  expect(which.validations).toContainEqual(['list', expect.stringContaining(at('decisão', own)), '"resolver,casar"']);
  expect(await send(await readFile(which.file))).toMatchObject({ status: 201, json: { changed: 1 } });

  const filled = await readFile(other.file);
  const before = (await audited()).length;
  expect(await send(filled)).toMatchObject({ status: 201, json: { rows: count, changed: count } });
  const rows = (await audited()).slice(before);
  expect([rows.length, new Set(rows.map(({ target }) => target)).size]).toEqual([count, count]);
  expect(await send(filled)).toMatchObject({ status: 200, json: { changed: 0 } });
  expect((await audited()).length).toBe(before + count);
});

test('the workbook shows the evidence that its hash is of, also of what changes while it is made', async () => {
  using home = temporaryDirectory();
  const id = await change();
  const { db } = env.context;
  let isListed = false;
  /** Changes the evidence once the list is read. */
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (isListed || !result.rows.some((row) => row.id === id)) return result;
      isListed = true;
      await db
        .updateTable('mismatches')
        .set({ actual: JSON.stringify({ amount: '77.00' }) })
        .where('id', '=', id)
        .execute();
      return result;
    },
  };
  // cast: all that the list needs of it
  const caller = { id: 'tok_1', role: 'operator' } as Caller;
  const wanted = { filter: { kind: 'amount_differs' }, caller, language: 'pt-BR' } as const;
  const file = path.join(home.path, 'racing.xlsx');
  writeFileSync(file, await renderDecisionWorkbook({ ...env.context, db: db.withPlugin(plugin) }, wanted));
  const [sheet] = await readWorkbook(file);
  const header = sheet?.rows[0]?.map((cell) => cell?.value) ?? [];
  const cellsOf = (row: ReadSheet['rows'][number]) =>
    ['divergência', 'encontrado', 'evidência'].map((name) => row[header.indexOf(name)]?.value);
  const hash = (await readCases(env.context, [id])).get(id)?.hash;
  expect([isListed, sheet?.rows.map(cellsOf)]).toEqual([
    true,
    expect.arrayContaining([[id, expect.stringContaining('77,00'), hash]]),
  ]);
});

async function token(role: 'viewer' | 'operator' | 'accountant'): Promise<string> {
  return (await createToken(env.context, { role, name: role })).token;
}

test('a viewer gets the workbook masked, and may not send it back', async () => {
  const { id } = await receive();
  const at = { url: env.url, token: await token('viewer') };
  expect((await callApi(at, 'GET', '/mismatches.xlsx')).type).toContain('spreadsheetml');
  const accountant = { url: env.url, token: await token('accountant') };
  for (const caller of [at, accountant])
    expect(await callApi(caller, 'POST', '/imports/decisions', `divergência;evidência\n${id};0`)).toMatchObject({
      status: 403,
    });
  expect(await callApi(at, 'GET', '/mismatches.xlsx?state=resolved')).toMatchObject({ status: 422 });
});
