import { describe, expect, it } from 'vitest';
import { isReadingCheaper, PAGE_SHOWS } from '../../../src/inbox/verify/compare-costs.ts';

describe('reading the list of a day', () => {
  it('is cheaper than shows for more ids than its pages cost', () => {
    expect(isReadingCheaper({ ids: 81, pages: 20, barren: 0 })).toBe(true);
    expect(isReadingCheaper({ ids: 80, pages: 20, barren: 0 })).toBe(false);
    expect(isReadingCheaper({ ids: PAGE_SHOWS, pages: 1, barren: 0 })).toBe(false);
  });

  it('ends with the last page, with the last id, and where the day was a wrong hint', () => {
    expect(isReadingCheaper({ ids: 500, pages: 0, barren: 0 })).toBe(false);
    expect(isReadingCheaper({ ids: 0, pages: 3, barren: 0 })).toBe(false);
    expect(isReadingCheaper({ ids: 160, pages: 20, barren: 10 })).toBe(true);
    expect(isReadingCheaper({ ids: 160, pages: 20, barren: 11 })).toBe(false);
  });
});
