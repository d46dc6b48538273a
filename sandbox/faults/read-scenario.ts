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
 * The switches of a scenario: one that ships, by its name, or a JSON file `{description, switches}` by its path.
 * Throws Error that names the file and each fault in it.
 */
export function readScenario(nameOrPath: string): Switches {
  const shipped = SCENARIOS.find((name) => name === nameOrPath);
  const file =
    shipped === undefined ? path.resolve(nameOrPath) : path.join(import.meta.dirname, `../scenarios/${shipped}.json`);
  const result = scenarioSchema.safeParse(parse(file));
  if (result.success) return result.data.switches;
  const faults = result.error.issues.map(({ path: at, message }) => `${at.join('.') || 'file'}: ${message}`);
  throw new Error(`the scenario ${file} is not right: ${faults.join('; ')}`);
}

function parse(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`there is no scenario ${file}; those that ship: ${SCENARIOS.join(', ')}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`the scenario ${file} is not JSON`, { cause });
  }
}
