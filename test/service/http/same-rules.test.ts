/** A rule stands in the room that owns it: each door refuses the same, in the same words, and changes nothing. */
import { expect, test } from 'vitest';
import { NOTE_CHARS_MAX } from '../../../src/access/check-note.ts';
import { TOKEN_NAME_CHARS_MAX } from '../../../src/access/tokens.ts';
import { addDays } from '../../../src/domain/calendar.ts';
import { MERCHANT_LIMITS } from '../../../src/merchants/check-merchant.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';
import { SECRET_KEY } from '../../support/start-serve.ts';

const env = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));

const call = (role: 'admin' | 'accountant' | 'operator', address: string, body: object) =>
  env.api(role, 'POST', address, body);

const count = async (table: 'merchants' | 'adjustments' | 'tokens'): Promise<number> =>
  (await env.context.db.selectFrom(table).select('seq').execute()).length;

const URL_TAKEN = 'https://loja.example/pix';
const LONG = 'x'.repeat(MERCHANT_LIMITS.nameCharsMax + 1);
const WRONG: { field: string; option: [string, string]; api: object; form: Record<string, string>; says: RegExp }[] = [
  {
    field: 'name',
    option: ['--name', LONG],
    api: { name: LONG },
    form: { name: LONG },
    says: /name must have 1 to 200/,
  },
  {
    ...{ field: 'email', option: ['--email', 'nobody'], api: { email: 'nobody' }, form: { email: 'nobody' } },
    says: /email must be an e-mail address/,
  },
  {
    ...{ field: 'rate', option: ['--rate', '1001'], api: { rate: 1001 }, form: { rate: '1001' } },
    says: /rate must be a whole number from 1 to 1000/,
  },
  {
    ...{ field: 'filter.platforms', option: ['--platform', 'p'.repeat(513)], form: { platforms: 'p'.repeat(513) } },
    ...{ api: { filter: { platforms: ['p'.repeat(513)] } }, says: /has a value of more than 512 characters/ },
  },
];

test.each(WRONG)('a merchant with a wrong $field is refused by command, API and console', async (wrong) => {
  const before = await count('merchants');
  const named = wrong.field === 'name' ? [] : ['--name', 'Loja'];
  const command = await env.confere('merchants', 'add', ...named, '--url', URL_TAKEN, ...wrong.option);
  expect([command.code, command.err]).toEqual([2, expect.stringMatching(wrong.says)]);
  const api = await call('admin', '/merchants', { name: 'Loja', url: URL_TAKEN, ...wrong.api });
  expect(api).toMatchObject({ status: 422, json: { reason: expect.any(String) } });
  expect(Object.keys(api.json.errors ?? {})).toEqual([wrong.field]);
  const session = await openConsoleSession(env, 'admin');
  const form = await session.post('/merchants/new', { name: 'Loja', url: URL_TAKEN, ...wrong.form });
  expect([form.status, form.html.match(/class="fault"/g)?.length]).toEqual([422, 1]);
  expect(await count('merchants')).toBe(before);
});

test('a note that is too long is refused by each door, and no door cuts it', async () => {
  const note = 'n'.repeat(NOTE_CHARS_MAX + 1);
  const { platform } = env.paid;
  const before = await count('adjustments');
  const stated = ['--platform', String(platform), '--day', env.today, '--kind', 'fee', '--amount', '1.00'];
  const command = await env.confere('adjustments', 'add', ...stated, '--note', note);
  expect([command.code, command.err]).toEqual([2, expect.stringContaining('note is longer than 1000 characters')]);
  const body = { platform, day: env.today, kind: 'fee', amount: '1.00' };
  expect((await call('accountant', '/adjustments', { ...body, note })).status).toBe(422);
  const session = await openConsoleSession(env, 'accountant');
  const fields = { platform: String(platform), day: env.today, kind: 'fee_in', amount: '1,00', note };
  const form = await session.post('/balances/adjustments/new', fields);
  expect([form.status, form.text]).toEqual([422, expect.stringContaining('Tem mais de 1000 caracteres.')]);
  for (const args of [
    ['bank', 'match', '--undo', 'bm_1'],
    ['months', 'reopen', '2025-10'],
  ])
    expect(await env.confere(...args, '--note', note)).toMatchObject({ code: 2 });
  expect(await count('adjustments')).toBe(before);
});

test('a token without a name, or with a longer one than fits, is refused by each door', async () => {
  const before = await count('tokens');
  const name = 'x'.repeat(TOKEN_NAME_CHARS_MAX + 1);
  expect((await env.confere('tokens', 'create', '--role', 'viewer', '--name', name)).code).toBe(2);
  expect((await call('admin', '/tokens', { role: 'viewer', name })).status).toBe(422);
  const merchant = await env.context.db.selectFrom('merchants').select('id').limit(1).executeTakeFirstOrThrow();
  const session = await openConsoleSession(env, 'admin');
  const form = await session.post(`/merchants/${merchant.id}/portal-token`, { name });
  expect([form.status, form.text]).toEqual([422, expect.stringContaining('de até 200 caracteres')]);
  expect(await count('tokens')).toBe(before);
});

test('a balance is stated by accountants, by API as in the console', async () => {
  const body = { platform: env.paid.platform, at: new Date(Date.now() - 60_000).toISOString(), balance: '1.00' };
  expect(await call('operator', '/statements', body)).toMatchObject({ status: 403, json: { reason: 'role_missing' } });
  expect((await call('accountant', '/statements', body)).status).toBe(201);
});

test('an opening by command compares the stated balances at once, as by API', async () => {
  const { context, paid, today } = env;
  const day = addDays(today, -3);
  const state = async (balance: string) => {
    const at = `${day}T20:00:00-03:00`;
    return (await call('accountant', '/statements', { platform: paid.platform, at, balance })).json;
  };
  const countOpen = async (): Promise<number> => {
    const differing = context.db.selectFrom('mismatches').select('seq').where('kind', '=', 'balance_differs');
    return (await differing.where('state', '=', 'open').execute()).length;
  };
  const { ledger } = await state('0.01');
  expect(await state(String(ledger))).toMatchObject({ difference: '0.00' });
  expect(await countOpen()).toBe(0);
  const opened = await env.confere('open', '--platform', String(paid.platform), '--day', day, '--balance', '98765.43');
  expect(opened).toMatchObject({ code: 0, err: '' });
  expect(await countOpen()).toBe(1);
});
