import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';

/** A platform id that is a person's CPF. */
const PLATFORM = '11144477735';
const PLURALS = ['openings', 'adjustments', 'statements', 'commissions', 'reconciliations'] as const;

const env = closeAfterAll(await openConsoleEnvironment());
let runId: string;

beforeAll(async () => {
  const entered = { platform: PLATFORM, new_platform: true };
  const day = env.today;
  await post('openings', { ...entered, day, balance: '0.00' });
  await post('adjustments', { ...entered, day, kind: 'other', amount: '1.00', note: 'tarifa' });
  await post('statements', { ...entered, at: new Date(env.context.clock.now().getTime() - 1_000), balance: '1.00' });
  await post('commissions', { platform: PLATFORM, operation: 'cashin', fixed: '0.10', basis_points: 0, from: day });
  ({ id: runId } = await post<{ id: string }>('reconciliations', { from: day, to: day, platform: PLATFORM }));
});

test.each([...PLURALS, 'one reconciliation'])(
  'a platform that is a document is withheld from viewers in %s',
  async (name) => {
    const address = name === 'one reconciliation' ? `reconciliations/${runId}` : name;
    expect(await call('accountant', address)).toContain(`"platform":"${PLATFORM}"`);
    const viewed = await call('viewer', address);
    expect(viewed).toContain('"platform":"***"');
    expect(viewed).not.toContain(PLATFORM);
  },
);

test('the page of a run withholds a platform that is a document from viewers', async () => {
  expect(await readPage('accountant', `reconciliations/${runId}`)).toContain(PLATFORM);
  const viewed = await readPage('viewer', `reconciliations/${runId}`);
  expect(viewed).toContain('***');
  expect(viewed).not.toContain(PLATFORM);
});

const call = async (role: Role, address: string) => (await env.api(role, 'GET', `/${address}`)).text;

async function post<T>(address: string, body: object): Promise<T> {
  const { status, json } = await env.api<T>('admin', 'POST', `/${address}`, body);
  expect([address, status < 300]).toEqual([address, true]);
  return json;
}

async function readPage(role: Role, address: string): Promise<string> {
  const cookie = await logIn(env.url, env.tokens[role]);
  return await (await fetch(`${env.url}/${address}`, { headers: { cookie } })).text();
}
