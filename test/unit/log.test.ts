import { expect, test } from 'vitest';
import { requireRowNumber } from '../../src/database/require-row-number.ts';
import { ConfereError, InvariantError } from '../../src/domain/errors.ts';
import { describeError } from '../../src/log.ts';

test('the log names what a checked look-up did not find', () => {
  const missing = () => requireRowNumber(undefined, 'transaction tx_1');
  expect(missing).toThrow(InvariantError);
  const error = (() => {
    try {
      return missing();
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(describeError(error)).toMatchObject({ name: 'InvariantError', message: 'no row number of transaction tx_1' });
});

test.each([0, -1, 0.5, Number.NaN, null, undefined, 2 ** 53])('%s is no row number', (seq) => {
  expect(() => requireRowNumber(seq, 'a row')).toThrow('no row number of a row');
});

test('the log shows messages of our own errors alone, also as a cause', () => {
  const quoting = new Error("Duplicate entry 'Ana Souza' for key 'name'");
  const own = new ConfereError('unavailable', 'the database is away', { cause: quoting });
  expect(describeError(own)).toMatchObject({ message: 'the database is away', cause: { name: 'Error' } });
  expect(JSON.stringify(describeError(own))).not.toContain('Ana');
});
