import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  agesText,
  booleanText,
  channels,
  cidrList,
  cronText,
  durationList,
  durationText,
  emailList,
  httpUrl,
  instantText,
  intText,
  isLoopbackName,
  owedChanges,
  rateText,
  secretKey,
  sizeText,
  timeZone,
  trustProxy,
  webhookAuth,
  webhookHmac,
} from './config-fields.ts';
import { ConfereError } from './domain/errors.ts';

/** Every name of the environment that Confere reads, with its default. */
export const environment = z.object({
  DATABASE_URL: z.string().optional(),
  DATA_DIR: z.string().min(1).default('./var'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: intText(0, 65535).default(3000),
  PUBLIC_URL: httpUrl.optional(),
  PROVIDER_URL: httpUrl.optional(),
  PROVIDER_API_KEY: z.string().min(1).optional(),
  PROVIDER_TIME_ZONE: timeZone.default('America/Sao_Paulo'),
  WEBHOOK_SECRET: z.string().min(1).optional(),
  WEBHOOK_AUTH: webhookAuth.optional(),
  WEBHOOK_SIGNATURE_HEADER: z.string().min(1).toLowerCase().default('x-signature'),
  WEBHOOK_HMAC: webhookHmac.default({ digest: 'sha256', encoding: 'hex' }),
  WEBHOOK_SIGNATURE_PREFIX: z.string().default('sha256='),
  WEBHOOK_TIMESTAMP_HEADER: z.string().min(1).toLowerCase().optional(),
  WEBHOOK_TOLERANCE: durationText.default(5 * 60_000),
  WEBHOOK_GRACE: durationText.default(10 * 60_000),
  WEBHOOKS_SINCE: instantText.optional(),
  WEBHOOKS_OWED: owedChanges.default([
    'cashin.paid',
    'cashin.refund',
    'cashout.paid',
    'cashout.denied',
    'cashout.canceled',
    'cashout.refund',
  ]),
  STUCK_CASHIN: durationText.default(24 * 3_600_000),
  STUCK_CASHOUT: durationText.default(15 * 60_000),
  SHOW_OPEN_SCHEDULE: agesText.default([30, 120, 600, 3600, 21_600, 86_400].map((seconds) => seconds * 1000)),
  PROVIDER_RATE: rateText.default('off'),
  WEBHOOK_ALLOW: cidrList.default([]),
  TRUST_PROXY: trustProxy.optional(),
  QUARANTINE_MAX_BYTES: sizeText.default(1024 ** 3),
  ADMIN_TOKEN: z.string().min(16, 'must be at least 16 characters').optional(),
  SECRET_KEY: secretKey.optional(),
  SPOOL_DIR: z.string().min(1).optional(),
  CALLBACK_ALLOW_PRIVATE: booleanText.default(false),
  CALLBACK_RETRY_SCHEDULE: durationList.default(
    [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1000),
  ),
  REPORT_LOCALE: z.enum(['pt-BR', 'en']).default('pt-BR'),
  REPORT_FULL_DOCUMENTS: booleanText.default(false),
  REFUND_COMMISSION: z.enum(['kept', 'returned']).default('kept'),
  ...channels,
  ALERT_EMAIL_TO: emailList.optional(),
  JOBS: z.enum(['on', 'off']).default('on'),
  JOB_RECONCILE_RECENT: cronText.default('*/5 * * * *'),
  JOB_RECONCILE_WEEK: cronText.default('7 * * * *'),
  JOB_RECONCILE_MONTH: cronText.default('20 2 * * *'),
  JOB_RECONCILE_QUARTER: cronText.default('40 3 * * 0'),
  JOB_RECONCILE_COUNTS: cronText.default('10 3 * * *'),
  JOB_RECONCILE_OPEN: cronText.default('30 3 * * *'),
  JOB_WATCH: cronText.default('* * * * *'),
  JOB_DAILY_REPORT: cronText.default('0 6 * * *'),
  JOB_CHECK_BOOKS: cronText.default('10 4 * * *'),
  JOB_MANIFEST: cronText.default('30 0 * * *'),
  JOB_RETENTION: cronText.default('50 4 * * *'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

type Environment = z.infer<typeof environment>;

export type Config = Omit<Environment, 'WEBHOOK_AUTH' | 'WEBHOOK_SECRET' | 'PUBLIC_URL'> & {
  PUBLIC_URL: string;
  WEBHOOK_AUTH: NonNullable<Environment['WEBHOOK_AUTH']>;
  /** Newest first. */
  WEBHOOK_SECRETS: string[];
  PROVIDER: { url: string; apiKey: string } | undefined;
};

/**
 * Reads the environment: `NAME_FILE` gives a value from a file, an empty value is none.
 * @param needs what the command can't do without.
 * @throws ConfereError `config_invalid` that names every fault at once.
 */
export function readConfig(env: NodeJS.ProcessEnv, needs: { provider?: boolean; web?: boolean } = {}): Config {
  const faults: string[] = [];
  const parsed = environment.safeParse(collectValues(env, faults));
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  if (faults.length === 0 && parsed.success) {
    const config = complete(parsed.data);
    faults.push(...checkTogether(config, needs, parsed.data.WEBHOOK_AUTH !== undefined));
    if (faults.length === 0) return config;
  }
  throw new ConfereError('config_invalid', `the environment is not usable:\n${faults.map((f) => `  ${f}`).join('\n')}`);
}

function collectValues(env: NodeJS.ProcessEnv, faults: string[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const name of Object.keys(environment.shape)) {
    const file = env[`${name}_FILE`];
    if (file && env[name]) faults.push(`${name}: set both as ${name} and as ${name}_FILE`);
    else if (file) {
      try {
        values[name] = readFileSync(file, 'utf8').trim();
      } catch (error) {
        faults.push(`${name}_FILE: can't read ${file} (${(error as NodeJS.ErrnoException).code})`);
      }
    } else if (env[name]) values[name] = env[name];
  }
  return values;
}

function complete(values: Environment): Config {
  const { WEBHOOK_SECRET, WEBHOOK_AUTH, PUBLIC_URL, ...rest } = values;
  const secrets =
    WEBHOOK_SECRET?.split(',')
      .map((secret) => secret.trim())
      .filter(Boolean) ?? [];
  const host = rest.HOST.includes(':') ? `[${rest.HOST}]` : rest.HOST;
  return {
    ...rest,
    PUBLIC_URL: (PUBLIC_URL ?? `http://${host}:${rest.PORT}`).replace(/\/+$/, ''),
    WEBHOOK_SECRETS: secrets,
    WEBHOOK_AUTH: WEBHOOK_AUTH ?? (secrets.length > 0 ? ['bearer'] : ['none']),
    PROVIDER:
      rest.PROVIDER_URL && rest.PROVIDER_API_KEY
        ? { url: rest.PROVIDER_URL.replace(/\/+$/, ''), apiKey: rest.PROVIDER_API_KEY }
        : undefined,
  };
}

/** Faults that no single value shows. */
function checkTogether(config: Config, needs: { provider?: boolean; web?: boolean }, authSaid: boolean): string[] {
  const faults: string[] = [];
  if (needs.provider && !config.PROVIDER_URL) faults.push('PROVIDER_URL: missing; the base address of the provider');
  if (needs.provider && !config.PROVIDER_API_KEY) faults.push('PROVIDER_API_KEY: missing; the key for its API');
  if (config.DATABASE_URL && !config.SECRET_KEY)
    faults.push('SECRET_KEY: required with DATABASE_URL: base64 of 32 random bytes (openssl rand -base64 32)');
  faults.push(...checkMail(config));
  if (!needs.web) return faults;
  const schemes = config.WEBHOOK_AUTH;
  const open = schemes.includes('none');
  if (open && schemes.length > 1) faults.push('WEBHOOK_AUTH: none goes with no other scheme');
  const isPublic = !isLoopbackName(config.HOST) || !isLoopbackName(new URL(config.PUBLIC_URL).hostname);
  if (open && isPublic && !authSaid)
    faults.push('WEBHOOK_AUTH: on an address that is not loopback, say WEBHOOK_AUTH=none or set WEBHOOK_SECRET');
  for (const scheme of schemes) {
    if (scheme !== 'none' && !config.WEBHOOK_SECRETS.some((secret) => serves(scheme, secret)))
      faults.push(`WEBHOOK_AUTH: no WEBHOOK_SECRET can serve ${scheme}${SECRET_HINT[scheme] ?? ''}`);
  }
  return faults;
}

function checkMail({ SMTP_URL, ALERT_EMAIL_FROM, ALERT_EMAIL_TO }: Config): string[] {
  const faults: string[] = [];
  if (SMTP_URL && !ALERT_EMAIL_FROM) faults.push('ALERT_EMAIL_FROM: required with SMTP_URL: who mails come from');
  if (ALERT_EMAIL_TO && !SMTP_URL)
    faults.push('SMTP_URL: required with ALERT_EMAIL_TO: the server that takes the mails');
  return faults;
}

const SECRET_HINT: Record<string, string> = {
  basic: ' (user:password)',
  standard: ' (whsec_ and base64)',
};

/** Whether a secret has the form that a scheme asks for. */
export function serves(scheme: string, secret: string): boolean {
  if (scheme === 'basic') return /^[^:]+:.+$/s.test(secret);
  if (scheme === 'standard') return /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret);
  return secret.length > 0;
}
