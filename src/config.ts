import { readFileSync } from 'node:fs';
import { checkTogether, defaultAuth, listSecrets, type Needs } from './config/checks.ts';
import { type Environment, environment } from './config/environment.ts';
import { LIMITS, type Limits } from './config/limits.ts';
import { listSettings, type Setting } from './config/list-settings.ts';
import { findRemovedNames } from './config/removed-names.ts';
import { ConfereError } from './domain/errors.ts';
import { append } from './domain/lists.ts';

export type Config = Omit<Environment, 'WEBHOOK_AUTH' | 'WEBHOOK_SECRET' | 'PUBLIC_URL'> & {
  PUBLIC_URL: string;
  WEBHOOK_AUTH: NonNullable<Environment['WEBHOOK_AUTH']>;
  /** Newest first. */
  WEBHOOK_SECRETS: string[];
  /** Where SECRET_KEY comes from, for errors: the variable, with the file that it names. */
  SECRET_KEY_FROM: string;
  PROVIDER: { url: string; apiKey: string } | undefined;
  LIMITS: Limits;
};

/**
 * Reads the environment. `NAME_FILE` names a file with the value; an empty value counts as unset.
 * @param needs what the command requires.
 * @throws ConfereError `config_invalid` that lists all faults at once, and quotes no value.
 */
export function readConfig(env: NodeJS.ProcessEnv, needs: Needs = {}): Config {
  const { config, faults } = examine(env, needs);
  if (faults.length === 0) return config;
  throw new ConfereError('config_invalid', `the environment is not usable:\n${faults.map((f) => `  ${f}`).join('\n')}`);
}

/**
 * Lists the settings in force, with the faults that keep `serve` from starting.
 * @param envFile the file of variables that Node read at the start.
 */
export function readSettings(env: NodeJS.ProcessEnv, envFile: string | undefined): Setting[] {
  const { config, faults } = examine(env, { provider: true, web: true });
  const derived = { PUBLIC_URL: config.PUBLIC_URL, WEBHOOK_AUTH: config.WEBHOOK_AUTH.join(',') };
  return listSettings(env, faults, { envFile, derived });
}

/** @returns all faults, as `NAME: text`, and what the values without a fault make. */
function examine(env: NodeJS.ProcessEnv, needs: Needs): { config: Config; faults: string[] } {
  const { values, faults, unreadable } = collectValues(env);
  const issues = environment.safeParse(values).error?.issues ?? [];
  append(
    faults,
    issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`),
  );
  const broken = new Set([...unreadable, ...issues.map((issue) => String(issue.path[0]))]);
  // every field has a default or is optional: without the broken ones the others can be parsed and checked together
  const valid = Object.entries(values).filter(([name]) => !broken.has(name));
  const usable = environment.parse(Object.fromEntries(valid));
  append(faults, checkTogether(usable, { broken, isSet: (name) => name in values || broken.has(name) }, needs));
  return { config: complete(usable, env), faults };
}

function collectValues(env: NodeJS.ProcessEnv) {
  const values: NodeJS.ProcessEnv = {};
  const faults = findRemovedNames(env);
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

function complete(values: Environment, { SECRET_KEY_FILE }: NodeJS.ProcessEnv): Config {
  const { WEBHOOK_SECRET: _, WEBHOOK_AUTH, PUBLIC_URL, ...rest } = values;
  const secrets = listSecrets(values);
  const host = rest.HOST.includes(':') ? `[${rest.HOST}]` : rest.HOST;
  return {
    ...rest,
    PUBLIC_URL: (PUBLIC_URL ?? `http://${host}:${rest.PORT}`).replace(/(?<!\/)\/+$/, ''),
    WEBHOOK_SECRETS: secrets,
    SECRET_KEY_FROM: SECRET_KEY_FILE ? `SECRET_KEY_FILE (${SECRET_KEY_FILE})` : 'SECRET_KEY',
    WEBHOOK_AUTH: WEBHOOK_AUTH ?? defaultAuth(secrets),
    PROVIDER:
      rest.PROVIDER_URL && rest.PROVIDER_API_KEY
        ? { url: rest.PROVIDER_URL.replace(/(?<!\/)\/+$/, ''), apiKey: rest.PROVIDER_API_KEY }
        : undefined,
    LIMITS: { ...LIMITS },
  };
}
