import { describe, expect, it } from 'vitest';
import { isListCheaper, SHOWS_PER_PAGE } from '../../../src/inbox/verify/find-in-day-pages.ts';

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
