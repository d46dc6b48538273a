import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type Switches, switchesSchema } from './switches.ts';

export const SCENARIOS = ['calm', 'black-friday', 'flaky-provider', 'lost-webhooks', 'fraud'] as const;

const scenarioSchema = z.strictObject({
  description: z.string(),
  switches: switchesSchema,
});

/**
 * Reads the switches of a scenario: a built-in one by its name, or a JSON file `{description, switches}` by its path.
 * Throws Error that names the file and each error in it.
 */
export function readScenario(nameOrPath: string): Switches {
  const builtIn = SCENARIOS.find((name) => name === nameOrPath);
  const file =
    builtIn === undefined ? path.resolve(nameOrPath) : path.join(import.meta.dirname, `../scenarios/${builtIn}.json`);
  const result = scenarioSchema.safeParse(parse(file));
  if (result.success) return result.data.switches;
  const errors = result.error.issues.map(({ path: at, message }) => `${at.join('.') || 'file'}: ${message}`);
  throw new Error(`the scenario ${file} is invalid: ${errors.join('; ')}`);
}

function parse(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`there is no scenario ${file}; built-in scenarios: ${SCENARIOS.join(', ')}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`the scenario ${file} is not JSON`, { cause });
  }
}
