import { expect, test } from 'vitest';
import { addDays } from '../../../src/domain/calendar.ts';
import { decideDayState } from '../../../src/reports/revisions/classify-day.ts';
import { selectDueDays } from '../../../src/reports/revisions/make-due-reports.ts';

const DAY = '2026-03-11';
const END = new Date('2026-03-12T03:00:00Z');
/** When it is evaluated, and from when on a reading proves it. */
const OVER = { isOver: true, provableFrom: END };
const LATER = new Date('2026-03-20T03:00:00Z');

function read(from: string, to: string, askedAt: Date) {
  return { runSeq: 1, runId: `run of ${from}`, from, to, askedAt };
}

test('a running day is partial, complete as of its newest reading', () => {
  const noon = read(DAY, DAY, new Date('2026-03-11T15:00:00Z'));
  expect(decideDayState(DAY, [noon], { isOver: false, provableFrom: END })).toMatchObject({
    state: 'partial',
    reading: { askedAt: noon.askedAt },
  });
});

test('a reading from before the end of the day does not prove it', () => {
  const early = read(DAY, DAY, new Date(END.getTime() - 1));
  expect(decideDayState(DAY, [early], OVER)).toEqual({
    ...{ state: 'provisional', reading: undefined, countedAt: undefined },
  });
});

test('the day is closed when all 95 days before it and itself were read after its end, and not a day less', () => {
  const whole = read(addDays(DAY, -95), DAY, END);
  expect(decideDayState(DAY, [whole], OVER)).toMatchObject({ state: 'closed', reading: { runId: whole.runId } });
  expect(decideDayState(DAY, [read(addDays(DAY, -94), DAY, END)], OVER).state).toBe('provisional');
  const parts = [read(addDays(DAY, -95), addDays(DAY, -40), END), read(addDays(DAY, -39), DAY, LATER)];
  expect(decideDayState(DAY, parts, OVER).state).toBe('closed');
  const gap = [read(addDays(DAY, -95), addDays(DAY, -41), END), read(addDays(DAY, -39), DAY, LATER)];
  expect(decideDayState(DAY, gap, OVER).state).toBe('provisional');
});

test('days proven by counts close a day as well as read ones, but a report names no reading of them', () => {
  const counted = { ...read(addDays(DAY, -95), addDays(DAY, -1), END), counted: true };
  expect(decideDayState(DAY, [counted, read(DAY, DAY, END)], OVER)).toMatchObject({ state: 'closed' });
  expect(decideDayState(DAY, [{ ...read(addDays(DAY, -95), DAY, END), counted: true }], OVER)).toEqual({
    state: 'closed',
    reading: undefined,
    countedAt: END,
  });
});

const made = (day: string, checked: number, state = 'provisional') => ({
  day,
  state,
  checked_entry_seq: checked,
  checked_event_seq: checked,
  checked_fact_change_seq: checked,
});

test('without any report only yesterday is due', () => {
  expect(selectDueDays(DAY, [], [{ day: '2026-01-01', entrySeq: 5, eventSeq: 5, factChangeSeq: 0 }])).toEqual([DAY]);
});

test('missed days, days left partial, and days that changed are due, oldest first', () => {
  const newest = [made('2026-03-06', 9), made('2026-03-08', 9, 'partial'), made('2026-03-09', 9), made(DAY, 9)];
  expect(selectDueDays(DAY, newest, [])).toEqual(['2026-03-07', '2026-03-08', '2026-03-10']);
  const learnt = [{ day: '2026-03-09', entrySeq: 10, eventSeq: 3, factChangeSeq: 0 }];
  expect(selectDueDays(DAY, newest, learnt)).toEqual(['2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10', DAY]);
});

test('news of a day before the first report makes every report due', () => {
  const newest = [made('2026-03-10', 9), made(DAY, 9)];
  expect(selectDueDays(DAY, newest, [{ day: '2026-01-01', entrySeq: 0, eventSeq: 10, factChangeSeq: 0 }])).toEqual([
    '2026-03-10',
    DAY,
  ]);
});

test("a corrected fact makes the reports of its transaction's day and of later days due", () => {
  const newest = [made('2026-03-09', 9), made('2026-03-10', 9), made(DAY, 9)];
  const learnt = [{ day: '2026-03-10', entrySeq: 1, eventSeq: 1, factChangeSeq: 10 }];
  expect(selectDueDays(DAY, newest, learnt)).toEqual(['2026-03-10', DAY]);
});
