/** The settings in force, for people: each with its source and its faults, and no secret. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { environment } from './environment.ts';

/**
 * `value`: as it was given, the default, or null for none; never a secret (`secret`). `file`: the file that it comes from.
 * `faults`: without the name, and without the value.
 */
export type Setting = {
  name: string;
  value: string | null;
  secret: boolean;
  source: 'default' | 'environment' | 'file';
  file: string | null;
  faults: string[];
};

/** @param from.envFile the file of variables that Node read at the start. @param from.derived defaults that follow from other values. */
export function listSettings(
  env: NodeJS.ProcessEnv,
  faults: string[],
  from: { envFile: string | undefined; derived: Record<string, string> },
): Setting[] {
  const inFile = from.envFile === undefined ? {} : parseEnv(readFileSync(from.envFile, 'utf8'));
  return Object.entries(environment.shape).map(([name, field]) => {
    const secret = isSecret(field);
    const file = env[`${name}_FILE`];
    const own = env[name] || undefined;
    const value = own ?? (file ? null : (readDefault(field) ?? from.derived[name] ?? null));
    const isOfFile = own !== undefined && inFile[name] === own;
    return {
      ...{ name, value: secret ? null : value, secret },
      source: file || isOfFile ? 'file' : own === undefined ? 'default' : 'environment',
      file: file || (isOfFile && from.envFile) || null,
      faults: faults.flatMap((fault) => {
        const [, of, says] = FAULT.exec(fault) ?? [];
        return says !== undefined && (of === name || of === `${name}_FILE`) ? [says] : [];
      }),
    };
  });
}

/** `NAME: what is wrong` */
const FAULT = /^([A-Z_]+): (.*)$/s;

/** Returns the text that an unset variable stands for. */
export function readDefault(field: z.core.SomeType): string | undefined {
  if (field instanceof z.ZodPrefault || field instanceof z.ZodDefault) return String(field.def.defaultValue);
  return undefined;
}

/** Whether no output may hold the value of a field. */
export function isSecret(field: z.core.SomeType): boolean {
  if (field instanceof z.ZodOptional) return isSecret(field.unwrap());
  return field instanceof z.ZodType && field.meta()?.secret === true;
}
