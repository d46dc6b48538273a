/** Checks of the configuration that need more than one value. */
import { append } from '../domain/lists.ts';
import { type Environment, SECRET_BYTES_MIN } from './environment.ts';
import { isLoopbackName, isPlainHttp } from './fields.ts';
import { EVERYBODY } from './oidc-fields.ts';

export type Needs = { provider?: boolean; web?: boolean };
type Name = keyof Environment;
type Given = {
  /** Names whose own value has a fault, which is reported already. */
  broken: ReadonlySet<string>;
  /** Whether there is a value, valid or not. */
  isSet: (name: Name) => boolean;
};

/** @returns faults in the combination of values. A check that depends on a broken value is left out. */
export function checkTogether(usable: Environment, given: Given, needs: Needs): string[] {
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
  for (const name of ['PUBLIC_URL', 'PROVIDER_URL', 'JOB_WATCH_URL'] as const) {
    const url = usable[name];
    if (url !== undefined && isPlainHttp(url) && !usable.ALLOW_PLAIN_HTTP && !given.broken.has('ALLOW_PLAIN_HTTP'))
      faults.push(`${name}: must be https, but for this machine; ALLOW_PLAIN_HTTP=true sends in the clear`);
  }
  append(faults, checkOidc(usable, given));
  if (needs.web) append(faults, checkWebhookAuth(usable, given));
  return faults;
}

const GOOGLE = 'https://accounts.google.com';

function checkOidc(usable: Environment, { isSet }: Given): string[] {
  const { OIDC_ISSUER, OIDC_ROLES = [] } = usable;
  if (OIDC_ISSUER === undefined) {
    const named = (['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES'] as const).find((name) => usable[name]);
    return named && !isSet('OIDC_ISSUER') ? [`OIDC_ISSUER: required with ${named}: the address of the issuer`] : [];
  }
  const faults: string[] = [];
  if (!isSet('OIDC_CLIENT_ID'))
    faults.push('OIDC_CLIENT_ID: required with OIDC_ISSUER: the id under which the issuer knows Confere');
  if (!isSet('OIDC_ROLES'))
    faults.push('OIDC_ROLES: required with OIDC_ISSUER: which group has which role, such as admins=admin');
  if (!isSet('PUBLIC_URL'))
    faults.push('PUBLIC_URL: required with OIDC_ISSUER: the address to which the issuer sends people back');
  if (new URL(OIDC_ISSUER).origin === GOOGLE && OIDC_ROLES.some(({ group }) => group === EVERYBODY))
    faults.push(`OIDC_ROLES: ${EVERYBODY} would let in every account of Google: name your domain by the claim hd`);
  return faults;
}

/** A short secret can be brute-forced. The fault names its position, as one variable holds several. */
function checkSecretLengths(usable: Environment): string[] {
  const isStandard = usable.WEBHOOK_AUTH?.includes('standard') ?? false;
  const isBasic = usable.WEBHOOK_AUTH?.includes('basic') ?? false;
  const short = listSecrets(usable).flatMap((secret, index) => {
    // `standard`: the key is the base64 after whsec_
    const isKey = isStandard && secret.startsWith('whsec_');
    // `basic`: the user is no secret
    const secretPart = isBasic && fitsScheme('basic', secret) ? secret.slice(secret.indexOf(':') + 1) : secret;
    const bytes = isKey ? Buffer.from(secret.slice('whsec_'.length), 'base64').length : Buffer.byteLength(secretPart);
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
  append(faults, checkSecretLengths(usable));
  const schemes = usable.WEBHOOK_AUTH ?? defaultAuth(secrets);
  const open = schemes.includes('none');
  if (open && schemes.length > 1) faults.push('WEBHOOK_AUTH: none cannot be combined with another scheme');
  if (open && isPublic(usable) && !isSet('WEBHOOK_AUTH'))
    faults.push('WEBHOOK_AUTH: on an address that is not loopback, say WEBHOOK_AUTH=none or set WEBHOOK_SECRET');
  for (const scheme of schemes) {
    if (scheme !== 'none' && !secrets.some((secret) => fitsScheme(scheme, secret)))
      faults.push(`WEBHOOK_AUTH: no WEBHOOK_SECRET can serve ${scheme}${SECRET_HINT.get(scheme) ?? ''}`);
  }
  return faults;
}

/** Whether HOST or PUBLIC_URL can be reached from other machines. */
function isPublic({ HOST, PUBLIC_URL }: Environment): boolean {
  return !isLoopbackName(HOST) || (PUBLIC_URL !== undefined && !isLoopbackName(new URL(PUBLIC_URL).hostname));
}

export function listSecrets({ WEBHOOK_SECRET = '' }: Environment): string[] {
  return WEBHOOK_SECRET.split(',')
    .map((secret) => secret.trim())
    .filter(Boolean);
}

export function defaultAuth(secrets: string[]): NonNullable<Environment['WEBHOOK_AUTH']> {
  return secrets.length > 0 ? ['bearer'] : ['none'];
}

const SECRET_HINT = new Map<string, string>([
  ['basic', ' (user:password)'],
  ['standard', ' (whsec_ and base64)'],
]);

/** Whether a secret has the form that a scheme requires. */
export function fitsScheme(scheme: string, secret: string): boolean {
  if (scheme === 'basic') return /^[^:]+:.+$/s.test(secret);
  if (scheme === 'standard') return /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(secret);
  return secret.length > 0;
}
