import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../embedded/parse-database-url.ts';
import { environment } from '../../src/config/environment.ts';
import { isSecret } from '../../src/config/list-settings.ts';
import { readConfig, readSettings } from '../../src/config.ts';
import { propertyOptions } from '../support/property.ts';
import { temporaryDirectory } from '../support/start-serve.ts';

/** Nothing is wrong with these. */
const SOUND = {
  PROVIDER_URL: 'http://127.0.0.1:4000',
  PROVIDER_API_KEY: 'k',
  DATABASE_URL: 'mysql://h/d',
  SECRET_KEY: Buffer.alloc(32).toString('base64'),
};
/** Each of these alone is a fault of its own. */
const WRONG = {
  DATABASE_URL: 'mysql://u:hunter-2@h',
  HOST: 'a host of ours',
  PORT: '99999',
  PUBLIC_URL: 'pay.example.com',
  PROVIDER_URL: 'ftp://provider.example',
  PROVIDER_TIME_ZONE: 'America/Lisboa',
  WEBHOOK_AUTH: 'bearer,beerer',
  WEBHOOK_HMAC: 'md5:hexadecimal',
  WEBHOOK_TOLERANCE: 'a while',
  WEBHOOK_GRACE: 'soon enough',
  WEBHOOKS_SINCE: 'yesterday',
  WEBHOOKS_OWED: 'everything',
  STUCK_CASHIN: 'long, long',
  STUCK_CASHOUT: '15 minutes',
  PROVIDER_RATE: '60/h',
  WEBHOOK_ALLOW: '300.0.0.0/8',
  TRUST_PROXY: 'everybody',
  QUARANTINE_MAX_BYTES: 'plenty',
  ADMIN_TOKEN: 'tiny-secret',
  ALLOW_PLAIN_HTTP: 'sometimes so',
  SECRET_KEY: 'too-short-a-secret',
  OIDC_ISSUER: 'http://id.example',
  OIDC_SCOPES: 'e-mail and name',
  OIDC_ROLES: 'finance:accountant',
  CALLBACK_ALLOW_PRIVATE: 'maybe',
  CALLBACK_RETRY_SCHEDULE: 'now and then',
  REPORT_LOCALE: 'pt_PT',
  REPORT_FULL_DOCUMENTS: 'perhaps',
  REFUND_COMMISSION: 'halved',
  ALERTMANAGER_URL: 'alerts.example',
  SLACK_WEBHOOK_URL: 'hooks.example/secret',
  RETAIN_BODIES: 'for ever',
  RETAIN_CALLBACKS: '99d',
  JOBS: 'sometimes',
  PAGERDUTY_ROUTING_KEY: 'a key of ours',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
  OTEL_TRACES_SAMPLER_ARG: '1.5',
  JOB_WATCH: 'now and again',
  JOB_RECONCILE_COUNTS: '99 * * * *',
  LOG_LEVEL: 'chatty',
};

/** The message of what is refused. */
function faultsOf(env: Record<string, string>, needs: { provider?: boolean; web?: boolean } = {}): string {
  try {
    readConfig(env, needs);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

const PROVIDER = { PROVIDER_URL: 'http://127.0.0.1:4000', PROVIDER_API_KEY: 'k' };

describe('the environment', () => {
  it('reports every fault in one message', () => {
    const env = {
      PORT: '99999',
      WEBHOOK_GRACE: 'soon',
      JOB_WATCH: 'never',
      TRUST_PROXY: 'true',
      DATABASE_URL: 'mysql://x/y',
    };
    expect(() => readConfig(env, { provider: true })).toThrow(
      /PORT[\s\S]*WEBHOOK_GRACE[\s\S]*TRUST_PROXY[\s\S]*JOB_WATCH/,
    );
    expect(() => readConfig({ DATABASE_URL: 'mysql://h/d' }, { provider: true })).toThrow(
      /PROVIDER_URL[\s\S]*PROVIDER_API_KEY[\s\S]*SECRET_KEY/,
    );
  });

  describe.each([
    ['serve', { provider: true, web: true }],
    ['another command', {}],
  ] as const)('of faults that have nothing to do with each other, for %s', (_, needs) => {
    it('names every one, whichever they are, and quotes no value', () => {
      const names = Object.keys(WRONG) as (keyof typeof WRONG)[];
      fc.assert(
        fc.property(fc.subarray(names, { minLength: 1 }), (chosen) => {
          const env = { ...SOUND, ...Object.fromEntries(chosen.map((name) => [name, WRONG[name]])) };
          const message = faultsOf(env, needs);
          const named = message.split('\n').slice(1);
          for (const name of chosen) expect(named.filter((line) => line.split(':')[0] === `  ${name}`)).toHaveLength(1);
          expect(named).toHaveLength(chosen.length);
          for (const name of chosen) if (WRONG[name].length > 3) expect(message).not.toContain(WRONG[name]);
        }),
        propertyOptions(300, 3_000),
      );
    });
  });

  it('holds values together where another one is malformed', () => {
    const broken = {
      PORT: 'many',
      HOST: '0.0.0.0',
      DATABASE_URL: 'mysql://h/d',
      SMTP_URL: 'smtp://h',
      ALERT_EMAIL_TO: 'x',
    };
    const named = faultsOf(broken, { provider: true, web: true })
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(':')[0] ?? '');
    expect(new Set(named)).toEqual(
      new Set([
        'ALERT_EMAIL_FROM',
        'ALERT_EMAIL_TO',
        'PORT',
        'PROVIDER_API_KEY',
        'PROVIDER_URL',
        'SECRET_KEY',
        'WEBHOOK_AUTH',
      ]),
    );
    expect(named).toHaveLength(7);
  });

  it.each([
    ['a secret', { WEBHOOK_SECRET_FILE: '/nowhere', HOST: '0.0.0.0' }, ['WEBHOOK_SECRET_FILE']],
    ['a scheme', { WEBHOOK_AUTH: 'beerer', HOST: '0.0.0.0' }, ['WEBHOOK_AUTH']],
    ['an address', { PUBLIC_URL: 'pay.example' }, ['PUBLIC_URL']],
    ['a key', { SECRET_KEY: 'short', DATABASE_URL: 'mysql://h/d' }, ['SECRET_KEY']],
    ['a provider', { PROVIDER_URL: 'ftp://p' }, ['PROVIDER_URL']],
    ['a mail server', { SMTP_URL: 'x', ALERT_EMAIL_TO: 'a@b', ALERT_EMAIL_FROM: 'a@b' }, ['SMTP_URL']],
  ])('derives no second fault from %s that is malformed', (_, env, names) => {
    const lines = faultsOf({ ...PROVIDER, ...env }, { provider: true, web: true })
      .split('\n')
      .slice(1);
    expect(lines.map((line) => line.trim().split(':')[0])).toEqual(names);
  });

  it.each([
    'nonsense',
    'postgres://u:hunter-2@h/d',
    'mysql://u:hunter-2@h',
    'mysql://u:hunter-2@h:99999/d',
    'mysql://u:hunter-2@h/d?tls=maybe',
    'mysql://u:hunter-2@h/d?hosts=a b',
    'mysql://u:hunter-2@h/d?ca=/nowhere/ca.pem',
    'mysql://u:hunter%word@h/d',
    'mysql:///d',
  ])('names DATABASE_URL among the others where its form is wrong: %s', (url) => {
    const message = faultsOf({ ...SOUND, DATABASE_URL: url, PORT: '-1' });
    expect(message).toMatch(/DATABASE_URL: .*\n {2}PORT: /);
    expect(message).not.toContain('hunter');
  });

  it('reports an empty file of a value', () => {
    using home = temporaryDirectory();
    const file = path.join(home.path, 'key');
    writeFileSync(file, '\n');
    expect(faultsOf({ ...PROVIDER, SECRET_KEY_FILE: file })).toMatch(/SECRET_KEY_FILE: .* is empty/);
  });

  it('never quotes a secret in a fault', () => {
    const env = { SECRET_KEY: 'tooshort-secret', ADMIN_TOKEN: 'tiny', DATABASE_URL: 'mysql://u:hunter-2@h/d' };
    const message = (() => {
      try {
        readConfig(env, { provider: true });
        return '';
      } catch (error) {
        return String(error);
      }
    })();
    expect(message).toContain('SECRET_KEY');
    expect(message).not.toMatch(/tooshort|tiny|hunter/);
  });

  it('wants none said aloud on an address that others reach', () => {
    expect(() => readConfig({ ...PROVIDER, HOST: '0.0.0.0' }, { web: true })).toThrow(/WEBHOOK_AUTH/);
    expect(() => readConfig({ ...PROVIDER, PUBLIC_URL: 'https://pay.example' }, { web: true })).toThrow(/WEBHOOK_AUTH/);
    expect(readConfig({ ...PROVIDER, HOST: '0.0.0.0', WEBHOOK_AUTH: 'none' }, { web: true }).WEBHOOK_AUTH).toEqual([
      'none',
    ]);
    expect(readConfig(PROVIDER, { web: true }).WEBHOOK_AUTH).toEqual(['none']);
    expect(readConfig({ ...PROVIDER, WEBHOOK_SECRET: 'x'.repeat(16) }, { web: true }).WEBHOOK_AUTH).toEqual(['bearer']);
  });

  it('refuses a scheme that no secret can serve', () => {
    const secret = { ...PROVIDER, WEBHOOK_SECRET: 'plain-0123456789' };
    expect(() => readConfig({ ...secret, WEBHOOK_AUTH: 'basic' }, { web: true })).toThrow(/basic \(user:password\)/);
    expect(() => readConfig({ ...secret, WEBHOOK_AUTH: 'standard' }, { web: true })).toThrow(/standard/);
    expect(() => readConfig({ ...secret, WEBHOOK_AUTH: 'hmac,path' }, { web: true })).not.toThrow();
  });

  it.each([
    ['PROVIDER_URL', 'http://provider.example'],
    ['PROVIDER_URL', 'http://10.0.0.7:4000'],
    ['PROVIDER_URL', 'http://127.example.com'],
    ['PUBLIC_URL', 'http://pay.example'],
  ])('wants https off this machine: %s=%s', (name, url) => {
    const env = { ...PROVIDER, WEBHOOK_AUTH: 'none', [name]: url };
    expect(faultsOf(env)).toMatch(new RegExp(`${name}: must be https.*ALLOW_PLAIN_HTTP`));
    expect(() => readConfig({ ...env, ALLOW_PLAIN_HTTP: 'true' })).not.toThrow();
    expect(() => readConfig({ ...env, [name]: url.replace('http:', 'https:') })).not.toThrow();
  });

  it.each(['http://127.0.0.1:4000', 'http://127.8.9.1', 'http://localhost:1', 'http://[::1]:4000'])(
    'lets %s be plain: it is this machine',
    (url) => {
      expect(() => readConfig({ ...PROVIDER, PROVIDER_URL: url, PUBLIC_URL: url })).not.toThrow();
    },
  );

  it.each([
    ['fifteen bytes', 'a'.repeat(15), {}],
    ['the second of two', `${'a'.repeat(16)},short`, {}],
    ['a key of hmac', 'Jefe', { WEBHOOK_AUTH: 'hmac' }],
    ['a key behind whsec_', `whsec_${Buffer.alloc(15).toString('base64')}`, { WEBHOOK_AUTH: 'standard' }],
    ['user and password', 'user:pass', { WEBHOOK_AUTH: 'basic' }],
    ['long user and short password', `${'a'.repeat(16)}:b`, { WEBHOOK_AUTH: 'basic' }],
  ])('refuses a webhook secret that is too short: %s', (_, secret, more) => {
    const env = { ...PROVIDER, WEBHOOK_SECRET: secret, ...more };
    const message = faultsOf(env, { web: true });
    expect(message).toMatch(/WEBHOOK_SECRET: number [12] is shorter than 16 bytes/);
    expect(message).not.toContain(secret);
  });

  it.each([
    ['bytes, not characters', 'é'.repeat(8), {}],
    ['a key behind whsec_', `whsec_${Buffer.alloc(16).toString('base64')}`, { WEBHOOK_AUTH: 'standard' }],
  ])('takes a webhook secret that is long enough: %s', (_, secret, more) => {
    expect(() => readConfig({ ...PROVIDER, WEBHOOK_SECRET: secret, ...more }, { web: true })).not.toThrow();
  });

  it.each(['hmac', 'standard'])('refuses %s without a key, or with an empty one', (scheme) => {
    for (const WEBHOOK_SECRET of ['', ',', ' , ', 'whsec_', 'whsec_=='])
      expect(faultsOf({ ...PROVIDER, WEBHOOK_AUTH: scheme, WEBHOOK_SECRET }, { web: true })).toMatch(/WEBHOOK_/);
  });

  it.each([
    '0.0.0.0/0',
    '0.0.0.0/1,128.0.0.0/1',
    '::/1',
    '::ffff:0:0/97',
    '99',
    '::/0',
    '::ffff:0:0/96',
    '10.0.0.0/8,0.0.0.0/0',
    '::ffff:0.0.0.0/90',
  ])('trusts no proxy of every address: %s', (TRUST_PROXY) => {
    expect(faultsOf({ ...PROVIDER, TRUST_PROXY })).toMatch(
      /TRUST_PROXY: (?:holds a block of too many addresses|must be at most)/,
    );
    expect(() => readConfig({ ...PROVIDER, TRUST_PROXY: '10.0.0.0/8,fd00::/8,::ffff:10.0.0.0/104' })).not.toThrow();
  });

  const OIDC = {
    ...{ OIDC_ISSUER: 'https://id.example/realms/company', OIDC_CLIENT_ID: 'confere' },
    ...{ OIDC_ROLES: 'finance=accountant, CN=Admins=admin,*=viewer', PUBLIC_URL: 'https://confere.example' },
  };

  it('reads which group has which role', () => {
    expect(readConfig({ ...PROVIDER, ...OIDC }).OIDC_ROLES).toEqual([
      { group: 'finance', role: 'accountant' },
      { group: 'CN=Admins', role: 'admin' },
      { group: '*', role: 'viewer' },
    ]);
    expect(readConfig({ ...PROVIDER, ...OIDC, OIDC_ISSUER: 'http://localhost:8080' }).OIDC_ISSUER).toBeDefined();
  });

  it.each([
    ['OIDC_CLIENT_ID', { OIDC_CLIENT_ID: '' }],
    ['OIDC_ROLES', { OIDC_ROLES: '' }],
    ['PUBLIC_URL', { PUBLIC_URL: '' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: '' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'id.example' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'http://id.example', ALLOW_PLAIN_HTTP: 'true' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'https://id.example/.well-known/openid-configuration' }],
    ['OIDC_ISSUER', { OIDC_ISSUER: 'https://user:pass@id.example' }],
    ['OIDC_ROLES', { OIDC_ROLES: 'finance=accountant,' }],
    ['OIDC_ROLES', { OIDC_ROLES: 'finance=owner' }],
    ['OIDC_ROLES', { OIDC_ROLES: '=admin' }],
    ['OIDC_ROLES', { OIDC_ISSUER: 'https://accounts.google.com' }],
    ['OIDC_SCOPES', { OIDC_SCOPES: 'profile' }],
    ['OIDC_GROUPS_CLAIM', { OIDC_GROUPS_CLAIM: 'groups,,hd' }],
  ])('refuses a login by accounts that can not work: %s of %j', (name, change) => {
    const lines = faultsOf({ ...PROVIDER, ...OIDC, ...change })
      .split('\n')
      .slice(1);
    expect(lines.map((line) => line.trim().split(':')[0])).toEqual([name]);
  });

  it('refuses each setting that went, also as a file, and says what to do instead', () => {
    const went = ['POOL_CONNECTIONS', 'ARCHIVE_DIR', 'PORTAL_NAME', 'HEARTBEAT_URL'];
    const faults = faultsOf({ ...Object.fromEntries(went.map((name) => [name, 'x'])), ALERT_LOCALE_FILE: '/nowhere' });
    for (const name of [...went, 'ALERT_LOCALE']) expect(faults).toContain(`${name}: is no setting any more; `);
    expect(faults).toContain('…/confere?connections=20');
  });

  it('has at most 48 settings, where a family of one kind counts as one', () => {
    const family = /^(JOBS?|RETAIN|OIDC|OTEL)(?:_|$)/;
    const counted = Object.keys(environment.shape).map(
      (name) => family.exec(name)?.[1]?.replace('JOBS', 'JOB') ?? name,
    );
    expect(new Set(counted).size).toBeLessThanOrEqual(48);
  });

  it('takes the routing key of PagerDuty alone, or within the address of another region', () => {
    const keyOf = (text: string) => readConfig({ PAGERDUTY_ROUTING_KEY: text }).PAGERDUTY_ROUTING_KEY;
    expect(keyOf('R0UT1NGK3Y')).toEqual({ key: 'R0UT1NGK3Y', url: 'https://events.pagerduty.com/v2/enqueue' });
    const eu = 'events.eu.pagerduty.com/v2/enqueue';
    expect(keyOf(`https://R0UT1NGK3Y@${eu}`)).toEqual({ key: 'R0UT1NGK3Y', url: `https://${eu}` });
    for (const text of [`https://${eu}`, `https://a:b@${eu}`, `ftp://key@${eu}`])
      expect(faultsOf({ PAGERDUTY_ROUTING_KEY: text })).toContain('PAGERDUTY_ROUTING_KEY: must be a routing key');
  });

  it('takes the connections of a pool from DATABASE_URL', () => {
    const of = (query: string) => parseDatabaseUrl(`mysql://u@h/confere${query}`).connectionLimit;
    expect([of(''), of('?connections=10'), of('?connections=1000')]).toEqual([undefined, 10, 1_000]);
    for (const text of ['9', '1001', '20x', '', '-20'])
      expect(() => of(`?connections=${text}`)).toThrow('takes connections=10 to 1000');
  });

  it('takes any value from a file', () => {
    using home = temporaryDirectory();
    const file = path.join(home.path, 'key');
    writeFileSync(file, 'from-a-file\n');
    expect(readConfig({ ...PROVIDER, PROVIDER_API_KEY: '', PROVIDER_API_KEY_FILE: file }).PROVIDER?.apiKey).toBe(
      'from-a-file',
    );
    expect(() => readConfig({ PROVIDER_API_KEY_FILE: '/nowhere' })).toThrow(/PROVIDER_API_KEY_FILE.*ENOENT/);
    expect(() => readConfig({ PROVIDER_API_KEY_FILE: file, PROVIDER_API_KEY: 'k' })).toThrow(/both/);
  });
});

describe('the list of settings', () => {
  const find = (env: Record<string, string>, name: string, file?: string) =>
    readSettings(env, file).find((one) => one.name === name);

  it('has every setting with its value, its source and its faults', () => {
    using home = temporaryDirectory();
    const file = path.join(home.path, 'env');
    writeFileSync(file, 'HOST=10.0.0.7\nPORT=3001\n');
    const env = { HOST: '10.0.0.7', PORT: '99999', LOG_LEVEL_FILE: '/nowhere' };
    expect(readSettings(env, file).map(({ name }) => name)).toEqual(Object.keys(environment.shape));
    expect(find(env, 'HOST', file)).toMatchObject({ value: '10.0.0.7', source: 'file', file, faults: [] });
    const port = { value: '99999', source: 'environment', file: null };
    expect(find(env, 'PORT', file)).toMatchObject({ ...port, faults: ['must be a whole number from 0 to 65535'] });
    expect(find(env, 'LOG_LEVEL', file)).toMatchObject({
      source: 'file',
      file: '/nowhere',
      faults: [expect.stringContaining('ENOENT')],
    });
    expect(find(env, 'WEBHOOK_GRACE')).toMatchObject({ value: '10m', source: 'default', faults: [] });
    expect(find({ HOST: '::1' }, 'PUBLIC_URL')).toMatchObject({ value: 'http://[::1]:3000', source: 'default' });
    expect(find({}, 'PROVIDER_URL')).toMatchObject({ value: null, faults: [expect.stringContaining('missing')] });
  });

  it('has no secret, also not a wrong one', () => {
    const names = Object.entries(environment.shape).filter(([, field]) => isSecret(field));
    const env = Object.fromEntries(names.map(([name]) => [name, 'hunter-2']));
    expect(Object.keys(env)).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'SECRET_KEY', 'WEBHOOK_SECRET', 'SMTP_URL']),
    );
    expect(JSON.stringify(readSettings(env, undefined))).not.toContain('hunter');
    const others = Object.keys(environment.shape).filter((name) => !(name in env));
    expect(others.filter((name) => /SECRET|KEY|TOKEN|PASSWORD/.test(name))).toEqual([]);
  });
});
