import { beforeAll, expect, test } from 'vitest';
import { adjustBooks } from '../../../src/ledger/stated/adjust-books.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { sealNow } from '../../../src/seal/seal-ledger.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openConsoleSession } from '../../support/open-console-session.ts';

/** Platforms whose ids are a person's document and a person's name. */
const PERSONAL = ['11144477735', 'maria-silva'];
const UNKNOWN = 'joana-souza';
const KNOWN = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';

const env = closeAfterAll(await openConsoleEnvironment());
beforeAll(async () => {
  for (const platform of PERSONAL) {
    const by = { platform, day: env.today, kind: 'fee' as const, note: 'tarifa', actor: 'test', newPlatform: true };
    await adjustBooks(env.context, { ...by, amountCents: 100n });
  }
  await sealNow(env.context);
  await makeReport(env.context, env.today);
});

/** The addresses that take a platform, with how they answer one of them, without the platform itself. */
async function ask(role: 'viewer' | 'operator', platform: string): Promise<[string, number, string][]> {
  const session = await openConsoleSession(env, role);
  const plain = (text: string): string => text.replaceAll(platform, 'PLATFORM').replaceAll(/req_\w+/g, '');
  const answers: [string, number, string][] = [];
  const { today } = env;
  for (const address of ['/reports', `/reports/${today}`, `/reports/${today}-r1.csv`, '/charts', '/charts/hours']) {
    const { status, text } = await session.get(`${address}?platform=${platform}`);
    answers.push([address, status, plain(text)]);
  }
  for (const address of ['/reports', `/reports/${today}.csv`, `/reports/${today}..${today}.csv`, '/series/money']) {
    const { status, text } = await env.api(role, 'GET', `${address}?platform=${platform}`);
    answers.push([`/api/v1${address}`, status, plain(text)]);
  }
  return answers;
}

const statuses = (answers: [string, number, string][]) => answers.map(([address, status]) => [address, status]);

test('a platform whose id may name a person is answered to a viewer as one that does not exist', async () => {
  const unknown = await ask('viewer', UNKNOWN);
  expect(unknown.filter(([, status]) => status !== 422)).toEqual([]);
  for (const platform of PERSONAL) expect(await ask('viewer', platform), platform).toEqual(unknown);
});

test('a viewer chooses platforms with random ids, and an operator any', async () => {
  for (const [role, platform] of [
    ['viewer', KNOWN],
    ['operator', KNOWN],
    ...PERSONAL.map((one) => ['operator', one] as const),
  ] as const)
    expect(
      statuses(await ask(role, platform)).filter(([, status]) => status !== 200),
      `${role} ${platform}`,
    ).toEqual([]);
});

test('every choice of a platform offers a viewer the same ids', async () => {
  const [viewer, operator] = [await openConsoleSession(env, 'viewer'), await openConsoleSession(env, 'operator')];
  const choices = (html: string): string[] => {
    const [, select = ''] = /<select[^>]*name="platform"[^>]*>(.*?)<\/select>/s.exec(html) ?? [];
    return [...select.matchAll(/value="([^"]+)"/g)].map(([, id = '']) => id);
  };
  for (const address of ['/charts', '/charts/hours', '/reports', `/reports/${env.today}`]) {
    const [seen, all] = [choices((await viewer.get(address)).html), choices((await operator.get(address)).html)];
    expect(seen, address).toContain(KNOWN);
    expect(
      seen.filter((id) => PERSONAL.includes(id)),
      address,
    ).toEqual([]);
    expect(all, address).toEqual(expect.arrayContaining(PERSONAL));
  }
});
