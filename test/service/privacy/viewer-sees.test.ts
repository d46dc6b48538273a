import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/access/roles.ts';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { acknowledgeMismatch } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';
import { numRuns } from '../../support/property.ts';
import { anyCpf, anySpelling, anyValue, listCpfsLike, punctuate } from '../../support/spell-documents.ts';
import { readWorkbook } from '../reports/read-workbook.ts';

const CANDIDATES_MIN = 1000;
const SEED = Number(process.env.TEST_SEED ?? 17);
/** No seconds that could be a part of a document. */
const CREATED = '00:00:02';

type Spelling = (document: string) => string;
type Person = { cpf: string; spelled: Record<string, Spelling>; shown: ShownTransaction };

const environment = closeAfterAll(await openConsoleEnvironment());
let people: Person[];
let cookie: Record<'viewer' | 'operator', string>;

/** People who repeat their CPF in every text field; each refers to it in another way later. */
const anyPerson = fc.record({
  id: fc.uuid(),
  cpf: anyCpf,
  spelled: fc.record({
    ...{ pix_key: anyValue, phone: anyValue, email: anyValue, name: anyValue },
    ...{ reference: anySpelling, extra: anySpelling, description: anySpelling },
    ...{ platform: anySpelling, e2e_id: anySpelling },
    ...{ laterReference: anySpelling, laterExtra: anySpelling, status: anySpelling },
  }),
});

beforeAll(async () => {
  const { context, today } = environment;
  people = fc.sample(anyPerson, { numRuns: numRuns(3, 60), seed: SEED }).map(({ id, cpf, spelled }) => {
    const say = (name: keyof typeof spelled) => spelled[name](cpf);
    const at = `${today} ${CREATED}`;
    return {
      cpf,
      spelled,
      shown: {
        ...{ id, operation: 'cashin', status: 'paid', amount: '10.00', date_created: at, document: cpf },
        ...{ pix_key: say('pix_key'), phone: say('phone'), email: say('email'), name: say('name') },
        ...{ reference: say('reference'), extra: say('extra'), description: say('description') },
        ...{ platform: say('platform').slice(0, 64), e2e_id: say('e2e_id') },
        events: [{ status: 'paid', date_created: at }],
      },
    };
  });
  // a report of before the reference was known, so that the next one reports it
  await learn(({ shown: { reference: _, ...shown } }) => shown);
  await makeReport(context, today);
  await learn((one) => one.shown);
  await learn(({ cpf, spelled, shown }) => ({
    ...shown,
    reference: spelled.laterReference?.(cpf) ?? '',
    extra: spelled.laterExtra?.(cpf) ?? '',
  }));
  for (const { id, transaction_id } of await listOwn()) {
    const cpf = people.find((one) => one.shown.id === transaction_id)?.cpf ?? '';
    await acknowledgeMismatch(context, id, { actor: 'admin', note: `falei com ${punctuate(cpf)}` });
  }
  for (const { cpf, spelled, shown } of people) {
    const status = (spelled.status?.(cpf) ?? '').slice(0, 60);
    for (const key of [
      { transaction_id: shown.id, reference: shown.reference },
      { reference: shown.reference },
      { transaction_id: cpf },
    ]) {
      await environment.webhook({ ...key, status, document: cpf });
    }
  }
  while ((await splitWebhooks(context, 0)).more);
  await makeReport(context, today);
  cookie = { viewer: await openCookie('viewer'), operator: await openCookie('operator') };
});

async function learn(show: (person: Person) => ShownTransaction): Promise<void> {
  const observations = people.map((one) => observe(show(one), environment.context.clock.now()));
  for (const observe of observations) await applyObservations(environment.context, [observe]);
}

async function listOwn() {
  return await environment.context.db
    .selectFrom('mismatches')
    .select(['id', 'transaction_id'])
    .where(
      'transaction_id',
      'in',
      people.map((one) => one.shown.id),
    )
    .execute();
}

async function openCookie(role: Role): Promise<string> {
  return await logIn(environment.url, environment.tokens[role]);
}

type Reader = (address: string) => Promise<string>;
const api =
  (role: Role): Reader =>
  async (address) =>
    (await environment.api(role, 'GET', `/${address}`)).text;
const page =
  (role: 'viewer' | 'operator'): Reader =>
  async (address) =>
    await (await fetch(`${environment.url}/${address}`, { headers: { cookie: cookie[role] } })).text();

/** Everything that a role reads of the people's transactions, by the place where it stands. */
async function readAll(role: 'viewer' | 'operator'): Promise<Map<string, string>> {
  const [ask, open] = [api(role), page(role)];
  const seen = new Map<string, string>();
  const { webhooks } = JSON.parse(await ask('webhooks?limit=200')) as { webhooks: { id: string }[] };
  const mismatches = await listOwn();
  for (const address of [
    ...['transactions?limit=200', 'mismatches?limit=200', 'webhooks?limit=200', 'callbacks?limit=200', 'reports'],
    ...people.map((one) => `transactions/${one.shown.id}`),
    ...mismatches.map((one) => `mismatches/${one.id}`),
    ...webhooks.map((one) => `webhooks/${one.id}`),
    ...[`reports/${environment.today}.csv`, `reports/${environment.today}.journal`],
  ]) {
    seen.set(`api ${address}`, await ask(address));
  }
  for (const address of [
    ...['transactions?limit=200', 'mismatches?limit=200', 'inbox?limit=200', 'callbacks', 'reports', ''],
    ...[`reports/${environment.today}`, `reports/${environment.today}?from=1&to=2`],
    ...people.map((one) => `transactions/${one.shown.id}`),
    ...mismatches.map((one) => `mismatches/${one.id}`),
    ...webhooks.map((one) => `inbox/${one.id}`),
  ]) {
    seen.set(`page ${address}`, await open(address));
  }
  for (const revision of [1, 2]) {
    const { file } = await openReport(environment.context, {
      ...{ day: environment.today, format: 'xlsx', revision },
      masked: role === 'viewer',
    });
    seen.set(`workbook r${revision}`, JSON.stringify((await readWorkbook(file)).map((sheet) => sheet.rows)));
  }
  return seen;
}

/** Fewer than the characters of any spelling. */
const BEGINNING_CHARS = 8;

/**
 * Returns the CPFs that an attacker cannot exclude who tries all that the masks allow: by the digits of each mask, by the
 * ends that longer masks show, and by each spelling that this person may have used, plain and hashed.
 */
function attack({ cpf, spelled }: Person, { own, seen }: { own: string; seen: string }): string[] {
  const masks = [...own.matchAll(/[\d*][\d*./-]{9,}[\d*]/g)].map(([mask]) => mask.replace(/[./-]/g, ''));
  const patterns = masks
    .filter((mask) => mask.includes('*') && /\d/.test(mask))
    .map(
      (mask) => new RegExp(mask.length === 11 ? `^${mask.replaceAll('*', '.')}$` : `${/\d+$/.exec(mask)?.[0] ?? ''}$`),
    );
  const left = listCpfsLike(cpf).filter((one) => patterns.every((pattern) => pattern.test(one)));
  const hashes = new Set(seen.match(/\b[0-9a-f]{64}\b/g));
  // searching all of `seen` for each spelling of each candidate takes seconds
  const beginnings = new Set(
    Array.from({ length: seen.length }, (_, index) => seen.slice(index, index + BEGINNING_CHARS)),
  );
  const reported = left.filter((one) =>
    Object.values(spelled).some((spell) => {
      const text = spell(one);
      const isSeen = beginnings.has(text.slice(0, BEGINNING_CHARS)) && seen.includes(text);
      return isSeen || hashes.has(createHash('sha256').update(text).digest('hex'));
    }),
  );
  return reported.length > 0 ? reported : left;
}

/** The lists of everything show no more than each one's own place: for the attack they are left out. */
function pick(all: Map<string, string>, { shown }: Person) {
  const join = (is: (place: string) => boolean): string =>
    [...all]
      .filter(([place]) => is(place))
      .map(([, text]) => text)
      .join('\n');
  const own = join((place) => place.includes(shown.id));
  return { own, seen: `${own}\n${join((place) => /webhooks\/|mismatches\//.test(place))}` };
}

test('a viewer who combines all that there is of a transaction is left with a thousand CPFs', async () => {
  const seen = await readAll('viewer');
  for (const person of people) {
    const left = attack(person, pick(seen, person));
    expect([person.cpf, left.length]).toEqual([
      person.cpf,
      expect.toSatisfy((count: number) => count >= CANDIDATES_MIN),
    ]);
  }
});

test('no place shows a viewer a document, in any spelling that a field repeated it in', async () => {
  const leaks: string[] = [];
  for (const [place, text] of await readAll('viewer')) {
    for (const { cpf, spelled } of people) {
      for (const value of [cpf, punctuate(cpf), ...Object.values(spelled).map((spell) => spell(cpf))]) {
        if (text.includes(value)) leaks.push(`${place}: ${value}`);
      }
    }
  }
  expect(leaks).toEqual([]);
});

test('the same places show an operator, so the attack has something to find', async () => {
  const seen = await readAll('operator');
  for (const person of people) {
    const left = attack(person, pick(seen, person));
    expect(left).toContain(person.cpf);
    expect(left.length).toBeLessThan(200);
  }
  const places = [...seen].filter(([, text]) => people.some(({ cpf }) => text.includes(cpf))).map(([place]) => place);
  for (const place of [
    'api transactions',
    'api mismatches',
    'api webhooks/',
    `api reports/${environment.today}.csv`,
    'page transactions',
    'page mismatches/',
    'page inbox/',
    'workbook r2',
  ]) {
    expect(
      places.some((one) => one.startsWith(place)),
      place,
    ).toBe(true);
  }
});
