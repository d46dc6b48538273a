import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, onTestFailed } from 'vitest';

/**
 * Any Unicode character, a third of them ASCII. The library's own unit `binary` generates the same, but takes over a second
 * of CPU to construct.
 */
export const anyCharacter = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Whether this is the deep run (TEST_DEEP=1), with many cases of each property instead of few. */
export const DEEP = process.env.TEST_DEEP === '1';

/** Number of cases of a property, or rounds of a loop: `few` in `npm test`, `many` in the deep run. */
export function numRuns(few: number, many: number): number {
  return DEEP ? many : few;
}

/**
 * Returns the seed of a test's random data: TEST_SEED, else `fallback`. If the test fails, it prints the command that repeats
 * it. Call it inside the test.
 */
export function chooseSeed(fallback: number): number {
  const chosen = given() ?? fallback;
  onTestFailed(() => console.error(replay(chosen)));
  return chosen;
}

/**
 * The second argument of `fc.assert`: the number of cases, and TEST_SEED or a new seed in each run. A failure shows the
 * smallest case, the seed, and the command that repeats it.
 */
export function propertyOptions<Ts>(few: number, many: number): fc.Parameters<Ts> {
  const chosen = given();
  const seeded = chosen === undefined ? {} : { seed: chosen };
  return { numRuns: numRuns(few, many), ...seeded, reporter: report };
}

function report<Ts>(details: fc.RunDetails<Ts>): void {
  if (!details.failed) return;
  const cause = details.errorInstance;
  throw new Error(`${fc.defaultReportMessage(details)}\n${replay(details.seed)}`, { cause });
}

function given(): number | undefined {
  const { TEST_SEED } = process.env;
  if (!TEST_SEED) return undefined;
  const chosen = Number(TEST_SEED);
  if (!Number.isInteger(chosen)) throw new Error(`TEST_SEED takes an integer, not ${TEST_SEED}`);
  return chosen;
}

/** The command that repeats the current test with a seed, from the project's root. */
function replay(chosen: number): string {
  const { testPath = '', currentTestName = '' } = expect.getState();
  const file = path.relative(fileURLToPath(new URL('../..', import.meta.url)), testPath);
  const pattern = currentTestName.replace(/ > |[^\p{L}\p{N} ,:;-]/gu, '.+');
  return `replay: ${DEEP ? 'TEST_DEEP=1 ' : ''}TEST_SEED=${chosen} npm test -- ${file} -t '${pattern}'`;
}

/** Numbers from 0 up to 1 that a seed repeats (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Draws whole numbers below `n`, which a seed repeats. */
export function drawFrom(seed: number): (n: number) => number {
  const random = createRandom(seed);
  return (n) => Math.floor(random() * n);
}
