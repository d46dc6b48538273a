import { expect, test } from 'vitest';
import { checkTicks, type TickVersion } from '../../../bench/check-ticks.ts';

const START = Date.parse('2026-11-23T12:00:00Z');
const at = (seconds: number): Date => new Date(START + seconds * 1000);
const LEASE_S = 45;

/** A job that is due each minute, from 0 s on. */
const timetable = (minutes: number, isMadeUp = true) => [
  {
    job: 'report',
    dueAt: Array.from({ length: minutes }, (_, minute) => at(minute * 60)),
    nextAt: at(minutes * 60),
    isMadeUp,
  },
];

/** A version of the tick that is due at `dueS`, written at `s`. */
function version(dueS: number, s: number, holder: string, change: Partial<TickVersion> = {}): TickVersion {
  const lease = { leaseUntil: at(s + LEASE_S), tries: 1, finishedAt: null };
  return { job: 'report', dueAt: at(dueS), holder, at: at(s), ...lease, ...change };
}
const ends = (dueS: number, s: number, holder: string, tries = 1): TickVersion =>
  version(dueS, s, holder, { finishedAt: at(s), tries });
const evaluate = (versions: TickVersion[], minutes: number, killed: [string, Date][] = [], isMadeUp = true) =>
  checkTicks(versions, timetable(minutes, isMadeUp), new Map(killed), at(minutes * 60));

test('ticks that ran once, and one that was taken over after its holder was killed, are no faults', () => {
  const versions = [
    ...[version(0, 0, 'a'), ends(0, 1, 'a')],
    ...[version(60, 60, 'a'), version(60, 110, 'b', { tries: 2 }), ends(60, 111, 'b', 2)],
  ];
  expect(evaluate(versions, 2, [['a', at(61)]])).toEqual({ due: 2, ran: 2, takenOver: 1, leftOut: [], faults: [] });
});

test.each<[string, TickVersion[], [string, Date][], RegExp]>([
  [
    'taken from a living process',
    [version(0, 0, 'a'), version(0, 50, 'b', { tries: 2 }), ends(0, 51, 'b', 2)],
    [],
    /alive/,
  ],
  [
    'taken before the lease ran out',
    [version(0, 0, 'a'), version(0, 20, 'b', { tries: 2 }), ends(0, 21, 'b', 2)],
    [['a', at(1)]],
    /before the lease/,
  ],
  [
    'run again after its end',
    [version(0, 0, 'a'), ends(0, 1, 'a'), version(0, 50, 'b'), ends(0, 51, 'b')],
    [],
    /ended/,
  ],
  ['ended by another process', [version(0, 0, 'a'), ends(0, 1, 'b')], [], /a tick of a/],
  ['never ended', [version(0, 0, 'a')], [['a', at(1)]], /had not ended/],
  ['not due', [version(0, 0, 'a'), ends(0, 1, 'a'), version(30, 30, 'a'), ends(30, 31, 'a')], [], /was not due/],
])('a tick that was %s is a fault', (_, versions, killed, fault) => {
  const all = [...versions, version(60, 100, 'c'), ends(60, 101, 'c')];
  expect(evaluate(all, 2, killed).faults.join()).toMatch(fault);
});

test('two ticks of a job at once are a fault', () => {
  const versions = [version(0, 0, 'a'), version(60, 60, 'b'), ends(60, 61, 'b'), ends(0, 62, 'a')];
  expect(evaluate(versions, 2).faults).toHaveLength(1);
});

test('a due time without a tick is a fault, unless the tick before was held then and until shortly before the next one', () => {
  const after = [version(120, 120, 'c'), ends(120, 121, 'c')];
  expect(evaluate([version(0, 0, 'a'), ends(0, 1, 'a'), ...after], 3).faults).toHaveLength(1);
  const long = [version(0, 0, 'a'), version(0, 50, 'a'), version(0, 90, 'a'), ends(0, 110, 'a')];
  expect(evaluate([...long, ...after], 3)).toMatchObject({ leftOut: ['report'], faults: [] });
  // it was free for 50 s: the search makes up a tick within 20 s
  const short = [version(0, 0, 'a'), version(0, 50, 'a'), ends(0, 70, 'a')];
  expect(evaluate([...short, ...after], 3).faults).toHaveLength(1);
  expect(evaluate([...short, ...after], 3, [], false)).toMatchObject({ leftOut: ['report'], faults: [] });
});
