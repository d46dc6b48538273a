import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Channel } from '../../../src/alerts/channels/channel.ts';
import { openChannels } from '../../../src/alerts/channels/open-channels.ts';
import { openMailer } from '../../../src/alerts/channels/open-mailer.ts';
import { endAlerts, type NewAlert, raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { raiseMerchantAlert } from '../../../src/alerts/raise-merchant-alert.ts';
import { sendAlerts } from '../../../src/alerts/send-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { expectedFactsSchema } from '../../../src/expected/expected-fields.ts';
import { putExpected } from '../../../src/expected/put-expected.ts';
import { summarize } from '../../../src/texts/alerts/describe-alert.ts';
import { eventually } from '../../support/eventually.ts';
import { type CallbackEnvironment, openCallbackEnvironment } from '../../support/open-callback-environment.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { type MailSink, openMailSink } from '../../support/open-mail-sink.ts';
import { readRow } from '../../support/read-rows.ts';

type Event = { event_action: string; dedup_key: string; routing_key: string; payload?: { severity: string } };

const REFUSED_MAILBOX = 'gone@example.com';
let sink: HttpSink;
let mails: MailSink;
let env: CallbackEnvironment;
let running: { stop(): Promise<void> }[];

beforeEach(async () => {
  running = [];
  sink = await openHttpSink();
  mails = await openMailSink({
    onRcptTo: ({ address }, _session, callback) =>
      callback(address === REFUSED_MAILBOX ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null),
  });
  env = await openCallbackEnvironment({
    ALERTMANAGER_URL: `${sink.url}/am`,
    SLACK_WEBHOOK_URL: `${sink.url}/slack/T0/B0/s3cret`,
    PAGERDUTY_ROUTING_KEY: `${sink.url.replace('://', '://R0UT1NGK3Y@')}/pd`,
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    ALERT_EMAIL_FROM: 'Confere <alerts@pay.example>',
    ALERT_EMAIL_TO: 'ops@example.com,boss@example.com',
  });
});
afterEach(async () => {
  for (const one of running) await one.stop();
  await env[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});

/** Sends as a replica of the service would. */
function start(channels: Channel[] = openChannels(env.context, openMailer(env.context.config))): void {
  const stopping = new AbortController();
  const ended = sendAlerts({ ...env.context, signal: stopping.signal }, channels);
  running.push({
    async stop() {
      stopping.abort();
      await ended;
    },
  });
}

async function raise(more: Partial<NewAlert> = {}): Promise<NewAlert> {
  const alert: NewAlert = {
    ...{ name: 'stuck', severity: 'critical', scope: randomUUID(), summary: 'open <for> too long & held' },
    ...more,
  };
  await transact(env.context.db, (trx) => raiseAlerts(trx, [alert], env.context.clock.now()));
  env.context.wakeUps.alerts.notify();
  return alert;
}

async function end(alert: NewAlert): Promise<void> {
  await transact(env.context.db, (trx) => endAlerts(trx, [alert], env.context.clock.now()));
  env.context.wakeUps.alerts.notify();
}

const at = (path: string) => sink.posted.filter((one) => one.path.startsWith(path));
const events = () => at('/pd').map((one) => one.json as Event);
const slackText = () =>
  at('/slack')
    .map((one) => (one.json as { text: string }).text)
    .join('\n');
const sendsOf = (channel: string) =>
  env.context.db.selectFrom('alert_sends').selectAll().where('channel', '=', channel).orderBy('alert_seq').execute();

describe('an alert', () => {
  it('is sent to every channel, and so is its end', async () => {
    start();
    const alert = await raise({ mismatchId: 'mm_1', transactionId: 'tx_1' });
    await eventually(
      'sent to all',
      () => at('/am').length > 0 && at('/slack').length > 0 && events().length > 0 && mails.mails.length > 0,
    );
    const [trigger] = events();
    expect(trigger).toMatchObject({
      event_action: 'trigger',
      routing_key: 'R0UT1NGK3Y',
      payload: { severity: 'critical', class: 'stuck' },
    });
    const { PUBLIC_URL } = env.context.config;
    expect(slackText()).toMatch(
      /^:red_circle: \*Parada\* \(stuck, crítica\) open &lt;for&gt; too long &amp; held, desde \d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d </,
    );
    for (const link of [`<${PUBLIC_URL}/mismatches/mm_1|abrir>`, `<${PUBLIC_URL}/runbooks/stuck|o que fazer>`])
      expect(slackText()).toContain(link);
    expect(trigger).toMatchObject({
      payload: { custom_details: { runbook: `${PUBLIC_URL}/runbooks/stuck`, todo: expect.stringContaining('painel') } },
      links: [{ href: `${PUBLIC_URL}/mismatches/mm_1` }, { href: `${PUBLIC_URL}/runbooks/stuck` }],
    });
    expect(mails.mails[0]).toMatchObject({ from: 'alerts@pay.example', to: ['ops@example.com', 'boss@example.com'] });
    expect(mails.mails[0]?.text).toMatch(/^CRÍTICA {2}Parada \(stuck\)\r?\nopen <for> too long/);
    expect(mails.mails[0]?.header('subject')).toContain('Parada');
    await end(alert);
    await eventually(
      'its end is sent to all',
      () => events().length === 2 && slackText().includes('encerrado:') && mails.mails.length === 2,
    );
    expect(events()[1]).toMatchObject({ event_action: 'resolve', dedup_key: trigger?.dedup_key });
    expect(mails.mails[1]?.header('subject')).toBe('[Confere] encerrado: Parada');
    await eventually('Alertmanager', () => at('/am').some((one) => one.text.includes('endsAt')));
    await eventually('nothing left to send', async () => {
      const rows = await env.context.db.selectFrom('alert_sends').select('next_attempt_at').execute();
      return rows.length === 5 && rows.every((row) => row.next_attempt_at === null);
    });
  });

  it('that ends as it is raised pages nobody: the log has it, and Alertmanager with a label for its routes', async () => {
    start();
    await raise({ name: 'webhook_lost', severity: 'medium', ended: true });
    await raise();
    await eventually(
      'the other one is sent to all',
      () => events().length === 1 && slackText() && mails.mails.length === 1,
    );
    const shown = await eventually('both at Alertmanager', () => {
      const all = at('/am').flatMap((one) => one.json as { labels: Record<string, string> }[]);
      return all.length > 1 && all;
    });
    expect(shown.map(({ labels }) => [labels.alertname, labels.pages])).toEqual([
      ['webhook_lost', 'no'],
      ['stuck', undefined],
    ]);
    await eventually('both in the log', async () => (await sendsOf('log')).filter((row) => row.sent_at).length === 2);
    for (const channel of ['pagerduty', 'slack', 'email']) expect(await sendsOf(channel), channel).toHaveLength(1);
    expect(JSON.stringify([events(), slackText(), mails.mails[0]?.text])).not.toContain('webhook_lost');
  });

  it('names the platform as people do, with its id once', async () => {
    const named = { platform: 'p1', name: 'Loja do Centro', created_at: env.context.clock.now(), actor: 'a' };
    await env.context.db.insertInto('platform_names').values(named).execute();
    start();
    await raise({ name: 'balance_differs', facts: { count: 1, cents: '1000', about: 'p1' } });
    await eventually('sent', () => slackText() !== '' && mails.mails.length > 0);
    for (const text of [slackText(), mails.mails[0]?.text]) expect(text).toContain('Loja do Centro (p1), R$ 10,00');
  });

  it('waits for a channel that is away, and delays no other', async () => {
    let away = true;
    sink.answer = ({ path }) => (path.startsWith('/slack') && away ? 503 : 200);
    start();
    await raise();
    await eventually('the others', () => events().length === 1 && mails.mails.length === 1 && at('/am').length > 0);
    const failed = await eventually('it failed', async () => (await sendsOf('slack')).find((row) => row.attempts > 0));
    expect([failed.error, at('/slack').length]).toEqual(['HTTP 503', 0]);
    away = false;
    await eventually('Slack has it', async () => {
      await env.timers.advance(1_000);
      return at('/slack').length === 1;
    });
    await eventually('written down', async () => (await sendsOf('slack'))[0]?.sent_at);
    expect((await sendsOf('slack'))[0]).toMatchObject({ attempts: 0, error: null, next_attempt_at: null });
  });

  it('that ends during its send has its end sent too', async () => {
    const asked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let slow = true;
    sink.answer = async ({ path }) => {
      if (path.startsWith('/pd') && slow) {
        slow = false;
        asked.resolve();
        await go.promise;
      }
      return 200;
    };
    start();
    const alert = await raise();
    await asked.promise;
    await end(alert);
    go.resolve();
    await eventually('resolved', () => events().some((event) => event.event_action === 'resolve'));
    expect(events().map((event) => event.event_action)).toEqual(['trigger', 'resolve']);
  });

  it('that a channel refuses keeps none of the others back', async () => {
    sink.answer = ({ path, text }) => (path.startsWith('/slack') && text.includes('poison') ? 400 : 200);
    for (let i = 0; i < 5; i++) await raise({ summary: i === 2 ? 'poison' : `number ${i}` });
    start();
    await eventually('the other four', () => ['0', '1', '3', '4'].every((i) => slackText().includes(`number ${i}`)));
    const rows = await eventually('written down', async () => {
      const sends = await sendsOf('slack');
      return sends.filter((row) => row.sent_at).length === 4 ? sends : undefined;
    });
    expect(rows[2]).toMatchObject({ sent_at: null, error: 'HTTP 400' });
  });

  it('is sent once by several replicas, and again after the death of the one that sent it', async () => {
    start();
    start();
    for (let i = 0; i < 30; i++) await raise();
    await eventually('all', () => events().length >= 30);
    await eventually('all written', async () => (await sendsOf('pagerduty')).every((row) => row.sent_at));
    expect(new Set(events().map((event) => event.dedup_key)).size).toBe(30);
    expect(events()).toHaveLength(30);
    // sent, and killed before it was recorded: the lease runs out
    const first = (await sendsOf('pagerduty'))[0]?.alert_seq ?? 0;
    const set = { sent_at: null, next_attempt_at: env.context.clock.now() };
    await env.context.db
      .updateTable('alert_sends')
      .set(set)
      .where('channel', '=', 'pagerduty')
      .where('alert_seq', '=', first)
      .execute();
    env.context.wakeUps.alerts.notify();
    await eventually('again', () => events().length === 31);
    expect(new Set(events().map((event) => event.dedup_key)).size).toBe(30);
  });
});

describe('Alertmanager', () => {
  it('gets firing alerts again within its five minutes, until they end', async () => {
    start();
    const alert = await raise();
    const first = await eventually('written down', async () =>
      (await sendsOf('alertmanager')).find((row) => row.sent_at),
    );
    const againMs = (first.next_attempt_at?.getTime() ?? 0) - (first.sent_at?.getTime() ?? 0);
    expect(againMs).toBeGreaterThan(0);
    expect(againMs).toBeLessThan(5 * 60_000 - 90_000);
    const due = { next_attempt_at: env.context.clock.now() };
    await env.context.db.updateTable('alert_sends').set(due).where('channel', '=', 'alertmanager').execute();
    env.context.wakeUps.alerts.notify();
    await eventually('again', () => at('/am').length === 2);
    await end(alert);
    await eventually('its end', () => at('/am')[2]?.text.includes('endsAt'));
  });
});

describe('a channel that is set later', () => {
  it('gets alerts that still fire, and none that have ended', async () => {
    const channels = openChannels(env.context, undefined);
    start(channels.filter((channel) => channel.name === 'log'));
    const over = await raise({ name: 'run_failed' });
    await raise({ name: 'stuck' });
    await eventually('spread', async () => (await sendsOf('log')).length === 2);
    await end(over);
    start(channels.filter((channel) => channel.name === 'slack'));
    await eventually('sent', () => slackText().includes('stuck'));
    expect(slackText()).not.toContain('run_failed');
  });
});

it('an alert about an order names it as the merchant does, unless the number may name a person', async () => {
  const facts = expectedFactsSchema.parse({
    operation: 'cashin',
    amount: '10.00',
    due_day: '2026-11-20',
    name: 'Zuleica Prado',
  });
  const numbers = ['loja-4711', 'Zuleica Prado 1', '529.982.247-25'];
  const arrivals = numbers.map((number) => ({ source: 'shop', number, facts }));
  await putExpected(env.context, { arrivals, actor: 'test' });
  const rows = await env.context.db.selectFrom('expected_payments').select(['id', 'number']).execute();
  const idOf = (number: string) => rows.find((row) => row.number === number)?.id ?? '';
  for (const number of numbers) await raise(summarizeExpected(idOf(number)));
  start();
  await eventually(
    'sent',
    () => numbers.every((number) => slackText().includes(idOf(number))) && mails.mails.length > 0,
  );
  const mailed = mails.mails.map(({ text }) => text).join('\n');
  for (const text of [slackText(), mailed]) {
    expect(text).toContain(`pedido loja-4711 (${idOf('loja-4711')})`);
    expect(text).not.toMatch(/zuleica|529\.982/i);
  }
});

function summarizeExpected(expected: string) {
  return { name: 'amount_not_expected' as const, ...summarize('amount_not_expected', { expected }) };
}

describe('a failing merchant', () => {
  it('gets a mail of its own where it gave an address, and a mailbox that is gone delays no other', async () => {
    const { merchant: silent } = await env.addMerchant('http://127.0.0.1:1/');
    const { merchant: gone } = await env.addMerchant('http://127.0.0.1:1/', { email: REFUSED_MAILBOX });
    const { merchant: read } = await env.addMerchant('http://127.0.0.1:1/s3cret', {
      email: 'loja@example.com',
      name: 'Zuleica ME',
    });
    const since = env.context.clock.now();
    await env.applyTransaction(['paid']);
    const { db } = env.context;
    const { seq } = await readRow(db, 'callbacks', ['seq'], { merchant_seq: read.seq });
    const attempt = { callback_seq: seq, number: 1, started_at: since, duration_ms: 5, response_body: null };
    await db
      .insertInto('callback_attempts')
      .values({ ...attempt, response_status: 503, error_class: 'http_status', request_headers: '{}' })
      .execute();
    await db.updateTable('merchants').set({ last_failed_callback: seq }).where('seq', '=', read.seq).execute();
    start();
    for (const { id } of [silent, gone, read]) {
      await raiseMerchantAlert(env.context, { kind: 'merchant_failing', merchantId: id, since });
    }
    await eventually('written down', async () => {
      const rows = await sendsOf('merchant_email');
      return rows.length === 3 && rows.every((row) => row.sent_at && row.next_attempt_at === null);
    });
    const own = mails.mails.filter((mail) => mail.to.includes('loja@example.com'));
    expect(own).toHaveLength(1);
    expect(own[0]?.text).toMatch(/não está aceitando[\s\S]*is taking no callbacks/);
    expect(own[0]?.text).not.toMatch(/Zuleica|s3cret/);
    expect(own[0]?.text.replaceAll('\r', '')).toContain(`Última falha: HTTP 503 (http_status)
Callbacks que aguardam: 1
Last failure: HTTP 503 (http_status)
Callbacks that wait: 1
Portal: ${env.context.config.PUBLIC_URL}/portal
`);
    expect(mails.mails.flatMap((mail) => mail.to)).not.toContain(REFUSED_MAILBOX);
    await end({ name: 'merchant_failing', severity: 'high', scope: read.id, summary: '' });
    await eventually('its end is sent to ops', () => slackText().includes('encerrado:'));
    await eventually('done', async () =>
      (await sendsOf('merchant_email')).every((row) => row.next_attempt_at === null),
    );
    expect(mails.mails.filter((mail) => mail.to.includes('loja@example.com'))).toHaveLength(1);
  });
});
