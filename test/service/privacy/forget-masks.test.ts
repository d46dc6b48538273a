import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { splitWebhooks } from '../../../src/inbox/split/split-webhooks.ts';
import { applyObservations } from '../../../src/ledger/apply/apply-observations.ts';
import { raiseMismatches } from '../../../src/mismatches/raise-mismatches.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { openReport } from '../../../src/reports/serve/open-report.ts';
import { advanceUntilDone } from '../../support/advance-until-done.ts';
import { closeAfterAll } from '../../support/close-after-all.ts';
import { observe, type ShownTransaction } from '../../support/make-observations.ts';
import { openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { logIn } from '../../support/open-console-session.ts';
import { runCommandInProcess } from '../../support/run-command-in-process.ts';
import { cpfOf } from '../../support/spell-documents.ts';
import { readWorkbook } from '../reports/read-workbook.ts';

const CPF = cpfOf('390533447');
const PERSON = { name: 'Zuzimara Quixabeira', email: 'zuzimara@plantada.example', phone: '+5599912344321' };
/** References that hold no whole document: only the person's columns show whose values they are. */
const REFERENCES = ['390533447', PERSON.email, PERSON.name, '99912344321'];
/** Extras of their own transactions, which hold the document. */
const EXTRAS = [`55${CPF}`, `000${CPF}`, `2026${CPF}01`, 'cli 390-533-447'];
const E2E_ID = 'E1234567820261120123439053344799';
const PLATFORM = 'loja zuzimara quixabeira';

const environment = closeAfterAll(await openConsoleEnvironment());
let transactions: ShownTransaction[];
let webhookIds: string[];

beforeAll(async () => {
  const { context, today } = environment;
  transactions = REFERENCES.map((reference, index) => ({
    ...{ id: randomUUID(), operation: 'cashin', status: 'paid', amount: '10.00', date_created: `${today} 00:00:02` },
    ...{ ...PERSON, document: CPF, extra: EXTRAS[index] ?? '', reference, platform: PLATFORM, e2e_id: E2E_ID },
    events: [{ status: 'paid', date_created: `${today} 00:00:02` }],
  }));
  for (const one of transactions) await applyObservations(context, [observe(one, context.clock.now())]);
  const raised = transactions.map(({ id, reference = '' }) => ({
    ...{ kind: 'webhook_contradiction' as const, scope: id, transactionId: id, reference },
    expected: { reference },
    actual: { reference: `de ${reference}` },
  }));
  await context.db.transaction().execute((trx) => raiseMismatches(trx, raised, context.clock.now()));
  // by its id, and by its reference alone
  webhookIds = await Promise.all(
    transactions.flatMap(({ id, reference }) => [send({ transaction_id: id, reference }), send({ reference })]),
  );
  while ((await splitWebhooks(context, 0)).more);
  await makeReport(context, today);
});

async function send(body: object): Promise<string> {
  return String((await environment.webhook(body)).json.id);
}

async function openCookie(role: 'viewer' | 'operator'): Promise<string> {
  return await logIn(environment.url, environment.tokens[role]);
}

/** Returns the references and the end-to-end id that a role sees, by place. */
async function readShown(role: 'viewer' | 'operator'): Promise<Record<string, string[]>> {
  const { context, today, url } = environment;
  const bearer = { authorization: `Bearer ${environment.tokens[role]}` };
  const session = { cookie: await openCookie(role) };
  const shown: Record<string, string[]> = {};
  const record = (place: string, text: string) => {
    shown[place] = [
      ...new Set([...(shown[place] ?? []), ...[...REFERENCES, E2E_ID, PLATFORM].filter((one) => text.includes(one))]),
    ];
  };
  const read = async (place: string, address: string, headers: Record<string, string>) =>
    record(place, await (await fetch(`${url}/${address}`, { headers })).text());
  for (const [headers, kind, prefix] of [
    [bearer, 'api', 'api/v1/'],
    [session, 'page', ''],
  ] as const) {
    await read(`${kind} transactions`, `${prefix}transactions?limit=200`, headers);
    await read(`${kind} mismatches`, `${prefix}mismatches?limit=200`, headers);
    for (const { id } of transactions) await read(`${kind} transaction`, `${prefix}transactions/${id}`, headers);
    for (const id of webhookIds)
      await read(`${kind} webhook`, `${prefix}${kind === 'api' ? 'webhooks' : 'inbox'}/${id}`, headers);
  }
  const masked = role === 'viewer';
  for (const format of ['csv', 'xlsx'] as const) {
    const { file } = await openReport(context, { day: today, format, masked });
    if (format === 'xlsx') record(format, JSON.stringify((await readWorkbook(file)).map((sheet) => sheet.rows)));
    else await read(format, `api/v1/reports/${today}.csv`, bearer);
  }
  return shown;
}

/** @returns the extras of the person's transactions afterwards. */
async function forget(): Promise<(string | null)[]> {
  const { DATABASE_URL = '', SECRET_KEY = '', DATA_DIR = '' } = environment.env;
  const env = { DATABASE_URL, SECRET_KEY, DATA_DIR };
  const { code } = await advanceUntilDone(
    environment,
    runCommandInProcess(['forget', '--document', CPF], env, environment.timers),
  );
  expect(code).toBe(0);
  const ids = transactions.map((one) => one.id);
  const left = await environment.context.db.selectFrom('transactions').select('extra').where('id', 'in', ids).execute();
  return left.map((one) => one.extra);
}

test('a viewer sees no reference, platform or end-to-end id of a forgotten person, and their extras are gone', async () => {
  const before = await readShown('viewer');
  expect(new Set(Object.values(before).flat())).toEqual(new Set());
  expect(await forget()).toEqual(EXTRAS.map(() => null));
  const places = Object.keys(before);
  expect(places).toHaveLength(10);
  expect(await readShown('viewer')).toEqual(Object.fromEntries(places.map((place) => [place, []])));
  const operators = await readShown('operator');
  for (const place of ['api transactions', 'api transaction', 'page transaction', 'csv', 'xlsx']) {
    expect(operators[place], place).toEqual(expect.arrayContaining(REFERENCES));
  }
});

test('an extra that an earlier version left is removed by the next run', async () => {
  const { db } = environment.context;
  const [one] = transactions;
  await db
    .updateTable('transactions')
    .set({ extra: EXTRAS[0] ?? '' })
    .where('id', '=', one?.id ?? '')
    .execute();
  expect(await forget()).toEqual(EXTRAS.map(() => null));
});
