/** A page of 100 rows with their histories costs the provider, and us, about as much as so many shows. */
export const SHOWS_PER_PAGE = 4;
/** Of what the shows would cost, so much may be spent on pages in a row that hold none of the ids. */
const BARREN_SHARE_MAX = 0.25;

export type DayProgress = {
  /** Distinct ids still looked for on this day. */
  ids: number;
  /** Pages of the day that were not read yet. */
  pages: number;
  /** Pages read in a row that held none of the ids. */
  pagesWithoutMatch: number;
};

/**
 * Whether reading on in the list of a day is cheaper than one show for each id. Pure.
 *
 * The rest of the day costs `pages × PAGE_SHOWS`, and finds all of the ids that are of this day; the shows cost `ids`.
 * It is asked again after each page, with the total that the page told, so a first guess costs one page at most. A day
 * of 2,000 transactions (20 pages) is read for more than 80 ids, one of 100,000 for more than 4,000. Where the ids are
 * spread evenly both sides shrink alike. A day that was a wrong hint is given up after a quarter of what the shows cost.
 */
export function isListCheaper({ ids, pages, pagesWithoutMatch: barren }: DayProgress): boolean {
  return pages > 0 && pages * SHOWS_PER_PAGE < ids && barren * SHOWS_PER_PAGE <= BARREN_SHARE_MAX * ids;
}
