import type { Random } from '../domain/random.ts';
import type { Operation } from '../domain/statuses.ts';
import type { LifecycleModel, Path } from './lifecycle-schema.ts';

export type PlannedStep = { status: string; afterMs: number };

/** Plans the steps of a transaction, each with its time since the creation at speed 1. */
export function planSteps(random: Random, operation: Operation, model: LifecycleModel): PlannedStep[] {
  const path = choose(random, model[operation]);
  const partial = operation === 'cashin' && random.chance(model.partially_paid);
  const steps: PlannedStep[] = [];
  let afterMs = 0;
  for (const { status, after_s } of path.steps) {
    const [least, most] = after_s;
    const waitMs = Math.round((least + random.next() * Math.max(0, most - least)) * 1_000);
    if (partial && status === 'paid')
      steps.push({ status: 'partially_paid', afterMs: afterMs + Math.floor(waitMs / 2) });
    afterMs += waitMs;
    steps.push({ status, afterMs });
  }
  return steps;
}

function choose(random: Random, paths: readonly Path[]): Path {
  let left = random.next() * paths.reduce((sum, path) => sum + path.weight, 0);
  for (const path of paths) {
    left -= path.weight;
    if (left < 0) return path;
  }
  return paths[0] ?? { weight: 1, steps: [] };
}
