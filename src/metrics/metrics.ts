import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Metrics of this process, for `GET /metrics`. No label ever holds an id or personal data. */
export const registry = new Registry();
collectDefaultMetrics({ register: registry });

const registers = [registry];

export const webhooksReceived = new Counter({
  name: 'confere_webhooks_received_total',
  help: 'Webhooks by outcome: accepted, duplicate, refused, garbage (over its quota), unauthorized, unavailable.',
  labelNames: ['outcome'],
  registers,
});

export const authFailures = new Counter({
  name: 'confere_auth_failures_total',
  help: 'Rejected credentials, by kind: bearer (API and /metrics), pull (a merchant), login (console).',
  labelNames: ['kind'],
  registers,
});

export const webhookCommitSeconds = new Histogram({
  name: 'confere_webhook_commit_seconds',
  help: 'Time from a webhook being read to its commit.',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  registers,
});

export const itemsVerified = new Counter({
  name: 'confere_webhook_items_verified_total',
  help: 'Verified items of webhooks, by outcome: applied, waiting, contradicted, quarantined, failed.',
  labelNames: ['outcome'],
  registers,
});

export const transactionsApplied = new Counter({
  name: 'confere_transactions_applied_total',
  help: 'Transactions that were new or changed, by source: webhook, list, show.',
  labelNames: ['source'],
  registers,
});

export const runsFinished = new Counter({
  name: 'confere_runs_finished_total',
  help: 'Reconciliation runs by final state.',
  labelNames: ['state'],
  registers,
});

export const jobTicks = new Counter({
  name: 'confere_job_ticks_total',
  help: 'Ticks of the timetable that this process ran, by job and outcome.',
  labelNames: ['job', 'outcome'],
  registers,
});

export const callbackAttempts = new Counter({
  name: 'confere_callback_attempts_total',
  help: 'Attempts at delivering callbacks, by outcome.',
  labelNames: ['outcome'],
  registers,
});

export const alertSends = new Counter({
  name: 'confere_alert_sends_total',
  help: 'Alerts sent to channels, by channel and outcome: sent, failed.',
  labelNames: ['channel', 'outcome'],
  registers,
});

export const openMismatches = new Gauge({
  name: 'confere_mismatches_open',
  help: 'Open mismatches by kind, as of the last watch.',
  labelNames: ['kind'],
  registers,
});

export const mismatchStakeCents = new Gauge({
  name: 'confere_mismatches_stake_cents',
  help: 'Sum of the amounts of transactions with open mismatches, in cents, by kind, as of the last watch.',
  labelNames: ['kind'],
  registers,
});

export const unsealedSeconds = new Gauge({
  name: 'confere_ledger_unsealed_seconds',
  help: 'Age of the oldest entry that is not in the hash chain yet, as of the last watch.',
  registers,
});

export const daysUnproven = new Gauge({
  name: 'confere_days_unproven',
  help: 'How many of the last 95 ended days are not proven, read completely or counted, as of the last watch.',
  registers,
});

export const oldestUnprovenDays = new Gauge({
  name: 'confere_oldest_unproven_age_days',
  help: 'Age in days of the oldest unproven day; 0 when all are proven.',
  registers,
});

export const webhookLossRatio = new Gauge({
  name: 'confere_webhook_loss_ratio',
  help: "Share of the day's changes with an expected webhook, past their grace, that no webhook announced.",
  labelNames: ['day'],
  registers,
});

export const webhookLatenessSeconds = new Gauge({
  name: 'confere_webhook_lateness_seconds',
  help: "Time from a change to the webhook that announced it, for the day's changes.",
  labelNames: ['day', 'quantile'],
  registers,
});

export const lastWebhookSeconds = new Gauge({
  name: 'confere_last_webhook_timestamp_seconds',
  help: 'Arrival of the newest webhook.',
  registers,
});

export const webhooksSpooled = new Counter({
  name: 'confere_webhooks_spooled_total',
  help: 'Webhooks spooled to disk while the database was unavailable.',
  registers,
});

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

export const spoolCutOff = new Counter({
  name: 'confere_spool_cut_off_total',
  help: 'Segments that end in an incomplete record of a crash, which was never answered.',
  registers,
});

export const inboundSilenceSeconds = new Gauge({
  name: 'confere_inbound_silence_seconds',
  help: 'Time since the newest webhook, as of the last watch.',
  registers,
});

export const inboundSilenceLimitSeconds = new Gauge({
  name: 'confere_inbound_silence_limit_seconds',
  help: 'Usual limit of that time; beyond it an alert fires. 0 while too little is known.',
  registers,
});

export const connectionsCut = new Counter({
  name: 'confere_connections_cut_total',
  help: 'Connections that the server closed: idle (an unauthenticated one for too long), unread (answers not read), shed (for a new one), refused (limit reached), pipelined (too many requests at once).',
  labelNames: ['why'],
  registers,
});

export const quarantineDropped = new Counter({
  name: 'confere_quarantine_dropped_total',
  help: 'Webhooks whose bodies were dropped, because the quarantine was full or a person purged it.',
  registers,
});

export const quarantineBytes = new Gauge({
  name: 'confere_quarantine_bytes',
  help: 'Bytes of quarantined webhooks; at QUARANTINE_MAX_BYTES, webhooks that name no transaction are refused.',
  registers,
});
