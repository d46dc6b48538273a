import { describe, expect, it, test } from 'vitest';
import { isListCheaper, parseClaimedDays, SHOWS_PER_PAGE } from '../../../src/inbox/verify/find-in-day-pages.ts';

describe('reading the list of a day', () => {
  it('is cheaper than shows for more ids than its pages cost', () => {
    expect(isListCheaper({ ids: 81, pages: 20, pagesWithoutMatch: 0 })).toBe(true);
    expect(isListCheaper({ ids: 80, pages: 20, pagesWithoutMatch: 0 })).toBe(false);
    expect(isListCheaper({ ids: SHOWS_PER_PAGE, pages: 1, pagesWithoutMatch: 0 })).toBe(false);
  });

  it('ends with the last page, with the last id, and where the day was a wrong hint', () => {
    expect(isListCheaper({ ids: 500, pages: 0, pagesWithoutMatch: 0 })).toBe(false);
    expect(isListCheaper({ ids: 0, pages: 3, pagesWithoutMatch: 0 })).toBe(false);
    expect(isListCheaper({ ids: 160, pages: 20, pagesWithoutMatch: 10 })).toBe(true);
    expect(isListCheaper({ ids: 160, pages: 20, pagesWithoutMatch: 11 })).toBe(false);
  });
});

test('a body of 130,000 values says the day of each id', () => {
  const id = '9f2c0b1e-0000-4000-8000-000000000001';
  const body = [
    ...Array<number>(130_000).fill(1),
    { transaction_id: id.toUpperCase(), date_created: '2026-11-26 10:00:00' },
  ];
  expect(parseClaimedDays(Buffer.from(JSON.stringify(body)))).toEqual(new Map([[id, '2026-11-26']]));
});
