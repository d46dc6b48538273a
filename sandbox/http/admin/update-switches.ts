import type { Sandbox } from '../../context.ts';
import { readScenario, SCENARIOS } from '../../faults/read-scenario.ts';
import { type Switches, switchesSchema } from '../../faults/switches.ts';
import type { AppState } from '../app-state.ts';
import { ApiError } from '../handle-error.ts';
import { parseInput } from './admin-schemas.ts';

/** Sets all switches: those given, the others to their defaults. */
export function replaceSwitches(sandbox: Sandbox, parts: AppState, wish: unknown): Switches {
  return setSwitches(sandbox, parts, parseInput(switchesSchema, wish ?? {}));
}

/** Sets the given switches and keeps the others. Lists are replaced as a whole. */
export function updateSwitches(sandbox: Sandbox, parts: AppState, wish: unknown): Switches {
  return setSwitches(sandbox, parts, parseInput(switchesSchema, merge(sandbox.switches.current, wish ?? {})));
}

/** Sets the switches of a built-in scenario. Throws ApiError 404 for another name. */
export function applyScenario(sandbox: Sandbox, parts: AppState, name: string): Switches {
  const known = SCENARIOS.find((scenario) => scenario === name);
  if (known === undefined)
    throw new ApiError(404, 404, `There is no scenario "${name}". Known: ${SCENARIOS.join(', ')}.`);
  return setSwitches(sandbox, parts, readScenario(known));
}

function setSwitches(sandbox: Sandbox, { tallies }: AppState, switches: Switches): Switches {
  if (JSON.stringify(switches.faults) !== JSON.stringify(sandbox.switches.current.faults)) tallies.clear();
  sandbox.switches.current = switches;
  return switches;
}

function merge(before: unknown, wish: unknown): unknown {
  if (!isObject(before) || !isObject(wish)) return wish;
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(wish)) merged[name] = merge(before[name], value);
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
