import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The numbers that this process counts; `GET /metrics` shows them. No label ever holds an id or a person's data. */
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
  help: 'Credentials that open nothing, by what they were for: bearer (API and /metrics), pull (a merchant), login (console).',
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
  help: 'Looks at what webhooks named, by outcome: applied, waiting, contradicted, quarantined, failed.',
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
  help: 'Ticks of the timetable that this process took, by job and outcome.',
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
  help: 'Alerts told to a channel, by channel and outcome: sent, failed.',
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
  help: 'What the transactions of open mismatches amount to, in cents, by kind, as of the last watch.',
  labelNames: ['kind'],
  registers,
});

export const unsealedSeconds = new Gauge({
  name: 'confere_ledger_unsealed_seconds',
  help: 'How long the oldest entry that the hash chain does not hold yet has waited, as of the last watch.',
  registers,
});

export const daysUnproven = new Gauge({
  name: 'confere_days_unproven',
  help: 'Of the last 95 ended days, those that no complete reading has proven, as of the last watch.',
  registers,
});

export const oldestUnprovenDays = new Gauge({
  name: 'confere_oldest_unproven_age_days',
  help: 'How many days ago the oldest of them was; 0 when all are proven.',
  registers,
});

export const webhookLossRatio = new Gauge({
  name: 'confere_webhook_loss_ratio',
  help: "Of the day's changes that owe a webhook and whose grace is over, those that nothing announced.",
  labelNames: ['day'],
  registers,
});

export const webhookLatenessSeconds = new Gauge({
  name: 'confere_webhook_lateness_seconds',
  help: "From a change to the webhook that announced it, of the day's changes.",
  labelNames: ['day', 'quantile'],
  registers,
});

export const lastWebhookSeconds = new Gauge({
  name: 'confere_last_webhook_timestamp_seconds',
  help: 'When the newest webhook came.',
  registers,
});

export const webhooksSpooled = new Counter({
  name: 'confere_webhooks_spooled_total',
  help: 'Webhooks that the spool took while the database was away.',
  registers,
});

export const spoolBytes = new Gauge({
  name: 'confere_spool_bytes',
  help: 'Bytes in the spool that wait for the database.',
  registers,
});

export const spoolKeptFiles = new Gauge({
  name: 'confere_spool_kept_files',
  help: 'Files in the spool that nobody drains, by kind: torn (damaged), refused (by the database). 0 once taken away.',
  labelNames: ['kind'],
  registers,
});

export const spoolCutOff = new Counter({
  name: 'confere_spool_cut_off_total',
  help: 'Segments that ended in a record cut off in a crash while it was written: never answered.',
  registers,
});

export const inboundSilenceSeconds = new Gauge({
  name: 'confere_inbound_silence_seconds',
  help: 'How long no webhook has come, as of the last watch.',
  registers,
});

export const inboundSilenceLimitSeconds = new Gauge({
  name: 'confere_inbound_silence_limit_seconds',
  help: 'How long such a silence is usual; beyond it an alert fires. 0 while too little is known.',
  registers,
});

export const connectionsCut = new Counter({
  name: 'confere_connections_cut_total',
  help: 'Connections closed by us: idle (a stranger for too long), unread (answers not read), shed (for a new one), refused (no room), pipelined (too many requests at once).',
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
  help: 'Bytes of quarantined webhooks; at QUARANTINE_MAX_BYTES none is taken that names no transaction.',
  registers,
});
