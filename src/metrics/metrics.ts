import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../domain/version.ts';

/** How often the lag of the event loop is sampled. A process with nothing to do shows about this. */
export const EVENT_LOOP_SAMPLE_MS = 100;

/**
 * Metrics of this process: what it did itself. What the database holds is read at a scrape instead (reading.ts), so that
 * each process shows the same. docs/metrics.md explains all of them. No label ever holds an id or personal data.
 */
export const registry = new Registry();
// by default every 10 ms: half of the CPU of a process with nothing to do
collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
// gauges with the suffix of a counter, which promtool refuses; without the suffix, each is there by type
for (const what of ['resources', 'handles', 'requests']) registry.removeSingleMetric(`nodejs_active_${what}_total`);

const registers = [registry];

new Gauge({
  name: 'confere_build_info',
  help: 'Always 1, with the version of Confere and of Node.js.',
  labelNames: ['version', 'node'],
  registers,
}).set({ version: VERSION, node: process.version }, 1);

export const webhooksReceived = openCounter(
  'confere_webhooks_received_total',
  'Webhooks by outcome: accepted, duplicate, refused, garbage (over its quota), unauthorized, unavailable.',
  { outcome: ['accepted', 'duplicate', 'refused', 'garbage', 'unauthorized', 'unavailable'] },
);

export const authFailures = openCounter(
  'confere_auth_failures_total',
  'Rejected credentials, by kind: bearer (API and /metrics), pull (a merchant), login, oidc and session (console).',
  { kind: ['bearer', 'pull', 'login', 'oidc', 'session'] },
);

export const webhookCommitSeconds = new Histogram({
  name: 'confere_webhook_commit_seconds',
  help: 'Time from a webhook being read to its commit.',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  registers,
});

export const itemsVerified = openCounter(
  'confere_webhook_items_verified_total',
  'Verified items of webhooks, by outcome: applied, waiting, contradicted, quarantined, failed.',
  { outcome: ['applied', 'waiting', 'contradicted', 'quarantined', 'failed'] },
);

export const verificationSeconds = new Histogram({
  name: 'confere_webhook_verification_seconds',
  help: 'Time from the arrival of a webhook to the outcome of the first fetch of each of its items.',
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 900],
  registers,
});

export const webhooksLost = openCounter(
  'confere_webhooks_lost_total',
  'Changes whose expected webhook did not arrive within WEBHOOK_GRACE.',
);

export const transactionsApplied = openCounter(
  'confere_transactions_applied_total',
  'Transactions that were new or changed, by source: webhook, list, show.',
  { source: ['webhook', 'list', 'show'] },
);

const PROVIDER_OPERATIONS = ['show', 'list', 'create'];

export const providerRequests = openCounter(
  'confere_provider_requests_total',
  'Requests to the provider, repeats included, by outcome: ok, not_found, unauthorized (401, 403), rejected (other 3xx, 4xx), rate_limited (429), unavailable (408, 425, 5xx), unreadable, no_answer.',
  {
    operation: PROVIDER_OPERATIONS,
    outcome: ['ok', 'not_found', 'unauthorized', 'rejected', 'rate_limited', 'unavailable', 'unreadable', 'no_answer'],
  },
);

export const providerRequestSeconds = new Histogram({
  name: 'confere_provider_request_seconds',
  help: 'Time from a request to the provider being sent to the end of its answer, without waits for a slot or a token.',
  labelNames: ['operation'],
  buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers,
});
for (const operation of PROVIDER_OPERATIONS) providerRequestSeconds.zero({ operation });

export const databaseWritable = new Gauge({
  name: 'confere_database_writable',
  help: 'Whether the last write of this process to the database succeeded, asked every 10 s: 1 or 0.',
  registers,
});
databaseWritable.set(1);

export const expectedWork = openCounter(
  'confere_expected_work_total',
  'Changes after which expected payments were decided, by outcome: decided, failed (and deferred).',
  { outcome: ['decided', 'failed'] },
);

export const runsFinished = openCounter('confere_runs_finished_total', 'Reconciliation runs by final state.', {
  state: ['complete', 'incomplete', 'failed'],
});

export const jobTicks = new Counter({
  name: 'confere_job_ticks_total',
  help: 'Ticks of the timetable that this process ran, by name of the job and outcome: done, failed, lost (its lease), skipped.',
  // no label `job`: Prometheus has one of that name, and would rename ours
  labelNames: ['name', 'outcome'],
  registers,
});

export const callbackAttempts = openCounter(
  'confere_callback_attempts_total',
  'Attempts at delivering callbacks, by outcome: delivered, or the class of the error.',
  {
    outcome: [
      ...['delivered', 'http_status', 'redirect', 'gone', 'timeout', 'dns', 'connect', 'tls', 'forbidden_address'],
      ...['connection_lost', 'bad_response', 'headers_too_large', 'not_renderable', 'no_provider_body'],
    ],
  },
);

export const pullReads = openCounter(
  'confere_pull_reads_total',
  'Reads of /events by merchants, by outcome: events, empty, limited (too many a second).',
  { outcome: ['events', 'empty', 'limited'] },
);

export const alertSends = openCounter(
  'confere_alert_sends_total',
  'Alerts sent to channels, by channel and outcome: sent, failed.',
  {
    channel: ['log', 'alertmanager', 'slack', 'pagerduty', 'email', 'merchant_email'],
    outcome: ['sent', 'failed'],
  },
);

export const transactionRetries = openCounter(
  'confere_database_retries_total',
  'Database transactions that ran again, by reason: deadlock, lock_wait (time-out), duplicate (another writer was faster), lost (connection), unavailable (read-only or not ready).',
  { reason: ['deadlock', 'lock_wait', 'duplicate', 'lost', 'unavailable'] },
);

export const webhooksSpooled = openCounter(
  'confere_webhooks_spooled_total',
  'Webhooks spooled to disk while the database was unavailable.',
);

export const spoolBytes = new Gauge({
  name: 'confere_spool_bytes',
  help: 'Bytes in the spool that are not in the database yet.',
  registers,
});

export const spoolKeptFiles = new Gauge({
  name: 'confere_spool_kept_files',
  help: 'Files that stay in the spool, by kind: torn (damaged), refused (by the database). 0 once they are removed.',
  labelNames: ['kind'],
  registers,
});
for (const kind of ['torn', 'refused']) spoolKeptFiles.set({ kind }, 0);

export const spoolCutOff = openCounter(
  'confere_spool_cut_off_total',
  'Segments that end in an incomplete record of a crash, which was never answered.',
);

export const connectionsCut = openCounter(
  'confere_connections_cut_total',
  'Connections that the server closed: idle (an unauthenticated one for too long), unread (answers not read), shed (for a new one), refused (limit reached), pipelined (too many requests at once).',
  { why: ['idle', 'unread', 'shed', 'refused', 'pipelined'] },
);

export const quarantineDropped = openCounter(
  'confere_quarantine_dropped_total',
  'Webhooks whose bodies were dropped, because the quarantine was full or a person purged it.',
);

const RETAINED = [
  ...([
    'webhook_bodies',
    'webhook_repeats',
    'run_pages',
    'callbacks',
    'idempotency_keys',
    'report_files',
    'callback_attempts',
    'job_ticks',
    'alerts',
  ] as const),
  ...([
    'merchant_secrets',
    'merchant_address_changes',
    'sessions',
    'senders',
    'heartbeats',
    'size_days',
    'run_page_rows',
  ] as const),
] as const;
export type Retained = (typeof RETAINED)[number];

export const retentionRemoved = openCounter(
  'confere_retention_removed_total',
  'Rows that were deleted because they were older than their retention.',
  { rows: [...RETAINED] },
);

/** Opens a counter that is 0 for each combination of its labels from the first scrape: an absent series cannot alert. */
function openCounter<Label extends string = never>(
  name: string,
  help: string,
  labels = {} as Record<Label, string[]>,
): Counter<Label> {
  const labelNames = Object.keys(labels) as Label[];
  const counter = new Counter({ name, help, labelNames, registers });
  let combinations: Partial<Record<Label, string>>[] = [{}];
  for (const label of labelNames)
    combinations = combinations.flatMap((one) => labels[label].map((value) => ({ ...one, [label]: value })));
  for (const combination of combinations) counter.inc(combination, 0);
  return counter;
}
