import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../../../src/access/sessions.ts';
import { openChannels } from '../../../src/alerts/channels/open-channels.ts';
import { endAlerts, raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { sendAlerts } from '../../../src/alerts/send-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { summarize } from '../../../src/texts/alerts/describe-alert.ts';
import { eventually } from '../../support/eventually.ts';
import { type ConsoleEnvironment, openConsoleEnvironment } from '../../support/open-console-environment.ts';
import { openHttpSink } from '../../support/open-http-sink.ts';

type Shown = Record<string, unknown> & { channels: Record<string, unknown>[] };

const stack = new AsyncDisposableStack();
let env: ConsoleEnvironment;

beforeAll(async () => {
  const sink = stack.use(await openHttpSink());
  sink.answer = ({ path }) => (path.startsWith('/slack') ? 503 : 200);
  env = stack.use(
    await openConsoleEnvironment({ ALERTMANAGER_URL: sink.url, SLACK_WEBHOOK_URL: `${sink.url}/slack/s3cret` }),
  );
  const { context } = env;
  await context.db.deleteFrom('alerts').execute();
  const facts = { run: 'run_1', trigger: 'reconcile_recent', error: 'the provider did not answer' };
  const alerts = [
    { name: 'run_failed', severity: 'critical', scope: 'reconcile_recent', ...summarize('run_failed', facts) },
    { name: 'stuck', severity: 'high', scope: 'b', ...summarize('stuck', { transaction: 'tx_1', cents: '1126905' }) },
    { name: 'stuck', severity: 'medium', scope: 'a', summary: 'of an earlier version' },
  ] as const;
  await transact(context.db, (trx) => raiseAlerts(trx, [...alerts], context.clock.now()));
  const stopping = new AbortController();
  const ended = sendAlerts({ ...context, signal: stopping.signal }, openChannels(context, undefined));
  stack.defer(async () => {
    stopping.abort();
    await ended;
  });
  await eventually('every channel', async () => {
    const sends = await context.db.selectFrom('alert_sends').selectAll().execute();
    return sends.length === 9 && sends.every((send) => send.sent_at ?? send.error);
  });
  await transact(context.db, (trx) => endAlerts(trx, [{ name: 'stuck', scope: 'a' }], context.clock.now()));
});
afterAll(() => stack.disposeAsync());

async function list(query: string): Promise<{ status: number; alerts: Shown[]; next_cursor: string | null }> {
  type Listed = { alerts: Shown[]; next_cursor: string | null };
  const { status, json } = await env.api<Listed>('viewer', 'GET', `/alerts${query}`);
  return { ...json, status };
}

test('the API lists alerts with what they are about and the channels that were notified', async () => {
  const { alerts } = await list('?state=firing');
  expect(alerts).toMatchObject([
    {
      ...{ kind: 'stuck', severity: 'high', state: 'firing', at_stake: '11269.05', ended_at: null },
      ...{ summary: 'stuck: transaction tx_1, R$ 11269.05 at stake', runbook: '/runbooks/stuck' },
    },
    { kind: 'run_failed', severity: 'critical', at_stake: null, run_id: 'run_1' },
  ]);
  expect(alerts[0]?.channels).toMatchObject([
    { channel: 'alertmanager', sent_at: expect.any(String), error: null },
    { channel: 'log', sent_at: expect.any(String) },
    { channel: 'slack', sent_at: null, error: 'HTTP 503' },
  ]);
  expect(JSON.stringify(alerts)).not.toContain('s3cret');
});

test('its filters and its cursor work, and an unknown filter is refused', async () => {
  expect((await list('?state=ended')).alerts).toMatchObject([{ scope: 'a', ended_at: expect.any(String) }]);
  expect((await list('?kind=stuck')).alerts).toHaveLength(2);
  expect((await list('?severity=critical')).alerts).toMatchObject([{ kind: 'run_failed' }]);
  const first = await list('?limit=2');
  const second = await list(`?limit=2&cursor=${first.next_cursor}`);
  expect([...first.alerts, ...second.alerts].map(({ scope }) => scope)).toEqual(['a', 'b', 'reconcile_recent']);
  expect(second.next_cursor).toBeNull();
  for (const wrong of ['?state=open', '?kind=nothing', '?severity=low', '?kinds=stuck'])
    expect((await list(wrong)).status, wrong).toBe(422);
});

test('the console shows those that fire, in Portuguese, with the next step and its runbook', async () => {
  const cookie = `confere_session=${await openSession(env.context, env.tokens.viewer)}`;
  const read = async (address: string) => (await fetch(`${env.url}${address}`, { headers: { cookie } })).text();
  const page = await read('/alerts');
  for (const part of [
    'Conferência falhou',
    '/reconciliations/run_1',
    'transação tx_1, R$ 11.269,05 em jogo',
    'Slack <span class="fault">não aceitou: HTTP 503</span>',
    'href="/runbooks/run_failed"',
  ])
    expect(page).toContain(part);
  expect(page).not.toContain('of an earlier version');
  expect(await read('/alerts?state=ended')).toContain('of an earlier version');
  expect(await read('/alerts?state=&kind=stuck')).toMatch(/of an earlier version[\s\S]*tx_1/);
  expect(await read('/')).toContain('Sem conseguir avisar: slack.');
});

test('a runbook needs no login, is in the language of the browser, and renders no markup but its own', async () => {
  const read = async (address: string, language = 'pt-BR,pt;q=0.9') => {
    const response = await fetch(`${env.url}${address}`, { headers: { 'accept-language': language } });
    return {
      status: response.status,
      text: await response.text(),
      policy: response.headers.get('content-security-policy'),
    };
  };
  const portuguese = await read('/runbooks/no_complete_run');
  expect(portuguese).toMatchObject({ status: 200, policy: expect.stringContaining("default-src 'none'") });
  expect(portuguese.text).toContain('<html lang="pt-BR">');
  expect(portuguese.text).toContain('<strong>Faça</strong>');
  expect(portuguese.text).toContain('href="/runbooks/run_failed?lang=pt-BR"');
  const english = await read('/runbooks/amount_differs', 'en-US,en;q=0.9');
  expect(english.text).toContain('<html lang="en">');
  expect(english.text).toContain('Accepting reverses the entries');
  expect((await read('/runbooks/stuck?lang=en')).text).toContain('<strong>Do</strong>');
  expect(
    (await read('/runbooks/webhook_quarantined?lang=en')).text,
    'a link to another document is text',
  ).not.toContain('.md');
  expect((await read('/runbooks')).text).toContain('Parada</a> <code>stuck</code>');
  for (const wrong of ['/runbooks/nothing', '/runbooks/..%2f..%2fetc', '/runbooks/constructor'])
    expect((await read(wrong)).status, wrong).toBe(404);
});
