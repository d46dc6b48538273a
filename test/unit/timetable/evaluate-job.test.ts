import { describe, expect, test } from 'vitest';
import { isFailing, isOverdue } from '../../../src/timetable/evaluate-job.ts';

const NOW = new Date('2026-11-22T12:34:30Z');
const ZONE = 'UTC';
const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);
const at = (time: string): Date => new Date(`2026-11-${time}:00Z`);

type Last = 'never' | 'done' | 'running' | 'abandoned';

describe('isOverdue', () => {
  test.each<[string, string, Last, Date, boolean]>([
    ['a minute job that ran just now', '* * * * *', 'done', at('22T12:34'), false],
    ['a minute job whose last two ticks are missing', '* * * * *', 'done', at('22T12:32'), false],
    ['a minute job that ran five minutes ago', '* * * * *', 'done', at('22T12:29'), true],
    ['a five-minute job whose tick is late by less than a period', '*/5 * * * *', 'done', at('22T12:25'), false],
    ['a five-minute job that missed two ticks', '*/5 * * * *', 'done', at('22T12:20'), true],
    ['an hourly job', '7 * * * *', 'done', at('22T12:07'), false],
    ['an hourly job that is late by minutes', '30 * * * *', 'done', at('22T11:30'), false],
    ['an hourly job that is late by more', '7 * * * *', 'done', at('22T11:07'), true],
    ['a daily job that ran today', '0 6 * * *', 'done', at('22T06:00'), false],
    ['a daily job that did not run today', '0 6 * * *', 'done', at('21T06:00'), true],
    ['a daily job that a person ran before it was due', '0 6 * * *', 'done', at('22T05:59'), true],
    ['a daily job that a person ran after it was due', '0 6 * * *', 'done', at('22T08:13'), false],
    ['a weekly job that ran a week ago', '40 3 * * 1', 'done', at('16T03:40'), false],
    ['a weekly job that missed its Sunday', '40 3 * * 0', 'done', at('15T03:40'), true],
    ['a weekly job that never ran and was not due since the first start', '40 3 * * 1', 'never', at('20T12:00'), false],
    ['a weekly job that never ran although it was due', '40 3 * * 0', 'never', at('20T12:00'), true],
    ['a minute job that runs for ten minutes', '* * * * *', 'running', ago(10), false],
    ['a minute job that runs for sixteen minutes', '* * * * *', 'running', ago(16), true],
    ['an hourly job that runs for an hour', '7 * * * *', 'running', ago(61), true],
    ['a daily job that runs for three hours', '0 6 * * *', 'running', ago(180), false],
    ['a daily job that runs for more than four hours', '0 6 * * *', 'running', ago(241), true],
    ['a daily job whose process died a minute ago', '0 6 * * *', 'abandoned', ago(1), false],
    ['a daily job that nobody continues', '0 6 * * *', 'abandoned', ago(5), true],
    ['a job that is off', 'off', 'done', at('01T12:00'), false],
  ])('%s (%s)', (_, cron, last, when, expected) => {
    const tick = { dueAt: when, startedAt: when, leaseUntil: NOW, finishedAt: when };
    const ticks = {
      never: undefined,
      done: tick,
      running: { ...tick, finishedAt: null },
      abandoned: { ...tick, leaseUntil: when, finishedAt: null },
    };
    const since = last === 'never' ? when : at('01T00:00');
    expect(isOverdue({ cron, zone: ZONE }, { last: ticks[last], since }, NOW)).toBe(expected);
  });
});

test('a paced job may run for a week', () => {
  const overdueAfter = (minutes: number, isPaced: boolean): boolean => {
    const last = { dueAt: ago(minutes), startedAt: ago(minutes), leaseUntil: NOW, finishedAt: null };
    return isOverdue({ cron: '20 5 * * 6', zone: ZONE, isPaced }, { last, since: at('01T00:00') }, NOW);
  };
  expect([overdueAfter(300, false), overdueAfter(300, true), overdueAfter(8 * 24 * 60, true)]).toEqual([
    true,
    false,
    true,
  ]);
});

describe('isFailing', () => {
  test.each<[string, boolean[], boolean]>([
    ['0 6 * * *', [], false],
    ['0 6 * * *', [false, true], false],
    ['0 6 * * *', [true, false], true],
    ['7 * * * *', [true], true],
    ['*/5 * * * *', [true, true], false],
    ['*/5 * * * *', [true, true, false], false],
    ['*/5 * * * *', [true, true, true, false], true],
    ['*/5 * * * *', [false, true, true, true], false],
    ['* * * * *', [true, true, true], true],
    ['off', [true, true, true], false],
  ])('%s after %j: %s', (cron, failed, expected) => {
    expect(isFailing({ cron, zone: ZONE }, failed, NOW)).toBe(expected);
  });
});
