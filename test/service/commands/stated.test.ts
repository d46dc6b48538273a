import { beforeAll, expect, test } from 'vitest';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { setPlatformName } from '../../../src/ledger/stated/platform-names.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openEnvironment } from '../../support/open-environment.ts';
import { makeShownTransaction, observeNow } from '../../support/read-ledger-state.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const env = closeAfterAll(await openEnvironment({ SECRET_KEY }));
beforeAll(async () => {
  const paid = makeShownTransaction(['paid@1'], { platform: 'shop', amount: '10.00' });
  await applyObservations(env.context, [observeNow(env.context, paid)]);
});

const run = (...args: string[]) => runCommandInProcess(args, env.env);

const AT = '2026-11-21T00:00:00-03:00';

test('a balance is stated by command and listed with the difference, audited', async () => {
  const add = (balance: string, ...more: string[]) =>
    run('statements', 'add', '--platform', 'shop', '--at', AT, '--balance', balance, ...more);
  const stated = await add('-12.34', '--json');
  expect(stated).toMatchObject({
    code: 0,
    json: { platform: 'shop', balance: '-12.34', ledger: '10.00', difference: '-22.34', created_by: 'command' },
  });
  expect((await add('10.00')).out).toContain('stated R$ 10.00  ledger R$ 10.00  difference R$ 0.00');
  const { statements } = (await run('statements', 'list', '--limit', '1', '--json')).json as { statements: object[] };
  expect(statements).toMatchObject([{ balance: '10.00', difference: '0.00' }]);
  expect((await run('statements', 'list')).out).toContain(String(stated.json.id));
  await setPlatformName(env.context, { platform: 'shop', name: 'Loja Centro', actor: 'test' });
  const line = new RegExp(
    `${String(stated.json.id)}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d-03:00  shop \\(Loja Centro\\)  stated`,
  );
  expect((await run('statements', 'list')).out).toMatch(line);
  await setPlatformName(env.context, { platform: 'shop', name: null, actor: 'test' });
  const audited = env.context.db
    .selectFrom('audit')
    .select(['actor', 'target'])
    .where('action', '=', 'statements.create');
  expect(await audited.execute()).toContainEqual({ actor: 'command', target: stated.json.id });
});

test('an adjustment is entered, listed and reversed once by command, audited', async () => {
  const entry = ['--platform', 'shop', '--day', '2026-11-21', '--kind', 'bank', '--note', 'to the bank'];
  const made = await run('adjustments', 'add', ...entry, '--amount', '-7.5', '--json');
  expect(made).toMatchObject({ code: 0, json: { kind: 'bank', amount: '-7.50', reverses: null, reversed_by: null } });
  const id = String(made.json.id);
  const back = await run('adjustments', 'reverse', id, '--note', 'typed wrong', '--json');
  expect(back).toMatchObject({ code: 0, json: { amount: '7.50', reverses: id, note: 'typed wrong' } });
  expect(await run('adjustments', 'reverse', id, '--note', 'again')).toMatchObject({
    code: 1,
    err: expect.stringContaining('reversed already'),
  });
  const { adjustments } = (await run('adjustments', 'list', '--json')).json as { adjustments: object[] };
  expect(adjustments).toMatchObject([{ reverses: id }, { id, reversed_by: back.json.id }]);
  const rows = await env.context.db.selectFrom('audit').select(['action', 'target']).orderBy('seq').execute();
  expect(rows.filter(({ action }) => action.startsWith('adjustments.'))).toEqual([
    { action: 'adjustments.create', target: id },
    { action: 'adjustments.reverse', target: back.json.id },
    { action: 'adjustments.list', target: 'notes' },
  ]);
});

test.each([
  [['statements', 'add', '--platform', 'shop', '--at', AT, '--balance', '1,00'], '--balance'],
  [['statements', 'add', '--platform', 'shop', '--at', 'yesterday', '--balance', '1'], '--at'],
  [['statements', 'add', '--platform', 'shop', '--balance', '1'], '--at'],
  [['statements', 'add', '--at', AT, '--balance', '1'], '--platform'],
  [['statements', 'add', '--platform', 'shop', '--at', '2999-01-01T00:00:00Z', '--balance', '1'], 'instant to come'],
  [['statements', 'add', '--platform', 'other', '--at', AT, '--balance', '1'], '--new-platform'],
  [['statements', 'list', '--limit', '0'], '--limit'],
  [['adjustments', 'add', '--platform', 'shop', '--day', '2026-02-30', '--kind', 'fee', '--amount', '1'], '--day'],
  [['adjustments', 'add', '--platform', 'shop', '--day', '2026-11-21', '--kind', 'gift', '--amount', '1'], '--kind'],
  [['adjustments', 'add', '--platform', 'shop', '--day', '2026-11-21', '--kind', 'fee', '--amount', '0'], '--amount'],
  [
    ['adjustments', 'add', '--platform', 'shop', '--day', '2026-11-21', '--kind', 'fee', '--amount', '1'],
    'note must say why',
  ],
  [['adjustments', 'reverse', 'adj_none'], 'note must say why'],
])('%j is wrong use', async (args, named) => {
  const { code, err } = await run(...args);
  expect(err).toContain(named);
  expect(code).toBe(2);
});

test('a new platform is taken where it is said to be meant', async () => {
  const entry = ['--platform', 'new', '--day', '2026-11-21', '--kind', 'other', '--amount', '1', '--note', 'x'];
  expect((await run('adjustments', 'add', ...entry)).code).toBe(2);
  expect((await run('adjustments', 'add', ...entry, '--new-platform')).code).toBe(0);
});

test('a platform is named by command, listed, and its name taken back, audited', async () => {
  const named = await run('platforms', 'name', 'shop', 'Loja Centro', '--json');
  expect(named).toMatchObject({ code: 0, json: { platform: 'shop', name: 'Loja Centro' } });
  expect((await run('platforms', 'list', '--json')).json).toMatchObject({
    platforms: [{ platform: 'shop', name: 'Loja Centro', named_by: 'command' }],
  });
  expect(await run('platforms', 'name', 'shop', 'CPF 123.456.789-09')).toMatchObject({ code: 2 });
  expect(await run('platforms', 'name', 'nobody', 'Loja')).toMatchObject({ code: 2 });
  expect((await run('platforms', 'name', 'shop')).out).toContain('shop has no name');
  expect((await run('platforms', 'list')).out).toContain('none');
  const audited = env.context.db.selectFrom('audit').select('target').where('action', '=', 'platforms.name');
  expect(await audited.execute()).toEqual([{ target: 'shop' }, { target: 'shop' }]);
});
