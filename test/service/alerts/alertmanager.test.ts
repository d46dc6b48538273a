import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { ALERT_KINDS } from '../../../src/texts/alerts/alert-kinds.ts';
import { eventually } from '../../support/eventually.ts';
import { openHttpSink } from '../../support/open-http-sink.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { startTestSandbox } from '../../support/start-test-sandbox.ts';

type Posted = {
  labels: { alertname: string; severity: string; scope: string };
  annotations: { summary: string; runbook: string; transaction_id?: string };
  startsAt: string;
  endsAt?: string;
};

const NAME = 'Zuleica Kowalczyk';
const stack = new AsyncDisposableStack();
const posted: Posted[] = [];
let log = '';
let answer = 503;
let served: ServedEnvironment;
let id: string;

beforeAll(async () => {
  const alertmanager = stack.use(await openHttpSink());
  alertmanager.answer = ({ json }) => {
    if (answer < 300) posted.push(...(json as Posted[]));
    return answer;
  };
  const sandbox = stack.use(await startTestSandbox());
  const made = await sandbox.request('POST', '/sandbox/transactions', { name: NAME });
  id = made.json.transactions[0]?.id ?? '';
  const logTo = new PassThrough().setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  served = stack.use(
    await openServedEnvironment({
      providerUrl: sandbox.url,
      env: { WEBHOOK_GRACE: '1s', ALERTMANAGER_URL: alertmanager.url, LOG_LEVEL: 'info' },
      logTo,
    }),
  );
});
afterAll(() => stack.disposeAsync());

describe('an alert', () => {
  it('reaches Alertmanager once it is there again, names what it is about and nobody', async () => {
    await served.webhook({ transaction_id: id, status: 'paid', name: NAME });
    await eventually('a contradiction', async () => {
      await served.timers.advance(250);
      const open = await served.api.call<{ mismatches: unknown[] }>('GET', '/mismatches?kind=webhook_contradiction');
      return open.mismatches.length === 1;
    });
    answer = 200;
    const alert = await eventually('the alert', async () => {
      await served.timers.advance(250);
      return posted.find((one) => one.labels.alertname === 'webhook_contradiction');
    });
    expect(alert).toMatchObject({
      labels: { severity: 'critical', scope: expect.stringMatching(/^critical \d{4}-\d\d-\d\dT\d\dZ$/) },
      annotations: {
        summary: expect.stringMatching(
          new RegExp(`^Webhook contradiz o provedor: transação ${id}, R\\$ [\\d.]+,\\d\\d em jogo$`),
        ),
        runbook: `${served.context.config.PUBLIC_URL}/runbooks/webhook_contradiction`,
        transaction_id: id,
      },
    });
    expect(alert.endsAt).toBeUndefined();
    expect(JSON.stringify(posted)).not.toContain('Zuleica');
    expect(log).not.toContain('Zuleica');
  });

  it('is logged once', async () => {
    const listLines = () => log.split('\n').filter((line) => line.includes('"alert":"webhook_contradiction"'));
    await eventually('the line', async () => {
      await served.timers.advance(250);
      return listLines().length > 0;
    });
    await served.timers.advance(60_000);
    expect(listLines()).toHaveLength(1);
  });

  it('ends when a person resolves its mismatch, and mutes the rule of its name until that has ended too', async () => {
    const { mismatches } = await served.api.call<{ mismatches: { id: string }[] }>('GET', '/mismatches?state=open');
    for (const mismatch of mismatches) {
      await served.api.call('POST', `/mismatches/${mismatch.id}/resolve`, { note: 'a test' });
    }
    const ended = await eventually('its end', () =>
      posted.find((one) => one.endsAt !== undefined && one.labels.alertname === 'webhook_contradiction'),
    );
    type Ended = { alerts: { kind: string; ended_at: string }[] };
    const { alerts } = await served.api.call<Ended>('GET', '/alerts?state=ended');
    const endedAt = alerts.find(({ kind }) => kind === 'webhook_contradiction')?.ended_at ?? '';
    expect(Date.parse(ended.endsAt ?? '') - Date.parse(endedAt)).toBe(45_000);
  });

  it('of each kind reaches Alertmanager, which is given the section of its runbook', async () => {
    const runbooks = readFileSync(new URL('../../../docs/runbooks.md', import.meta.url), 'utf8');
    const { context } = served;
    const alerts = ALERT_KINDS.map((name) => ({ name, severity: 'high' as const, scope: 'each kind', summary: name }));
    await transact(context.db, (trx) => raiseAlerts(trx, alerts, context.clock.now()));
    context.wakeUps.alerts.notify();
    const arrived = await eventually('all of them', () => {
      const found = posted.filter((one) => one.labels.scope === 'each kind');
      return found.length >= ALERT_KINDS.length && found;
    });
    expect(arrived.map((one) => one.labels.alertname).toSorted()).toEqual(ALERT_KINDS.toSorted());
    const sections = arrived.map((one) => one.annotations.runbook.split('/').at(-1));
    expect(sections.filter((name) => !runbooks.includes(`\n## ${name}\n`))).toEqual([]);
  });
});
