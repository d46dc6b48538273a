/** Owners and ages of mismatches: who decides each, for how long it has waited, and how much is at stake. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/access/tokens.ts';
import { forgetUser, recordUser } from '../../../src/access/users.ts';
import { transact } from '../../../src/database/transact.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openApiEnvironment } from '../../support/open-api-environment.ts';

const DAY_MS = 86_400_000;
/** By age in days and amount in cents; the number of each is its place here. */
const RAISED = [
  [0, 500n],
  [9, 70_000n],
  [3, null],
  [3, 70_000n],
  [0, 100n],
] as const;

const env = closeAfterAll(await openApiEnvironment());
let ids: string[];
beforeAll(async () => {
  const { context } = env;
  for (const [number, [days, amountCents]] of RAISED.entries()) {
    const at = new Date(context.clock.now().getTime() - days * DAY_MS - 60_000);
    const found = {
      kind: 'stuck',
      scope: `scope ${number}`,
      ...(amountCents === null ? {} : { amountCents }),
    } as const;
    await transact(context.db, (trx) => raiseMismatches(trx, [found], at));
  }
  const rows = await context.db.selectFrom('mismatches').select('id').orderBy('seq').execute();
  ids = rows.map(({ id }) => id);
});

const assign = (owner: unknown, number = 0) => env.call('POST', `/mismatches/${ids[number]}/assign`, { owner });
const token = async (role: 'viewer' | 'operator' = 'operator') =>
  (await createToken(env.context, { name: 'Ana', role })).id;
async function logIn(role?: 'viewer'): Promise<string> {
  const person = { issuer: 'https://login.example/', subject: `s-${Math.random()}`, name: 'Bia', role };
  const seq = await recordUser(env.context, person);
  const user = env.context.db.selectFrom('users').select('id').where('seq', '=', seq);
  return (await user.executeTakeFirstOrThrow()).id;
}
const audited = async () =>
  await env.context.db
    .selectFrom('audit')
    .select(['target', 'detail'])
    .where('action', '=', 'mismatches.assign')
    .execute();

test('a mismatch is given to a person or a token, and to nobody again, each change with one audit row', async () => {
  const before = (await audited()).length;
  const [user, operator] = [await logIn('viewer'), await token()];
  expect(await assign(user)).toMatchObject({
    status: 200,
    json: { id: ids[0], owner: user, age_days: 0, state: 'open' },
  });
  expect(await assign(user)).toMatchObject({ status: 200, json: { owner: user } });
  expect(await assign(operator)).toMatchObject({ status: 200, json: { owner: operator } });
  expect(await assign(null)).toMatchObject({ status: 200, json: { owner: null } });
  expect((await audited()).slice(before)).toEqual(
    [user, operator, null].map((owner) => ({ target: ids[0], detail: JSON.stringify({ owner }) })),
  );
});

describe('an owner is refused', () => {
  const OWNERS: [string, () => unknown][] = [
    ['nobody of this id', () => 'tok_0'],
    ['a name', () => 'Ana'],
    [
      'a revoked token',
      async () => {
        const id = await token();
        await revokeToken(env.context, id);
        return id;
      },
    ],
    [
      'an expired token',
      async () => {
        const id = await token();
        const ended = { expires_at: new Date(env.context.clock.now().getTime() - 1) };
        await env.context.db.updateTable('tokens').set(ended).where('id', '=', id).execute();
        return id;
      },
    ],
    [
      'a forgotten user',
      async () => {
        const id = await logIn('viewer');
        await forgetUser(env.context, id);
        return id;
      },
    ],
    ['a user whom no group gave a role', () => logIn()],
    [
      'the login of a merchant',
      async () => {
        const { merchant } = await createMerchant(env.context, { name: 'Loja', url: 'http://127.0.0.1:9/hook' });
        return (await createToken(env.context, { name: 'Loja', role: 'merchant', merchant: merchant.id })).id;
      },
    ],
  ];
  test.each(OWNERS)('that is %s', async (_, owner) => {
    expect(await assign(await owner())).toMatchObject({
      status: 422,
      json: { reason: 'owner_unknown', errors: { owner: [expect.any(String)] } },
    });
  });
  test.each([[undefined], [7], ['']])('that is %j', async (owner) => {
    expect(await assign(owner)).toMatchObject({ status: 422, json: { errors: { owner: [expect.any(String)] } } });
  });
});

test('an owner that ended since stays', async () => {
  const id = await token();
  await assign(id, 1);
  await revokeToken(env.context, id);
  expect(await env.call('GET', `/mismatches/${ids[1]}`)).toMatchObject({ json: { owner: id, age_days: 9 } });
  await assign(null, 1);
});

describe('the list', () => {
  const list = async (query: string) => {
    const { status, json } = await env.call('GET', `/mismatches?${query}`);
    const rows = (json.mismatches ?? []) as { id: string; age_days: number }[];
    return { status, json, numbers: rows.map(({ id }) => ids.indexOf(id)) };
  };

  test.each([
    ['', [4, 3, 2, 1, 0]],
    ['age=3', [3, 2, 1]],
    ['age=4', [1]],
    ['sort=age', [1, 2, 3, 0, 4]],
    ['sort=at_stake', [3, 1, 0, 4, 2]],
    ['sort=at_stake&age=3', [3, 1, 2]],
  ])('by %j has %j, whole and page by page', async (query, numbers) => {
    expect((await list(query)).numbers).toEqual(numbers);
    const read: number[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`${query}&limit=2${cursor}`);
      read.push(...page.numbers);
      const { next_cursor: next } = page.json as { next_cursor: string | null };
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(read).toEqual(numbers);
  });

  test('by owner has theirs, and those of nobody', async () => {
    const owner = await token();
    await assign(owner, 2);
    expect((await list(`owner=${owner}`)).numbers).toEqual([2]);
    expect((await list('owner=none&age=3')).numbers).toEqual([3, 1]);
    expect((await list('owner=tok_0')).numbers).toEqual([]);
    await assign(null, 2);
  });

  test.each(['age=-1', 'age=1.5', 'age=x', 'sort=amount', 'owner='])('refuses %j', async (query) => {
    expect((await list(query)).status).toBe(422);
  });
});

test('the age of a mismatch ends with it', async () => {
  await env.call('POST', `/mismatches/${ids[3]}/resolve`, { note: 'seen' });
  const resolved = { resolved_at: new Date(env.context.clock.now().getTime() - 2 * DAY_MS) };
  await env.context.db
    .updateTable('mismatches')
    .set(resolved)
    .where('id', '=', ids[3] ?? '')
    .execute();
  expect(await env.call('GET', `/mismatches/${ids[3]}`)).toMatchObject({ json: { state: 'resolved', age_days: 1 } });
});

test('a note says why, in the history of the mismatch, once; without one the note stays', async () => {
  const owner = await token();
  const give = (body: object) => env.call('POST', `/mismatches/${ids[1]}/assign`, { owner, ...body });
  const changes = async () =>
    await env.context.db
      .selectFrom('mismatch_changes')
      .innerJoin('mismatches', 'mismatches.seq', 'mismatch_changes.mismatch_seq')
      .select(['mismatch_changes.state', 'mismatch_changes.note'])
      .where('mismatches.id', '=', ids[1] ?? '')
      .orderBy('mismatch_changes.seq')
      .execute();
  const before = await changes();
  for (let sent = 0; sent < 2; sent++)
    expect(await give({ note: ' Falta o estorno? ' })).toMatchObject({
      status: 200,
      json: { owner, note: 'Falta o estorno?' },
    });
  expect(await give({})).toMatchObject({ json: { note: 'Falta o estorno?' } });
  expect(await changes()).toEqual([...before, { state: 'open', note: 'Falta o estorno?' }]);
  expect((await audited()).at(-1)?.detail).not.toContain('estorno');
  expect(await give({ note: 'x'.repeat(4_001) })).toMatchObject({ status: 422 });
  await env.call('POST', `/mismatches/${ids[1]}/resolve`, { note: 'feito' });
  expect(await give({ note: 'outra' })).toMatchObject({ status: 409, json: { reason: 'mismatch_resolved' } });
});
