import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { environment, readConfig } from '../../src/config.ts';
import { temporaryDirectory } from '../support/programs.ts';

const example = parseEnv(readFileSync(path.resolve(import.meta.dirname, '../../.env.example'), 'utf8'));
const PROVIDER = { PROVIDER_URL: 'http://127.0.0.1:4000', PROVIDER_API_KEY: 'k' };

describe('the environment', () => {
  it('is named in .env.example, name by name', () => {
    expect(Object.keys(example).sort()).toEqual(Object.keys(environment.shape).sort());
  });

  it('has in .env.example the defaults that hold without it', () => {
    const set = Object.fromEntries(Object.entries(example).filter(([, value]) => value !== ''));
    const { WEBHOOK_AUTH: _, ...withExample } = readConfig({ ...set, WEBHOOK_SECRET: 's' });
    const { WEBHOOK_AUTH: __, ...without } = readConfig({ WEBHOOK_SECRET: 's' });
    expect(withExample).toEqual(without);
  });

  it('tells every fault in one message', () => {
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

  it('never quotes a secret in a fault', () => {
    const env = { SECRET_KEY: 'tooshort-secret', ADMIN_TOKEN: 'tiny', DATABASE_URL: 'mysql://u:pass-word@h/d' };
    const message = (() => {
      try {
        readConfig(env, { provider: true });
        return '';
      } catch (error) {
        return String(error);
      }
    })();
    expect(message).toContain('SECRET_KEY');
    expect(message).not.toMatch(/tooshort|tiny|pass-word/);
  });

  it('wants none said aloud on an address that others reach', () => {
    expect(() => readConfig({ ...PROVIDER, HOST: '0.0.0.0' }, { web: true })).toThrow(/WEBHOOK_AUTH/);
    expect(() => readConfig({ ...PROVIDER, PUBLIC_URL: 'https://pay.example' }, { web: true })).toThrow(/WEBHOOK_AUTH/);
    expect(readConfig({ ...PROVIDER, HOST: '0.0.0.0', WEBHOOK_AUTH: 'none' }, { web: true }).WEBHOOK_AUTH).toEqual([
      'none',
    ]);
    expect(readConfig(PROVIDER, { web: true }).WEBHOOK_AUTH).toEqual(['none']);
    expect(readConfig({ ...PROVIDER, WEBHOOK_SECRET: 'x' }, { web: true }).WEBHOOK_AUTH).toEqual(['bearer']);
  });

  it('refuses a scheme that no secret can serve', () => {
    const secret = { ...PROVIDER, WEBHOOK_SECRET: 'plain' };
    expect(() => readConfig({ ...secret, WEBHOOK_AUTH: 'basic' }, { web: true })).toThrow(/basic \(user:password\)/);
    expect(() => readConfig({ ...secret, WEBHOOK_AUTH: 'standard' }, { web: true })).toThrow(/standard/);
    expect(() => readConfig({ ...secret, WEBHOOK_AUTH: 'hmac,path' }, { web: true })).not.toThrow();
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
