import type { Day } from '../../domain/calendar.ts';

/** The part of the history of expected payments that a file shows. Equal cuts give equal rows. */
export type OrdersCut = {
  versionSeq: number;
  changeSeq: number;
  matchSeq: number;
  /** From which day on the receipts of each platform must be somebody's; `none`: of orders that name none. */
  since: [platform: string, day: Day][];
  /**
   * The newest change of a mismatch: a receipt that was reported as nobody's by then is not identified, also where other orders
   * changed the days since. Cuts of earlier versions go by the days alone.
   */
  mismatchSeq?: number;
  /** Since when something waited to be decided, in ISO form; null: all was decided. */
  undecidedSince: string | null;
};

/** Parses a column `cut_orders`; null where a file shows no orders. */
export function parseOrdersCut(text: string | null): OrdersCut | null {
  // take-orders-cut.ts makes what is stored
  return text === null ? null : (JSON.parse(text) as OrdersCut);
}
