/** The file `.env` that `confere init` writes. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { writeText } from '../../../embedded/files/write-text.ts';
import { environment } from '../../config/environment.ts';
import { wrongUse } from '../../domain/errors.ts';

/** The file that bin/confere reads: beside package.json, or that of ENV_FILE. */
export function envFile(env: NodeJS.ProcessEnv): string {
  return path.resolve(env.ENV_FILE || path.resolve(import.meta.dirname, '../../../.env'));
}

/** Settings that are in force where `init` runs and not in the file, and that the service needs as well. */
export function listOutside(file: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const inside = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const names = Object.keys(environment.shape).flatMap((name) => [name, `${name}_FILE`]);
  const isOutside = (name: string): boolean => Boolean(env[name]) && !(name in inside);
  return Object.fromEntries(names.filter(isOutside).map((name) => [name, env[name] ?? '']));
}

/**
 * Writes settings, readable for the owner only. Lines of other settings stay.
 * @throws ConfereError `wrong_use` for a value that no quotes fit.
 */
export function writeEnvFile(file: string, values: Record<string, string>): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const others = before.filter((line) => !isAssigned(line, values));
  while (others.at(-1) === '') others.pop();
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quote(name, value)}`);
  const draft = `${file}.${process.pid}`;
  writeText(draft, `${[...others, ...lines].join('\n')}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
}

function isAssigned(line: string, values: Record<string, string>): boolean {
  const [name = ''] = Object.keys(parseEnv(line));
  return name.replace(/_FILE$/, '') in values;
}

function quote(name: string, value: string): string {
  for (const text of [value, `'${value}'`, `"${value}"`, `\`${value}\``])
    if (parseEnv(`${name}=${text}`)[name] === value) return text;
  throw wrongUse(`${name}: put it into a file, and name that as ${name}_FILE`);
}
