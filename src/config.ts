import { readFileSync } from 'node:fs';
import { z } from 'zod';
import {
  agesText,
  booleanText,
  channelFields,
  cidrList,
  cronText,
  databaseUrl,
  durationList,
  durationText,
  emailList,
  expectedChanges,
  hostText,
  httpUrl,
  instantText,
  intText,
  isLoopbackName,
  isPlainHttp,
  rateText,
  secretKey,
  sizeText,
  timeZone,
  trustProxy,
  webhookAuth,
  webhookHmac,
} from './config-fields.ts';
import { ConfereError } from './domain/errors.ts';

/** Of each secret that we or the operator choose. */
const SECRET_BYTES_MIN = 16;

/** Every name of the environment that Confere reads, with its default. */
export const environment = z.object({
  DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z.string().min(1).default('./var'),
  HOST: hostText.default('127.0.0.1'),
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
  WEBHOOKS_OWED: expectedChanges.default([
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
  ADMIN_TOKEN: z.string().refine(isLongEnough, `must be at least ${SECRET_BYTES_MIN} bytes`).optional(),
  ALLOW_PLAIN_HTTP: booleanText.default(false),
  SECRET_KEY: secretKey.optional(),
  SPOOL_DIR: z.string().min(1).optional(),
  CALLBACK_ALLOW_PRIVATE: booleanText.default(false),
  CALLBACK_RETRY_SCHEDULE: durationList.default(
    [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].map((seconds) => seconds * 1000),
  ),
  REPORT_LOCALE: z.enum(['pt-BR', 'en']).default('pt-BR'),
  REPORT_FULL_DOCUMENTS: booleanText.default(false),
  REFUND_COMMISSION: z.enum(['kept', 'returned']).default('kept'),
  ...channelFields,
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
 * @throws ConfereError `config_invalid` that names every fault at once, and quotes no value.
 */
export function readConfig(env: NodeJS.ProcessEnv, needs: Needs = {}): Config {
  const { values, faults, unreadable } = collectValues(env);
  const issues = environment.safeParse(values).error?.issues ?? [];
  faults.push(...issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  const broken = new Set([...unreadable, ...issues.map((issue) => String(issue.path[0]))]);
  // every field has a default or may be absent: without the broken ones the others can be read and held together
  const sound = Object.entries(values).filter(([name]) => !broken.has(name));
  const usable = environment.parse(Object.fromEntries(sound));
  faults.push(...checkTogether(usable, { broken, isSet: (name) => name in values || broken.has(name) }, needs));
  if (faults.length === 0) return complete(usable);
  throw new ConfereError('config_invalid', `the environment is not usable:\n${faults.map((f) => `  ${f}`).join('\n')}`);
}

type Needs = { provider?: boolean; web?: boolean };
type Name = keyof Environment;
type Given = {
  /** Names whose own value is at fault, which is told already. */
  broken: ReadonlySet<string>;
  /** Whether there is a value, sound or not. */
  isSet: (name: Name) => boolean;
};

function collectValues(env: NodeJS.ProcessEnv) {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  const unreadable = new Set<string>();
  const refuse = (name: string, fault: string): void => {
    faults.push(fault);
    unreadable.add(name);
  };
  for (const name of Object.keys(environment.shape)) {
    const file = env[`${name}_FILE`];
    if (file && env[name]) refuse(name, `${name}: set both as ${name} and as ${name}_FILE`);
    else if (file) {
      try {
        values[name] = readFileSync(file, 'utf8').trim();
        if (values[name] === '') refuse(name, `${name}_FILE: ${file} is empty`);
      } catch (error) {
        refuse(name, `${name}_FILE: can't read ${file} (${(error as NodeJS.ErrnoException).code})`);
      }
    } else if (env[name]) values[name] = env[name];
  }
  for (const name of unreadable) delete values[name];
  return { values, faults, unreadable };
}

function complete(values: Environment): Config {
  const { WEBHOOK_SECRET: _, WEBHOOK_AUTH, PUBLIC_URL, ...rest } = values;
  const secrets = listSecrets(values);
  const host = rest.HOST.includes(':') ? `[${rest.HOST}]` : rest.HOST;
  return {
    ...rest,
    PUBLIC_URL: (PUBLIC_URL ?? `http://${host}:${rest.PORT}`).replace(/\/+$/, ''),
    WEBHOOK_SECRETS: secrets,
    WEBHOOK_AUTH: WEBHOOK_AUTH ?? defaultAuth(secrets),
    PROVIDER:
      rest.PROVIDER_URL && rest.PROVIDER_API_KEY
        ? { url: rest.PROVIDER_URL.replace(/\/+$/, ''), apiKey: rest.PROVIDER_API_KEY }
        : undefined,
  };
}

/** Faults that no single value shows. What a broken value could only be guessed from is left out. */
function checkTogether(usable: Environment, given: Given, needs: Needs): string[] {
  const faults: string[] = [];
  const { isSet } = given;
  if (needs.provider && !isSet('PROVIDER_URL')) faults.push('PROVIDER_URL: missing; the base address of the provider');
  if (needs.provider && !isSet('PROVIDER_API_KEY')) faults.push('PROVIDER_API_KEY: missing; the key for its API');
  if (isSet('DATABASE_URL') && !isSet('SECRET_KEY'))
    faults.push('SECRET_KEY: required with DATABASE_URL: base64 of 32 random bytes (openssl rand -base64 32)');
  if (isSet('SMTP_URL') && !isSet('ALERT_EMAIL_FROM'))
    faults.push('ALERT_EMAIL_FROM: required with SMTP_URL: who mails come from');
  if (isSet('ALERT_EMAIL_TO') && !isSet('SMTP_URL'))
    faults.push('SMTP_URL: required with ALERT_EMAIL_TO: the server that takes the mails');
  for (const name of ['PUBLIC_URL', 'PROVIDER_URL'] as const) {
    const url = usable[name];
    if (url !== undefined && isPlainHttp(url) && !usable.ALLOW_PLAIN_HTTP && !given.broken.has('ALLOW_PLAIN_HTTP'))
      faults.push(`${name}: must be https, but for this machine; ALLOW_PLAIN_HTTP=true sends in the clear`);
  }
  if (needs.web) faults.push(...checkWebhookAuth(usable, given));
  return faults;
}

/** A short secret is found by trying. It is named by its place, since several stand in one value. */
function checkSecretLengths(usable: Environment): string[] {
  const isStandard = usable.WEBHOOK_AUTH?.includes('standard') ?? false;
  const isBasic = usable.WEBHOOK_AUTH?.includes('basic') ?? false;
  const short = listSecrets(usable).flatMap((secret, index) => {
    // `standard` signs with what stands behind whsec_, in base64
    const isKey = isStandard && secret.startsWith('whsec_');
    // `basic` compares the user too, which is no secret
    const word = isBasic && fitsScheme('basic', secret) ? secret.slice(secret.indexOf(':') + 1) : secret;
    const bytes = isKey ? Buffer.from(secret.slice('whsec_'.length), 'base64').length : Buffer.byteLength(word);
    return bytes < SECRET_BYTES_MIN ? [index + 1] : [];
  });
  if (short.length === 0) return [];
  return [
    `WEBHOOK_SECRET: number ${short.join(', ')} is shorter than ${SECRET_BYTES_MIN} bytes (openssl rand -hex 32)`,
  ];
}

function checkWebhookAuth(usable: Environment, { broken, isSet }: Given): string[] {
  const faults: string[] = [];
  if (broken.has('WEBHOOK_AUTH') || broken.has('WEBHOOK_SECRET')) return faults;
  const secrets = listSecrets(usable);
  faults.push(...checkSecretLengths(usable));
  const schemes = usable.WEBHOOK_AUTH ?? defaultAuth(secrets);
  const open = schemes.includes('none');
  if (open && schemes.length > 1) faults.push('WEBHOOK_AUTH: none goes with no other scheme');
  if (open && isPublic(usable) && !isSet('WEBHOOK_AUTH'))
    faults.push('WEBHOOK_AUTH: on an address that is not loopback, say WEBHOOK_AUTH=none or set WEBHOOK_SECRET');
  for (const scheme of schemes) {
    if (scheme !== 'none' && !secrets.some((secret) => fitsScheme(scheme, secret)))
      faults.push(`WEBHOOK_AUTH: no WEBHOOK_SECRET can serve ${scheme}${SECRET_HINT[scheme] ?? ''}`);
  }
  return faults;
}

/** Whether others can reach the address that we listen on, or that we say is ours. */
function isPublic({ HOST, PUBLIC_URL }: Environment): boolean {
  return !isLoopbackName(HOST) || (PUBLIC_URL !== undefined && !isLoopbackName(new URL(PUBLIC_URL).hostname));
}

function listSecrets({ WEBHOOK_SECRET = '' }: Environment): string[] {
  return WEBHOOK_SECRET.split(',')
    .map((secret) => secret.trim())
    .filter(Boolean);
}

function defaultAuth(secrets: string[]): Config['WEBHOOK_AUTH'] {
  return secrets.length > 0 ? ['bearer'] : ['none'];
}

const SECRET_HINT: Record<string, string> = {
  basic: ' (user:password)',
  standard: ' (whsec_ and base64)',
};

function isLongEnough(secret: string): boolean {
  return Buffer.byteLength(secret) >= SECRET_BYTES_MIN;
}

/** Whether a secret has the form that a scheme asks for. */
export function fitsScheme(scheme: string, secret: string): boolean {
  if (scheme === 'basic') return /^[^:]+:.+$/s.test(secret);
  if (scheme === 'standard') return /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(secret);
  return secret.length > 0;
}
