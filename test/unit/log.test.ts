import { Writable } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { requireRowNumber } from '../../src/database/require-row-number.ts';
import { ConfereError, InvariantError } from '../../src/domain/errors.ts';
import { createLog, describeError } from '../../src/log.ts';

afterEach(() => vi.useRealTimers());

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

test('a failure that is retried ten thousand times is one line a minute for each cause, with how many and the newest', async () => {
  vi.useFakeTimers();
  const lines: Record<string, unknown>[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(
        ...chunk
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>),
      );
      done();
    },
  });
  const log = createLog('info', output);
  const fail = (code: string, items: number): void =>
    log.warn(
      { error: { name: 'ProviderError', code, at: ['here'] }, items, webhook: `wh_${items}` },
      'verifying items failed; retrying later',
    );
  for (let item = 1; item <= 10_000; item++) fail('503', item);
  fail('timeout', 1);
  log.info({ run: 'run_1' }, 'run finished');
  log.info({ run: 'run_1' }, 'run finished');
  expect(lines.map(({ msg }) => msg).filter((msg) => msg !== 'run finished')).toHaveLength(2);
  expect(lines).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines.slice(4)).toMatchObject([{ items: 10_000, repeated: 9_999, level: 'warn', error: { code: '503' } }]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toHaveLength(5);
  fail('503', 7);
  expect(lines[5]).toMatchObject({ items: 7 });
  expect(lines[5]).not.toHaveProperty('repeated');
});
