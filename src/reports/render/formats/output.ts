import type { Day, WallTime } from '../../../domain/calendar.ts';
import type { ReceiptShare } from '../../orders/share-receipts.ts';
import type { AnyPlan } from '../../plan/report-plan.ts';
import type { Movement } from '../../read/read-movements.ts';
import type { StatementRow } from '../columns.ts';
import type { ReportWork } from '../report-work.ts';

/** A file in one of the formats. `add` buffers; `drain` writes the buffer, so memory stays bounded. */
export type Output<Ended = void> = {
  /** @param row `share`: of a receipt, where the file shows orders. */
  add(row: StatementRow & { share?: ReceiptShare | undefined }): void;
  /** Takes a movement that changed a closed month, before all others. Without it the file's opening balance alone holds these. */
  addEarlier?(movement: Movement): void;
  /** Called at the start of each day, with the movements' bounds. */
  startDay?(bounds: { start: WallTime; end: WallTime }): Promise<void>;
  endDay?(day: Day): void;
  drain(): Promise<unknown>;
  end(): Promise<Ended>;
};

/** The part of the work that a file of movements needs. */
export type FormatWork = Pick<
  ReportWork<AnyPlan>,
  'db' | 'plan' | 'scope' | 'rendering' | 'balances' | 'factsAtCut' | 'tally' | 'shares' | 'factory' | 'signal'
>;

/** Opens a new file that takes the movements in the order of time. */
export type OpenOutput = (work: FormatWork, file: string) => Promise<Output>;
