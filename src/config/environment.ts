import { z } from 'zod';
import { channelFields, emailList } from './channel-fields.ts';
import {
  booleanText,
  cidrList,
  cronText,
  databaseUrl,
  durationList,
  durationText,
  expectedChanges,
  hostText,
  httpUrl,
  instantText,
  intText,
  rateText,
  ratioText,
  secret,
  secretKey,
  sizeText,
  timeZone,
  trustProxy,
  webhookAuth,
  webhookHmac,
} from './fields.ts';
import { logFields } from './log-fields.ts';
import { oidcFields } from './oidc-fields.ts';
import { retentionFields } from './retention-fields.ts';

/** Minimum of secrets that the operator chooses. */
export const SECRET_BYTES_MIN = 16;

/** RFC 1918 and RFC 4193. */
const PRIVATE_NETWORKS = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7';

/** Every environment variable that Confere reads, with its default. */
export const environment = z.object({
  DATABASE_URL: secret(databaseUrl).optional(),
  DATA_DIR: z.string().min(1).default('./var'),
  ...logFields,
  HOST: hostText.default('127.0.0.1'),
  PORT: intText(0, 65535).prefault('3000'),
  PUBLIC_URL: httpUrl.optional(),
  PROVIDER_URL: httpUrl.optional(),
  PROVIDER_API_KEY: secret(z.string().min(1)).optional(),
  PROVIDER_TIME_ZONE: timeZone.default('America/Sao_Paulo'),
  WEBHOOK_SECRET: secret(z.string().min(1)).optional(),
  WEBHOOK_AUTH: webhookAuth.optional(),
  WEBHOOK_SIGNATURE_HEADER: z.string().min(1).toLowerCase().default('x-signature'),
  WEBHOOK_HMAC: webhookHmac.prefault('sha256:hex'),
  WEBHOOK_SIGNATURE_PREFIX: z.string().default('sha256='),
  WEBHOOK_TIMESTAMP_HEADER: z.string().min(1).toLowerCase().optional(),
  WEBHOOK_TOLERANCE: durationText.prefault('5m'),
  WEBHOOK_GRACE: durationText.prefault('10m'),
  WEBHOOKS_SINCE: instantText.optional(),
  WEBHOOKS_OWED: expectedChanges.prefault(
    'cashin.paid,cashin.refund,cashout.paid,cashout.denied,cashout.canceled,cashout.refund',
  ),
  STUCK_CASHIN: durationText.prefault('24h'),
  STUCK_CASHOUT: durationText.prefault('15m'),
  PROVIDER_RATE: rateText.prefault('off'),
  WEBHOOK_ALLOW: cidrList.default([]),
  TRUST_PROXY: trustProxy.optional(),
  METRICS_ALLOW: cidrList.prefault(PRIVATE_NETWORKS),
  QUARANTINE_MAX_BYTES: sizeText.prefault('1GiB'),
  ADMIN_TOKEN: secret(z.string().refine(isLongEnough, `must be at least ${SECRET_BYTES_MIN} bytes`)).optional(),
  ...oidcFields,
  ALLOW_PLAIN_HTTP: booleanText.prefault('false'),
  SECRET_KEY: secret(secretKey).optional(),
  SPOOL_DIR: z.string().min(1).optional(),
  CALLBACK_ALLOW_PRIVATE: booleanText.prefault('false'),
  CALLBACK_RETRY_SCHEDULE: durationList.prefault('5s,5m,30m,2h,5h,10h,14h,20h,24h'),
  REPORT_LOCALE: z.enum(['pt-BR', 'en']).default('pt-BR'),
  REPORT_FULL_DOCUMENTS: booleanText.prefault('false'),
  REFUND_COMMISSION: z.enum(['kept', 'returned']).default('kept'),
  ...channelFields,
  ALERT_EMAIL_TO: emailList.optional(),
  ...retentionFields,
  JOBS: z.enum(['on', 'off']).default('on'),
  JOB_RECONCILE_RECENT: cronText.default('*/5 * * * *'),
  JOB_RECONCILE_WEEK: cronText.default('7 * * * *'),
  JOB_RECONCILE_MONTH: cronText.default('20 2 * * *'),
  JOB_RECONCILE_QUARTER: cronText.default('40 3 * * 0'),
  JOB_RECONCILE_COUNTS: cronText.default('10 3 * * *'),
  JOB_RECONCILE_OPEN: cronText.default('30 3 * * *'),
  JOB_WATCH: cronText.default('* * * * *'),
  /** Called after each round of JOB_WATCH while the service is well: who watches it notices that the calls stop. */
  JOB_WATCH_URL: secret(httpUrl).optional(),
  JOB_DAILY_REPORT: cronText.default('0 6 * * *'),
  JOB_DAY_MANIFESTS: cronText.default('30 6 * * *'),
  JOB_CHECK_BOOKS: cronText.default('10 4 * * *'),
  JOB_CHECK_ALL_BOOKS: cronText.default('20 5 * * 6'),
  JOB_MANIFEST: cronText.default('30 0 * * *'),
  JOB_RETENTION: cronText.default('50 4 * * *'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  // the standard's default is 10 s; shutdown waits for the last request, within its 20 s
  OTEL_EXPORTER_OTLP_TIMEOUT: intText(1, 5_000).prefault('3000'),
  OTEL_SDK_DISABLED: booleanText.prefault('false'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      ...(['always_on', 'always_off', 'traceidratio'] as const),
      ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
    ])
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: ratioText.prefault('1'),
  OTEL_BSP_SCHEDULE_DELAY: intText(1, 60_000).prefault('5000'),
  OTEL_BSP_MAX_QUEUE_SIZE: intText(1, 1_000_000).prefault('2048'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: intText(1, 100_000).prefault('512'),
});

export type Environment = z.infer<typeof environment>;

function isLongEnough(secret: string): boolean {
  return Buffer.byteLength(secret) >= SECRET_BYTES_MIN;
}
