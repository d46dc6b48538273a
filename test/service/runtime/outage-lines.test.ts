import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { raiseAlerts } from '../../../src/alerts/raise-alerts.ts';
import { transact } from '../../../src/database/transact.ts';
import { createTestDatabase } from '../../support/create-test-database.ts';
import { eventually } from '../../support/eventually.ts';
import { makeRow } from '../../support/make-provider-rows.ts';
import { type HttpSink, openHttpSink } from '../../support/open-http-sink.ts';
import { openServedEnvironment, type ServedEnvironment } from '../../support/open-served-environment.ts';
import { openTcpProxy } from '../../support/open-tcp-proxy.ts';
import { API_KEY } from '../../support/start-serve.ts';
import { TestProvider } from '../../support/test-provider.ts';

const WEBHOOKS = 15;
/** Each loop retries many times in them, by the timers; they take less than the minute after which a cause is logged again. */
const OUTAGE_S = 60;
const OFTEN = '*/2 * * * * *';
const JOBS = Object.fromEntries(
  ['RECONCILE_RECENT', 'RECONCILE_WEEK', 'WATCH', 'DAILY_REPORT', 'MANIFEST', 'RETENTION'].map((name) => [
    `JOB_${name}`,
    OFTEN,
  ]),
);

type Line = Record<'msg' | 'loop' | 'job' | 'part' | 'channel' | 'step', string | undefined> & {
  error?: { code?: string } | string;
};
type Parts = { provider: TestProvider; sink: HttpSink; proxy: Awaited<ReturnType<typeof openTcpProxy>> };
type Outage = { outage: string; begin: (parts: Parts) => void; lines: string[] };

const FAILED_LOOP = 'a worker loop failed; it continues after a pause';
const FAILED_TICK = 'job tick failed to start or to end';
const LOOPS = [
  ...['inbox', 'sealer', 'alerts', 'alerts to alertmanager', 'disks', 'watch of the provider'],
  ...['doubted events', 'open transactions', 'backfills', 'report mails', 'merchant mails'],
];
const OUTAGES: Outage[] = [
  {
    outage: 'the provider answers 503',
    begin: ({ provider }) => {
      provider.switches.fault = () => ({ status: 503 });
    },
    lines: [
      'verifying items failed; retrying later',
      'reading a window failed; the run continues with the next one',
      'a reconciliation run failed',
    ],
  },
  {
    outage: 'the database is gone',
    begin: ({ proxy }) => proxy.cut(),
    lines: [
      ...LOOPS.map((loop) => `${FAILED_LOOP} ${loop}`),
      ...['watch', 'retention', 'manifest', 'daily_report'].map((job) => `${FAILED_TICK} ${job}`),
    ],
  },
  {
    outage: 'the database takes no writes',
    begin: ({ proxy }) => proxy.become('read only'),
    lines: ['a heartbeat could not be written; the next is in 20 s alerts', `${FAILED_TICK} watch`],
  },
  {
    outage: 'no channel of alerts answers',
    begin: ({ sink }) => {
      sink.answer = () => 503;
    },
    lines: [
      'a channel did not accept alerts; retrying alertmanager',
      'a channel did not accept alerts; retrying slack',
      'a channel did not accept alerts; retrying email',
    ],
  },
];

test.each(OUTAGES)(
  'while $outage each loop that retries writes one line a minute a cause',
  async ({ begin, lines }) => {
    await using stack = new AsyncDisposableStack();
    const provider = stack.use(await new TestProvider(API_KEY).listen());
    const sink = stack.use(await openHttpSink());
    const { socketPath, database } = await createTestDatabase();
    const proxy = stack.use(await openTcpProxy(socketPath));
    const written: Line[] = [];
    const service = stack.use(
      await openServedEnvironment({
        providerUrl: provider.url,
        env: {
          ...JOBS,
          ...{ DATABASE_URL: `mysql://root@127.0.0.1:${proxy.port}/${database}`, LOG_LEVEL: 'warn' },
          ...{ ALERTMANAGER_URL: sink.url, SLACK_WEBHOOK_URL: `${sink.url}/slack`, JOB_RECONCILE_OPEN: '30 3 * * *' },
          // nothing listens there
          ...{ SMTP_URL: 'smtp://127.0.0.1:9', ALERT_EMAIL_FROM: 'a@example.com', ALERT_EMAIL_TO: 'b@example.com' },
        },
        logTo: collectLines(written),
      }),
    );
    await receive(service, provider);
    written.length = 0;
    begin({ provider, sink, proxy });
    await receive(service, provider);
    await raiseMany(service).catch(() => undefined);
    let advanced = 0;
    await eventually('each has failed', async () => {
      await service.timers.advance(1_000);
      advanced++;
      const seen = new Set(written.map(nameCause));
      return advanced >= OUTAGE_S && lines.every((line) => [...seen].some((cause) => cause.startsWith(line)));
    });
    // each alert is logged as it is raised
    const counts = Map.groupBy(
      written.filter((line) => !('alert' in line)),
      nameCause,
    );
    expect(
      [...counts].filter(([, list]) => list.length > 1).map(([cause, list]) => `${list.length} × ${cause}`),
    ).toEqual([]);
  },
);

/** The message, what failed and how; without what differs for each item. */
function nameCause({ msg, error, loop, job, part, channel, step }: Line): string {
  const code = typeof error === 'string' ? error : error?.code;
  return [msg, loop, job, part, channel, step, code].filter((one) => one !== undefined).join(' ');
}

function collectLines(lines: Line[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const text of chunk.toString().trim().split('\n')) lines.push(JSON.parse(text) as Line);
      done();
    },
  });
}

/** Some webhooks name what the provider does not know yet: they are fetched again. */
async function receive(service: ServedEnvironment, provider: TestProvider): Promise<void> {
  const rows = Array.from({ length: WEBHOOKS }, () => makeRow({ history: ['paid'] }));
  provider.add(...rows);
  const bodies = rows.flatMap(({ id }) => [
    { transaction_id: id, status: 'paid', transaction_amount: '10.00' },
    { transaction_id: randomUUID(), status: 'paid' },
  ]);
  await Promise.all(bodies.map((body) => service.webhook(body).catch(() => undefined)));
}

async function raiseMany({ context }: ServedEnvironment): Promise<void> {
  const said = { name: 'webhook_quarantined', severity: 'high', summary: 'one of many' } as const;
  const alerts = Array.from({ length: WEBHOOKS }, (_, n) => ({ ...said, scope: `cause ${n}` }));
  await transact(context.db, (trx) => raiseAlerts(trx, alerts, context.clock.now()));
}
