/**
 * The table of docs/alerts.md: what ends each alert, and what it mutes. Each alert has a row, and a test that raises it, gives the
 * evidence of the row and sees its end. What it mutes is asked of an Alertmanager with the configuration that Confere ships.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { CAUSES, CONDITION_STEPS } from '../../../jobs/watch-conditions.ts';
import { endMerchantAlert, raiseMerchantAlert } from '../../../src/alerts/raise-merchant-alert.ts';
import { confirmRestore } from '../../../src/backup/confirm-restore.ts';
import { recordRestore } from '../../../src/backup/record-restore.ts';
import type { Context } from '../../../src/context.ts';
import { MISMATCH_SEVERITY } from '../../../src/domain/mismatch.ts';
import { createMerchant } from '../../../src/merchants/change-merchants.ts';
import { ALERT_KINDS } from '../../../src/texts/alerts/alert-kinds.ts';
import { openTestContext } from '../../support/open-environment.ts';
import { type Labels, readSample, startAlertmanager } from '../../support/start-ops.ts';
import { temporaryDirectory } from '../../support/start-serve.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const namesIn = (text: string): string[] => [...text.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);

type Row = { name: string; isRule: boolean; evidence: string; mutes: Set<string>; explains: Set<string> };

/** Phrases of the table, as the paragraph above it explains them. */
function readPhrases(text: string): Map<string, string[]> {
  return new Map(
    [...text.matchAll(/\*([A-Za-z ]+)\* (?:is|are) ([^.]+)\./g)].map(([, phrase = '', list = '']) => [
      phrase.toLowerCase(),
      namesIn(list),
    ]),
  );
}

function readTable(): Row[] {
  const [intro = '', lines = ''] =
    read('docs/alerts.md').split('## What ends an alert, and what it mutes\n\n')[1]?.split('\n\n') ?? [];
  const phrases = readPhrases(intro);
  const rows = lines.split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((line) => {
    const [alerts = '', , evidence = '', cell = ''] = line.slice(2, -2).split(' | ');
    const [muted = '', explained = ''] = cell.split('within Confere:');
    const spoken = [...phrases].flatMap(([phrase, names]) => (muted.includes(phrase) ? names : []));
    const mutes = new Set([...namesIn(muted.replaceAll(/of `[a-z_]+`/g, '')), ...spoken]);
    const explains = new Set(namesIn(explained));
    return namesIn(alerts).map((name) => ({ name, isRule: alerts.includes('(rule)'), evidence, mutes, explains }));
  });
}

const table = readTable();
const rowOf = (name: string): Row | undefined => table.find((row) => row.name === name);
const OWN = ALERT_KINDS.filter((kind) => !Object.hasOwn(MISMATCH_SEVERITY, kind));

/** Where the end of an alert is tested: the file, and the title of the test. */
const TESTS: Record<string, [file: string, title: string]> = {
  provider_failing: [
    'reconciliation/watch-provider',
    'the watch asks for the list while requests fail, so the alert ends where nothing else is asked',
  ],
  provider_unauthorized: [
    'reconciliation/watch-provider',
    'a key that is refused everywhere is this one alert, and the first accepted request ends it',
  ],
  database_read_only: [
    'jobs/watch-writes',
    'a read-only database pages once as such, and neither as dead workers nor as silence, also once it takes writes again',
  ],
  worker_dead: [
    'jobs/watch-workers',
    'without a worker, one of the web processes raises worker_dead and sends it, once; it ends with the next worker',
  ],
  run_failed: [
    'reconciliation/provider-failures',
    'the alert of a failed run fires until a run of its trigger ends without an error',
  ],
  inbound_silence: [
    'inbox/watch-silence',
    'alerts on a silence far beyond the usual, reads the list at its start and end, and ends with the next webhook',
  ],
  inbox_behind: [
    'jobs/watch-conditions',
    'inbox_behind: a webhook that no worker splits, and an item that is due and not fetched',
  ],
  callbacks_behind: [
    'jobs/watch-conditions',
    'callbacks_behind: a callback that is due and not sent, unless its merchant fails or has a rate',
  ],
  expected_behind: [
    'jobs/watch-conditions',
    'expected_behind: work that no follower decides, and an order whose end is over',
  ],
  no_complete_run: [
    'jobs/watch-conditions',
    'no_complete_run: runs of an hour that read today incompletely; the next complete one ends it, midnight does not',
  ],
  disk_full: [
    'jobs/watch-conditions',
    'disk_full: less than the limit is free under DATA_DIR or SPOOL_DIR of a process',
  ],
  clock_differs: [
    'jobs/watch-conditions',
    'clock_differs: a process whose clock is more than two seconds off the database’s, ahead or behind',
  ],
  job_failed: [
    'jobs/job-states',
    'a failed report, books check or manifest alerts at once, and the alert ends with a success',
  ],
  job_overdue: [
    'jobs/job-states',
    'a job that does not start, or takes too long, is overdue until a tick of it has ended',
  ],
  callback_failed: [
    'jobs/watch-conditions',
    'callback_failed: one alert a merchant counts what failed in a day, and ends when these are sent again',
  ],
  report_missing: [
    'jobs/watch-conditions',
    'report_missing: a day without a report an hour after the tick that should have made it',
  ],
  report_differs: [
    'reports/read-back.mocked',
    'nothing of a revision that differs is published, an alert names the sheet, and it ends once the report is made',
  ],
  two_writers: [
    'database/watch-hosts',
    'a process stays on its host beside another server that takes writes, and alerts; none starts',
  ],
  witness_away: ['tlog/witnesses', 'a witness that is away or refuses is one alert, which its next cosignature ends'],
  witness_refused: [
    'tlog/witnesses',
    'a witness that is away or refuses is one alert, which its next cosignature ends',
  ],
  webhook_loss_rate: [
    'jobs/watch-conditions',
    'webhook_loss_rate: more than 5 % of at least 20 changes of six hours came without their webhook',
  ],
  quarantine_full: ['receiver/quarantine', 'the alert fires at 80 %, and ends below'],
  address_change_waits: [
    'jobs/watch-conditions',
    'address_change_waits: a change that no mailed link confirms, until an admin decides it',
  ],
  baseline_mismatches: [
    'mismatches/raise-mismatches',
    'of a time before webhooks were owed it is listed, and alerts nobody',
  ],
  opening_to_come: ['ledger/check-stated', 'a future opening from an earlier version is alerted until it is reversed'],
  time_zone_differs: [
    'reconciliation/watch-zone',
    'a wrong time zone raises one alert that names a fitting one, and keeps days from being closed',
  ],
};

/** The others: raise it, give the evidence. */
const CASES: Record<
  string,
  (context: Context) => Promise<{ raise: () => Promise<unknown>; prove: () => Promise<unknown> }>
> = {
  restore_unconfirmed: async (context) => {
    const watch = () => CONDITION_STEPS.restore_unconfirmed?.(context);
    return {
      async raise() {
        await recordRestore(context, new Date(context.clock.now().getTime() - 60_000));
        await watch();
      },
      async prove() {
        await confirmRestore(context);
        await watch();
      },
    };
  },
  merchant_failing: (context) => ofMerchant(context, 'merchant_failing'),
  merchant_disabled: (context) => ofMerchant(context, 'merchant_disabled'),
};

/** `test/service/callbacks/merchant-down.test.ts` shows that a delivery, and an enabled merchant, call this. */
async function ofMerchant(context: Context, kind: 'merchant_failing' | 'merchant_disabled') {
  const { merchant } = await createMerchant(context, { name: 'Loja', url: 'https://loja.example/pix' });
  const outage = { kind, merchantId: merchant.id, since: context.clock.now() };
  return {
    raise: () => raiseMerchantAlert(context, outage),
    prove: () => endMerchantAlert(context, merchant.id),
  };
}

test('each alert of Confere has one row of the table, with what ends it and a test of that', () => {
  expect(
    table
      .filter(({ isRule }) => !isRule)
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...OWN].sort());
  expect(table.filter(({ evidence }) => evidence.length < 5)).toEqual([]);
  expect([...Object.keys(TESTS), ...Object.keys(CASES)].sort()).toEqual([...OWN].sort());
  for (const [name, [file, title]] of Object.entries(TESTS)) {
    const text = read(`test/service/${file}.test.ts`);
    expect(text.includes(`'${title}'`), `${name}: ${title}`).toBe(true);
  }
});

it.each(Object.entries(CASES))('%s ends by the evidence of its row', async (name, open) => {
  await using context = await openTestContext();
  const readAlerts = () => context.db.selectFrom('alerts').select(['name', 'ended_at']).execute();
  const { raise, prove } = await open(context);
  await raise();
  expect(await readAlerts()).toEqual([{ name, ended_at: null }]);
  await prove();
  expect(await readAlerts()).toEqual([{ name, ended_at: expect.any(Date) }]);
});

test('the table says which alerts Confere does not raise while another one explains them', () => {
  const explained = Object.entries(CAUSES).flatMap(([name, causes]) =>
    causes.map((cause) => [cause.split(' ')[0] ?? '', name] as const),
  );
  expect(explained.length).toBeGreaterThan(5);
  for (const [cause, name] of explained) {
    const { mutes, explains } = rowOf(cause) ?? {};
    expect(mutes?.has(name) || explains?.has(name), `${cause} explains ${name}`).toBe(true);
  }
  const said = table.flatMap(({ name, explains }) => [...explains].map((one) => `${name} ${one}`));
  expect(said.filter((one) => !explained.some(([cause, name]) => `${cause} ${name}` === one))).toEqual([]);
});

describe('in an Alertmanager with ops/alertmanager.yml', () => {
  const config = readSample('alertmanager.yml');
  const RULES = [...new Set([...readSample('alerts.yml').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name))];
  /** Sources by name; each alert of Confere also mutes the rule of its name. */
  const SOURCES = [...config.matchAll(/source_matchers: \[alertname=~?"([^"]+)"\]/g)].flatMap(([, names = '']) =>
    names.split('|'),
  );
  const ofRule = (alertname: string): Labels => ({ alertname, severity: 'page', job: 'confere' });
  const ofConfere = (alertname: string): Labels => ({
    alertname,
    severity: 'critical',
    service: 'confere',
    scope: 'x',
  });
  const isOwn = (labels: Labels): boolean => labels.service === 'confere';
  const show = (labels: Labels): string => `${isOwn(labels) ? 'alert' : 'rule'} ${labels.alertname}`;

  const POLL = { timeout: 10_000, interval: 20 };
  const home = temporaryDirectory();
  let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;
  beforeAll(async () => {
    alertmanager = await startAlertmanager(home.path, `global: { resolve_timeout: 3s }\n${config}`);
  });
  afterAll(async () => {
    await alertmanager[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });

  const inAnHour = (): Date => new Date(Date.now() + 3_600_000);
  const listMuted = async (): Promise<string[]> =>
    (await alertmanager.list())
      .filter(({ status }) => status.inhibitedBy.length > 0)
      .map(({ labels }) => show(labels))
      .sort();

  /** Which of the targets are muted while the source fires; none once it ends. */
  async function muteBy(source: Labels, targets: Labels[], expected: string[]): Promise<void> {
    const past = (): Date => new Date(Date.now() - 1_000);
    // a target may mute the source itself
    const muted = async (): Promise<string[]> => (await listMuted()).filter((one) => one !== show(source));
    try {
      await alertmanager.post([source, ...targets], inAnHour());
      await expect.poll(muted, POLL).toEqual(expected);
      await alertmanager.post([source], past());
      await expect.poll(muted, POLL).toEqual([]);
    } finally {
      await alertmanager.post([source, ...targets], past());
      await expect.poll(() => alertmanager.list(), POLL).toEqual([]);
    }
  }

  const expectedOf = (source: Labels, targets: Labels[]): string[] => {
    const { mutes } = rowOf(source.alertname) ?? { mutes: new Set<string>() };
    const isMuted = (target: Labels): boolean =>
      mutes.has(target.alertname) || (isOwn(source) && !isOwn(target) && source.alertname === target.alertname);
    return [...new Set(targets.filter(isMuted).map(show))].sort();
  };

  test('each source of an inhibition has a row', () => {
    expect(SOURCES.length).toBeGreaterThan(5);
    expect(SOURCES.filter((name) => !rowOf(name))).toEqual([]);
  });

  it.each(table)(
    '$name mutes what its row says, nothing else, and nothing once it has ended',
    async ({ name, isRule }) => {
      const source = isRule ? ofRule(name) : ofConfere(name);
      const isSource = SOURCES.includes(name);
      const isQuiet = (one: string): boolean => !SOURCES.includes(one) && one !== name;
      // it is muted once the source has arrived
      const witness = ofRule([...(rowOf(name)?.mutes ?? [])].find(isQuiet) ?? name);
      const ask = (...targets: Labels[]): Promise<void> => muteBy(source, targets, expectedOf(source, targets));
      await ask(...RULES.filter(isQuiet).map(ofRule), ...(isSource ? [] : [witness]));
      // an alert of its name would mute the witness too
      const own = Map.groupBy(ALERT_KINDS.filter(isQuiet), (kind) => kind === witness.alertname);
      await ask(...(own.get(false) ?? []).map(ofConfere), witness);
      for (const kind of own.get(true) ?? []) await ask(ofConfere(kind));
      if (!isRule) await ask(ofRule(name));
      if (!isSource) return;
      // those that mute others themselves, one by one
      for (const other of SOURCES.filter((one) => one !== name)) {
        const isOther = (kind: string): boolean => kind === other;
        for (const target of [ofRule(other), ...ALERT_KINDS.filter(isOther).map(ofConfere)]) {
          if (expectedOf(source, [target]).length > 0) await ask(target);
          else if (expectedOf(target, [witness]).length === 0) await ask(target, witness);
        }
      }
    },
  );

  it('an alert that is not sent again mutes nothing', async () => {
    await alertmanager.post([ofRule('inbox_behind')], inAnHour());
    await alertmanager.post([ofConfere('provider_failing')]);
    await expect.poll(listMuted, POLL).toEqual(['rule inbox_behind']);
    await expect.poll(listMuted, POLL).toEqual([]);
    expect((await alertmanager.list()).map(({ labels }) => labels.alertname)).toEqual(['inbox_behind']);
  });
});
