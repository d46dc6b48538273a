import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addDays } from '../src/domain/calendar.ts';
import { compareOrders, plantOrders, readOrders } from './check-orders.ts';
import { compareLedger } from './compare-ledger.ts';
import { compareReport } from './compare-report.ts';
import type { DemoMerchant } from './start-demo-merchant.ts';
import type { Api, Programs } from './start-programs.ts';

const DAYS = 3;
/** Less than the sandbox's own share: its payments are large, and the demo's balances would fall below zero. */
const CASHOUTS = 0.1;
/** The balance of each platform when its books open, so that the figures are those of a shop at work. */
const OPENING = '25000.00';
const WAIT_MS_MAX = 60_000;
const POLL_MS = 200;

type Scenario = {
  from: string;
  to: string;
  transactions: number;
  changes_owed: number;
  transactions_announced: number;
  webhooks: Record<'sent' | 'lost' | 'repeated' | 'repeat' | 'late' | 'reordered' | 'forged' | 'to_send', number>;
};

type Run = { id: string; state: string; pages: number; seen: number; applied: number; mismatches: number };
type Mismatch = { kind: string; state: string; severity: string };

/**
 * Runs the scenario on real programs and prints each step with its numbers.
 * @returns whether everything agrees. With live traffic, it compares only figures that do not change meanwhile.
 */
export async function runScenario(
  { app, sandbox }: Programs,
  merchant: DemoMerchant,
  options: { home: string; transactions: number; live: boolean; signal: AbortSignal },
): Promise<boolean> {
  const checks: boolean[] = [];
  const check = (holds: boolean, text: string): void => {
    checks.push(holds);
    say(`  ${holds ? '✓' : '✗'} ${text}`);
  };

  const { secret } = await app.call<{ secret: string }>('POST', '/merchants', {
    name: 'Loja de demonstração',
    url: merchant.url,
    events_since: '2020-01-01T00:00:00Z',
  });
  merchant.setSecret(secret);
  await sandbox.call('PUT', '/sandbox/webhooks/target', { url: `${app.url}/webhooks/pix`, token: app.webhookSecret });

  const scenario = await sandbox.call<Scenario>('POST', '/sandbox/stories', {
    count: options.transactions,
    days: DAYS,
    cashouts: CASHOUTS,
  });
  say(
    `\n1. The provider (sandbox) made ${scenario.transactions} transactions from ${scenario.from} to ${scenario.to}.`,
  );
  const { webhooks: sent } = scenario;
  say(`   Of ${scenario.changes_owed} changes that owe a webhook, ${sent.lost} lose theirs; it sends ${sent.to_send}:`);
  say(`   ${sent.repeat} repeats, ${sent.late} late, ${sent.reordered} out of order, ${sent.forged} forged.`);
  await sandbox.call('POST', '/sandbox/webhooks/flush', {});
  const isEmpty = await waitFor(options.signal, async () => (await inbox(app, 'pending')) === 0);

  say('\n2. Confere received the webhooks and asked the provider about each.');
  const isReceived = isEmpty === true && (await inbox(app, 'quarantined')) === 0;
  check(isReceived, 'every webhook was taken in and none is left waiting');
  const days = { from: scenario.from, to: scenario.to };
  const before = await compareLedger(app, sandbox, days);
  say(
    `   The ledger holds ${before.ours} of the provider's ${before.theirs} transactions: the rest was never announced.`,
  );

  say('\n3. Reconciliation read the whole list.');
  const run = await reconcile(app, days, options.signal);
  check(run.state === 'complete', `run ${run.state}: ${run.seen} transactions in ${run.pages} pages, proven complete`);
  say(`   It completed the ledger: ${run.applied} transactions that no webhook announced.`);
  const after = await compareLedger(app, sandbox, days);
  if (!options.live) {
    check(
      after.differences.length === 0,
      `the ledger equals the provider's list: ${after.ours} transactions, field by field`,
    );
    for (const difference of after.differences.slice(0, 5)) say(`     ${difference}`);
    const again = await reconcile(app, days, options.signal);
    check(again.state === 'complete' && again.applied === 0, `a second run applies ${again.applied}`);
  }

  // only now: an opening reads the list by itself
  const openings = await openBooks({ app, sandbox }, scenario.from);
  say(`   The books of the ${openings.length} platforms open on ${scenario.from} with R$ ${OPENING} each.`);

  await compareOutputs({ app, sandbox }, merchant, { ...options, check, scenario, openings, events: after.events });
  const agrees = checks.every(Boolean);
  say(agrees ? '\nEverything agrees.' : '\nNot everything agrees: see the lines with ✗.');
  return agrees;
}

type OutputCheck = {
  home: string;
  live: boolean;
  signal: AbortSignal;
  check: (holds: boolean, text: string) => void;
  scenario: Scenario;
  openings: string[];
  /** How many events the ledger holds: each owes the merchant one callback. */
  events: number;
};

/** Steps 4 to 7: mismatches, callbacks, the spreadsheet, and orders. */
async function compareOutputs(
  { app, sandbox }: Pick<Programs, 'app' | 'sandbox'>,
  merchant: DemoMerchant,
  { home, live, signal, check, scenario, openings, events }: OutputCheck,
): Promise<void> {
  say('\n4. Webhooks claimed changes that the provider never showed.');
  const forged = await waitFor(signal, async () => {
    const found = (await mismatches(app)).filter((one) => one.kind === 'webhook_contradiction');
    return found.length >= scenario.webhooks.forged ? found : undefined;
  });
  check(
    forged?.length === scenario.webhooks.forged,
    `${forged?.length ?? 0} forged webhooks, ${scenario.webhooks.forged} contradictions; none moved a cent`,
  );

  say('\n5. Callbacks went to the merchant, who verified them with the standardwebhooks library.');
  await waitFor(signal, async () => merchant.counts().distinct >= events);
  const delivered = merchant.counts();
  if (live)
    check(
      delivered.verified === delivered.received,
      `${delivered.verified} of ${delivered.received} callbacks verified`,
    );
  else {
    check(delivered.distinct === events, `${delivered.distinct} callbacks for ${events} changes`);
    check(delivered.verified === delivered.received, `${delivered.verified} of ${delivered.received} verified`);
  }
  check(delivered.outOfOrder === 0, 'in order for each transaction');

  const yesterday = addDays(scenario.to, -1);
  say(`\n6. The spreadsheet of ${yesterday}.`);
  await app.call('POST', '/reports', { day: yesterday });
  const workbook = await waitFor(signal, () => app.fetch(`/reports/${yesterday}.xlsx`).catch(() => undefined));
  const file = path.join(home, `confere-${yesterday}.xlsx`);
  writeFileSync(file, workbook ?? '');
  for (const line of await compareReport(file, sandbox, { from: scenario.from, day: yesterday, openings }))
    check(line.equal, line.text);
  say(`   ${file}`);

  say('\n7. Orders: which are paid, which not, and whose is each payment.');
  const planted = await plantOrders({ app, sandbox }, scenario);
  const since = Date.now();
  const orders = await waitFor(signal, () => readOrders(app, since));
  const { counts, differences } = compareOrders(planted, orders ?? []);
  const nobodys = `${planted.unknownPayers} payments of unknown payers are nobody's`;
  check(differences.length === 0, `${planted.orders.size} orders, each as planted: ${counts}; ${nobodys}`);
  for (const difference of differences.slice(0, 5)) say(`     ${difference}`);
}

/** States the opening balance of each platform of the sandbox. @returns their amounts. */
async function openBooks({ app, sandbox }: Pick<Programs, 'app' | 'sandbox'>, day: string): Promise<string[]> {
  const traffic = { cashouts: CASHOUTS };
  const switches = await sandbox.call<{ traffic: { platforms: string[] } }>('PATCH', '/sandbox/switches', { traffic });
  const { platforms } = switches.traffic;
  for (const platform of platforms)
    await app.call('POST', '/openings', { platform, day, balance: OPENING, new_platform: true });
  return platforms.map(() => OPENING);
}

async function inbox(app: Api, state: string): Promise<number> {
  return (await app.call<{ webhooks: unknown[] }>('GET', `/webhooks?state=${state}&limit=200`)).webhooks.length;
}

async function mismatches(app: Api): Promise<Mismatch[]> {
  return (await app.call<{ mismatches: Mismatch[] }>('GET', '/mismatches?limit=200')).mismatches;
}

/** Starts a run of these days, and waits for its end. @throws Error after WAIT_MS_MAX. */
export async function reconcile(app: Api, days: { from: string; to: string }, signal: AbortSignal): Promise<Run> {
  const { id } = await app.call<Run>('POST', '/reconciliations', days);
  const done = await waitFor(signal, async () => {
    const run = await app.call<Run>('GET', `/reconciliations/${id}`);
    return ['queued', 'running'].includes(run.state) ? undefined : run;
  });
  if (!done) throw new Error(`run ${id} did not end in ${WAIT_MS_MAX / 1000} s`);
  return done;
}

/** Repeats `ask` until it returns a value or WAIT_MS_MAX have passed. */
async function waitFor<T>(signal: AbortSignal, ask: () => Promise<T | undefined | false>): Promise<T | undefined> {
  const deadline = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline || signal.aborted) return undefined;
    await sleep(POLL_MS);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
