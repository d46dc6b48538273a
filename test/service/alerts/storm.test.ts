import { expect, test } from 'vitest';
import { watch } from '../../../jobs/watch.ts';
import { eventually } from '../../support/eventually.ts';
import { dayAgo, makeDay } from '../../support/make-provider-rows.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const CLAIMS = 550;
const KIND = 'webhook_contradiction';
type Event = { event_action: string; dedup_key: string; payload?: { class: string } };
type Shown = { labels: Record<string, string>; annotations: { summary: string }; endsAt?: string };

/** The events of the storm's alert. The clock is advanced past the heartbeats, so that another alert may page as well. */
function listEvents(sink: HttpSink): Event[] {
  const events = sink.posted.filter(({ path }) => path === '/pd').map(({ json }) => json as Event);
  const keys = new Set(events.filter(({ payload }) => payload?.class === KIND).map(({ dedup_key }) => dedup_key));
  return events.filter(({ dedup_key }) => keys.has(dedup_key));
}

const listShown = (sink: HttpSink): Shown[] =>
  sink.posted.filter(({ path }) => path.startsWith('/am')).flatMap(({ json }) => json as Shown[]);

/** Waits until what was sent to PagerDuty is recorded: once its lease is over, a send is claimed and sent again. */
const untilPageIsRecorded = ({ context }: ServedEnvironment) =>
  eventually('a recorded page', async () => {
    const paged = context.db.selectFrom('alert_sends').select('sent_at').where('channel', '=', 'pagerduty');
    const sends = await paged.execute();
    return sends.length > 0 && sends.every(({ sent_at }) => sent_at !== null);
  });

async function countOpen({ context }: ServedEnvironment): Promise<number> {
  const rows = await context.db.selectFrom('mismatches').select('seq').where('state', '=', 'open').execute();
  return rows.length;
}

test('a storm of false claims is one page and one alert that counts, which a person ends in bulk', async () => {
  await using sink = await openHttpSink();
  await using provider = await new TestProvider(API_KEY).listen();
  const rows = makeDay(dayAgo(1), CLAIMS);
  provider.add(...rows);
  await using served = await openServedEnvironment({
    providerUrl: provider.url,
    env: {
      ...{ WEBHOOK_GRACE: '1s', JOB_WATCH: 'off' },
      ...{ ALERTMANAGER_URL: `${sink.url}/am`, SLACK_WEBHOOK_URL: `${sink.url}/slack` },
      ...{ PAGERDUTY_ROUTING_KEY: `${sink.url.replace('://', '://R0UT1NGK3Y@')}/pd` },
    },
  });
  const claim = (row: { id: string }) => served.webhook({ transaction_id: row.id, status: 'refund' });
  for (let sent = 0; sent < CLAIMS - 1; sent += 100)
    await Promise.all(rows.slice(sent, Math.min(sent + 100, CLAIMS - 1)).map(claim));
  const advanceUntilOpen = (count: number) =>
    eventually(`${count} contradictions`, async () => {
      await served.timers.advance(1_000);
      return (await countOpen(served)) === count;
    });
  await advanceUntilOpen(CLAIMS - 1);
  await untilPageIsRecorded(served);
  // within the hour of the first one
  await served.timers.advance(1_800_000);
  for (const row of rows.slice(-1)) await claim(row);
  await advanceUntilOpen(CLAIMS);

  await watch(served.context);
  const counted = `${CLAIMS} divergências de uma causa`;
  await eventually('the count at Alertmanager', async () => {
    await served.timers.advance(10_000);
    return listShown(sink).some(({ annotations }) => annotations.summary.includes(counted));
  });
  const shown = listShown(sink).filter(({ labels }) => labels.alertname === KIND);
  expect(new Set(shown.map(({ labels }) => JSON.stringify(labels))).size, 'one identity').toBe(1);
  expect(shown.at(-1)?.annotations.summary).toContain('R$ 5.500,00');
  expect(listEvents(sink).map((one) => one.event_action)).toEqual(['trigger']);
  expect(sink.posted.filter(({ path }) => path === '/slack')).toHaveLength(1);

  const resolve = (body: object) => served.api.call('POST', '/mismatches/resolve', body);
  await expect(resolve({ kind: KIND })).rejects.toThrow('note');
  const cause = shown[0]?.labels.scope;
  const note = 'a forged webhook; the secret is rotated';
  expect(await resolve({ kind: KIND, cause: 'critical 1999-01-01T00Z', note })).toEqual({ resolved: 0, more: false });
  expect(await resolve({ kind: KIND, cause, note })).toEqual({ resolved: 500, more: true });
  expect(listEvents(sink)).toHaveLength(1);
  await watch(served.context);
  await eventually('the lower count', async () => {
    await served.timers.advance(10_000);
    return listShown(sink).some(({ annotations }) => annotations.summary.includes('50 divergências de uma causa'));
  });
  expect(await resolve({ kind: KIND, note })).toEqual({ resolved: 50, more: false });
  expect(await resolve({ kind: KIND, note })).toEqual({ resolved: 0, more: false });
  const audited = await served.context.db
    .selectFrom('audit')
    .selectAll()
    .where('action', '=', 'mismatches.resolve_many')
    .execute();
  expect(audited, 'one row a transaction').toHaveLength(CLAIMS / 50);
  expect(audited[0]).toMatchObject({ target: `${KIND} ${cause}` });
  const ids = audited.flatMap(({ detail }) => (JSON.parse(detail ?? '{}') as { mismatches: string[] }).mismatches);
  expect(new Set(ids).size).toBe(CLAIMS);
  await eventually('the end', async () => {
    await served.timers.advance(10_000);
    return listEvents(sink).length > 1;
  });
  const events = listEvents(sink);
  expect(events.map((one) => one.event_action)).toEqual(['trigger', 'resolve']);
  expect(events[1]?.dedup_key).toBe(events[0]?.dedup_key);
});
