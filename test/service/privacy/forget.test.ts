import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { audit } from '../../../src/access/audit.ts';
import { recordUser } from '../../../src/access/users.ts';
import type { Context } from '../../../src/context.ts';
import { REMOVED } from '../../../src/domain/person/redact-text.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { decodeSegment, encodeRecord } from '../../../src/inbox/spool/spool-format.ts';
import { undoMatch } from '../../../src/ledger/bank/pick-match.ts';
import { searchTransactions } from '../../../src/ledger/read/search-transactions.ts';
import { refreshMismatchAlerts } from '../../../src/mismatches/alert-mismatches.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { describeSaid } from '../../../src/texts/messages.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { eventually } from '../../support/eventually.ts';
import { importBank } from '../../support/import-bank.ts';
import { dayAgo, makeRow } from '../../support/make-provider-rows.ts';
import { type MerchantServer, openMerchantServer } from '../../support/open-merchant-server.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { readRow } from '../../support/read-rows.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { ADMIN_TOKEN, API_KEY, temporaryDirectory } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';
import { findValues } from './find-values.ts';

const DOCUMENT = '314.159.265-35';
const PLAIN = '31415926535';
const DAY = dayAgo(1);
/** The days of others' transactions that name the person by extra and by PIX key, and of a report with a note on them. */
const [MENTION_DAY, KEY_DAY, NOTE_DAY] = [dayAgo(5), dayAgo(4), dayAgo(3)];
const person = {
  name: 'Zuzimara Quixabeira',
  email: 'zuzimara@plantada.example',
  phone: '+5599912344321',
  document: PLAIN,
  pix_key: 'chave-quixabeira-unica',
  description: 'Presente-da-tia-plantada',
  extra: `cliente ${PLAIN}`,
};
const VALUES = [PLAIN, DOCUMENT, 'Zuzimara', 'Quixabeira', '99912344321', 'presente-da-tia-plantada'];
const theirs = makeRow({ ...person, created: `${DAY} 10:00:00`, history: ['paid'], amount: '77.70' });
const open = makeRow({ ...person, created: `${DAY} 11:00:00`, extra: '' });
const refused = makeRow({ ...person, created: `${DAY} 12:00:00`, amount: '1.234' });
const namesake = makeRow({
  name: person.name,
  document: '11144477735',
  email: 'outra@pessoa.example',
  created: `${DAY} 13:00:00`,
  history: ['paid'],
});
const mention = makeRow({ extra: `mesa 4, CPF ${DOCUMENT}`, created: `${MENTION_DAY} 09:00:00`, history: ['paid'] });
const keyed = makeRow({ operation: 'cashout', pix_key: DOCUMENT, created: `${KEY_DAY} 09:00:00`, history: ['paid'] });

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let provider: TestProvider;
let shop: MerchantServer;
let served: ServedEnvironment;
let context: Context;
let env: Record<string, string>;

beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  provider = stack.use(await new TestProvider(API_KEY).listen());
  shop = stack.use(await openMerchantServer());
  // a shop that shows its own log what it was reported
  for (const at of ['/all', '/extra']) {
    shop.behaviours[at] =
      ({ body }) =>
      (_request, response) =>
        response.writeHead(200).end(`recebi: ${body}`);
  }
  const DATA_DIR = path.join(home.path, 'data');
  served = stack.use(await openServedEnvironment({ providerUrl: provider.url, env: { DATA_DIR } }));
  ({ context } = served);
  const { DATABASE_URL = '', SECRET_KEY = '' } = served.env;
  env = { DATABASE_URL, SECRET_KEY, DATA_DIR };
  await served.api.call('POST', '/merchants', {
    name: 'Todas',
    url: `${shop.url}/all`,
    events_since: '2020-01-01T00:00:00Z',
  });
  const filter = { extra_prefixes: ['cliente '] };
  await served.api.call('POST', '/merchants', {
    name: 'Extra',
    url: `${shop.url}/extra`,
    filter,
    events_since: '2020-01-01T00:00:00Z',
  });
  provider.add(theirs, open, refused, namesake, mention, keyed);
  writeFileSync(path.join(home.path, 'document'), `${DOCUMENT}\n`);
});
afterAll(() => stack.disposeAsync());

const call = <T = Record<string, unknown>>(method: string, at: string, body?: unknown) =>
  served.api.call<T>(method, at, body);
const scan = () => findValues(context.db, [home.path], VALUES);
const run = (...args: string[]) => advanceUntilDone(served, runCommandInProcess(args, env, served.timers));
type Dry = { person: string; transactions: number; dry_run: boolean; erased: Record<string, number> };
const forget = (...more: string[]) => run('forget', '--file', path.join(home.path, 'document'), '--json', ...more);

const spooled = (body: object) =>
  encodeRecord({ receivedAt: new Date(), address: '127.0.0.1', headers: {}, body: Buffer.from(JSON.stringify(body)) });

async function reconcile(): Promise<{ state: string; applied: number }> {
  const { id } = await call<{ id: string }>('POST', '/reconciliations', { from: MENTION_DAY, to: DAY });
  return await eventually(async () => {
    const run = await call<{ state: string; applied: number }>('GET', `/reconciliations/${id}`);
    return ['queued', 'running'].includes(run.state) ? undefined : run;
  });
}

async function sendAll(bodies: unknown[]): Promise<void> {
  for (const body of bodies) await served.webhook(body);
  await eventually(async () => {
    const { webhooks } = await call<{ webhooks: { state: string }[] }>('GET', '/webhooks?state=pending');
    return webhooks.length === 0;
  });
}

/** A source that leaves out the document of the order, and names the person. */
async function putWithoutDocument(revision: string): Promise<void> {
  const facts = expectedFactsSchema.parse({
    ...{ operation: 'cashin', amount: '77.70', due_day: DAY, issued_day: MENTION_DAY, references: [theirs.reference] },
    ...{ name: person.name, extra: person.extra, description: `revisão ${revision}` },
  });
  await putExpected(context, { arrivals: [{ source: 'shop', number: '1', facts }], actor: 'test' });
}

type Expected = { document: string | null; name: string | null; state: string; matches: { transaction_id: string }[] };
const findExpected = () => call<Expected>('GET', '/expected-payments/shop/1');

const callbacks = () => call<{ callbacks: { state: string }[] }>('GET', '/callbacks?limit=200');
const delivered = () => eventually(async () => (await callbacks()).callbacks.every((one) => one.state === 'delivered'));

/** Enters an adjustment whose note names the person, under one idempotency key. */
const postOnce = () =>
  fetch(`${served.url}/api/v1/adjustments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': 'planted' },
    body: JSON.stringify({
      platform: theirs.platform,
      day: DAY,
      kind: 'fee',
      amount: '-2.00',
      note: `CPF ${DOCUMENT}`,
    }),
  });

it('plants a person in every place there is', async () => {
  await reconcile();
  await sendAll([
    { transaction_id: keyed.id, status: 'paid', pix_key: DOCUMENT },
    { transaction_id: theirs.id, status: 'paid', transaction_amount: '77.70', extra: person.extra, payer: person },
    { extra: person.extra, status: 'paid', name: person.name, document: Number(PLAIN) },
    { reference: theirs.reference, name: 'Quixabeira, Zuzimara', status: 'paid' },
    { nada: 'sem chave', cliente: { cpf: DOCUMENT, nome: person.name } },
    `isto não é JSON, do CPF ${DOCUMENT}, Zuzimara Quixabeira`,
    `{"document":"${PLAIN}","name":"Zuzimara Quix`,
    [
      { transaction_id: namesake.id, name: person.name },
      { transaction_id: theirs.id, name: person.name },
    ],
  ]);
  await delivered();
  await call('POST', '/reports', { day: MENTION_DAY });
  const { mismatches } = await call<{ mismatches: { id: string; kind: string }[] }>(
    'GET',
    '/mismatches?kind=row_refused',
  );
  await call('POST', `/mismatches/${mismatches[0]?.id}/acknowledge`, {
    note: `falei com Zuzimara Quixabeira, ${DOCUMENT}`,
  });
  // by name alone, on a mismatch of their own transaction
  const differs = { kind: 'commission_differs' as const, scope: theirs.id, transactionId: theirs.id };
  await context.db.transaction().execute((trx) => raiseMismatches(trx, [differs], context.clock.now()));
  const differing = await call<{ mismatches: { id: string }[] }>('GET', '/mismatches?kind=commission_differs');
  for (const { id } of differing.mismatches) {
    await call('POST', `/mismatches/${id}/acknowledge`, { note: 'a senhora ZUZIMARA QUIXABEIRA ligou' });
  }
  await call('POST', '/adjustments', {
    platform: theirs.platform,
    day: DAY,
    kind: 'fee',
    amount: '-1.00',
    note: `CPF ${PLAIN}`,
  });
  expect((await postOnce()).status).toBe(201);
  // a name by each door is checked; an earlier version may have let it pass
  const csv = JSON.stringify({ header: ['Data', `Valor de ${PLAIN}`] });
  const not_pix = JSON.stringify({ begins: [`SALARIO ${person.name} ${DOCUMENT}`], contains: ['"TED"'] });
  const about = { account: '341/1', name: `Conta ${PLAIN}`, created_at: new Date(), actor: 'x' };
  await context.db
    .insertInto('bank_accounts')
    .values({ ...about, not_pix, csv })
    .execute();
  const withdrawn = { platform: theirs.platform, day: DAY, kind: 'bank', amount: '-7.00', note: 'retirada' };
  await call('POST', '/adjustments', withdrawn);
  for (const day of [KEY_DAY, NOTE_DAY, DAY]) await call('POST', '/reports', { day });
  await served.api.fetch(`/reports/${DAY}.csv?locale=en`);
  await call('GET', `/transactions?document=${PLAIN}&name=zuzimara`);
  // what the database refused, and a segment that was damaged
  const spool = path.join(home.path, 'data', 'spool');
  mkdirSync(spool, { recursive: true });
  const reported = spooled({ nada: 'x', cliente: { cpf: DOCUMENT, nome: person.name } });
  writeFileSync(path.join(spool, '1.refused'), Buffer.concat([spooled({ nada: 'de outro' }), reported]));
  writeFileSync(
    path.join(spool, '2.torn'),
    Buffer.concat([reported, reported.subarray(9), spooled({ nada: 'de outro' })]),
  );
  await call('PUT', '/platforms', { platform: theirs.platform, name: `Loja ${person.pix_key}` });
  const reopened = { seq: 1, month: '2020-01', action: 'reopen', at: new Date(), actor: 'x' };
  await context.db
    .insertInto('month_closes')
    .values({ ...reopened, note: `faltou o de ${person.pix_key}` })
    .execute();
  const change = { actor: 'x', action: 'months.reopen', target: reopened.month };
  await audit(context, { ...change, detail: '{"reopen":1,"close":0}' });
  const line = { day: DAY, amount: '7.00', fitid: `F${PLAIN}`, memo: `PIX ${DOCUMENT}` };
  await importBank(context, { lines: [line] });
  await undoMatch(context, 'bm_1', { actor: 'test', note: `de ${PLAIN}` });
  const facts = expectedFactsSchema.parse({
    ...{ operation: 'cashin', amount: '77.70', due_day: DAY, issued_day: MENTION_DAY, references: [theirs.reference] },
    ...{ name: person.name, extra: person.extra, description: `de ${PLAIN}` },
  });
  // its check digits are wrong, which no door takes
  const arrivals = [{ source: 'shop', number: '1', facts: { ...facts, document: PLAIN } }];
  const [expected] = await putExpected(context, { arrivals, actor: 'test' });
  await putWithoutDocument('10');
  await eventually(async () => (await findExpected()).matches.length > 0);
  await call('POST', `/expected-payments/${expected?.id}/unmatch`, { transaction_id: theirs.id, note: `de ${PLAIN}` });
  const again = { transaction_id: theirs.id, note: `é de ${person.name}, ${DOCUMENT}` };
  await call('POST', `/expected-payments/${expected?.id}/match`, again);
  // an issuer that names its people by their document
  await recordUser(context, { issuer: 'https://id.example/', subject: PLAIN, name: DOCUMENT, role: undefined });
  expect(await scan()).toEqual([
    '1.refused',
    '2.torn',
    'adjustments.note',
    'bank_accounts.csv',
    'bank_accounts.name',
    'bank_accounts.not_pix',
    'bank_line_texts.fitid',
    'bank_line_texts.memo',
    'bank_match_notes.note',
    'callback_attempts.response_body',
    `confere-${MENTION_DAY}-r1.xlsx`,
    `confere-${KEY_DAY}-r1.xlsx`,
    `confere-${NOTE_DAY}-r1.xlsx`,
    `confere-${DAY}-r1-en.csv`,
    `confere-${DAY}-r1-en.journal`,
    `confere-${DAY}-r1-en.xlsx`,
    `confere-${DAY}-r1.csv`,
    `confere-${DAY}-r1.journal`,
    `confere-${DAY}-r1.xlsx`,
    'document',
    'expected_notes.note',
    'expected_texts.description',
    'expected_texts.document',
    'expected_texts.extra',
    'expected_texts.name',
    'expected_texts.name_folded',
    'mismatch_changes.note',
    'mismatches.note',
    'month_closes.note',
    'parties.description',
    'parties.document',
    'parties.email',
    'parties.name',
    'parties.name_folded',
    'parties.phone',
    'parties.pix_key',
    'platform_names.name',
    'refused_rows.raw',
    'transactions.extra',
    'users.name',
    'users.subject',
    'webhooks.body',
  ]);
}, 90_000);

it('counts what would go, and changes nothing', async () => {
  const before = await scan();
  const { code, out } = await forget('--dry-run');
  expect(code).toBe(0);
  const reported = JSON.parse(out) as Dry;
  expect(reported).toMatchObject({ transactions: 2, dry_run: true });
  const audited = await context.db.selectFrom('audit').selectAll().orderBy('seq', 'desc').executeTakeFirst();
  const target = `document:${reported.person}`;
  expect(audited).toMatchObject({
    actor: 'command',
    action: 'people.forget_started',
    target,
    detail: '{"dry_run":true}',
  });
  const places = [
    'webhooks',
    'callback_answers',
    'ledger_texts',
    'platform_names',
    'month_closes',
    'bank_lines',
    'bank_notes',
    'bank_accounts',
    'expected_payments',
    'users',
    'transactions',
    'kept_answers',
    'report_files',
  ];
  for (const place of places) {
    expect(reported.erased[place], place).toBeGreaterThan(0);
  }
  expect(await scan()).toEqual(before);
});

it('goes on where it was killed, and leaves nothing', async () => {
  const place = path.join(import.meta.dirname, '../../../bin/confere');
  const { db } = context;
  // seen from outside: it has begun; it is in the middle of its places; it is between its rounds
  const moments = [
    () => db.selectFrom('forgotten_people').select('sealed_values').executeTakeFirst(),
    () => db.selectFrom('webhooks').select('seq').where('redacted_at', 'is not', null).executeTakeFirst(),
    () => db.selectFrom('parties').select('forgotten_at').where('forgotten_at', 'is not', null).executeTakeFirst(),
  ];
  for (const moment of moments) {
    const child = spawn(place, ['forget', '--file', path.join(home.path, 'document')], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ENV_FILE: '', ...env },
      stdio: 'ignore',
      detached: true,
    });
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
    await eventually(async () => (await moment()) !== undefined);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    expect(await ended).toBe('SIGKILL');
  }
  expect(await db.selectFrom('forgotten_people').select('finished_at').execute()).toEqual([{ finished_at: null }]);
  const { code, out, err } = await forget();
  expect([code, err]).toEqual([0, '']);
  expect(out).not.toContain(PLAIN);
  // its key stays: it is not booked again
  const refused = await postOnce();
  expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('erased with a person')]);
  const findWords = async (words: string) =>
    (await searchTransactions(context.db, context.keys, { by: 'created', limit: 50, words })).transactions;
  for (const words of ['quixabeira plantada', PLAIN, 'plantada tia', `mesa ${PLAIN}`])
    expect([words, await findWords(words)]).toEqual([words, []]);
  expect((await findWords('quixabeira')).map(({ id }) => id)).toEqual([namesake.id]);
  // but for the file that the command was given, and the namesake, whose name it is too
  expect((await scanWithoutNamesake()).filter((at) => at !== 'document')).toEqual([]);
});

it('undoes no match of an expected payment', async () => {
  const { document, name, state, matches } = await findExpected();
  expect([document, name, state, matches.map((one) => one.transaction_id)]).toEqual([null, null, 'paid', [theirs.id]]);
});

it('leaves the webhooks of others in the files of the spool', () => {
  const read = (name: string) => decodeSegment(readFileSync(path.join(home.path, 'data', 'spool', name)));
  const bodies = (name: string) => read(name).records.map((one) => one.body.toString());
  const redacted = `{"nada":"x","cliente":{"cpf":"${REMOVED}","nome":"${REMOVED}"}}`;
  expect(bodies('1.refused')).toEqual(['{"nada":"de outro"}', redacted]);
  expect(bodies('2.torn')).toEqual([redacted, '{"nada":"de outro"}']);
  expect(readdirSync(path.join(home.path, 'data', 'spool'))).toEqual(['1.refused', '2.torn']);
});

it('says so in every place, and keeps the amounts', async () => {
  const csv = (await served.api.fetch(`/reports/${DAY}.csv`)).toString();
  // a payment's extra, and the notes of two adjustments
  expect(csv.split('\r\n').filter((line) => line.includes('removido'))).toHaveLength(3);
  const listed = await call<{ reports: { day: string; files: { format: string; sha256: string }[] }[] }>(
    'GET',
    '/reports',
  );
  const first = listed.reports.find((one) => one.day === DAY)?.files;
  await served.api.fetch(`/reports/${DAY}.xlsx`);
  // what was made again is the revision's file from now on
  const again = await call<typeof listed>('GET', '/reports');
  expect(again.reports.find((one) => one.day === DAY)?.files).toEqual(first);
  const found = await call<{ transactions: Record<string, unknown>[] }>('GET', `/transactions?document=${PLAIN}`);
  expect(found.transactions.map((one) => [one.id, one.amount, one.name, one.document, one.extra])).toEqual([
    [open.id, '10.00', null, null, null],
    [theirs.id, '77.70', null, null, null],
  ]);
  const other = await call<Record<string, unknown>>('GET', `/transactions/${namesake.id}`);
  expect(other).toMatchObject({ name: person.name, document: '11144477735' });
  // all is well but for what the spool keeps, which somebody has to inspect, and the tests' server, which is not durable
  const doctor = await run('doctor', '--books', '--json');
  const { findings } = JSON.parse(doctor.out) as { findings: { check: string; ok: boolean; says: string }[] };
  const wrong = findings.filter((one) => !one.ok && !describeSaid(one.says).includes('innodb_flush_log_at_trx_commit'));
  expect(wrong.map((one) => one.check)).toEqual(['spool']);
  expect(describeSaid(findings.find((one) => one.check === 'spool')?.says ?? '')).toContain(
    '1 damaged (.torn) and 1 refused (.refused)',
  );
  expect(doctor.code).toBe(1);
});

it('writes nothing back: a list, a change, a late webhook, a row that is refused', async () => {
  expect((await reconcile()).applied).toBe(0);
  provider.addEvent(theirs.id, 'refund', `${DAY} 15:00:00`);
  provider.addEvent(mention.id, 'refund', `${MENTION_DAY} 15:00:00`);
  provider.addEvent(keyed.id, 'refund', `${KEY_DAY} 15:00:00`);
  provider.patches.set(refused.id, { description: `outra vez, ${person.name}` });
  const run = await reconcile();
  expect([run.state, run.applied]).toEqual(['complete', 3]);
  await sendAll([
    { transaction_id: theirs.id, status: 'refund', name: person.name, extra: person.extra },
    { extra: person.extra, status: 'refund', customer: { name: person.name } },
    { reference: theirs.reference, status: 'refund', customer: { phone: person.phone } },
    { nada: 'sem chave', cliente: { cpf: DOCUMENT, nome: 'outro nome' } },
    `de novo o CPF ${DOCUMENT}`,
  ]);
  await delivered();
  const reported = shop.callsTo('/extra').filter((one) => one.json.type === 'pix.cashin.refund');
  // the merchant of its extra is still reported, without the extra
  expect(reported.map((one) => one.json.data.transaction)).toMatchObject([
    { id: theirs.id, name: null, extra: null, amount: '77.70' },
  ]);
  await putWithoutDocument('11');
  const { mismatches } = await call<{ mismatches: { kind: string }[] }>('GET', '/mismatches?kind=reference_differs');
  expect(mismatches).toEqual([]);
  expect((await scanWithoutNamesake()).filter((at) => at !== 'document')).toEqual([]);
  expect((await reconcile()).applied).toBe(0);
}, 90_000);

it('finds nothing the second time, also in an alert of their transaction, and is audited without the document', async () => {
  await eventually('the alert', async () => {
    await refreshMismatchAlerts(context);
    const alerts = await context.db.selectFrom('alerts').select('summary').execute();
    return alerts.some(({ summary }) => summary.includes(theirs.id));
  });
  const { out } = await forget();
  const reported = JSON.parse(out) as { transactions: number; erased: Record<string, number> };
  expect(reported.transactions).toBe(2);
  const { report_files: _, ...others } = reported.erased;
  expect(
    Object.values(others).every((count) => count === 0),
    out,
  ).toBe(true);
  const audited = await context.db.selectFrom('audit').selectAll().where('action', 'like', 'people.%').execute();
  const done = audited.filter(({ action }) => action === 'people.forget');
  expect(done.length).toBeGreaterThanOrEqual(2);
  expect(audited.length).toBeGreaterThan(2 * done.length);
  expect(JSON.stringify(audited)).not.toMatch(/31415926535|314\.159/);
  const tombs = await context.db.selectFrom('forgotten_people').selectAll().execute();
  expect(tombs).toMatchObject([{ sealed_values: null, finished_at: expect.any(Date) }]);
});

it('says that it is not finished while something of the person keeps coming back', async () => {
  const { db } = context;
  await db
    .updateTable('adjustments')
    .set({ note: `outra vez ${PLAIN}` })
    .execute();
  await sql`CREATE TRIGGER keeps_coming BEFORE UPDATE ON adjustments FOR EACH ROW SET NEW.note = OLD.note`.execute(db);
  const tomb = () =>
    db.selectFrom('forgotten_people').select(['finished_at', 'sealed_values']).executeTakeFirstOrThrow();
  try {
    const { code, out } = await forget();
    expect([code, JSON.parse(out)]).toMatchObject([1, { finished: false, missed: [] }]);
    expect(await tomb()).toEqual({ finished_at: null, sealed_values: expect.any(Buffer) });
  } finally {
    await sql`DROP TRIGGER keeps_coming`.execute(db);
  }
  const { code, out } = await forget();
  expect([code, JSON.parse(out)]).toMatchObject([0, { finished: true }]);
  expect(await tomb()).toEqual({ finished_at: expect.any(Date), sealed_values: null });
}, 90_000);

it('erases what a transaction that began before the tombstone commits after the first round', async () => {
  const writer = await context.db.startTransaction().execute();
  const columns = { hash: randomBytes(32), received_at: new Date(), source_address: '127.0.0.1', headers: '{}' };
  const { insertId } = await writer
    .insertInto('webhooks')
    .values({ ...columns, body: Buffer.from(JSON.stringify({ cpf: PLAIN })), state: 'quarantined', reason: 'no_key' })
    .executeTakeFirstOrThrow();
  const forgotten = forget();
  // without a wait for the writer, the command has ended by then
  await Promise.race([forgotten, setTimeout(5_000)]);
  await writer.commit().execute();
  const { code, out } = await forgotten;
  expect([code, JSON.parse(out)]).toMatchObject([0, { finished: true, erased: { webhooks: 1 } }]);
  const { body } = await readRow(context.db, 'webhooks', ['body'], { seq: Number(insertId) });
  expect(String(body)).not.toContain(PLAIN);
}, 90_000);

it.each([[[]], [['--document', '123']], [['--document', DOCUMENT, '--file', 'x']], [['--file', '/no/such/file']]])(
  'refuses %j as wrong use',
  async (args) => {
    const { code, err } = await run('forget', ...args);
    expect([code, err]).toEqual([2, expect.stringContaining('confere: ')]);
  },
);

/** The namesake's own columns and rows hold the same name by right. */
async function scanWithoutNamesake(): Promise<string[]> {
  const hidden = await context.db
    .selectFrom('transactions')
    .innerJoin('parties', 'parties.transaction_seq', 'transactions.seq')
    .select(['parties.transaction_seq', 'name', 'name_folded'])
    .where('transactions.id', '=', namesake.id)
    .executeTakeFirstOrThrow();
  const { transaction_seq, ...names } = hidden;
  const set = (values: object) =>
    context.db.updateTable('parties').set(values).where('transaction_seq', '=', transaction_seq).execute();
  await set({ name: 'x', name_folded: null });
  try {
    const places = await findValues(context.db, [home.path], VALUES);
    // its callbacks' answers, webhook and reports show of the namesake alone
    const strict = await findValues(
      context.db,
      [home.path],
      VALUES.filter((one) => !/zuzi|quixa/i.test(one)),
    );
    return [
      ...strict,
      ...places.filter((at) => /^(parties|transactions|mismatch|adjust|refused|audit|alerts)/.test(at)),
    ];
  } finally {
    await set(names);
  }
}
