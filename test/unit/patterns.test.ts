/**
 * One thread serves everybody: a pattern that backtracks over a stranger's text stops the service. Each regular expression of src
 * is run on texts made of its own parts, and its steps are counted as a backtracking engine takes them: they may double with
 * the text, not quadruple.
 */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compilePattern, countSteps } from '../support/patterns/count-steps.ts';
import { buildText, type Hostile, listHostileTexts } from '../support/patterns/hostile-texts.ts';
import type { Listed } from '../support/patterns/list-patterns.ts';

const program = path.resolve(import.meta.dirname, '../support/patterns/list-patterns.ts');
/** Of a text twice as long. */
const RATIO_MAX = 2.5;
const STEPS_A_CHAR_MAX = 1_500;
const [SHORT, LONG] = [384, 768];
const KILOBYTES = [4, 8, 16];

function measure(pattern: Pick<Listed, 'source' | 'flags'>, hostile: Hostile, lengths: number[]): number[] {
  const compiled = compilePattern(pattern);
  return lengths.map((chars) => countSteps(compiled, buildText(hostile, chars), chars * STEPS_A_CHAR_MAX));
}

/** @returns the text and its steps, if they grow faster than it does. */
function findHostile(pattern: Pick<Listed, 'source' | 'flags'>): string | undefined {
  for (const hostile of listHostileTexts(pattern)) {
    const [short = 0, long = 0] = measure(pattern, hostile, [SHORT, LONG]);
    if (long <= RATIO_MAX * short) continue;
    const steps = measure(
      pattern,
      hostile,
      KILOBYTES.map((kilobytes) => kilobytes * 1_024),
    );
    if (
      steps.some((one, at) => one > RATIO_MAX * (steps[at - 1] ?? one)) ||
      steps.some((one, at) => one >= (KILOBYTES[at] ?? 0) * 1_024 * STEPS_A_CHAR_MAX)
    )
      return `${JSON.stringify(hostile)} takes ${steps.join(', ')} steps`;
  }
  return undefined;
}

const { literals, composed, made } = JSON.parse(
  execFileSync(process.execPath, ['--no-warnings', program], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
) as { literals: Listed[]; composed: string[]; made: Listed[] };

test('each place of src that composes a pattern has made one here', () => {
  expect(literals.length).toBeGreaterThan(200);
  expect(composed.length).toBeGreaterThan(10);
  const places = new Set(made.map((one) => one.place));
  expect(composed.filter((place) => !places.has(place))).toEqual([]);
});

test('no pattern of src takes more than twice as long for a text twice as long', () => {
  const known = new Map<string, string | undefined>();
  const hostile = [...literals, ...made].flatMap(({ place, source, flags }) => {
    const key = `${source} ${flags}`;
    if (!known.has(key)) known.set(key, findHostile({ source, flags }));
    const found = known.get(key);
    return found === undefined ? [] : [`${place} /${source}/${flags}: ${found}`];
  });
  expect(hostile).toEqual([]);
}, 300_000);
