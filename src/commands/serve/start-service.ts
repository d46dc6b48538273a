import { startJobScheduler } from '../../../jobs/main.ts';
import { watchDisks } from '../../../jobs/watch-disks.ts';
import { createWorkerWatch } from '../../../jobs/watch-workers.ts';
import { watchWrites } from '../../../jobs/watch-writes.ts';
import { openChannels } from '../../alerts/channels/open-channels.ts';
import { openMailer } from '../../alerts/channels/open-mailer.ts';
import { mailFailedCallbacks } from '../../alerts/mail-failed-callbacks.ts';
import { endMerchantAlert, raiseMerchantAlert } from '../../alerts/raise-merchant-alert.ts';
import { sendAlerts } from '../../alerts/send-alerts.ts';
import { workBackfills } from '../../callbacks/backfill/work-backfills.ts';
import { startDelivery } from '../../callbacks/deliver/deliver.ts';
import { IN_FLIGHT_MAX } from '../../callbacks/queue/slots.ts';
import { type Context, LEDGER_CONNECTIONS, PREPARED_CONNECTIONS } from '../../context.ts';
import { followPayments } from '../../expected/follow/follow-payments.ts';
import { type HttpLimits, type ListeningServer, listenHttp, serveHttp } from '../../http/connections/serve-http.ts';
import { createApp } from '../../http/create-app.ts';
import { createWorkerApp } from '../../http/create-worker-app.ts';
import { drainSpool, showSpool } from '../../inbox/receive/drain-spool.ts';
import { startReceiverMinutes } from '../../inbox/silence/record-minutes.ts';
import type { Spool } from '../../inbox/spool/spool.ts';
import { ITEMS_IN_FLIGHT_MAX, workInbox } from '../../inbox/verify/work-inbox.ts';
import { applyRefundRule } from '../../ledger/journal/read-policies.ts';
import { makeBackfilledManifests } from '../../manifests/make-day-manifests.ts';
import { mailAddressChanges } from '../../portal/mail-address-changes.ts';
import { followParties } from '../../privacy/index-parties.ts';
import { CONNECTIONS_MAX } from '../../provider/client.ts';
import { openClient } from '../../provider/open-client.ts';
import { processRuns, RUN_WORKERS } from '../../reconciliation/runs/process-runs.ts';
import { fetchDoubted } from '../../reconciliation/watches/fetch-doubted.ts';
import { fetchOpen } from '../../reconciliation/watches/fetch-open.ts';
import { watchProvider } from '../../reconciliation/watches/watch-provider.ts';
import { mailReports } from '../../reports/revisions/mail-reports.ts';
import { sealLedger } from '../../seal/seal-ledger.ts';
import { isJobOn, listJobs } from '../../timetable/list-jobs.ts';
import { requireOrigin } from '../../tlog/origins.ts';
import { submitCheckpoints } from '../../tlog/witnesses.ts';
import { METRIC_READERS } from './metric-readers.ts';

export type ServiceOptions = {
  sides: { web: boolean; worker: boolean };
  /** Stores webhooks while the database is unreachable. */
  spool?: Spool | undefined;
  /** A server that already listens, because the database took time to open. */
  server?: ListeningServer | undefined;
  /** Tests lower HTTP_LIMITS: they would wait for the seconds after which a slow or idle client is cut off. */
  httpLimits?: HttpLimits;
};

/** The running service. Abort the context's signal before disposing. */
export type Service = AsyncDisposable & { port: number };

/**
 * Starts the service in this process: the web side (receiver, API, console), the worker's loops and the timetable, or
 * one of them. A worker alone serves its health and metrics. Each loop ends by the context's signal. Disposing waits for all of them, each before the parts it uses. The
 * caller disposes the context afterwards. When a part cannot start, `stop` is called first: the loops that already run
 * end only by the signal.
 */
export async function startService(context: Context, options: ServiceOptions, stop: () => void): Promise<Service> {
  await using stack = new AsyncDisposableStack();
  // disposed here if a step before startWeb fails
  if (options.server) stack.use(options.server);
  try {
    await applyRefundRule(context);
    await requireOrigin(context);
    const { web, worker } = options.sides;
    // a port that is in use fails before any work begins
    const ownPort = web ? undefined : await serveWorker(context, options, stack);
    if (worker) startWorker(context, stack);
    watchService(context, options.sides, stack);
    const port = ownPort ?? (await startWeb(context, options, stack));
    const owned = stack.move();
    return { port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    stop();
    throw error;
  }
}

/** Starts the web side. @returns its port. */
async function startWeb(
  context: Context,
  { spool, server: listening, httpLimits }: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<number> {
  const { config, log } = context;
  showSpool(spool);
  if (spool) {
    const drained = drainSpool(context, spool);
    stack.defer(() => drained);
  }
  const app = createApp(context, spool, undefined, METRIC_READERS);
  if (listening) {
    listening.replaceApp(app);
    stack.use(startReceiverMinutes(context));
    stack.use(listening);
  }
  const server = listening ?? stack.use(await serveHttp(context, app, httpLimits));
  log.info({ port: server.port, url: config.PUBLIC_URL, auth: config.WEBHOOK_AUTH }, 'listening');
  return server.port;
}

/** Starts what each process checks. Web processes also check that a worker is alive, and send alerts while none does. */
function watchService(context: Context, sides: ServiceOptions['sides'], stack: AsyncDisposableStack): void {
  const mailer = openMailer(context.config);
  const loops = [watchDisks(context), watchWrites(context, sides.worker ? openChannels(context, mailer) : [])];
  if (sides.web) {
    const workers = createWorkerWatch(context);
    loops.push(workers.run());
    if (!sides.worker) loops.push(sendAlerts(context, openChannels(context, mailer), workers.isSenderDead));
  }
  stack.defer(async () => {
    await Promise.all(loops);
  });
}

/** Serves the health and the metrics of a worker. @returns its port. */
async function serveWorker(
  context: Context,
  { server: listening, httpLimits }: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<number> {
  const app = createWorkerApp(context, METRIC_READERS);
  listening?.replaceApp(app);
  const server = listening ?? stack.use(await listenHttp(context.config, app, httpLimits));
  context.log.info({ port: server.port }, 'listening for health checks and scrapes alone');
  return server.port;
}

/** Starts the worker's loops. Disposing waits until each has ended after the signal. */
function startWorker(context: Context, stack: AsyncDisposableStack): void {
  const client = stack.use(openClient(context));
  const mailer = openMailer(context.config);
  const loops = {
    inbox: workInbox(context, client),
    runs: processRuns(context, client),
    provider: watchProvider(context, client),
    doubted: fetchDoubted(context, client.withPriority('today')),
    ...(isJobOn(context.config, 'reconcile_open') && { open: fetchOpen(context, client) }),
    callbacks: startDelivery(context, {
      onOutage: (trouble) => raiseMerchantAlert(context, trouble),
      onRecovery: (merchantId) => endMerchantAlert(context, merchantId),
    }),
    backfills: workBackfills(
      context,
      isJobOn(context.config, 'day_manifests') ? { onDone: (seq) => makeBackfilledManifests(context, seq) } : {},
    ),
    alerts: sendAlerts(context, openChannels(context, mailer)),
    callback_mails: mailFailedCallbacks(context),
    address_mails: mailAddressChanges(context),
    report_mails: mailReports(context),
    sealer: sealLedger(context),
    ...(context.config.WITNESSES.list.length > 0 && { witnesses: submitCheckpoints(context) }),
    expected: followPayments(context),
    parties: followParties(context),
  };
  logStart(context, Object.keys(loops));
  stack.defer(async () => {
    await Promise.all(Object.values(loops));
  });
  if (context.config.JOBS === 'on') stack.use(startJobScheduler(context));
}

/** Says what the worker starts with, and how much of it may run at once. */
function logStart(context: Context, loops: string[]): void {
  const { config, log } = context;
  const started = {
    loops,
    jobs: listJobs(config).flatMap(({ name, cron }) => (cron === 'off' ? [] : [name])),
    concurrency: {
      items: ITEMS_IN_FLIGHT_MAX,
      runs: RUN_WORKERS,
      provider_requests: CONNECTIONS_MAX,
      callbacks: IN_FLIGHT_MAX,
    },
    connections: { pool: context.countConnections().max, receiver: PREPARED_CONNECTIONS, ledger: LEDGER_CONNECTIONS },
  };
  log.info(started, 'worker started');
}
