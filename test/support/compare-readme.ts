import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const PAGE = path.resolve(import.meta.dirname, '../../README.md');
/** The README need not change with each test. */
const SHARE_OFF_MAX = 0.05;

/** Compares the numbers that the README shows of `npm test` with those of a whole run, which fails where they are far off. */
export class CompareReadme implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const page = readFileSync(PAGE, 'utf8');
    const tests = modules.reduce((sum, module) => sum + [...module.children.allTests('passed')].length, 0);
    for (const [found, pattern] of [
      [modules.length, /^ Test Files {2}(\d+) passed/m],
      [tests, /^ {6}Tests {2}(\d+) passed/m],
    ] as const) {
      const shown = Number(pattern.exec(page)?.[1]);
      if (Math.abs(shown - found) <= found * SHARE_OFF_MAX) continue;
      console.error(`README.md shows ${shown} where this run has ${found}: ${pattern}`);
      process.exitCode = 1;
    }
  }
}
