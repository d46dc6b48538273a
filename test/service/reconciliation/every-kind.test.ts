/**
 * The whole table of mismatches against the real sandbox: each kind is caused as a provider would cause it, raised
 * once with its severity and the evidence of both sides, and ends as the table says.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi } from '../../../demo/start-programs.ts';
import { readConfig } from '../../../src/config.ts';
import { type Context, openContext } from '../../../src/context.ts';
import type { Day } from '../../../src/domain/calendar.ts';
import { MISMATCH_SEVERITY, type MismatchKind } from '../../../src/domain/mismatch.ts';
import { cancelExpected } from '../../../src/expected/cancel-expected.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { decideAll } from '../../../src/expected/follow/follow-payments.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { reprocessWebhook } from '../../../src/inbox/items/quarantine.ts';
import { findWebhook } from '../../../src/inbox/manage/read-webhooks.ts';
import { createReceiver } from '../../../src/inbox/receive/receive.ts';
import { workInbox } from '../../../src/inbox/verify/work-inbox.ts';
import { scopeOfReference } from '../../../src/ledger/apply/compare-references.ts';
import { stateContract } from '../../../src/ledger/stated/commission-contracts.ts';
import { checkCommissions, compareNewCharges } from '../../../src/ledger/stated/compare-charges.ts';
import { compareStatements } from '../../../src/ledger/stated/state-balance.ts';
import { createLog } from '../../../src/log.ts';
import { listMismatches } from '../../../src/mismatches/read-mismatches.ts';
import { resolveMismatchByHand } from '../../../src/mismatches/resolve-mismatch-by-hand.ts';
import { checkBooks } from '../../../src/proof/check-books.ts';
import { createProviderClient, type ProviderClient } from '../../../src/provider/client.ts';
import { findRun } from '../../../src/reconciliation/numbers/read-runs.ts';
import { claimRun } from '../../../src/reconciliation/runs/claim-run.ts';
import { executeRun } from '../../../src/reconciliation/runs/process-runs.ts';
import { startRun } from '../../../src/reconciliation/runs/start-run.ts';
import { fetchDueDoubted } from '../../../src/reconciliation/watches/fetch-doubted.ts';
import { watchStuck } from '../../../src/reconciliation/watches/watch-stuck.ts';
import { makeReport } from '../../../src/reports/revisions/make-report.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, wallAgo } from '../../support/make-provider-rows.ts';
import { stateBalance } from '../../support/open-books.ts';
import { numRuns } from '../../support/property.ts';
import { readRows } from '../../support/read-rows.ts';
import { API_KEY, temporaryDirectory, urlOf } from '../../support/start-serve.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

/** Transactions for each day of a clean month. */
const PER_DAY = numRuns(8, 40);

type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** The sandbox in this process, and its own API. */
async function startSandbox(args: string[] = []) {
  const running = await startTestSandbox(args);
  return Object.assign(running, { api: createApi(running.url, '', API_KEY) });
}

type Books = AsyncDisposable & {
  context: Context;
  client: ProviderClient;
  reconcile(from: Day, to?: Day): Promise<void>;
};

const home = temporaryDirectory();
const stack = new AsyncDisposableStack();
let sandbox: Sandbox;
let books: Books;
beforeAll(async () => {
  stack.defer(() => home[Symbol.dispose]());
  sandbox = stack.use(await startSandbox());
  books = stack.use(await openBooks(sandbox, { WEBHOOKS_SINCE: new Date(Date.now() - 90 * 86_400_000).toISOString() }));
  const drained = workInbox(books.context, books.client);
  stack.defer(() => drained);
  stack.use({ [Symbol.dispose]: () => stop.abort() });
});
afterAll(() => stack.disposeAsync());

const stop = new AbortController();

async function openBooks(beside: Sandbox, env: Record<string, string>): Promise<Books> {
  const config = readConfig({
    DATABASE_URL: urlOf(await createTestDatabase()),
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: home.path,
    WEBHOOK_GRACE: '2s',
    ...env,
  });
  const log = createLog('silent', process.stderr);
  const context = await openContext(config, { log, signal: stop.signal, migrates: true });
  const client = createProviderClient({ url: beside.url, apiKey: API_KEY, signal: stop.signal });
  return {
    context,
    client,
    async reconcile(from, to = from) {
      const { id } = await startRun(context, { from, to, trigger: 'test', createdBy: 'test' });
      const run = await claimRun(context, { id });
      if (!run) throw new Error('the run was not claimed');
      await executeRun(context, client, run);
      expect(await findRun(context.db, id)).not.toMatchObject({ state: 'failed' });
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
}

type Shown = { id: string; reference: string; platform: string; amount: string };
/** Each kind has a day of its own. */
let day: Day;
let daysAgo = 60;

async function make(facts: Record<string, unknown> = {}, ...statuses: string[]): Promise<Shown> {
  const events = ['pending', ...(statuses.length > 0 ? statuses : ['paid'])].map((status, minute) => ({
    status,
    date_created: `${day} 10:0${minute}:00`,
  }));
  const made = { date_created: `${day} 10:00:00`, events: events.toReversed(), e2e_id: '', ...facts };
  const { transactions } = await sandbox.api.call<{ transactions: Shown[] }>('POST', '/sandbox/transactions', {
    transactions: [made],
  });
  if (!transactions[0]) throw new Error('the sandbox made none');
  return transactions[0];
}

const patch = (id: string, change: object) => sandbox.api.call('PATCH', `/sandbox/transactions/${id}`, change);
const move = (id: string, status: string, minute: number) =>
  sandbox.api.call('POST', `/sandbox/transactions/${id}/events`, { status, at: `${day} 10:${minute}:00` });
const vanish = (id: string, from: string) => sandbox.api.call('DELETE', `/sandbox/transactions/${id}?from=${from}`);
const read = () => books.reconcile(day);

/** Two shows a minute apart, without waiting for it. */
async function showTwice(): Promise<void> {
  const { context, client } = books;
  await fetchDueDoubted(context, client);
  const ago = (ms: number) => new Date(context.clock.now().getTime() - ms);
  await context.db
    .updateTable('doubted_events')
    .set({ shown_without_at: ago(61_000), due_at: ago(1000) })
    .execute();
  await fetchDueDoubted(context, client);
}

async function receive(body: object): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(body));
  const receiver = createReceiver(books.context, undefined);
  return (await receiver({ body: bytes, address: '127.0.0.1', headers: {} })).id;
}

/** A staged mismatch: its subject, and what resolves it. Without `end` a person must resolve it. */
type Staged = { about?: string; scope?: string; severity?: string; end?: () => Promise<unknown> };

/** An expected payment with a reference, and its payments. The end: the last one is refunded, or the order is corrected. */
async function expectPaid(amounts: string[], { cancels = false } = {}): Promise<Staged> {
  const { context } = books;
  // each payment has its own, so that no reference is repeated
  const references = amounts.map((_, index) => `order-${day}-${index}`);
  const arrive = async (amount: string) => {
    const facts = expectedFactsSchema.parse({
      operation: 'cashin',
      amount,
      due_day: day,
      references,
    });
    const [put] = await putExpected(context, { arrivals: [{ source: 'shop', number: day, facts }], actor: 'tok_1' });
    return put?.id ?? '';
  };
  const scope = await arrive('10.00');
  if (cancels) await cancelExpected(context, { id: scope, actor: 'tok_1' });
  const paid: Shown[] = [];
  for (const [index, amount] of amounts.entries()) paid.push(await make({ amount, reference: references[index] }));
  await read();
  await decideAll(context);
  const end = async () => {
    if (amounts.length === 1 && !cancels) await arrive(amounts[0] ?? '');
    else await move(paid.at(-1)?.id ?? '', 'refund', 30);
    await read();
    await decideAll(context);
  };
  return { scope, end };
}

const STAGES: Record<MismatchKind, () => Promise<Staged>> = {
  async webhook_lost() {
    const { id } = await make();
    await read();
    return { about: id, end: async () => undefined };
  },
  async webhook_contradiction() {
    const { id } = await make();
    await read();
    await receive({ transaction_id: id, status: 'refund', path: `/api/v1/transaction/${id}` });
    return { about: id, end: async () => move(id, 'refund', 19).then(read) };
  },
  async status_differs() {
    const { id } = await make({}, 'paid', 'refund');
    await read();
    const events = [
      { status: 'paid', date_created: `${day} 10:01:00` },
      { status: 'pending', date_created: `${day} 10:00:00` },
    ];
    await patch(id, { shown: { status: 'paid', events } });
    await read();
    await showTwice();
    return { about: id, end: async () => patch(id, { shown: null }).then(read).then(showTwice) };
  },
  async illegal_transition() {
    const { id } = await make({}, 'denied', 'paid');
    await read();
    return { about: id };
  },
  async amount_differs() {
    const { id } = await make({ amount: '10.00' });
    await read();
    await patch(id, { amount: '12.00' });
    await read();
    return { about: id };
  },
  async commission_differs() {
    const { id } = await make({ commission: '0.10' });
    await read();
    await patch(id, { commission: '0.20' });
    await read();
    return { about: id };
  },
  async commission_not_agreed() {
    const { context } = books;
    const { platform } = await make({ platform: randomUUID(), commission: '0.10' });
    const stated = { platform, operation: 'cashin', from: day, to: day, actor: 'tok_1', basisPoints: 0 } as const;
    await read();
    await stateContract(context, { ...stated, fixedCents: 9n });
    await compareNewCharges(context);
    const end = async () => {
      await stateContract(context, { ...stated, fixedCents: 10n });
      await compareNewCharges(context);
    };
    return { scope: `${day} ${platform}`, end };
  },
  async reference_differs() {
    const { id } = await make({ reference: 'before' });
    await read();
    await patch(id, { reference: 'after' });
    await read();
    return { about: id };
  },
  async duplicate_reference() {
    const [one] = [await make({ reference: 'twice' }), await make({ reference: 'twice' })];
    await read();
    return {
      scope: scopeOfReference(books.context.keys, 'twice'),
      end: async () => move(one.id, 'refund', 19).then(read),
    };
  },
  async missing_at_provider() {
    const { id } = await make();
    await read();
    await vanish(id, 'list');
    await vanish(id, 'show');
    await read();
    return { about: id, end: async () => patch(id, { listed: true, visible: true }).then(read) };
  },
  async list_omission() {
    const { id } = await make();
    await read();
    await vanish(id, 'list');
    await read();
    return { about: id, end: async () => patch(id, { listed: true }).then(read) };
  },
  async list_unstable() {
    await make();
    await sandbox.api.call('PATCH', '/sandbox/switches', { list: { total_off_by: 3 } });
    await read();
    await sandbox.api.call('PUT', '/sandbox/switches', {});
    return { scope: day, end: read };
  },
  async stuck() {
    const created = wallAgo(20 * 60_000);
    day = created.slice(0, 10);
    const events = [{ status: 'pending', date_created: created }];
    const { id } = await make({ operation: 'cashout', date_created: created, events });
    await read();
    await watchStuck(books.context);
    const pay = () => sandbox.api.call('POST', `/sandbox/transactions/${id}/events`, { status: 'paid' });
    return { about: id, severity: 'critical', end: async () => pay().then(read) };
  },
  async row_refused() {
    const { id } = await make();
    await patch(id, { shown: { amount: '1.005' } });
    await read();
    return { about: id, end: async () => patch(id, { shown: null }).then(read) };
  },
  async field_unreadable() {
    const { id } = await make();
    await patch(id, { shown: { commission: '0.9950' } });
    await read();
    return { about: id, end: async () => patch(id, { shown: null }).then(read) };
  },
  async unknown_status() {
    const { id } = await make({}, 'settled');
    await read();
    return { about: id, end: async () => move(id, 'paid', 19).then(read) };
  },
  async webhook_quarantined() {
    const id = randomUUID();
    const webhookId = await receive({ transaction_id: id, status: 'paid' });
    const end = async () => {
      await make({ id });
      const webhook = await findWebhook(books.context.db, webhookId);
      await reprocessWebhook(books.context, webhook?.seq ?? 0);
    };
    return { end };
  },
  async e2e_date_differs() {
    const { id } = await make({ e2e_id: 'E12345678202001011200abcdefghijk' });
    await read();
    return { about: id };
  },
  async closed_day_changed() {
    const { id } = await make();
    await read();
    await makeReport(books.context, day);
    await move(id, 'refund', 19);
    await read();
    return { scope: day, end: () => makeReport(books.context, day) };
  },
  async balance_differs() {
    const { context } = books;
    const { amount, platform } = await make({ platform: randomUUID(), commission: '0.00' });
    await read();
    const at = context.calendar.toInstant(`${day} 22:00:00`);
    const cents = BigInt(amount.replace('.', ''));
    await stateBalance(context, { platform, at, balanceCents: cents + 1n, actor: 'tok_1' });
    await compareStatements(context);
    const end = async () => {
      await stateBalance(context, { platform, at: new Date(at.getTime() + 1000), balanceCents: cents, actor: 'tok_1' });
      await read();
      await compareStatements(context);
    };
    return { end };
  },
  amount_not_expected: () => expectPaid(['7.00']),
  paid_twice: () => expectPaid(['10.00', '10.00']),
  paid_after_cancel: () => expectPaid(['10.00'], { cancels: true }),
  async receipt_unidentified() {
    const { context } = books;
    const { id, platform } = await make({ platform: randomUUID() });
    await read();
    const facts = expectedFactsSchema.parse({ operation: 'cashin', amount: '3.00', due_day: day, platform });
    await putExpected(context, { arrivals: [{ source: 'shop', number: `of ${platform}`, facts }], actor: 'tok_1' });
    // the payment is no baseline: orders of its platform came before it
    const arrived = { created_at: context.calendar.startOfDay(day) };
    await context.db.updateTable('expected_payments').set(arrived).where('platform', '=', platform).execute();
    await decideAll(context);
    const end = async () => {
      await move(id, 'refund', 30);
      await read();
      await decideAll(context);
    };
    return { about: id, end };
  },
  // the last one: it breaks the books for good
  async books_broken() {
    const { entry_seq: entrySeq, ...posting } = await books.context.db
      .selectFrom('postings')
      .select(['entry_seq', 'account_seq', 'at_wall'])
      .orderBy('entry_seq', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    await books.context.db
      .insertInto('postings')
      .values({ entry_seq: entrySeq, position: 9, ...posting, amount_cents: 1n })
      .execute();
    await checkBooks(books.context);
    return { scope: `entry en_${entrySeq}` };
  },
};

describe('each kind of the table', () => {
  test.each(Object.keys(STAGES) as MismatchKind[])('%s', { timeout: 120_000 }, async (kind) => {
    daysAgo -= 2;
    day = dayAgo(daysAgo);
    const { context } = books;
    const { about, scope, severity = MISMATCH_SEVERITY[kind], end } = await STAGES[kind]();
    const findRaised = async () => {
      const found = await listMismatches(context, { kind, transactionId: about, limit: 200 });
      if (scope === undefined) return found;
      const scoped = context.db
        .selectFrom('mismatches')
        .select('id')
        .where('kind', '=', kind)
        .where('scope', '=', scope);
      const ids = (await scoped.execute()).map((row) => row.id);
      return found.filter((one) => ids.includes(one.id));
    };
    const first = await eventually(async () => (await findRaised())[0]);
    expect(await findRaised()).toHaveLength(1);
    const over = kind === 'webhook_lost';
    expect(first).toMatchObject({ kind, severity, state: over ? 'resolved' : 'open', reopened: 0, baseline: false });
    expect(first.actual ?? first.expected).not.toBeNull();
    const alerts = await readRows(context.db, 'alerts', ['name', 'severity'], { name: kind });
    expect(alerts.length).toBeGreaterThan(0);
    expect(JSON.stringify(first)).not.toMatch(/@|\d{3}\.\d{3}\.\d{3}-\d{2}/);
    if (!end) {
      await read();
      expect(await findRaised()).toMatchObject([{ state: 'open' }]);
      if (kind === 'books_broken') return;
      await resolveMismatchByHand(context, first.id, { actor: 'tok_1', note: 'explained' });
      await read();
      expect(await findRaised()).toMatchObject([{ state: 'resolved', resolution: 'by_hand', note: 'explained' }]);
      return;
    }
    await end();
    const [resolved] = await eventually(async () => {
      const now = await findRaised();
      return now.every((one) => one.state === 'resolved') && now;
    });
    expect(['fresh_evidence', 'applied', 'reprocessed', 'revised']).toContain(resolved?.resolution);
  });
});

test('a clean month, its commissions as the contract has them, raises none', async () => {
  await using month = await startSandbox(['--history', '30', '--per-day', String(PER_DAY)]);
  await using clean = await openBooks(month, {});
  const { context } = clean;
  const stated = { platform: null, from: '2020-01-01', to: null, actor: 'tok_1' };
  await stateContract(context, { ...stated, operation: 'cashin', fixedCents: 0n, basisPoints: 99 });
  await stateContract(context, { ...stated, operation: 'cashout', fixedCents: 100n, basisPoints: 0 });
  await clean.reconcile(dayAgo(30), dayAgo(0));
  await clean.reconcile(dayAgo(30), dayAgo(0));
  await watchStuck(context);
  await checkCommissions(context, { from: dayAgo(30), to: dayAgo(0) });
  const transactions = await context.db.selectFrom('transactions').select('id').execute();
  expect(transactions.length).toBeGreaterThan(25 * PER_DAY);
  expect(await listMismatches(context, { limit: 10 })).toEqual([]);
});
