import { expect, test } from 'vitest';
import { type DayRevision, type DayState, decideDay } from '../../../src/reports/serve/decide-day.ts';

const DAY = '2026-11-20';
const NOTHING = {
  ...{ day: DAY, today: '2026-11-22', firstDay: '2026-11-01', revisions: [] },
  ...{ unread: [], isReadWhole: false, hasChanged: false, isInDoubt: false },
};

function revision(number: number, state: DayRevision['state'], digest = 'a'): DayRevision {
  const fixed = { day: DAY, madeAt: new Date(0), proven: false, isReadWhole: false, isRedacted: false };
  return { ...fixed, revision: number, state, digest };
}
const [partial, provisional, closed] = [revision(1, 'partial'), revision(1, 'provisional'), revision(2, 'closed')];

type Given = Partial<Parameters<typeof decideDay>[0]>;
const CASES: [DayState, string, Given][] = [
  ['future', 'a day to come', { today: '2026-11-19' }],
  ['running', 'today', { today: DAY, revisions: [partial] }],
  ['before', 'a day before the first entry', { firstDay: '2026-11-21' }],
  ['before', 'books without an entry', { firstDay: undefined }],
  ['missing', 'no revision', {}],
  ['missing', 'only a revision of the running day', { revisions: [partial] }],
  ['changed', 'the ledger learnt something since', { revisions: [provisional], hasChanged: true }],
  ['provisional', 'a creation day is not read', { revisions: [provisional], unread: [DAY] }],
  ['closed', 'all is read, though no revision says so', { revisions: [provisional] }],
  ['closed', 'its readings were deleted', { revisions: [closed, provisional], unread: [DAY] }],
  ['provisional', 'the time zone is in doubt', { revisions: [closed], isInDoubt: true }],
  ['closed', 'a first revision of the whole day', { revisions: [revision(2, 'closed', 'b'), partial] }],
  ['revised', 'other rows than before', { revisions: [revision(2, 'closed', 'b'), provisional] }],
  [
    'provisional',
    'other rows, and not read',
    { revisions: [revision(2, 'provisional', 'b'), provisional], unread: [DAY] },
  ],
];

test.each(CASES)('a day is %s: %s', (state, _, given) => {
  expect(decideDay({ ...NOTHING, ...given }).state).toBe(state);
});

test('a day names the creation days that nobody read since, until a revision is closed', () => {
  const unread = ['2026-11-01', '2026-11-03'];
  const missing = { count: 2, from: '2026-11-01', to: '2026-11-03', hasDay: false };
  expect(decideDay({ ...NOTHING, revisions: [provisional], unread }).unread).toEqual(missing);
  expect(decideDay({ ...NOTHING, unread: [DAY] }).unread).toMatchObject({ count: 1, hasDay: true });
  expect(decideDay({ ...NOTHING, revisions: [closed], unread }).unread).toBeUndefined();
});

test('a day names the newest revision whose rows differ from the one before', () => {
  const revisions = [revision(4, 'closed', 'b'), revision(3, 'provisional', 'b'), provisional];
  expect(decideDay({ ...NOTHING, revisions }).revisedBy).toBe(3);
});
