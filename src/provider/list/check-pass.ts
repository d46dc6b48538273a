/**
 * Checks whether one pass over the list proves that nothing was missed. Pure.
 *
 * Neither the order of pages nor `total` is trusted alone: a row that jumps between two page reads is missed without a
 * trace, unless counted ids are compared with announced totals. A pass is clean under these conditions:
 * - the first total, the last total and the number of distinct ids agree;
 * - every page but the last is full;
 * - the page after the last brings no new id.
 * Rows created while a running day is read are no drift: the total may grow by the number of ids created since the read
 * began.
 */
import type { Message } from '../../domain/errors.ts';
import { message } from '../../texts/messages.ts';

export type Pass = {
  firstTotal: number;
  lastTotal: number;
  /** The least and the greatest total of all its answers. */
  totals: { min: number; max: number };
  /** Rows on each page, in the order of pages, up to the last. */
  pageSizes: number[];
  distinctIds: number;
  /** How many of them were created since the read began (less a few minutes); 0 where no day was still running. */
  createdSince: number;
  /** Whether the page after the last brought an id that the pass had not seen. */
  newAfterLastPage: boolean;
  /** Whether a page past the end brought nothing new. */
  endReached: boolean;
  /** Full pages with the same content as another page. */
  repeatedPages: number;
  /** Rows without a readable id: they can't be counted, so they prove nothing. */
  withoutId: number;
};

export const PAGE_ROWS = 100;

export type PassVerdict = { clean: true } | { clean: false; reason: Message };

export function checkPass(pass: Pass): PassVerdict {
  const grown = pass.lastTotal - pass.firstTotal;
  const { withoutId, firstTotal, lastTotal, createdSince, totals, repeatedPages, distinctIds } = pass;
  if (withoutId > 0) return dirty(message('pass.without_id', { n: withoutId }));
  if (pass.newAfterLastPage) return dirty(message('pass.new_after_last'));
  if (grown < 0) return dirty(message('pass.total_fell', { from: firstTotal, to: lastTotal }));
  if (grown > createdSince) return dirty(message('pass.total_rose', { grown, created: createdSince }));
  if (totals.min < firstTotal || totals.max > lastTotal) return dirty(message('pass.total_wavered', totals));
  const seen = { seen: distinctIds, total: lastTotal };
  // also where the total agrees: it may be as wrong as the pages
  if (repeatedPages > 0) return dirty(message('pass.pages_repeated', { pages: repeatedPages, ...seen }));
  if (distinctIds !== lastTotal) return dirty(message('pass.ids_missing', seen));
  const short = pass.pageSizes.slice(0, -1).findIndex((size) => size !== PAGE_ROWS);
  if (short >= 0)
    return dirty(message('pass.page_short', { page: short + 1, rows: pass.pageSizes[short] ?? 0, full: PAGE_ROWS }));
  return { clean: true };
}

/**
 * How many more rows every answer of a pass announced than the pass listed: a provider may count rows that it does not
 * list. 0 without a surplus, and where the pass is not clean for another reason.
 */
export function computeSurplus(pass: Pass): number {
  const listed = { ...pass, firstTotal: pass.distinctIds, lastTotal: pass.distinctIds, createdSince: 0 };
  const same = { ...listed, totals: { min: pass.distinctIds, max: pass.distinctIds } };
  const isSteady = pass.endReached && pass.totals.min === pass.totals.max && checkPass(same).clean;
  return isSteady ? Math.max(0, pass.totals.max - pass.distinctIds) : 0;
}

/** Whether an equal second pass would prove both: this pass reached the end and lacks no announced row. */
export function canProveByRepeat(pass: Pass): boolean {
  return pass.withoutId === 0 && pass.repeatedPages === 0 && pass.endReached && pass.distinctIds >= pass.totals.max;
}

function dirty(reason: Message): PassVerdict {
  return { clean: false, reason };
}
