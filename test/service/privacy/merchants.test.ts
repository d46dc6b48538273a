import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { createMerchant, removeMerchant, updateMerchant } from '../../../src/merchants/change-merchants.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';

const PLAIN = '22453832301';
const DOTTED = '224.538.323-01';
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const NAMED = {
  name: `JOAO DA SILVA ${PLAIN}`,
  url: `http://127.0.0.1:9/${PLAIN}`,
  filter: {
    platforms: [`loja ${DOTTED}`, 'loja 7'],
    statuses: [PLAIN],
    reference_prefixes: [PLAIN],
    extra_prefixes: [PLAIN, DOTTED, 'mesa'],
    extra_match: { cliente: PLAIN },
  },
};

const environment = closeAfterAll(await openConsoleEnvironment({ SECRET_KEY }));
let id: string;
beforeAll(async () => {
  const { merchant } = await createMerchant(environment.context, NAMED);
  ({ id } = merchant);
  // undelivered, so that the overview names the merchant
  await environment.context.db
    .updateTable('callbacks')
    .set({ merchant_seq: merchant.seq, state: 'failed' })
    .orderBy('seq')
    .limit(1)
    .execute();
});

async function readAll(role: Role): Promise<string[]> {
  const cookie = await logIn(environment.url, environment.tokens[role]);
  const headers = { cookie, authorization: `Bearer ${environment.tokens[role]}` };
  const addresses = ['/api/v1/merchants', `/api/v1/merchants/${id}`, '/merchants', `/merchants/${id}`, '/'];
  return await Promise.all(
    addresses.map(async (address) => await (await fetch(`${environment.url}${address}`, { headers })).text()),
  );
}

test('a viewer sees no document of a merchant’s name, address or filter', async () => {
  const seen = await readAll('viewer');
  for (const text of seen) {
    expect(text).toContain(id);
    expect(text).not.toMatch(/224538|224\.538/);
  }
  expect(JSON.parse(seen[1] ?? '')).toMatchObject({
    name: '***',
    filter: { platforms: ['***', 'loja 7'], extra_prefixes: ['***', '***', 'mesa'], extra_match: { cliente: '***' } },
  });
  for (const text of await readAll('operator')) expect(text).toContain(PLAIN);
});

const forget = async () => {
  const { context, dataDir, timers } = environment;
  const env = { DATABASE_URL: context.config.DATABASE_URL ?? '', SECRET_KEY, DATA_DIR: dataDir };
  const ran = await advanceUntilDone(
    environment,
    runCommandInProcess(['forget', '--document', PLAIN, '--json'], env, timers),
  );
  return { ...ran, done: JSON.parse(ran.out) as { finished: boolean; left: string[]; erased: Record<string, number> } };
};

test('confere forget lists a merchant in use that names the person, and erases them from a removed one', async () => {
  const { context } = environment;
  const { merchant: removed } = await createMerchant(context, { ...NAMED, email: `${PLAIN}@example.com` });
  await removeMerchant(context, removed.id);
  const readFilter = async (of: string) => {
    const query = context.db.selectFrom('merchants').select(['name', 'url', 'email', 'filter']);
    return JSON.stringify(await query.where('id', '=', of).executeTakeFirstOrThrow());
  };
  const before = await readFilter(id);

  const first = await forget();
  expect([first.code, first.done]).toMatchObject([
    1,
    { finished: false, left: [`merchants ${id}`], erased: { merchants: 1 } },
  ]);
  expect(await readFilter(id)).toBe(before);
  expect(await readFilter(removed.id)).not.toContain('224');

  await updateMerchant(context, id, { name: 'João', url: 'http://127.0.0.1:9/', filter: { platforms: ['loja 7'] } });
  // the history's notes of the URL and the filter before
  expect(await forget()).toMatchObject({ code: 0, done: { finished: true, left: [], erased: { merchants: 2 } } });
});
