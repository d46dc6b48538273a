import { expect, test } from 'vitest';
import { describeAnswer } from '../../../src/callbacks/deliver/challenge-address.ts';

const ANSWER = { status: 200, errorClass: null, retryAfterMs: undefined, durationMs: 1 };

test('an answer to a challenge is shown by its status and beginning, without what a terminal obeys; else its error class', () => {
  expect(describeAnswer({ ...ANSWER, body: Buffer.from(' {"ok":true}\n') })).toBe('HTTP 200: {"ok":true}');
  expect(describeAnswer({ ...ANSWER, status: 404, errorClass: 'http_status', body: null })).toBe('HTTP 404');
  expect(describeAnswer({ ...ANSWER, body: Buffer.from('\u001b[2J') })).toBe('HTTP 200: ⟨U+001B⟩[2J');
  expect(describeAnswer({ ...ANSWER, body: Buffer.from('x'.repeat(5_000)) }).length).toBeLessThan(250);
  expect(describeAnswer({ ...ANSWER, status: null, errorClass: 'dns', body: null })).toBe('dns');
  expect(describeAnswer(undefined)).toBe('timeout');
});
