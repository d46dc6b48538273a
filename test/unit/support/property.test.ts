import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { propertyOptions } from '../../support/property.ts';

afterEach(() => vi.unstubAllEnvs());

function failing(): string {
  try {
    fc.assert(
      fc.property(fc.nat(), (drawn) => drawn < 1000),
      propertyOptions(100, 100),
    );
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a failed property names its seed and the command that repeats it', () => {
  const message = failing();
  const [, printed] =
    message.match(
      /replay: (?:TEST_DEEP=1 )?TEST_SEED=(-?\d+) npm test -- test\/unit\/support\/property.test.ts -t '/,
    ) ?? [];
  expect(printed).toBeDefined();
  expect(message).toContain(`-t 'a failed property names its seed`);
  vi.stubEnv('TEST_SEED', printed ?? '');
  expect(failing().split('Error:')[0]).toBe(message.split('Error:')[0]);
  expect(message).toContain('Counterexample: [1000]');
});

test('a seed that is not a number is refused', () => {
  vi.stubEnv('TEST_SEED', 'seven');
  expect(() => propertyOptions(1, 1)).toThrow('TEST_SEED takes an integer, not seven');
});
