import { expect, test } from 'vitest';
import { explainFailure, isReadOnly } from '../../../src/database/open/explain-failure.ts';

const TARGET = { user: 'app', host: 'db1', port: 3306, database: 'confere' };

test.each([1040, 1203, 1226])('error %i of the server is said to be too many connections', (errno) => {
  const error = Object.assign(new Error(), { errno, code: 'ER_CON_COUNT_ERROR' });
  expect(explainFailure(error, TARGET)).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^the database has too many connections for user app at db1:3306: end what holds/),
  });
});

test('a read-only server is another cause than one that is not reached', () => {
  expect(isReadOnly(Object.assign(new Error(), { code: 'ER_OPTION_PREVENTS_STATEMENT' }))).toBe(true);
  expect(isReadOnly(Object.assign(new Error(), { code: 'ECONNREFUSED' }))).toBe(false);
});

test('hosts of which none takes writes are said to need a primary', () => {
  const refused = Object.assign(new Error('the server is cut off from its group'), { errno: 3032 });
  expect(explainFailure(refused, TARGET)).toMatchObject({
    message: expect.stringMatching(
      /^no host takes writes for user app at db1:3306 \(the server is cut off.*docs\/group/,
    ),
  });
});
